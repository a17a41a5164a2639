/** The settings `svc.oidc.*`. */
import type { OidcConfig } from './shape.ts';
import {
  parseAlgorithms,
  parseCount,
  parseJwks,
  parseQuantity,
  parseScopeNames,
  timeUnits,
} from './values.ts';

export type OidcProperty =
  | 'svc.oidc.issuer'
  | 'svc.oidc.audience'
  | 'svc.oidc.jwks'
  | 'svc.oidc.algorithms'
  | 'svc.oidc.keys_grace'
  | 'svc.oidc.scope_claim'
  | 'svc.oidc.org_claim'
  | 'svc.oidc.default_org'
  | 'svc.oidc.scopes';

/** Returns null without an issuer; faults are added to `complaints`. */
export function readOidc(
  read: <T>(name: OidcProperty, parse: (text: string) => T) => T,
  complaints: string[],
): OidcConfig | null {
  const text = (name: OidcProperty): string | null => read(name, (value) => (value === '' ? null : value));
  const issuer = text('svc.oidc.issuer');
  const audience = text('svc.oidc.audience');
  const jwks = read('svc.oidc.jwks', parseJwks);
  const oidc = {
    algorithms: read('svc.oidc.algorithms', parseAlgorithms),
    graceMs: read('svc.oidc.keys_grace', (value) => parseQuantity(value, timeUnits, 'a time such as 1 d')),
    scopeClaim: read('svc.oidc.scope_claim', (value) => value),
    orgClaim: read('svc.oidc.org_claim', (value) => value),
    defaultOrg: read('svc.oidc.default_org', (value) => (value === '' ? null : parseCount(value, 1))),
    scopeNames: read('svc.oidc.scopes', parseScopeNames),
  };
  if (issuer === null) return null;
  if (audience === null) complaints.push('svc.oidc.audience: is needed where svc.oidc.issuer is set');
  if (jwks === null) complaints.push('svc.oidc.jwks: is needed where svc.oidc.issuer is set');
  return audience === null || jwks === null ? null : { issuer, audience, jwks, ...oidc };
}
