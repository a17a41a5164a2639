/** Maps a token of the identity provider to its caller: its claims become an organisation and scopes of ours. */
import type { OidcConfig } from '../config/shape.ts';
import { allScopes, type AccessStore } from '../ports/stores/access.ts';
import type { TokenVerifier } from '../ports/network.ts';
import type { Principal } from './keys.ts';

/**
 * Returns null if the token is invalid, or its claims name no existing organisation. A token without scopes has the rights of any key.
 */
export async function checkToken(
  access: AccessStore,
  verifier: TokenVerifier,
  settings: OidcConfig,
  token: string,
): Promise<Principal | null> {
  const claims = await verifier.verify(token);
  const subject = claims?.['sub'];
  if (claims === null || typeof subject !== 'string' || subject === '') return null;
  const idOrg = await organisationOf(access, settings, claimAt(claims, settings.orgClaim));
  if (idOrg === null) return null;
  const granted = new Set(
    valuesOf(claimAt(claims, settings.scopeClaim)).flatMap((value) => settings.scopeNames[value] ?? [value]),
  );
  return { idKey: `oidc ${subject}`, idOrg, scopes: allScopes.filter((scope) => granted.has(scope)) };
}

async function organisationOf(
  access: AccessStore,
  settings: OidcConfig,
  claim: unknown,
): Promise<number | null> {
  if (claim === undefined || claim === null) return settings.defaultOrg;
  if (typeof claim !== 'string' && typeof claim !== 'number') return null;
  const text = String(claim);
  if (/^[1-9]\d{0,14}$/.test(text)) return (await access.findOrg(Number(text)))?.id_org ?? null;
  return (await access.findOrgNamed(text))?.idOrg ?? null;
}

/** A claim by its own name, dots included, or step by step: `realm_access.roles`. */
function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

function valuesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(/\s+/);
  return Array.isArray(claim) ? claim.filter((value) => typeof value === 'string') : [];
}
