/** Verifies tokens of an OpenID Connect provider with the keys that it publishes or those in a file. */
import { readFile } from 'node:fs/promises';
import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
} from 'jose';
import { AppError } from '../../errors.ts';
import type { Logger } from '../../ports/environment.ts';
import type { TokenVerifier } from '../../ports/network.ts';
import { fixedLimits } from '../../config/limits.ts';

interface OidcVerifierOptions {
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
          throw new AppError(
            'service_unavailable',
            'the keys of the identity provider are not available now',
            {
              headers: { 'Retry-After': '5' },
              cause: error,
            },
          );
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

// The public keys of an identity provider, fetched over HTTP and kept through its outages.

interface RemoteKeySetOptions {
  readonly url: string;
  /** time for which keys remain in use that cannot be fetched again */
  readonly graceMs: number;
  readonly logger?: Logger;
  readonly nowMs?: () => number;
}

interface KeySetFigures {
  /** since the keys were fetched; null: they never were */
  readonly ageMs: number | null;
  /** attempts at fetching that failed */
  readonly failures: number;
}

interface RemoteKeySet {
  readonly keyOf: JWTVerifyGetKey;
  figures(): KeySetFigures;
}

/** Keys of this age are fetched again. */
const freshMs = 10 * 60_000;
/** Between two attempts, whatever tokens name. */
const cooldownMs = 30_000;
const timeoutMs = 5_000;
/** Time in which a healthy provider answers; if keys are known, a token waits no longer. */
const patienceMs = 500;

interface KnownKeys {
  readonly find: (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => ReturnType<JWTVerifyGetKey>;
  readonly atMs: number;
}

/** `keyOf` rejects with an error of jose: `isKeyOutage` distinguishes those of the provider from those of the token. */
function createRemoteKeySet(options: RemoteKeySetOptions): RemoteKeySet {
  const { url, graceMs, logger, nowMs = Date.now } = options;
  let known: KnownKeys | null = null;
  let fetching: Promise<void> | null = null;
  let attemptMs = -Infinity;
  let failures = 0;
  let failing = false;

  async function fetchKeys(): Promise<void> {
    attemptMs = nowMs();
    try {
      const find = createLocalJWKSet(await readKeySet(url)) as KnownKeys['find'];
      known = { find, atMs: nowMs() };
      if (failing) logger?.info('the keys of the identity provider are fetched again', { jwks: url });
      failing = false;
    } catch (error) {
      failures += 1;
      if (!failing) {
        const until = known === null ? null : new Date(known.atMs + freshMs + graceMs).toISOString();
        logger?.warn('the keys of the identity provider cannot be fetched', {
          jwks: url,
          error: String(error),
          known_keys_serve_until: until,
        });
      }
      failing = true;
      throw error;
    }
  }

  /** One attempt at a time, which all tokens share. */
  function refresh(): Promise<void> {
    fetching ??= fetchKeys().finally(() => (fetching = null));
    // a caller that does not await it learns of the failure from the log
    fetching.catch(() => undefined);
    return fetching;
  }

  const rests = (): boolean => nowMs() - attemptMs < cooldownMs;

  async function keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput) {
    if (known === null || nowMs() - known.atMs >= freshMs + graceMs) await refresh();
    else if (nowMs() - known.atMs >= freshMs && !rests() && fetching === null) {
      // `refresh` logs a failure; the keys known last serve then
      const refreshed = refresh().catch(() => undefined);
      // after a failure the keys are fetched in the background alone
      if (!failing) await Promise.race([refreshed, pause(patienceMs)]);
    }
    const { find } = known!;
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // it may be a key that was published since
      if (rests() && !failing) throw error;
      if (!rests() || fetching !== null) await refresh();
      else throw new errors.JOSEError('the key set could not be read', { cause: error });
      return known!.find(header, token);
    }
  }

  return {
    keyOf: keyOf as JWTVerifyGetKey,
    figures: () => ({ ageMs: known === null ? null : nowMs() - known.atMs, failures }),
  };
}

/** Returns whether an error comes from the key set rather than from the token. */
function isKeyOutage(error: unknown): boolean {
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')
  );
}

/** Rejects with an error of jose, in bounded time and memory. */
async function readKeySet(url: string): Promise<JSONWebKeySet> {
  try {
    const answer = await fetch(url, {
      headers: { Accept: 'application/json, application/jwk-set+json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new errors.JOSEError(`the key set was answered with ${answer.status}`);
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let total = 0;
    for await (const chunk of answer.body ?? []) {
      total += chunk.byteLength;
      // leaving the loop cancels the rest
      if (total > fixedLimits.answerBytes)
        throw new errors.JOSEError(`the key set has more than ${fixedLimits.answerBytes} bytes`);
      chunks.push(chunk);
    }
    return (await new Response(new Blob(chunks)).json()) as JSONWebKeySet;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw error;
    if (error instanceof Error && error.name === 'TimeoutError') throw new errors.JWKSTimeout();
    throw new errors.JOSEError('the key set could not be read', { cause: error });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
