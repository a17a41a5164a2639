/** Health and metrics of a worker, on a port of its own: `/actuator` as in the service, and nothing else. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { readBuildInfo } from './build-info.ts';
import { createProcessFigures } from './system/process-figures.ts';
import { createActuatorRoutes } from '../http/actuator/info.ts';
import { createErrorHandler, problemResponse } from '../http/problem.ts';
import type { AppEnv } from '../http/env.ts';
import { behind, createGuards } from '../http/auth.ts';
import { requestId, securityHeaders } from '../http/middleware.ts';
import { createMetrics } from '../http/metrics.ts';
import { createHealth } from './health.ts';
import { listen, closeServer } from './listen.ts';
import type { OpenedInstallation } from './open-installation.ts';

export interface ProbeServer {
  /** `http://HOST:PORT` */
  readonly url: string;
  /** Closes the port. Idempotent. */
  close(): Promise<void>;
}

/** `accepting`: returns false once the worker drains, which makes readiness 503. ConfigError if the port is in use. */
export async function startProbeServer(
  opened: OpenedInstallation,
  address: { readonly host: string; readonly port: number },
  state: { readonly running: () => number; readonly accepting: () => boolean },
): Promise<ProbeServer> {
  const { config } = opened;
  const { clock, logger } = opened.adapters;
  const adapters = {
    ...opened.adapters,
    health: createHealth(opened, state),
    process: createProcessFigures(),
    build: await readBuildInfo(),
  };
  const app = new OpenAPIHono<AppEnv>();
  const metrics = createMetrics(() => clock.nowMs());
  app.onError(createErrorHandler(clock, logger));
  app.use('*', metrics.count, behind(''), requestId(clock, logger), securityHeaders);
  app.route('/', createActuatorRoutes(adapters, metrics, createGuards(adapters, config)));
  app.all('*', (c) =>
    problemResponse(c, clock, {
      code: 'not_found',
      detail: 'a worker serves only /actuator: send requests to a service',
    }),
  );
  const { server, url } = await listen((request, env) => app.fetch(request, env), {
    ...address,
    connections: config.limits.connections,
  });
  let closed: Promise<void> | null = null;
  return { url, close: () => (closed ??= closeServer(server)) };
}
