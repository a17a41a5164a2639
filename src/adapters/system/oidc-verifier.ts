/** Tokens of an OpenID Connect provider, checked with the keys that it publishes or that lie in a file. */
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import type { FetchImplementation, JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { TokenVerifier } from '../../ports/network/token-verifier.ts';

export interface OidcVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
  /** https: or http: address, or absolute path */
  readonly jwks: string;
  readonly algorithms: readonly string[];
}

/** how far the clocks of issuer and service may differ */
const toleranceSeconds = 30;
const longestToken = 16 * 1024;

/** AppError `service_unavailable` where the keys are to come from a file that is not there or holds none. */
export async function createOidcVerifier(options: OidcVerifierOptions): Promise<TokenVerifier> {
  const { issuer, audience, jwks } = options;
  const keys: JWTVerifyGetKey = jwks.startsWith('/')
    ? await keysOfFile(jwks)
    : createRemoteJWKSet(new URL(jwks), {
        timeoutDuration: 5000,
        cooldownDuration: 30_000,
        [customFetch]: fetchBounded,
      });
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
    async verify(token) {
      if (token.length > longestToken) return null;
      try {
        return await payloadOf(token);
      } catch (error) {
        if (isOutage(error))
          throw new AppError('service_unavailable', 'the keys of the identity provider cannot be had now', {
            headers: { 'Retry-After': '5' },
            cause: error,
          });
        return null;
      }
    },
  };
}

/** JOSEError for whatever is not a whole answer: else the check of the token would end with it as if the token were wrong. */
const fetchBounded: FetchImplementation = async (url, options) => {
  try {
    const answer = await fetch(url, options);
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return new Response(null, { status: 502 });
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let total = 0;
    for await (const chunk of answer.body ?? []) {
      total += chunk.byteLength;
      // leaving the loop cancels the rest
      if (total > fixedLimits.answerBytes) return new Response(null, { status: 502 });
      chunks.push(chunk);
    }
    return new Response(new Blob(chunks));
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw error;
    throw new errors.JOSEError('the key set could not be read', { cause: error });
  }
};

/** What is wrong with the key set rather than with the token. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')
  );
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
