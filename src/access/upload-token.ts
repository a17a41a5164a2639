/** Tokens for one upload each: made, kept as a hash, spent. */
import { AppError } from '../errors.ts';
import { fixedLimits } from '../config/limits.ts';
import type { AccessStore, UploadTokenClaim } from '../ports/stores/access.ts';
import { type Principal, randomSecret, sha256Hex } from './keys.ts';

export type UploadKind = 'xml' | 'xsd';

export interface IssuedUploadToken {
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
