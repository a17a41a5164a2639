/** Who may call an operation: API keys in `Authorization: Bearer` (interface-decisions §7, §11). */
import type { Context, MiddlewareHandler } from 'hono';
import { checkKey } from '../access/check-key.ts';
import type { Principal } from '../access/check-key.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import type { Scope } from '../ports/access-store.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { AppEnv } from './env.ts';
import { createRateLimiter } from './rate-limit.ts';

export const apiKeySchemeName = 'apiKey';
export const uploadTokenSchemeName = 'uploadToken';

const bearer = /^Bearer +([\x21-\x7e]+) *$/i;

/** What a route definition spreads in: the check itself, and how the document tells of it. */
export interface Guard {
  readonly middleware: MiddlewareHandler<AppEnv>[];
  readonly security: Record<string, string[]>[];
}

export interface Guards {
  /** a key with that scope; null: any key */
  require(scope: Scope | null): Guard;
  /** For open paths that tell more to a key holder: null without a valid key. */
  identify(c: Context<AppEnv>): Promise<Principal | null>;
}

export function createGuards(
  adapters: Pick<Adapters, 'access' | 'clock'>,
  config: Pick<Config, 'limits'>,
): Guards {
  const rateLimiter = createRateLimiter(adapters.clock, {
    perSecond: config.limits.requestsPerSecond,
    burst: config.limits.requestBurst,
  });

  async function identify(c: Context<AppEnv>): Promise<Principal | null> {
    const key = bearer.exec(c.req.header('Authorization') ?? '')?.[1];
    return key === undefined ? null : await checkKey(adapters.access, adapters.clock, key);
  }

  function check(scope: Scope | null): MiddlewareHandler<AppEnv> {
    return async (c, next) => {
      const principal = await identify(c);
      if (principal === null) {
        const given = c.req.header('Authorization') !== undefined;
        throw new AppError('unauthorized', 'give a valid API key as Authorization: Bearer svk_…', {
          headers: {
            'WWW-Authenticate': given ? 'Bearer realm="api", error="invalid_token"' : 'Bearer realm="api"',
          },
        });
      }
      const waitMs = rateLimiter.take(principal.idKey);
      if (waitMs > 0) {
        throw new AppError('too_many_requests', 'this key sends more requests than it may', {
          headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
        });
      }
      if (scope !== null && !principal.scopes.includes(scope)) {
        throw new AppError('forbidden', `the operation needs the scope ${scope}`, {
          headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${scope}"` },
        });
      }
      c.set('principal', principal);
      await next();
    };
  }

  return {
    identify,
    require: (scope) => ({ middleware: [check(scope)], security: [{ [apiKeySchemeName]: [] }] }),
  };
}
