/**
 * Every limit of the service, each with its reason and the behaviour past it (docs/decisions/service/limits.md). Limits that the
 * operator may set are properties of `svc.limits.*`; the rest are numbers that nobody has a reason to change. All other code reads them
 * here, or in the `Config` that is made from them.
 */
import { parseCount, parseQuantity, sizeUnits, timeUnits, unlimited } from './values.ts';
import { engineLimitSpecs, type LimitSpec } from './engine-limits.ts';
import type { EngineLimits } from '../engine/limits.ts';

/** Limits of requests, jobs, compilation and archives. */
export const limitSpecs = {
  jsonBodyBytes: {
    property: 'svc.limits.json_body',
    kind: 'size',
    initial: '1 MiB',
    meaning: 'size of a JSON body',
    past: '413',
    why: 'a body is held in memory and parsed at once; a hundred executions with all their options fit',
  },
  svgBytes: {
    property: 'svc.limits.svg',
    kind: 'size',
    initial: '8 MiB',
    meaning: 'size of a JSON body with a drawing to store',
    past: '413',
    why: 'a drawing is held in memory while it is checked; drawings of hundreds of tables fit',
  },
  uploadBytes: {
    property: 'svc.limits.upload',
    kind: 'size',
    initial: '10 GiB',
    meaning: 'size of an uploaded file',
    past: '413, nothing stays on disk',
    why: 'uploads are streamed: only the disk is at stake',
  },
  diskBytes: {
    property: 'svc.limits.disk',
    kind: 'size or none',
    initial: '',
    meaning: 'size of all uploads, outputs and logs of one organisation; empty: bounded by the disk',
    past: '413, or F for jobs that write files',
    why: 'the disk is finite, and one organisation must not fill it for the others',
  },
  jobLogBytes: {
    property: 'svc.limits.job_log',
    kind: 'size',
    initial: '1 GiB',
    meaning: 'size of the log of one job',
    past: 'the log ends with a line that says so, and the job continues',
    why: 'every rejected document adds a line, which quotes content of the document',
  },
  executions: {
    property: 'svc.limits.executions',
    kind: 'count',
    initial: '100',
    meaning: 'executions in one request',
    past: '400',
    why: 'all of them are checked, inputs included, before the first is stored',
  },
  requestsPerSecond: {
    property: 'svc.limits.requests_per_second',
    kind: 'count',
    initial: '100',
    meaning: 'requests of one key per second, counted in each process',
    past: '429',
    why: 'one client must not crowd out the others',
  },
  requestBurst: {
    property: 'svc.limits.request_burst',
    kind: 'count',
    initial: '200',
    meaning: 'requests of one key at once, counted in each process',
    past: '429',
    why: 'pages send many requests as they open',
  },
  connections: {
    property: 'svc.limits.connections',
    kind: 'count',
    initial: '2000',
    meaning: 'connections that a process holds at once',
    past: 'an idle connection is closed, or one of the client with the most connections',
    why: 'each takes a file descriptor and memory of the process, and costs the client nothing',
  },
  followersPerKey: {
    property: 'svc.limits.followers_per_key',
    kind: 'count',
    initial: '20',
    meaning: 'logs that one key follows at once, counted in each process',
    past: '429',
    why: 'a follower holds a connection and is answered four times a second, for as long as its job lasts',
  },
  followersPerOrganisation: {
    property: 'svc.limits.followers_per_org',
    kind: 'count',
    initial: '100',
    meaning: 'logs that one organisation follows at once, counted in each process',
    past: '429',
    why: 'an organisation can make any number of keys',
  },
  runningJobs: {
    property: 'svc.limits.running_jobs',
    kind: 'count',
    initial: '4',
    meaning: 'jobs of one organisation that run at the same time',
    past: 'the job waits',
    why: 'one organisation must not hold every worker',
  },
  queuedJobs: {
    property: 'svc.limits.queued_jobs',
    kind: 'count',
    initial: '10000',
    meaning: 'jobs of one organisation that wait',
    past: '429',
    why: 'the queue is a table that must not grow without limit',
  },
  watches: {
    property: 'svc.limits.watches',
    kind: 'count',
    initial: '100',
    meaning: 'watches of one organisation',
    past: '429',
    why: 'each is checked by a scheduler whenever it is due, up to every second',
  },
  lookMs: {
    property: 'svc.limits.look',
    kind: 'time',
    initial: '60 s',
    meaning: 'time for one check of the location of a watch: listing, reading and hashing new files',
    past: 'the files that were read are loaded; if there are none, the watch is stalled',
    why: 'a location may respond very slowly, and organisations share the schedulers',
  },
  lookMemoryBytes: {
    property: 'svc.limits.look_memory',
    kind: 'size',
    initial: '512 MiB',
    meaning:
      'memory of a process that checks the locations of watches, fetches sources of a schema, or reads rows of a target',
    past: 'the process is ended, and the watch is paused or the request answered with 422',
    why: 'the servers of tenants decide how much they send; a check needs 100 MB, and a few times svc.limits.target_message for a row of that size',
  },
  targetNames: {
    property: 'svc.limits.target_names',
    kind: 'count',
    initial: '1000',
    meaning: 'SQL schemas of the metadata database (metadb:NAME) of one organisation',
    past: 'F',
    why: 'all organisations share one set of names, and each name can be used once',
  },
  jobDeadlineMs: {
    property: 'svc.limits.job_deadline',
    kind: 'time',
    initial: '24 h',
    meaning: 'time after which a job that has not ended expires',
    past: 'E',
    why: 'a job that hangs must end at some time; the longest loads take hours',
  },
  jobRunMs: {
    property: 'svc.limits.job_seconds',
    kind: 'seconds or none',
    initial: '',
    meaning:
      'running time of a job, all attempts together, without its time in the queue, in seconds or as 30 m; empty: svc.limits.job_deadline',
    past: 'E',
    why: 'an endless query occupies a slot of its worker until the deadline',
  },
  attempts: {
    property: 'svc.limits.attempts',
    kind: 'count',
    initial: '3',
    meaning: 'attempts at a job',
    past: 'L, or F with the last reason',
    why: 'an outage may pass between attempts, but input that crashes its tool must not be retried without limit',
  },
  outageWaitMs: {
    property: 'svc.limits.outage_wait',
    kind: 'time',
    initial: '24 h',
    meaning:
      'time that a job waits, without losing attempts, for disk space or for a server that was reached before; svc.limits.job_deadline still applies',
    past: 'F with the reason',
    why: 'an outage of hours must not fail jobs; after a day a person should check',
  },
  leaseMs: {
    property: 'svc.limits.lease',
    kind: 'time',
    initial: '30 s',
    meaning: 'time after which a silent worker has lost its job',
    past: 'the next attempt, or L',
    why: 'long enough for a busy machine, short enough that a dead one is noticed',
  },
  heartbeatMs: {
    property: 'svc.limits.heartbeat',
    kind: 'time',
    initial: '10 s',
    meaning: 'time between two heartbeats of a worker',
    past: 'the service does not start if this is more than half of the lease',
    why: 'one heartbeat may be lost without the job being lost',
  },
  xsdTimeMs: {
    property: 'svc.limits.xsd_time',
    kind: 'time',
    initial: '60 s',
    meaning: 'time to compile an XSD set',
    past: 'F or 422',
    why: 'a small set can be built to compile for hours; the largest standards take a second',
  },
  xsdMemoryBytes: {
    property: 'svc.limits.xsd_memory',
    kind: 'size',
    initial: '1 GiB',
    meaning: 'memory to compile an XSD set',
    past: 'F or 422',
    why: 'a small set can be built to fill any memory; the largest standards fit',
  },
  validationTimeMs: {
    property: 'svc.limits.validation_time',
    kind: 'time',
    initial: '20 s',
    meaning: 'time to check a document with --validate, and as much again for each 8 MiB of it',
    past: 'the document is a reject',
    why: 'some patterns take hours for a value of some thousand letters; the hardest real documents take a second',
  },
  toolMemoryBytes: {
    property: 'svc.limits.tool_memory',
    kind: 'size',
    initial: '2 GiB',
    meaning: 'memory of the process of a job, in addition to svc.worker.memory',
    past: 'F',
    why: 'a job needs 100 MB, and some for each worker; the memory for a target or a document cannot be predicted',
  },
  targetMessageBytes: {
    property: 'svc.limits.target_message',
    kind: 'size',
    initial: '64 MiB',
    meaning: 'size of one row, or of one message, that a target database sends',
    past: 'F',
    why: 'a message is held in memory, and its server may be untrusted; rows with larger values need more',
  },
  targetConnections: {
    property: 'svc.limits.target_connections',
    kind: 'count',
    initial: '32',
    meaning: 'simultaneous connections of the executors of one Spark job to a target database',
    past: 'other executors wait',
    why: 'a server allows a hundred by default, and more connections than cores do not load faster',
  },
  compiles: {
    property: 'svc.limits.compiles',
    kind: 'count',
    initial: '1',
    meaning: 'schemas of one organisation that a process makes over the API at once',
    past: 'the request waits',
    why: 'a process compiles two sets at a time, and each may take the full time limit',
  },
  archiveExpansion: {
    property: 'svc.limits.archive_expansion',
    kind: 'count',
    initial: '100',
    meaning: 'unpacked size of an archive, as a multiple of its packed size',
    past: 'F or 422',
    why: 'documents compress to a tenth or a twentieth, archive bombs to a thousandth',
  },
  archiveMembers: {
    property: 'svc.limits.archive_members',
    kind: 'count',
    initial: '100000',
    meaning: 'files in an archive',
    past: 'F or 422',
    why: 'an empty member takes a hundred bytes of the archive, but is processed as a document',
  },
  transferTimeMs: {
    property: 'svc.limits.migration_time',
    kind: 'time',
    initial: '1 h',
    meaning: 'time of an export or import',
    past: 'F, and error is true',
    why: 'it occupies a request; a database or a cloud may respond very slowly',
  },
  keepJobsMs: {
    property: 'svc.limits.keep_jobs',
    kind: 'time',
    initial: '90 d',
    meaning: 'time for which records and logs of ended jobs are kept',
    past: 'they are removed',
    why: 'the disk is finite, and logs contain content of documents',
  },
  keepUploadsMs: {
    property: 'svc.limits.keep_uploads',
    kind: 'time',
    initial: '30 d',
    meaning: 'time for which uploads are kept',
    past: 'they are removed',
    why: 'the disk is finite, and clients need not remove their uploads',
  },
  keepIdempotencyKeysMs: {
    property: 'svc.limits.keep_idempotency_keys',
    kind: 'time',
    initial: '24 h',
    meaning: 'time for which idempotency keys are kept',
    past: 'the key is treated as new',
    why: 'clients repeat a request within minutes; a day covers a night’s outage',
  },
} as const satisfies Readonly<Record<string, LimitSpec>>;

/** Limits that are not properties. */
export const fixedLimits = {
  /** Levels of a JSON body, past it 400: code that walks it may be recursive. No request has more than ten. */
  jsonDepth: 64,
  /** Values and members of a JSON body, past it 400: objects of many members take longest to read, and no operation wants so many. */
  jsonValues: 25_000,
  /** A body that sets the level of a logger, past it 413: it is one word. */
  levelBytes: 128 * 1024,
  /** Records on a page, past it 400: a page is held whole. */
  pageSize: 500,
  /** Complaints in one answer: more help nobody, and each may repeat a name of the request. */
  problemErrors: 100,
  /** Least rate of a JSON body, else 400: the largest body must arrive in a minute. A slower sender holds a connection without need. */
  jsonPace: { bytes: 1024 * 1024, everyMs: 60_000 },
  /** The same of an upload, slow lines included. */
  uploadPace: { bytes: 16 * 1024, everyMs: 60_000 },
  /** Time for the head of a request, else 408. */
  requestHeadMs: 30_000,
  /** Silence after which a connection is closed: a client that reads an answer more slowly occupies memory. */
  idleConnectionMs: 120_000,
  /** Limit for unread answers of a process, past which the oldest are dropped: each may have the 4 MiB of a piece of a log. */
  unreadBytes: 256 * 1024 * 1024,
  /** Between two requests of a connection: longer than proxies keep theirs, which would send into a closed one otherwise. */
  keepAliveMs: 75_000,
  /** Life of an unused upload token: it is asked for in front of the upload. */
  uploadTokenMs: 5 * 60_000,
  /** Answer of another host that is held whole (keys of an identity provider, list of a cloud folder); past it the host has failed. */
  answerBytes: 4 * 1024 * 1024,
  /** Schemas of an organisation that wait to be made, past it 429: each holds a request. */
  waitingCompiles: 20,
  /**
   * Waiting time for the turn of such a schema, else 503: together with its fetching and compiling it is less than the idle time of
   * a connection.
   */
  compileWaitMs: 25_000,
  /** Time for fetching the remote sources of such a schema, else 503. */
  schemaFetchMs: 30_000,
  /** Schemas whose sources a process fetches at the same time, each in a child process: a server may send a little for all of its time. */
  schemaFetches: 8,
  /** Concurrent fetches for one organisation; further ones wait. */
  schemaFetchesOfOne: 2,
  /** Waiting time before such a fetch begins, else 503. It is a part of `compileWaitMs`. */
  schemaFetchWaitMs: 10_000,
  /** Characters of a statement that reads a target, past it 400: parsers of databases take longest for long statements. */
  querySqlLength: 64 * 1024,
  /** Rows in the answer to such a statement, past it `truncated`: an answer is held whole. */
  queryRows: 1000,
  /** Time for reading rows of a target, past it 422. */
  queryMs: 10_000,
  /** Size of the rows in one answer as JSON, past it `truncated`, or 422 if not a whole page or row fits. */
  answerRowBytes: 8 * 1024 * 1024,
  /** Data that a statement may spill to disk, past it 422. */
  querySpillBytes: 1024 ** 3,
  /** Requests that read rows of targets in a process at the same time, each in a child process. */
  queries: 4,
  /** Concurrent requests of one organisation; further ones wait. */
  queriesOfOne: 2,
  /** Requests of an organisation that wait, past it 429. */
  waitingQueries: 20,
  /** Waiting time before such a request begins, else 503. */
  queryWaitMs: 10_000,
  /** Time for which a child process waits for a further request of its organisation: a page of the reader's asks several times. */
  queryProcessMs: 20_000,
  /** Exports and imports of an organisation that wait, past it 429: each holds a request, and runs as a program once it has a place. */
  waitingTransfers: 100,
  /** A package that is fetched from cloud storage, past it the import fails: as much as an upload may have. */
  packageBytes: 10 * 1024 ** 3,
  /** Files of one XSD set together, past it F or 422: a set is held whole. The largest standards have a fraction of it. */
  xsdSetBytes: 256 * 1024 * 1024,
  /** Characters of a pattern of input paths, past it 400: each name found is compared with it. */
  patternLength: 1024,
  /** Names of a pattern from its first wildcard on, past it 400: real folders are a tenth as deep. */
  patternSegments: 64,
  /** Files and folders that a pattern inspects, past it F: inspecting so many takes seconds; documents are closer together. */
  patternEntries: 1_000_000,
  /** Below it the factor of archives does not count: small files of repeated text pack better than any factor allows. */
  freeArchiveBytes: 128 * 1024 * 1024,
} as const;

type Settable = { readonly [Name in keyof typeof limitSpecs]: number };

/** Times in milliseconds, sizes in bytes. */
export interface Limits extends Settable {
  readonly engine: EngineLimits;
}

const everySpec = [...Object.values(limitSpecs), ...Object.values(engineLimitSpecs)];

export type LimitProperty = (typeof everySpec)[number]['property'];

/** The limits as properties: docs/reference/limits.md and the file of the first start are generated from these. */
export const limitProperties: readonly {
  readonly name: LimitProperty;
  readonly initial: string;
  readonly meaning: string;
}[] = everySpec.map(({ property, initial, meaning, past }) => ({
  name: property,
  initial,
  meaning: `${meaning} (past it: ${past})`,
}));

/** `read`: returns the value of a property, or of its initial text if it has none or a wrong one. */
export function readLimits(read: (name: LimitProperty, parse: (text: string) => number) => number): Limits {
  const valuesOf = (specs: Readonly<Record<string, LimitSpec>>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(specs).map(([name, { property, kind }]) => [
        name,
        read(property as LimitProperty, (text) => parseLimit(text, kind)),
      ]),
    );
  return {
    ...(valuesOf(limitSpecs) as unknown as Settable),
    engine: valuesOf(engineLimitSpecs) as unknown as EngineLimits,
  };
}

function parseLimit(text: string, kind: LimitSpec['kind']): number {
  if (kind === 'count') return parseCount(text, 1);
  if (kind === 'size or none' && text === '') return unlimited;
  if (kind === 'size' || kind === 'size or none')
    return parseQuantity(text, sizeUnits, 'a size such as 64 MiB');
  if (kind === 'seconds or none') {
    if (text === '') return unlimited;
    return parseQuantity(text, { ...timeUnits, '': 1000 }, 'seconds, or a time such as 30 m');
  }
  return parseQuantity(text, timeUnits, 'a time such as 30 s');
}

/** The limits if no property is set. */
export const defaultLimits: Limits = readLimits((property, parse) =>
  parse(everySpec.find((spec) => spec.property === property)!.initial),
);
