/** Tokens: those of an identity provider, which are mapped to a caller, and those that permit one upload. */
import type { OidcConfig } from '../../config/shape.ts';
import { allScopes, type AccessStore, type UploadTokenClaim } from '../../ports/stores/access.ts';
import type { TokenVerifier } from '../../ports/network.ts';
import { type Principal, randomSecret, sha256Hex } from './keys.ts';
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';

// Maps a token of the identity provider to its caller: its claims become an organisation and scopes of this service.

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

// Tokens for one upload each. Only their hash is kept.

export type UploadKind = 'xml' | 'xsd';

interface IssuedUploadToken {
  readonly token: string;
  /** epoch milliseconds, by the store's clock */
  readonly expiresAt: number;
}

/** Makes a token for one upload of that kind and at most that size. */
export async function issueUploadToken(
  access: AccessStore,
  {
    principal,
    kind,
    maxBytes,
  }: {
    readonly principal: Principal;
    readonly kind: UploadKind;
    readonly maxBytes: number;
  },
): Promise<IssuedUploadToken> {
  const token = randomSecret();
  const { expiresAt } = await access.saveUploadToken({
    idOrg: principal.idOrg,
    idKey: principal.idKey,
    kind,
    maxBytes,
    sha256: await sha256Hex(token),
    ttlMs: fixedLimits.uploadTokenMs,
  });
  return { token, expiresAt };
}

/**
 * Spends a token. Missing, spent, expired, of a key that has ended, or made for the other kind: AppError `invalid_upload_token`, one
 * answer for all.
 */
export async function spendUploadToken(
  access: AccessStore,
  token: string | undefined,
  kind: UploadKind,
): Promise<UploadTokenClaim> {
  const claim =
    token === undefined || token === '' || token.length > 256
      ? null
      : await access.spendUploadToken(await sha256Hex(token), kind);
  if (claim === null) {
    throw new AppError(
      'invalid_upload_token',
      'the query parameter token must be an unused upload token for this kind of file',
      {
        headers: { 'WWW-Authenticate': 'UploadToken realm="upload"' },
      },
    );
  }
  return claim;
}
