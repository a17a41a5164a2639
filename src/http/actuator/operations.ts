/**
 * The operations for monitoring and control in the JSON of Spring Boot's actuator: metrics, settings, loggers and the log of the service.
 * The tree of health, and the media types of answers, are shared with src/http/actuator/info.ts.
 */
import type { HealthComponent, HealthProbe, HealthStatus, ServiceLog } from '../../ports/environment.ts';
import { z, createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../errors.ts';
import { negotiate } from '../problem.ts';
import type { AppEnv } from '../env.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { Adapters, SettingOrigin } from '../../ports/adapters.ts';
import {
  EnvironmentSetting,
  EnvironmentSources,
  LevelRequest,
  LoggerLevel,
  Loggers,
  Metric,
  MetricNames,
  logLevels,
} from './structures.ts';
import type { Guards } from '../auth.ts';
import { byteRange } from '../download.ts';
import { bodyText, jsonBody } from '../json-body.ts';
import { actuatorMetric, actuatorName, type ActuatorMetric, type Metrics } from '../metrics.ts';
import { operation, problems, rawOperation } from '../operation.ts';

// The tree of health components, its summary, and its JSON in the two versions of the original format.

const actuatorTypes = [
  'application/vnd.spring-boot.actuator.v3+json',
  'application/vnd.spring-boot.actuator.v2+json',
  'application/json',
] as const;
export type ActuatorType = (typeof actuatorTypes)[number];

/** The health of a component, with details, or of a group of components. */
interface HealthTree {
  readonly status: HealthStatus;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly components?: Readonly<Record<string, HealthTree>>;
}

type HealthGroup = 'liveness' | 'readiness';

/** the worst first, as the original orders them */
const severity: readonly HealthStatus[] = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'];

/** Asks only the parts that are wanted: a liveness probe must not depend on the database. */
export async function readHealth(
  probe: HealthProbe,
  group: HealthGroup | null = null,
): Promise<Readonly<Record<string, HealthComponent>>> {
  const livenessState: HealthComponent = { status: 'UP' };
  const readinessState: HealthComponent = { status: probe.acceptsTraffic() ? 'UP' : 'OUT_OF_SERVICE' };
  if (group === 'liveness') return { livenessState };
  const version = probe.version?.();
  const versions: Record<string, HealthComponent> = version === undefined ? {} : { version };
  if (group === 'readiness') return { readinessState, ...versions };
  const [db, diskSpace, objectStore, worker] = await Promise.all([
    probe.db(),
    probe.diskSpace(),
    probe.objectStore?.() ?? null,
    probe.worker(),
  ]);
  const parts = { db, diskSpace, livenessState, readinessState, worker, ...versions };
  return objectStore === null ? parts : { ...parts, objectStore };
}

export function aggregate(components: Readonly<Record<string, HealthTree>>): HealthTree {
  const statuses = new Set(Object.values(components).map(({ status }) => status));
  return { status: severity.find((status) => statuses.has(status)) ?? 'UNKNOWN', components };
}

/** `shown`: with components and details; they are named `components` in version 3 and `details` in version 2. */
export function toWire(tree: HealthTree, type: ActuatorType, shown: boolean): Record<string, unknown> {
  if (!shown) return { status: tree.status };
  const wire: Record<string, unknown> = { status: tree.status };
  if (tree.components !== undefined) {
    const parts = Object.entries(tree.components).map(([name, part]) => [name, toWire(part, type, shown)]);
    wire[type.includes('v2') ? 'details' : 'components'] = Object.fromEntries(parts);
  }
  if (tree.details !== undefined && Object.keys(tree.details).length > 0) wire.details = tree.details;
  return wire;
}

// Answers in the media types of the actuator.

export function inEveryType<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: Object.fromEntries(actuatorTypes.map((type) => [type, { schema }])) };
}

export function typeFor(c: Context<AppEnv>): ActuatorType {
  const type = negotiate(c.req.header('Accept'), actuatorTypes);
  if (type === null) throw new AppError('not_acceptable', `one of ${actuatorTypes.join(', ')} can be given`);
  return type;
}

export function answer(
  c: Context<AppEnv>,
  type: ActuatorType,
  body: unknown,
  status: 200 | 503 = 200,
): Response {
  return c.body(JSON.stringify(body), status, { 'Content-Type': type, Vary: 'Accept' });
}

// The operations.

const tags = ['actuator'];
const masked = '******';
/** the media types that clients of Spring Boot's actuator send */
const actuatorJson = /^application\/(?:vnd\.spring-boot\.actuator\.v[23]\+)?json$/;
const rootLogger = 'ROOT';
/** organisation whose keys may inspect what the service does for all */
const operatorOrg = 1;

type OperationAdapters = Pick<
  Adapters,
  'health' | 'build' | 'jobs' | 'watches' | 'process' | 'log' | 'settings' | 'tokens' | 'figures'
>;

export function actuatorOperations(adapters: OperationAdapters, metrics: Metrics, guards: Guards) {
  const shared = sharedOf(adapters, metrics, guards);
  return [
    metricNamesOperation(shared),
    metricOperation(shared),
    envOperation(shared),
    settingOperation(shared),
    loggersOperation(shared),
    loggerOperation(shared),
    setLevelOperation(shared),
    logfileOperation(shared),
  ] as const;
}

const loggerParam = z.object({ name: z.string().openapi({ example: rootLogger }) });

/** Returns the dependencies that the operations of this group share. */
function sharedOf(adapters: OperationAdapters, metrics: Metrics, guards: Guards) {
  const guard = guards.require('admin');
  const get = { method: 'get' as const, tags, ...guards.requireMetrics() };

  return { adapters, metrics, guard, get };
}

type Shared = ReturnType<typeof sharedOf>;

function metricNamesOperation({ adapters, metrics, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/metrics',
      operationId: 'listMetrics',
      summary: 'List the names of the metrics',
      description: 'The names that `/actuator/metrics/{name}` accepts.',
      responses: { 200: inEveryType(MetricNames, 'The names.'), ...problems(406) },
    }),
    async (c) => {
      const type = typeFor(c);
      const known = (await metrics.families(adapters)).filter(
        (family) => actuatorMetric(family, []) !== null,
      );
      const names = known.map((family) => actuatorName(family));
      return answer(c, type, { names: names.toSorted() });
    },
  );
}

function metricOperation({ adapters, metrics, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/metrics/{name}',
      operationId: 'getMetric',
      summary: 'Read one metric',
      description: '`tag` restricts the metric to samples with that tag; it may be repeated.',
      request: {
        params: z.object({ name: z.string().openapi({ example: 'svc.http.requests' }) }),
        query: z.object({
          tag: z
            .union([z.string(), z.array(z.string())])
            .optional()
            .openapi({
              type: 'array',
              items: { type: 'string', pattern: '^[^:]+:' },
              example: ['status:2xx'],
            }),
        }),
      },
      responses: { 200: inEveryType(Metric, 'The metric.'), ...problems(400, 406) },
    }),
    async (c) => {
      const type = typeFor(c);
      const asked = c.req.queries('tag') ?? [];
      if (asked.some((tag) => !/^[^:]+:/.test(tag)))
        throw new AppError('invalid_parameter', 'tag must be TAG:VALUE');
      const name = c.req.param('name');
      const family = (await metrics.families(adapters)).find((one) => actuatorName(one) === name);
      const found: ActuatorMetric | null = family === undefined ? null : actuatorMetric(family, asked);
      if (found === null) throw new AppError('not_found', 'there is no such metric');
      return answer(c, type, found);
    },
  );
}

function envOperation({ adapters, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/env',
      operationId: 'getEnvironment',
      summary: 'List the settings and their sources',
      description: 'Only values of defaults are shown; all others are masked.',
      responses: { 200: inEveryType(EnvironmentSources, 'The settings.'), ...problems(406) },
    }),
    (c) => answer(c, typeFor(c), { activeProfiles: [], propertySources: sourcesOf(adapters.settings) }),
  );
}

function settingOperation({ adapters, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/env/{name}',
      operationId: 'getEnvironmentSetting',
      summary: 'Get the source of a setting',
      description:
        'The source of the setting: a file, the environment or the default. Every value that is not a default is masked.',
      request: { params: z.object({ name: z.string().openapi({ example: 'cmd.enabled' }) }) },
      responses: { 200: inEveryType(EnvironmentSetting, 'The setting.'), ...problems(406) },
    }),
    (c) => {
      const type = typeFor(c);
      const found = adapters.settings.find(({ name }) => name === c.req.param('name'));
      if (found === undefined) throw new AppError('not_found', 'there is no such setting');
      const value = shown(found);
      return answer(c, type, {
        property: { source: found.source, value },
        activeProfiles: [],
        propertySources: settingSources.map((name) =>
          name === found.source ? { name, property: { value } } : { name },
        ),
      });
    },
  );
}

function loggersOperation({ adapters, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/loggers',
      operationId: 'listLoggers',
      summary: 'List the loggers and their levels',
      description: 'The service writes one log: `ROOT` is its level.',
      responses: { 200: inEveryType(Loggers, 'The loggers.'), ...problems(406) },
    }),
    (c) =>
      answer(c, typeFor(c), {
        levels: logLevels,
        loggers: { [rootLogger]: levelOf(logOf(adapters)) },
        groups: {},
      }),
  );
}

function loggerOperation({ adapters, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/loggers/{name}',
      operationId: 'getLogger',
      summary: 'Read the level of a logger',
      description: 'The configured and the effective level of the log.',
      request: { params: loggerParam },
      responses: { 200: inEveryType(LoggerLevel, 'The level.'), ...problems(406) },
    }),
    (c) => answer(c, typeFor(c), levelOf(loggerNamed(adapters, c.req.param('name')))),
  );
}

function setLevelOperation({ adapters, guard }: Shared) {
  return operation(
    createRoute({
      method: 'post',
      path: '/actuator/loggers/{name}',
      operationId: 'setLoggerLevel',
      summary: 'Set the level of a logger',
      description: 'The level is in effect until the process ends. Only for keys of organisation 1.',
      tags,
      security: guard.security,
      middleware: [...guard.middleware, jsonBody(fixedLimits.levelBytes, actuatorJson)],
      request: {
        params: loggerParam,
        // a validator would refuse the actuator's own media types, as they have a number in them
        body: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/LevelRequest' } } },
        },
      },
      responses: {
        204: { description: 'It is set.' },
        ...problems(400, 413, 415),
      },
    }),
    async (c) => {
      requireOperator(c);
      const log = loggerNamed(adapters, c.req.valid('param').name);
      const { success, data } = LevelRequest.safeParse(JSON.parse(await bodyText(c)));
      if (!success)
        throw new AppError('invalid_body', `configuredLevel must be one of ${logLevels.join(', ')}, or null`);
      log.setLevel(data.configuredLevel ?? null);
      return c.body(null, 204);
    },
  );
}

const acceptRangesHeader = {
  'Accept-Ranges': {
    description: '`Range` may ask for a part.',
    schema: { type: 'string' as const },
    example: 'bytes',
  },
};

const contentRangeHeader = {
  'Content-Range': {
    description: 'The bytes of the answer, and how many there are.',
    schema: { type: 'string' as const },
    example: 'bytes 0-499/1234',
  },
};

function logfileOperation({ adapters, get }: Shared) {
  return rawOperation(
    createRoute({
      ...get,
      path: '/actuator/logfile',
      operationId: 'getLogfile',
      summary: 'Read the log of the service',
      description:
        'The last 1 MiB that this process wrote to its log, one JSON object per line. `Range` requests a part, by bytes from the start of ' +
        'the process.',
      responses: {
        200: {
          description: 'The kept part of the log.',
          content: { 'text/plain': { schema: z.string() } },
          headers: acceptRangesHeader,
        },
        206: {
          description: 'A part of it.',
          content: { 'text/plain': { schema: z.string() } },
          headers: { ...acceptRangesHeader, ...contentRangeHeader },
        },
        ...problems(),
        416: { ...problems(416)[416], headers: contentRangeHeader },
      },
    }),
    (c) => {
      const { from, bytes } = logOf(adapters).held();
      const total = from + bytes.byteLength;
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Accept-Ranges': 'bytes' };
      const range = byteRange(c.req.header('Range'), from, total);
      if (range === null) return c.body(bytes, 200, headers);
      if (range === 'none')
        throw new AppError('range_not_satisfiable', `the log has only ${total} bytes`, {
          headers: { 'Content-Range': `bytes */${total}` },
        });
      return c.body(bytes.slice(range.start - from, range.end - from), 206, {
        ...headers,
        'Content-Range': `bytes ${range.start}-${range.end - 1}/${total}`,
      });
    },
  );
}

const settingSources: readonly SettingOrigin['source'][] = [
  'systemEnvironment',
  'backend.properties',
  'default',
];

function sourcesOf(settings: readonly SettingOrigin[]) {
  return settingSources.map((source) => ({
    name: source,
    properties: Object.fromEntries(
      settings.filter((one) => one.source === source).map((one) => [one.name, { value: shown(one) }]),
    ),
  }));
}

function shown({ value }: SettingOrigin): string {
  return value ?? masked;
}

function requireOperator(c: Context<AppEnv>): void {
  if (c.get('principal').idOrg !== operatorOrg)
    throw new AppError(
      'forbidden',
      'only keys of organisation 1 may do this: the log is of all organisations',
    );
}

function logOf({ log }: OperationAdapters): ServiceLog {
  if (log === undefined) throw new AppError('not_found', 'in this runtime, read the log of the platform');
  return log;
}

function loggerNamed(adapters: OperationAdapters, name: string | undefined): ServiceLog {
  if (name !== rootLogger) throw new AppError('not_found', `there is one logger, ${rootLogger}`);
  return logOf(adapters);
}

function levelOf(log: ServiceLog) {
  const configured = log.configured();
  return { ...(configured === null ? {} : { configuredLevel: configured }), effectiveLevel: log.level() };
}
