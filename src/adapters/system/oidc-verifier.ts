/** Verifies tokens of an OpenID Connect provider with the keys that it publishes or those in a file. */
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { AppError } from '../../errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TokenVerifier } from '../../ports/network/token-verifier.ts';
import { createRemoteKeySet, isKeyOutage } from './remote-key-set.ts';

export interface OidcVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
  /** https: or http: address, or absolute path */
  readonly jwks: string;
  readonly algorithms: readonly string[];
  /** time for which keys remain in use that cannot be fetched again */
  readonly graceMs: number;
}

/** greatest difference between the clocks of issuer and service */
const toleranceSeconds = 30;
const longestToken = 16 * 1024;

/** AppError `service_unavailable` if the keys must come from a file that does not exist or holds none. */
export async function createOidcVerifier(
  options: OidcVerifierOptions,
  more: { readonly logger?: Logger; readonly nowMs?: () => number } = {},
): Promise<TokenVerifier> {
  const { issuer, audience, jwks } = options;
  const remote = jwks.startsWith('/')
    ? null
    : createRemoteKeySet({
        url: jwks,
        graceMs: options.graceMs,
        ...(more.logger === undefined ? {} : { logger: more.logger }),
        ...(more.nowMs === undefined ? {} : { nowMs: more.nowMs }),
      });
  const keys: JWTVerifyGetKey = remote?.keyOf ?? (await keysOfFile(jwks));
  const wanted = {
    issuer,
    audience,
    algorithms: [...options.algorithms],
    clockTolerance: toleranceSeconds,
    requiredClaims: ['exp', 'sub'],
  };

  async function payloadOf(token: string): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, keys, wanted)).payload;
    } catch (error) {
      // a token that names no key, or one of several of that name, was signed by any of them
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return (await jwtVerify(token, key, wanted)).payload;
        } catch (fault) {
          if (!(fault instanceof errors.JWSSignatureVerificationFailed)) throw fault;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  return {
    ...(remote === null ? {} : { keys: remote.figures }),
    async verify(token) {
      if (token.length > longestToken) return null;
      try {
        return await payloadOf(token);
      } catch (error) {
        if (isKeyOutage(error))
          throw new AppError('service_unavailable', 'the keys of the identity provider cannot be had now', {
            headers: { 'Retry-After': '5' },
            cause: error,
          });
        return null;
      }
    },
  };
}

async function keysOfFile(file: string): Promise<JWTVerifyGetKey> {
  try {
    return createLocalJWKSet(JSON.parse(await readFile(file, 'utf8')) as JSONWebKeySet);
  } catch (error) {
    throw new AppError('service_unavailable', `svc.oidc.jwks: ${file} cannot be read as a JSON Web Key Set`, {
      cause: error,
    });
  }
}
