/** Request ids, and the log's line for each request. */
import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { AppEnv } from '../env.ts';

/** what is taken over from a caller or a proxy: no spaces, quotes or line ends that could forge a line of the log */
const plausible = /^[A-Za-z0-9][A-Za-z0-9._:+/=-]{0,127}$/;

/** Gives every request its id, every answer `X-Request-Id`, and the log one line. Query strings are never logged: they hold tokens. */
export function requestId(clock: Clock, logger: Logger): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const given = c.req.header('X-Request-Id');
    const id = given !== undefined && plausible.test(given) ? given : crypto.randomUUID();
    c.set('requestId', id);
    const startedMs = clock.nowMs();
    await next();
    c.res.headers.set('X-Request-Id', id);
    logger.info('request', {
      request_id: id,
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      duration_ms: clock.nowMs() - startedMs,
    });
  };
}
