/** The application: every endpoint, put together from what it is given. Web standards only; any runtime can serve it. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { cors } from 'hono/cors';
import { checkConfig } from './config/check-config.ts';
import type { Config } from './config/shape.ts';
import { createAboutRoutes } from './http/routes/about.ts';
import { createActuatorRoutes } from './http/actuator/info.ts';
import { createAdminRoutes } from './http/routes/admin.ts';
import { createGuards, behind } from './http/auth.ts';
import { createCilRoutes } from './http/routes/cil.ts';
import { createCredentialRoutes } from './http/routes/credentials.ts';
import { createDiagramRoutes } from './http/routes/diagrams.ts';
import { createDocRoutes, createErrorPageRoutes } from './http/routes/docs.ts';
import { createOpenApiDocument, registerComponents } from './http/openapi/document.ts';
import { compressed } from './http/compression.ts';
import type { AppEnv } from './http/env.ts';
import { createFollowers, requestId, securityHeaders } from './http/middleware.ts';
import { createExecutionRoutes } from './http/routes/executions.ts';
import { createHelpRoutes } from './http/routes/help.ts';
import { createFileRoutes } from './http/routes/files.ts';
import { createMappingRoutes } from './http/routes/mappings.ts';
import { createPageRoutes } from './http/routes/page.ts';
import { createMetrics, routeOf } from './http/metrics.ts';
import { createProblemRoutes } from './http/routes/problem-pages.ts';
import { createTransferRoutes } from './http/routes/transfer.ts';
import { createErrorHandler, problemResponse } from './http/problem.ts';
import { createRenderings } from './http/operation.ts';
import { createRunRoutes } from './http/routes/run.ts';
import { createSchemaRoutes } from './http/routes/schemas.ts';
import { createTargetRoutes } from './http/routes/targets.ts';
import { createWorkflowRoutes } from './http/routes/workflows.ts';
import { createWatchRoutes } from './http/routes/watches.ts';
import type { Adapters } from './ports/adapters.ts';

export interface AppOptions {
  /** path in front of the application that its host takes off requests before they come here (`/convert`) */
  readonly basePath?: string;
}

/**
 * Builds one application; several may live in one process. Serve its `fetch`, or put it below a prefix of another
 * application with `host.route('/prefix', app)` or `mount`. ConfigError where `config` is not of its type.
 */
export function createApp(
  adapters: Adapters,
  config: Config,
  { basePath = '' }: AppOptions = {},
): OpenAPIHono<AppEnv> {
  checkConfig(config);
  const app = new OpenAPIHono<AppEnv>();
  const guards = createGuards(adapters, config);

  app.onError(createErrorHandler(adapters.clock, adapters.logger));
  const metrics = createMetrics(() => adapters.clock.nowMs());
  app.use(
    '*',
    metrics.count,
    behind(basePath),
    requestId(adapters.clock, adapters.logger, adapters.tracer, routeOf),
    securityHeaders,
    compressed(adapters.compressor),
  );
  if (config.corsOrigins.length > 0) {
    app.use(
      '*',
      cors({
        origin: [...config.corsOrigins],
        exposeHeaders: [
          'X-Request-Id',
          'Content-Disposition',
          'Deprecation',
          'ETag',
          'Idempotency-Replayed',
          'Link',
          'Location',
          'Preference-Applied',
          'RateLimit',
          'RateLimit-Policy',
          'Retry-After',
          'Sunset',
        ],
      }),
    );
  }

  registerComponents(app);
  const followers = createFollowers(config.limits);
  const renderings = createRenderings();
  app.route('/', createRunRoutes(adapters, config, guards, followers));
  app.route('/', createExecutionRoutes(adapters, guards, followers));
  app.route('/', createWorkflowRoutes(adapters, guards));
  app.route('/', createWatchRoutes(adapters, config, guards));
  app.route('/', createFileRoutes(adapters, config, guards));
  // before the schemas, whose `/v2/schema/{id}` would take its paths
  app.route('/', createTransferRoutes(adapters, config, guards));
  app.route('/', createSchemaRoutes(adapters, config, guards, renderings));
  app.route('/', createTargetRoutes(adapters, config, guards));
  app.route('/', createMappingRoutes(adapters, config, guards, renderings));
  app.route('/', createDiagramRoutes(adapters, config, guards, renderings));
  app.route('/', createCilRoutes(adapters, config, guards, renderings));
  app.route('/', createAdminRoutes(adapters, config, guards));
  app.route('/', createCredentialRoutes(adapters, config, guards));
  app.route('/', createAboutRoutes(adapters, config, guards));
  app.route('/', createActuatorRoutes(adapters, metrics, guards));
  app.route('/', createErrorPageRoutes(adapters.clock));
  app.route('/', createPageRoutes(adapters.build, config, adapters.help));
  app.route('/', createHelpRoutes(adapters.help));
  // before the assets of /doc
  app.route('/', createProblemRoutes(adapters.help));
  app.route('/', createDocRoutes(adapters.assets, createOpenApiDocument(app)));

  // A route, not only `notFound`: a host that mounts this application keeps the routes and drops the handler.
  app.all('*', (c) =>
    problemResponse(c, adapters.clock, { code: 'not_found', detail: 'there is nothing at this path' }),
  );
  return app;
}
