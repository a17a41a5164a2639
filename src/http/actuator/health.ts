/** The tree of health components, its summary, and its JSON in the two versions of the original format. */
import type { HealthComponent, HealthProbe, HealthStatus } from '../../ports/environment.ts';
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../errors.ts';
import { negotiate } from '../problem.ts';
import type { AppEnv } from '../env.ts';

const actuatorTypes = [
  'application/vnd.spring-boot.actuator.v3+json',
  'application/vnd.spring-boot.actuator.v2+json',
  'application/json',
] as const;
export type ActuatorType = (typeof actuatorTypes)[number];

/** A part with details, or a composite of parts. */
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

// Sends answers in the media types of Spring Boot's actuator.
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
