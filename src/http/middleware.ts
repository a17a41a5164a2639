/** Middleware of all requests: request ids and the log's line for each, security headers, and a limit on followed logs. */
import type { Principal } from '../service/access/keys.ts';
import { AppError } from '../errors.ts';
import type { Limits } from '../config/limits.ts';
import type { Context, MiddlewareHandler } from 'hono';
import type { Clock, Logger, Tracer } from '../ports/environment.ts';
import { childOf, parseTraceparent } from '../service/jobs/trace-context.ts';
import type { AppEnv } from './env.ts';

// Limits the number of logs that a key and an organisation follow at a time, in this process.

export interface Followers {
  /**
   * Takes a slot; returns the function that releases it, which may be called repeatedly. AppError `too_many_requests` if there is none.
   */
  enter(principal: Principal): () => void;
}

/** After this time a slot may well be free. */
const retryAfterS = 5;

export function createFollowers(
  limits: Pick<Limits, 'followersPerKey' | 'followersPerOrganisation'>,
): Followers {
  const counts = new Map<string, number>();

  function add(name: string, by: 1 | -1): void {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }

  function check(name: string, most: number, who: string, property: string): void {
    if ((counts.get(name) ?? 0) < most) return;
    throw new AppError(
      'too_many_requests',
      `${who} follows ${most} logs already, or waits for as many jobs (${property}): end one, or read the log without following it`,
      { headers: { 'Retry-After': String(retryAfterS) } },
    );
  }

  return {
    enter({ idOrg, idKey }) {
      const names = [`key ${idOrg} ${idKey}`, `organisation ${idOrg}`] as const;
      check(names[0], limits.followersPerKey, 'this key', 'svc.limits.followers_per_key');
      check(names[1], limits.followersPerOrganisation, 'this organisation', 'svc.limits.followers_per_org');
      for (const name of names) add(name, 1);
      let inside = true;
      return () => {
        if (inside) for (const name of names) add(name, -1);
        inside = false;
      };
    },
  };
}

// Request ids, traces, and the log's line for each request.

/** the ids that are accepted from a caller or a proxy: no spaces, quotes or line ends that could forge a line of the log */
const plausible = /^[A-Za-z0-9][A-Za-z0-9._:+/=-]{0,127}$/;

/**
 * Gives every request its id and its span (in the trace that `traceparent` names, or a new one), every answer `X-Request-Id`, and
 * writes one line to the log. Query strings are never logged, because they contain tokens.
 */
export function requestId(
  clock: Clock,
  logger: Logger,
  tracer?: Tracer,
  routeOf: (c: Context<AppEnv>) => string = () => 'none',
): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const given = c.req.header('X-Request-Id');
    const id = given !== undefined && plausible.test(given) ? given : crypto.randomUUID();
    c.set('requestId', id);
    const parent = parseTraceparent(c.req.header('traceparent'));
    const trace = childOf(parent);
    c.set('trace', trace);
    const startedMs = clock.nowMs();
    await next();
    c.res.headers.set('X-Request-Id', id);
    logger.info('request', {
      request_id: id,
      trace_id: trace.traceId,
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      duration_ms: clock.nowMs() - startedMs,
    });
    if (tracer === undefined || !trace.sampled) return;
    const route = routeOf(c);
    tracer.record({
      name: `${c.req.method} ${route}`,
      kind: 'server',
      traceId: trace.traceId,
      spanId: trace.spanId,
      ...(parent === null ? {} : { parentSpanId: parent.spanId }),
      startMs: startedMs,
      endMs: clock.nowMs(),
      ...(c.res.status < 500 ? {} : { error: `status ${c.res.status}` }),
      attributes: {
        'http.request.method': c.req.method,
        'http.route': route,
        'http.response.status_code': c.res.status,
        'svc.request_id': id,
      },
    });
  };
}

// Security headers of every answer.

const always: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Headers that a handler may set itself, because its answer is a page or may be cached. */
const unlessSet: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The security headers of an answer that is neither a page nor cached. */
export const securityHeaderValues: Readonly<Record<string, string>> = { ...always, ...unlessSet };

export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(always)) c.res.headers.set(name, value);
  for (const [name, value] of Object.entries(unlessSet)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};
