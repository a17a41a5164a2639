/** Metrics of this process and of the queue: requests, jobs, the process itself. */
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { legalTransitions, type JobStatus } from '../../jobs/record.ts';
import { statusLetters } from '../../jobs/status-letters.ts';
import { answerWithin } from '../../jobs/worker/waiting.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { HealthComponent } from '../../ports/health-probe.ts';
import { ownAddress } from '../middleware/auth.ts';
import type { AppEnv } from '../env.ts';
import { createJobMetrics, type JobMetrics } from './jobs.ts';
import { createCounter, createHistogram, gauge, type Family } from './families.ts';
import type { OperationFigureSource, OperationFigures } from '../../ports/operation-figures.ts';
import type { WatchStore } from '../../ports/stores/watches.ts';

/** upper bounds in seconds */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type MetricSources = Pick<
  Adapters,
  'jobs' | 'watches' | 'health' | 'build' | 'process' | 'tokens' | 'figures'
>;

/** Time limit for each part: an answer is due in a second, whatever part is unresponsive. */
const partPatienceMs = 700;
/** Figures of a database that is up but busy are worth a longer wait. */
const figurePatienceMs = 8_000;
/** a database that does not answer collects no more questions than these */
const mostReaders = 4;

export interface Metrics {
  readonly count: MiddlewareHandler<AppEnv>;
  /** Returns all families of metrics. A part that does not answer has `svc_component_up` alone. */
  families(sources: MetricSources): Promise<Family[]>;
}

export function createMetrics(nowMs: () => number): Metrics {
  const requests = createCounter();
  const durations = createHistogram(bounds);
  const startedMs = nowMs();
  const jobMetrics = createJobMetrics(startedMs);
  let readers = 0;

  /** Returns null if the database does not answer, or several answers are still pending. */
  async function readStored(
    sources: Pick<MetricSources, 'jobs' | 'watches' | 'figures'>,
  ): Promise<Family[] | null> {
    if (readers >= mostReaders) return null;
    readers += 1;
    try {
      return await storedFamilies(sources, jobMetrics);
    } catch {
      return null;
    } finally {
      readers -= 1;
    }
  }

  return {
    async count(c, next) {
      const beganMs = nowMs();
      await next();
      const method = knownMethods.has(c.req.method) ? c.req.method : 'other';
      const labels = { method, route: routeOf(c), status: `${Math.floor(c.res.status / 100)}xx` };
      requests.add(labels);
      durations.observe({ method, route: labels.route }, (nowMs() - beganMs) / 1000);
    },

    async families({ jobs, watches, health, build, process, tokens, figures: installation }) {
      const stored = readStored({
        jobs,
        watches,
        ...(installation === undefined ? {} : { figures: installation }),
      });
      const [parts, figures] = await Promise.all([readParts(health), process?.read() ?? null]);
      const isDatabaseUp = parts.get('db')?.status === 'UP';
      const ofDatabase = await answerWithin(stored, isDatabaseUp ? figurePatienceMs : 0);
      const running = parts.get('worker')?.details?.['running'];
      return [
        gauge('svc_build_info', 'The program; always 1.', [{ labels: { version: build.version }, value: 1 }]),
        gauge('svc_start_time_seconds', 'When this process began, in Unix time.', startedMs / 1000),
        gauge(
          'svc_component_up',
          'Whether a part of the service is up: 1, or 0 if it is down or does not answer.',
          [...parts].map(([component, part]) => ({
            labels: { component },
            value: part === null || !isUp(part) ? 0 : 1,
          })),
        ),
        gauge(
          'svc_worker_running_jobs',
          'Jobs that run in this process now.',
          typeof running === 'number' ? running : 0,
        ),
        ...(ofDatabase ?? []),
        ...poolFamilies(installation),
        ...keyFamilies(tokens?.keys?.()),
        requests.family('svc_http_requests_total', 'Requests answered, by route and class of status.'),
        durations.family('svc_http_request_duration_seconds', 'Time until the answer began.'),
        ...(figures === null ? [] : processFamilies(figures)),
      ];
    },
  };
}

/** Figures that come from the database. */
async function storedFamilies(
  { jobs, watches, figures }: Pick<MetricSources, 'jobs' | 'watches' | 'figures'>,
  jobMetrics: JobMetrics,
): Promise<Family[]> {
  const [counts, ofJobs, ofWatches, ofInstallation] = await Promise.all([
    jobs.countByStatus(),
    jobMetrics.families(jobs),
    watchFamilies(watches),
    operationFamilies(figures),
  ]);
  const states = Object.keys(legalTransitions) as JobStatus[];
  return [
    gauge(
      'svc_jobs',
      'Jobs on record, by state.',
      states.map((status) => ({
        labels: { status: statusLetters[status] },
        value: counts.get(status) ?? 0,
      })),
    ),
    ...ofJobs,
    ...ofWatches,
    ...ofInstallation,
  ];
}

/** Health of each part by its name; null: it did not answer in time. */
async function readParts(health: MetricSources['health']): Promise<Map<string, HealthComponent | null>> {
  const asked: Record<string, Promise<HealthComponent>> = {
    db: health.db(),
    diskSpace: health.diskSpace(),
    worker: health.worker(),
    ...(health.objectStore === undefined ? {} : { objectStore: health.objectStore() }),
  };
  const answered = Object.entries(asked).map(
    async ([name, part]) => [name, await answerWithin(part, partPatienceMs)] as const,
  );
  return new Map(await Promise.all(answered));
}

/** A part that there is none of, such as a disk, is not down. */
function isUp({ status }: HealthComponent): boolean {
  return status === 'UP' || status === 'UNKNOWN';
}

/** Returns metrics of the identity provider's keys, if it is configured. */
function keyFamilies(
  keys: { readonly ageMs: number | null; readonly failures: number } | undefined,
): Family[] {
  if (keys === undefined) return [];
  return [
    ...(keys.ageMs === null
      ? []
      : [
          gauge(
            'svc_oidc_keys_age_seconds',
            'Time since the keys of the identity provider were fetched.',
            keys.ageMs / 1000,
          ),
        ]),
    {
      name: 'svc_oidc_key_fetch_failures_total',
      type: 'counter',
      help: 'Failed attempts to fetch the keys of the identity provider.',
      samples: [{ labels: {}, value: keys.failures }],
    },
  ];
}

/** The template of the path, never the path: that names jobs and schemas, and there is no end of them. */
export function routeOf(c: Context<AppEnv>): string {
  const { route } = ownAddress(routePath(c), c.req.path);
  return route.endsWith('*') ? 'none' : route.replaceAll(/:(\w+)/g, '{$1}');
}

/** Under the names that Prometheus' own clients give them. */
function processFamilies(figures: Readonly<Record<string, number>>): Family[] {
  const help: Readonly<Record<string, string>> = {
    process_cpu_seconds_total: 'User and system time of this process.',
    process_start_time_seconds: 'When this process began, in Unix time.',
    process_resident_memory_bytes: 'Memory that this process has resident.',
    process_virtual_memory_bytes: 'Address space of this process.',
    process_heap_bytes: 'Memory of this process for objects of JavaScript.',
    process_open_fds: 'Files and connections that this process has open.',
    process_max_fds: 'How many it may have open.',
  };
  return Object.entries(figures).map(([name, value]) => ({
    name,
    type: name.endsWith('_total') ? ('counter' as const) : ('gauge' as const),
    help: help[name] ?? name,
    samples: [{ labels: {}, value }],
  }));
}

// Metrics of the installation: outbox, connections, retention, and waiting organisations.

const none: OperationFigures = {
  outbox: [],
  connections: 0,
  maxConnections: 0,
  retentionLagMs: 0,
  queues: [],
  outageJobs: 0,
  outageMs: 0,
};

/** Reads figures from the database; `source` absent: the runtime has no such figures. */
async function operationFamilies(source: OperationFigureSource | undefined): Promise<Family[]> {
  const { outbox, connections, maxConnections, retentionLagMs, queues, outageJobs, outageMs } =
    (await source?.read()) ?? none;
  return [
    gauge(
      'svc_outbox_events',
      'Events that wait for their receiver, and dead ones that were given up.',
      outbox.flatMap(({ kind, waiting, dead }) => [
        { labels: { kind, state: 'waiting' }, value: waiting },
        { labels: { kind, state: 'dead' }, value: dead },
      ]),
    ),
    gauge(
      'svc_outbox_age_seconds',
      'How long the event that waits longest has waited for its receiver.',
      outbox.map(({ kind, oldestMs }) => ({ labels: { kind }, value: oldestMs / 1000 })),
    ),
    gauge('svc_database_connections', 'Connections of all clients to the metadata database.', connections),
    gauge('svc_database_max_connections', 'Connections that the database server accepts.', maxConnections),
    gauge(
      'svc_retention_lag_seconds',
      'How long ago the oldest record of ended jobs should have been removed.',
      retentionLagMs / 1000,
    ),
    gauge(
      'svc_outage_waiting_jobs',
      'Jobs that wait for a server or for room on a disk (svc.limits.outage_wait).',
      outageJobs,
    ),
    gauge(
      'svc_outage_wait_seconds',
      'How long the job that waits longest has waited for a server or for room on a disk.',
      outageMs / 1000,
    ),
    gauge(
      'svc_org_queue_age_seconds',
      'How long the oldest queued job of an organisation has waited; the 20 organisations that wait longest.',
      queues.map(({ idOrg, ageMs }) => ({ labels: { org: String(idOrg) }, value: ageMs / 1000 })),
    ),
  ];
}

/** Returns the metrics of this process's connection pools, without querying the database. */
function poolFamilies(source: OperationFigureSource | undefined): Family[] {
  const pools = Object.entries(source?.pools() ?? {});
  return [
    gauge(
      'svc_pool_connections',
      'Connections to the metadata database that this process has open, by pool.',
      pools.map(([pool, { open }]) => ({ labels: { pool }, value: open })),
    ),
    gauge(
      'svc_pool_max_connections',
      'Connections that a pool of this process opens at most.',
      pools.map(([pool, { max }]) => ({ labels: { pool }, value: max })),
    ),
  ];
}

// Figures of watches, over all organisations: how many there are, and how far they are behind. No label names one.

async function watchFamilies(watches: Pick<WatchStore, 'watchFigures'>): Promise<Family[]> {
  const { active, paused, stalled, files, oldestWaitingMs } = await watches.watchFigures();
  const states = { active, paused, stalled };
  return [
    gauge(
      'svc_watches',
      'Watches: active, paused, and those that are stalled, paused or not.',
      samplesOf('state', states),
    ),
    gauge('svc_watch_files', 'Files that watches have met, by state.', samplesOf('status', files)),
    gauge(
      'svc_watch_waiting_seconds',
      'How long the file of a watch that waits longest has waited.',
      oldestWaitingMs / 1000,
    ),
  ];
}

function samplesOf(label: string, counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}
