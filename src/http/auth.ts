/**
 * Authenticates callers of operations: API keys, and tokens of an identity provider, in `Authorization: Bearer`
 * (docs/decisions/service/secrets.md).
 */
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { createKeyCheck, type Principal, equalInConstantTime } from '../service/access/keys.ts';
import { checkToken } from '../service/access/tokens.ts';
import type { Config } from '../config/shape.ts';
import { AppError } from '../errors.ts';
import type { Scope } from '../ports/stores/access.ts';
import type { Adapters } from '../ports/adapters.ts';
import { connectionOf, type AppEnv } from './env.ts';
import type { Clock } from '../ports/environment.ts';

export const apiKeySchemeName = 'apiKey';
export const uploadTokenSchemeName = 'uploadToken';

const bearer = /^Bearer +([\x21-\x7e]+) *$/i;

/** The members to spread into a route definition: the check itself, and its description in the OpenAPI document. */
interface Guard {
  readonly middleware: MiddlewareHandler<AppEnv>[];
  readonly security: Record<string, string[]>[];
}

export interface Guards {
  /** a key with that scope; null: any key */
  require(scope: Scope | null): Guard;
  /** a key of organisation 1 with `metrics:read` or `admin`: figures and settings of all organisations */
  requireMetrics(): Guard;
  /** Like `requireMetrics`, but also accepts `svc.metrics.token`, which needs no database. */
  requireMetricsOrToken(): Guard;
  /** For open paths that reveal more to an operator: returns false without a key that `requireMetrics` accepts. */
  mayReadMetrics(c: Context<AppEnv>): Promise<boolean>;
  /** Looks keys up again, because one of them was revoked. */
  forgetKeys(): void;
}

/** organisation whose keys may inspect what the service does for all */
const operatorOrg = 1;

/** Scopes whose GET operations change something too. */
const changingScopes: ReadonlySet<Scope | null> = new Set(['jobs:run', 'schemas:write']);

function isOperator({ idOrg, scopes }: Principal): boolean {
  return idOrg === operatorOrg && (scopes.includes('metrics:read') || scopes.includes('admin'));
}

export function createGuards(
  adapters: Pick<Adapters, 'access' | 'clock' | 'logger' | 'tokens' | 'callers'>,
  config: Pick<Config, 'limits' | 'oidc' | 'metricsToken'>,
): Guards {
  const rateLimiter = createRateLimiter(adapters.clock, {
    perSecond: config.limits.requestsPerSecond,
    burst: config.limits.requestBurst,
  });

  const rateLimitPolicy = policyOf(config.limits.requestsPerSecond, config.limits.requestBurst);
  const keys = createKeyCheck(adapters.access, adapters.clock);

  async function identify(c: Context<AppEnv>): Promise<Principal | null> {
    const caller = (await adapters.callers?.identify(c.req.raw)) ?? null;
    if (caller !== null) return { idKey: `host ${caller.name}`, idOrg: caller.idOrg, scopes: caller.scopes };
    return await identifyBearer(c);
  }

  async function identifyBearer(c: Context<AppEnv>): Promise<Principal | null> {
    const given = bearer.exec(c.req.header('Authorization') ?? '')?.[1];
    if (given === undefined) return null;
    const { access, tokens } = adapters;
    if (given.startsWith('svk_') || tokens === undefined || config.oidc === null)
      return await keys.check(given);
    return await checkToken(access, tokens, config.oidc, given);
  }

  /** Returns whether a long request may continue. A caller that the host signed in is signed out by the host, which ends the request. */
  async function mayGoOn(
    c: Context<AppEnv>,
    { idKey, idOrg }: Principal,
    scope: Scope | null,
  ): Promise<boolean> {
    if (idKey.startsWith('host ')) return true;
    const now = await identifyBearer(c);
    return now?.idKey === idKey && now.idOrg === idOrg && (scope === null || now.scopes.includes(scope));
  }

  /** The work is done already: a line that cannot be written is reported in the log, and the answer stays. */
  async function record(
    c: Context<AppEnv>,
    { idKey, idOrg }: Principal,
    own: OwnAddress,
    status: number,
  ): Promise<void> {
    const action = `${c.req.method} ${own.route}`;
    try {
      await adapters.access.recordAudit({
        idOrg,
        actor: /^(?:oidc|host) /.test(idKey) ? idKey : `key ${idKey}`,
        action,
        subject: c.get('auditSubject') ?? own.path,
        status,
        requestId: c.get('requestId'),
      });
    } catch (error) {
      adapters.logger.error('the audit entry could not be written', {
        request_id: c.get('requestId'),
        action,
        error: String(error),
      });
    }
  }

  function check(scope: Scope | null): MiddlewareHandler<AppEnv> {
    return async (c, next) => {
      const principal = await identify(c);
      if (principal === null) {
        const given = c.req.header('Authorization') !== undefined;
        throw new AppError(
          'unauthorized',
          'give a valid API key as Authorization: Bearer svk_… (the first one is in the file admin.key of the home folder)',
          {
            headers: {
              'WWW-Authenticate': given ? 'Bearer realm="api", error="invalid_token"' : 'Bearer realm="api"',
            },
          },
        );
      }
      connectionOf(c)?.heldBy(principal.idOrg, principal.idKey);
      const { waitMs, remaining, fullAfterMs } = rateLimiter.take(principal.idKey);
      // set before anything can fail: refusals have these headers too
      c.header('RateLimit-Policy', rateLimitPolicy);
      c.header('RateLimit', `"default";r=${remaining};t=${Math.ceil(fullAfterMs / 1000)}`);
      if (waitMs > 0) {
        throw new AppError('too_many_requests', 'this key sends more requests than it may', {
          headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
        });
      }
      const { method } = c.req;
      const own = ownAddress(routePath(c), c.req.path);
      if (scope !== null && !principal.scopes.includes(scope)) {
        await record(c, principal, own, 403);
        throw new AppError('forbidden', `the operation needs the scope ${scope}`, {
          headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${scope}"` },
        });
      }
      c.set('principal', principal);
      if (adapters.callers?.queryParameters !== undefined)
        c.set('hostParameters', adapters.callers.queryParameters);
      c.set('mayGoOn', () => mayGoOn(c, principal, scope));
      await next();
      const changes = (method !== 'GET' && method !== 'HEAD') || changingScopes.has(scope);
      if (changes && c.res.status < 400) await record(c, principal, own, c.res.status);
    };
  }

  const refuseOthers: MiddlewareHandler<AppEnv> = async (c, next) => {
    const principal = c.get('principal');
    if (!isOperator(principal)) {
      await record(c, principal, ownAddress(routePath(c), c.req.path), 403);
      throw new AppError(
        'forbidden',
        'the operation needs a key of organisation 1 with the scope metrics:read or admin: it shows data of all organisations',
        {
          headers: {
            'WWW-Authenticate': 'Bearer realm="api", error="insufficient_scope", scope="metrics:read"',
          },
        },
      );
    }
    await next();
  };
  const metricsMiddleware = [check(null), refuseOthers];

  /** Whether the request has the token of `svc.metrics.token`. */
  function hasMetricsToken(c: Context<AppEnv>): boolean {
    const given = bearer.exec(c.req.header('Authorization') ?? '')?.[1];
    const token = config.metricsToken ?? null;
    return token !== null && given !== undefined && equalInConstantTime(given, token);
  }

  return {
    async mayReadMetrics(c) {
      const principal = await identify(c);
      return principal !== null && isOperator(principal);
    },
    requireMetrics: () => ({ middleware: metricsMiddleware, security: [{ [apiKeySchemeName]: [] }] }),
    requireMetricsOrToken: () => ({
      middleware: metricsMiddleware.map(
        (step): MiddlewareHandler<AppEnv> =>
          (c, next) =>
            hasMetricsToken(c) ? next() : step(c, next),
      ),
      security: [{ [apiKeySchemeName]: [] }],
    }),
    forgetKeys: keys.forget,
    require: (scope) => ({ middleware: [check(scope)], security: [{ [apiKeySchemeName]: [] }] }),
  };
}

// Limits the requests of a key.

interface RateLimiter {
  /** Counts one request of this key, if it may pass. */
  take(key: string): Quota;
}

/** The quota of a key after a request. */
interface Quota {
  /** milliseconds until a request may pass; 0 if this one may */
  readonly waitMs: number;
  /** requests that may follow at once */
  readonly remaining: number;
  /** milliseconds without requests after which the quota is full again */
  readonly fullAfterMs: number;
}

/**
 * The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): `burst` requests in the seconds in which as many are
 * replenished.
 */
function policyOf(perSecond: number, burst: number): string {
  return `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}

/** Number of remembered keys above which full buckets are forgotten. */
const sweepAt = 10_000;

/** A token bucket per key, in this process: `perSecond` on average, `burst` at once. */
function createRateLimiter(
  clock: Clock,
  limit: { readonly perSecond: number; readonly burst: number },
): RateLimiter {
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function refilled(bucket: { tokens: number; atMs: number }, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - bucket.atMs);
    return Math.min(limit.burst, bucket.tokens + (elapsedMs * limit.perSecond) / 1000);
  }

  function forgetFull(nowMs: number): void {
    for (const [key, bucket] of buckets) {
      if (refilled(bucket, nowMs) >= limit.burst) buckets.delete(key);
    }
  }

  return {
    take(key) {
      const nowMs = clock.nowMs();
      if (buckets.size >= sweepAt) forgetFull(nowMs);
      const bucket = buckets.get(key) ?? { tokens: limit.burst, atMs: nowMs };
      const tokens = refilled(bucket, nowMs);
      const passes = tokens >= 1;
      const left = passes ? tokens - 1 : tokens;
      buckets.set(key, { tokens: left, atMs: nowMs });
      return {
        waitMs: passes ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 1000) / limit.perSecond)),
        remaining: Math.floor(left),
        fullAfterMs: ((limit.burst - left) * 1000) / limit.perSecond,
      };
    },
  };
}

// The application's own address, as its clients see it behind hosts and proxies.

/** Records the prefix that a host has stripped from the requests, and the length of one that it has left in front of them. */
export function behind(basePath: string): MiddlewareHandler<AppEnv> {
  const prefix = basePath.replace(/\/+$/, '');
  return async (c, next) => {
    c.set('basePath', prefix);
    c.set('segmentsBefore', routePath(c).split('/').length - 2);
    await next();
  };
}

/**
 * Returns the reference from the address of the request to the root of the application: '' or `../../`. It holds below any prefix, those
 * of proxies included, because it names none.
 */
export function rootReference(c: Context): string {
  const before = (c.get('segmentsBefore') as number | undefined) ?? 0;
  const depth = c.req.path.split('/').length - 2 - before;
  // the root of a host's route has no slash at its end
  return depth < 0 ? `${c.req.path.slice(c.req.path.lastIndexOf('/') + 1)}/` : '../'.repeat(depth);
}

/** Returns the path of the current request, including the prefix of the application. */
export function clientPath(c: Context): string {
  const prefix = (c.get('basePath') as string | undefined) ?? '';
  return prefix + c.req.path;
}

/** Route and path of the current request as the API names them, without a host's prefix. */
interface OwnAddress {
  readonly route: string;
  readonly path: string;
}

/** Returns the address of an operation that needs a key. `route` is the pattern that matched the request, including the host's prefix. */
export function ownAddress(route: string, path: string): OwnAddress {
  // a host's prefix may contain a part with such a name; the paths of operations contain none after their first segment
  const own = route.replace(/^.*(?=\/(?:v2|actuator)\/)/, '');
  const before = route.slice(0, route.length - own.length).split('/').length;
  return { route: own, path: `/${path.split('/').slice(before).join('/')}` };
}
