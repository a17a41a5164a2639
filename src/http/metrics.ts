/**
 * Metrics of this process, of the queue and of the whole installation, as families of samples. They are written for Prometheus (text format
 * 0.0.4), and as Spring Boot's actuator has them.
 */
import { failureReason, statusLetters, legalTransitions, type JobStatus } from '../service/jobs/record.ts';
import type { JobStore } from '../ports/stores/jobs.ts';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { answerWithin } from '../service/jobs/worker/waiting.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { HealthComponent, OperationFigureSource, OperationFigures } from '../ports/environment.ts';
import { ownAddress } from './auth.ts';
import type { AppEnv } from './env.ts';
import type { WatchStore } from '../ports/stores/watches.ts';

// Families of samples, and their written forms.

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricFamily {
  /** name in the form of Prometheus, with its unit, and `_total` for counters */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Distribution {
  readonly labels: Readonly<Record<string, string>>;
  /** number of values at or below each bound */
  readonly inBucket: readonly number[];
  readonly sum: number;
  readonly count: number;
}

interface HistogramFamily {
  readonly name: string;
  readonly type: 'histogram';
  readonly help: string;
  /** upper bounds of the buckets, ascending */
  readonly bounds: readonly number[];
  readonly distributions: readonly Distribution[];
}

type Family = MetricFamily | HistogramFamily;

/** Adds values up, by labels. */
interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
  family(name: string, help: string): HistogramFamily;
}

function createHistogram(bounds: readonly number[]): Histogram {
  const byLabels = new Map<
    string,
    { labels: Sample['labels']; inBucket: number[]; sum: number; count: number }
  >();
  return {
    observe(labels, value) {
      const key = JSON.stringify(labels);
      const known = byLabels.get(key) ?? { labels, inBucket: bounds.map(() => 0), sum: 0, count: 0 };
      byLabels.set(key, known);
      for (const [at, bound] of bounds.entries()) if (value <= bound) known.inBucket[at]! += 1;
      known.sum += value;
      known.count += 1;
    },
    family: (name, help) => ({ name, type: 'histogram', help, bounds, distributions: inOrder(byLabels) }),
  };
}

interface Counter {
  add(labels: Readonly<Record<string, string>>, value?: number): void;
  family(name: string, help: string): MetricFamily;
}

function createCounter(): Counter {
  const byLabels = new Map<string, { labels: Sample['labels']; value: number }>();
  return {
    add(labels, value = 1) {
      const key = JSON.stringify(labels);
      const known = byLabels.get(key) ?? { labels, value: 0 };
      byLabels.set(key, known);
      known.value += value;
    },
    family: (name, help) => ({ name, type: 'counter', help, samples: inOrder(byLabels) }),
  };
}

function inOrder<T>(byLabels: ReadonlyMap<string, T>): T[] {
  return [...byLabels].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

function gauge(name: string, help: string, value: number | readonly Sample[]): MetricFamily {
  const samples = typeof value === 'number' ? [{ labels: {}, value }] : value;
  return { name, type: 'gauge', help, samples };
}

/** Ends with a line end. */
export function prometheusText(families: readonly Family[]): string {
  const lines = families.flatMap((family) => [
    `# HELP ${family.name} ${family.help}`,
    `# TYPE ${family.name} ${family.type}`,
    ...(family.type === 'histogram'
      ? family.distributions.flatMap((one) => distributionLines(family, one))
      : family.samples.map(({ labels, value }) => `${family.name}${braced(labels)} ${value}`)),
  ]);
  return `${lines.join('\n')}\n`;
}

function distributionLines({ name, bounds }: HistogramFamily, one: Distribution): string[] {
  const { labels, inBucket, sum, count } = one;
  return [
    ...bounds.map((bound, at) => `${name}_bucket${braced({ ...labels, le: String(bound) })} ${inBucket[at]}`),
    `${name}_bucket${braced({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${braced(labels)} ${sum}`,
    `${name}_count${braced(labels)} ${count}`,
  ];
}

function braced(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

export interface ActuatorMetric {
  readonly name: string;
  readonly description: string;
  readonly baseUnit?: string;
  readonly measurements: readonly { readonly statistic: string; readonly value: number }[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

const units = { seconds: 'seconds', bytes: 'bytes' } as const;

/** The name that the actuator has for a family: parts joined by points, without unit and `_total`. */
export function actuatorName({ name }: Family): string {
  return name
    .replace(/_total$/, '')
    .replace(/_(?:seconds|bytes)$/, '')
    .replaceAll('_', '.');
}

/** Returns one metric, from the samples that have all the tags (`KEY:VALUE`), or null if there is none. */
export function actuatorMetric(family: Family, tags: readonly string[]): ActuatorMetric | null {
  const wanted = tags.map(
    (tag) => [tag.slice(0, tag.indexOf(':')), tag.slice(tag.indexOf(':') + 1)] as const,
  );
  const fits = ({ labels }: { readonly labels: Sample['labels'] }): boolean =>
    wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
  const all = family.type === 'histogram' ? family.distributions : family.samples;
  const chosen = all.filter(fits);
  if (chosen.length === 0 && (tags.length > 0 || family.type === 'gauge')) return null;
  const unit = /_(seconds|bytes)(?:_total)?$/.exec(family.name)?.[1] as keyof typeof units | undefined;
  const given = new Set(wanted.map(([name]) => name));
  const names = [...new Set(chosen.flatMap(({ labels }) => Object.keys(labels)))].filter(
    (name) => !given.has(name),
  );
  return {
    name: actuatorName(family),
    description: family.help,
    ...(unit === undefined ? {} : { baseUnit: units[unit] }),
    measurements: measurementsOf(family, fits),
    availableTags: names.map((tag) => ({
      tag,
      values: [...new Set(chosen.flatMap(({ labels }) => labels[tag] ?? []))].toSorted(),
    })),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function measurementsOf(
  family: Family,
  fits: (one: { readonly labels: Sample['labels'] }) => boolean,
): ActuatorMetric['measurements'] {
  if (family.type !== 'histogram') {
    const value = total(family.samples.filter(fits).map((one) => one.value));
    return [{ statistic: family.type === 'counter' ? 'COUNT' : 'VALUE', value }];
  }
  const chosen = family.distributions.filter(fits);
  return [
    { statistic: 'COUNT', value: total(chosen.map(({ count }) => count)) },
    { statistic: 'TOTAL_TIME', value: total(chosen.map(({ sum }) => sum)) },
  ];
}

// Metrics of ended jobs, counted from the start of this process. They come from the queue, which all processes share: each process reports
// the same jobs for the time that it ran. No label names a job, an organisation or a schema.

/** upper bounds in seconds */
const durationBounds = [0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
/** the end of a job may be seen so much later than it is dated */
const overlapMs = 60_000;

interface JobMetrics {
  families(jobs: Pick<JobStore, 'listEnded' | 'queueAgeMs' | 'countWaitingOrganisations'>): Promise<Family[]>;
}

function createJobMetrics(startedMs: number): JobMetrics {
  const ended = createCounter();
  const failures = createCounter();
  const documents = createCounter();
  const rows = createCounter();
  const bytes = createCounter();
  const seconds = createHistogram(durationBounds);
  let latestMs = startedMs;
  /** counted already, with the times of their ends */
  let counted = new Map<number, number>();

  async function catchUp(jobs: Pick<JobStore, 'listEnded'>): Promise<void> {
    const sinceMs = Math.max(startedMs, latestMs - overlapMs);
    for (const job of await jobs.listEnded(sinceMs)) {
      if (counted.has(job.idJob)) continue;
      counted.set(job.idJob, job.endMs);
      latestMs = Math.max(latestMs, job.endMs);
      const { type } = job;
      const status = statusLetters[job.status];
      ended.add({ type, status });
      const reason = failureReason(job.status, job.failure);
      if (reason !== null) failures.add({ type, reason });
      if (job.startMs !== null)
        seconds.observe({ type, status }, Math.max(0, job.endMs - job.startMs) / 1000);
      documents.add({ type }, job.documents);
      rows.add({ type }, job.rows);
      bytes.add({ type }, job.bytes);
    }
    counted = new Map([...counted].filter(([, endMs]) => endMs >= latestMs - overlapMs));
  }

  let last: Promise<void> = Promise.resolve();
  return {
    async families(jobs) {
      // one at a time: two readers would count a job twice
      const mine = last.then(() => catchUp(jobs));
      // this request awaits `mine` and reports the failure; the next request starts afresh
      last = mine.catch(() => undefined);
      const [age, waiting] = await Promise.all([jobs.queueAgeMs(), jobs.countWaitingOrganisations(), mine]);
      return [
        gauge('svc_queue_age_seconds', 'How long the job that waits longest has waited.', age / 1000),
        gauge(
          'svc_waiting_tenants',
          'Tenants that run nothing and whose jobs wait because others hold all places.',
          waiting,
        ),
        ended.family('svc_jobs_ended_total', 'Jobs that ended, by kind and state.'),
        failures.family('svc_job_failures_total', 'Jobs that did not complete, by kind and reason.'),
        seconds.family('svc_job_duration_seconds', 'From the first start of a job to its end.'),
        documents.family('svc_job_documents_total', 'Documents that completed jobs loaded, read or wrote.'),
        rows.family('svc_job_rows_total', 'Rows that completed jobs moved.'),
        bytes.family('svc_job_bytes_total', 'Bytes that completed jobs read.'),
      ];
    },
  };
}

// Metrics of this process: requests, jobs, and the process itself.

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
const maxReaders = 4;

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
    if (readers >= maxReaders) return null;
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
