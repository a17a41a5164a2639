/** Health and info for operators: /actuator, in the JSON of Spring Boot's actuator (docs/decisions/service/operator-endpoints.md). */
import { createRoute, z } from '@hono/zod-openapi';
import { zValidator } from '@hono/zod-validator';
import type { Context } from 'hono';
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import { clientPath, apiKeySchemeName, type Guards } from '../auth.ts';
import {
  answer,
  inEveryType,
  typeFor,
  aggregate,
  readHealth,
  toWire,
  type ActuatorType,
  actuatorOperations,
} from './operations.ts';
import type { AppEnv } from '../env.ts';
import { prometheusText, type Metrics } from '../metrics.ts';
import { createGroup, problems, problemsOnly, rawOperation, refuseInvalid } from '../operation.ts';

const ActuatorLink = z.object({ href: z.string(), templated: z.boolean() }).openapi('ActuatorLink', {
  description: '`templated`: the address has a part in braces to fill in.',
  example: { href: 'http://127.0.0.1:8080/actuator/health', templated: false },
});

const Links = z.object({ _links: z.record(z.string(), ActuatorLink) }).openapi('ActuatorLinks', {
  example: { _links: { self: { href: 'http://127.0.0.1:8080/actuator', templated: false } } },
});

const Health = z
  .looseObject({ status: z.enum(['UP', 'DOWN', 'OUT_OF_SERVICE', 'UNKNOWN']) })
  .openapi('Health', {
    description:
      'With a key of organisation 1 with the scope `metrics:read` or `admin`, the answer also has `components` (`details` in version 2) and the groups.',
    example: { status: 'UP', groups: ['liveness', 'readiness'] },
  });

const Info = z.looseObject({}).openapi('Info', {
  example: {
    build: { artifact: 'conversion-job-service', name: 'conversion-job-service', version: '1.0.0' },
  },
});

const healthResponses = {
  200: inEveryType(Health, 'UP or UNKNOWN.'),
  ...problemsOnly(401, 403, 404, 406, 500),
  503: inEveryType(Health, 'DOWN or OUT_OF_SERVICE.'),
};
const tags = ['actuator'];
/** a key is welcome but not needed */
const security: Record<string, string[]>[] = [{}, { [apiKeySchemeName]: [] }];

export function createActuatorRoutes(
  adapters: Pick<
    Adapters,
    'health' | 'build' | 'jobs' | 'watches' | 'process' | 'log' | 'settings' | 'tokens' | 'figures'
  >,
  metrics: Metrics,
  guards: Guards,
) {
  const shared = sharedOf(adapters, metrics, guards);
  const { showPart } = shared;
  const group = createGroup([
    prometheusOperation(shared),
    linksOperation(shared),
    infoOperation(shared),
    healthOperation(shared),
    partOperation(shared),
    partOfGroupOperation(shared),
    ...actuatorOperations(adapters, metrics, guards),
  ]);
  // parts of parts, as deep as they go: OpenAPI has no form for that
  group.get('/actuator/health/:path{.+}', zValidator('param', deepPath, refuseInvalid), (c) =>
    showPart(c, c.req.valid('param').path),
  );
  return group;
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(
  adapters: Pick<
    Adapters,
    'health' | 'build' | 'jobs' | 'watches' | 'process' | 'log' | 'settings' | 'tokens' | 'figures'
  >,
  metrics: Metrics,
  guards: Guards,
) {
  async function showPart(c: Context<AppEnv>, path: readonly string[]): Promise<Response> {
    const type = typeFor(c);
    const [first = '', ...rest] = path;
    const isGroup = first === 'liveness' || first === 'readiness';
    // A probe of a whole group must answer even if the database with the keys does not
    const isProbe = isGroup && rest.length === 0;
    const shown = !isProbe && (await guards.mayReadMetrics(c).catch(() => false));
    if (!shown && !isProbe) throw noSuchPart();
    const tree = aggregate(await readHealth(adapters.health, isGroup ? first : null));
    let found = isGroup ? tree : { status: tree.status, components: tree.components };
    for (const step of isGroup ? rest : path) {
      if (found.components === undefined || !Object.hasOwn(found.components, step)) throw noSuchPart();
      found = found.components[step]!;
    }
    // A probe looks at no credentials, and still says why this process takes no jobs
    const version = isProbe ? tree.components?.['version'] : undefined;
    const tells = version !== undefined && version.status !== 'UP';
    if (tells) found = { status: tree.status, components: { version } };
    return healthAnswer(c, type, found.status, toWire(found, type, shown || tells));
  }

  return { adapters, metrics, guards, showPart };
}

type Shared = ReturnType<typeof sharedOf>;

function linksOperation({ adapters }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator',
      operationId: 'getActuatorLinks',
      summary: 'List the operational endpoints',
      description:
        'The operational endpoints in the format of Spring Boot Actuator, for monitoring tools that support it.',
      tags,
      security: [],
      responses: { 200: inEveryType(Links, 'The links.'), ...problemsOnly(401, 403, 404, 406, 500) },
    }),
    (c) => {
      const type = typeFor(c);
      const self = new URL(c.req.url).origin + clientPath(c);
      const link = (path: string, templated = false) => ({ href: `${self}${path}`, templated });
      return answer(c, type, {
        _links: {
          self: link(''),
          health: link('/health'),
          'health-path': link('/health/{*path}', true),
          info: link('/info'),
          prometheus: link('/prometheus'),
          metrics: link('/metrics'),
          'metrics-requiredMetricName': link('/metrics/{requiredMetricName}', true),
          env: link('/env'),
          'env-toMatch': link('/env/{toMatch}', true),
          ...(adapters.log === undefined
            ? {}
            : {
                loggers: link('/loggers'),
                'loggers-name': link('/loggers/{name}', true),
                logfile: link('/logfile'),
              }),
        },
      });
    },
  );
}

function infoOperation({ adapters }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator/info',
      operationId: 'getInfo',
      summary: 'Get the build information',
      description: 'Name, version and build of the program.',
      tags,
      security: [],
      responses: { 200: inEveryType(Info, 'Build and git.'), ...problemsOnly(401, 403, 404, 406, 500) },
    }),
    (c) => {
      const { name, version, time, git } = adapters.build;
      return answer(c, typeFor(c), {
        build: { artifact: name, name, version, ...isoTime(time) },
        ...(git === null
          ? {}
          : { git: { branch: git.branch, commit: { id: git.commit.id, ...isoTime(git.commit.time) } } }),
      });
    },
  );
}

function healthOperation({ adapters, guards }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator/health',
      operationId: 'getHealth',
      summary: 'Get the health of the service',
      description:
        '`UP` or `DOWN`, for the service and for each component. The status is 503 if a required component is down.',
      tags,
      security,
      responses: healthResponses,
    }),
    async (c) => {
      const type = typeFor(c);
      const shown = await guards.mayReadMetrics(c).catch(() => false);
      const tree = aggregate(await readHealth(adapters.health));
      return healthAnswer(c, type, tree.status, {
        ...toWire(tree, type, shown),
        groups: ['liveness', 'readiness'],
      });
    },
  );
}

function partOperation({ showPart }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator/health/{component}',
      operationId: 'getHealthComponent',
      summary: 'Get the health of a component or of a group',
      description:
        'The groups `liveness` and `readiness` need no credentials; a component needs a key of organisation 1 with the scope `metrics:read` or `admin`.',
      tags,
      security,
      request: { params: z.object({ component: z.string().openapi({ example: 'liveness' }) }) },
      responses: healthResponses,
    }),
    async (c) => await showPart(c, [c.req.param('component') ?? '']),
  );
}

function partOfGroupOperation({ showPart }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator/health/{group}/{component}',
      operationId: 'getHealthComponentOfGroup',
      summary: 'Get the health of a component of a group',
      description: 'The health of one component of `liveness` or `readiness`.',
      tags,
      security,
      request: {
        params: z.object({
          group: z.string().openapi({ example: 'readiness' }),
          component: z.string().openapi({ example: 'readinessState' }),
        }),
      },
      responses: healthResponses,
    }),
    async (c) => await showPart(c, [c.req.param('group') ?? '', c.req.param('component') ?? '']),
  );
}

function prometheusOperation({ adapters, metrics, guards }: Shared) {
  return rawOperation(
    createRoute({
      method: 'get',
      path: '/actuator/prometheus',
      operationId: 'getMetrics',
      summary: 'Read the metrics, in the text format of Prometheus',
      description:
        'Requests by route and state, jobs by kind and state with their duration, rows and bytes, the age of the queue, and figures of the process. ' +
        '`svc_component_up` shows which components are up; while the database is down, metrics that come from it are absent. ' +
        'For keys of organisation 1 with the scope `metrics:read` or `admin`, and for the token of `svc.metrics.token`.',
      tags,
      ...guards.requireMetricsOrToken(),
      responses: {
        200: {
          description: 'The metrics.',
          content: {
            'text/plain': {
              schema: z.string().openapi({ example: '# TYPE svc_jobs gauge\nsvc_jobs{status="Q"} 0\n' }),
            },
          },
        },
        ...problems(),
      },
    }),
    async (c) => {
      c.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
      return c.body(prometheusText(await metrics.families(adapters)), 200);
    },
  );
}

const deepPath = z.object({
  path: z
    .string()
    .max(1000)
    .transform((path) => path.split('/')),
});

function noSuchPart(): AppError {
  return new AppError('not_found', 'there is no such health component');
}

function isoTime(epochMs: number | null): { readonly time?: string } {
  return epochMs === null ? {} : { time: new Date(epochMs).toISOString() };
}

function healthAnswer(c: Context<AppEnv>, type: ActuatorType, status: string, body: unknown): Response {
  return answer(c, type, body, status === 'DOWN' || status === 'OUT_OF_SERVICE' ? 503 : 200);
}
