/** Request ids, traces, and the log's line for each request. */
import type { Context, MiddlewareHandler } from 'hono';
import type { Clock } from '../../ports/clock.ts';
import { childOf, parseTraceparent } from '../../jobs/trace-context.ts';
import type { Logger } from '../../ports/log.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { AppEnv } from '../env.ts';

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
