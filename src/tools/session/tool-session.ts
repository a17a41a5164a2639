/** One run of a tool: its request, its job record, and its output. */
import { type DiskSpace, createDiskSpace } from '../../service/files/disk-space.ts';
import { AppError, type Outage } from '../../errors.ts';
import type { JobFiles, LogAppender } from '../../ports/files.ts';
import { rm } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { EngineLimits } from '../../engine/limits.ts';
import { factsOf } from '../../engine/model/facts.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { logName } from '../../storage/local/job-logs.ts';
import { endWithChildren, keepHeapSmall } from '../../process/group.ts';
import { createTokenizerKernels, type TokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import { createMask, oneLine } from '../../service/jobs/mask-secrets.ts';
import { secretsIn, openRequest, sealRequest } from '../../service/jobs/request/stored-request.ts';
import { type Credential, findCredential, noCredential } from '../../service/files/credentials.ts';
import { openSources } from '../../service/files/remote-location.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { CatalogStore } from '../../ports/stores/catalog.ts';
import type { JobProgress, Claim, JobStore } from '../../ports/stores/jobs.ts';
import { newJob } from '../../service/jobs/new-job.ts';
import { archiveLimitsOf, type ArchiveLimits } from '../../inputs/archives/kinds.ts';
import { FileSpool } from '../../inputs/file-spool.ts';
import { keepLeaseByHand, type WorkSize } from './lease-by-hand.ts';
import type { SchemaChosen, WrittenSoFar } from '../reports/conversion-result.ts';
import type { Interruption } from '../cli/interruption.ts';
import {
  createJobReports,
  StepTimes,
  type ProcessTime,
  summaryOfWork,
  type RunSoFar,
} from '../reports/summary.ts';
import { createProgressLines, type PassProgress } from '../reports/progress-lines.ts';
import { createRejects, type Rejects, createRootAdvice } from '../load/findings.ts';
import { createPathMask } from '../../runtime/host-paths.ts';
import { jobFolder, openInstallation, type OpenedInstallation } from '../../runtime/open-installation.ts';
import { readWorkerIdentity } from '../../runtime/worker-identity.ts';
import type { SourceConfig } from '../../config/shape.ts';
import { secretsOfAccess } from '../../config/source-access.ts';
import type { Adapters } from '../../ports/adapters.ts';

// Ends a job that writes files into its organisation's folder if they take more of the disk than allowed.

/** between two looks at the disk while the job runs */
const diskCheckMs = 10_000;

interface DiskWatch {
  /** Called before a file is written there. AppError `payload_too_large` if no room is left. */
  begin(): Promise<void>;
  /** Called now and then: throws the result of the last check of the disk, and begins the next check. */
  goOn(): void;
}

function watchDisk(space: Pick<DiskSpace, 'check'>, idOrg: number): DiskWatch {
  let lookedMs: number | null = null;
  let full: AppError | null = null;

  async function look(): Promise<void> {
    lookedMs = performance.now();
    await space.check(idOrg, 0);
  }

  return {
    begin: look,
    goOn() {
      if (full !== null) throw full;
      if (lookedMs === null || performance.now() - lookedMs < diskCheckMs) return;
      look().catch((error: unknown) => {
        if (error instanceof AppError) full = error;
      });
    },
  };
}

// The log of a job that a person runs: written beside the terminal to the place where the service reads logs of jobs.

interface KeptLog {
  /** The line is written soon, behind those before it. */
  write(line: string): void;
  /** Resolves when all lines are written. The first fault is passed to `onFault`, and ends the log. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

function keepLog(open: () => Promise<LogAppender>, onFault: (error: unknown) => void): KeptLog {
  const encoder = new TextEncoder();
  let log: LogAppender | null = null;
  let failed = false;
  let waiting: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    if (failed) return;
    try {
      await work();
    } catch (error) {
      failed = true;
      onFault(error);
    }
  };
  const write = async (): Promise<void> => {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    log ??= await open();
    await log.append(encoder.encode(lines.map((line) => `${line}\n`).join('')));
  };
  return {
    write(line) {
      waiting.push(line);
      if (waiting.length === 1) writing = writing.then(() => guarded(write));
    },
    flush: () => writing,
    async close() {
      await writing;
      await guarded(async () => log?.close());
    },
  };
}

// The session.

export interface ToolSession {
  readonly home: OpenedInstallation<JobFiles>;
  readonly request: ToolRequest;
  readonly idOrg: number;
  readonly idJob: number;
  /** identifies the job in targets */
  readonly jobUuid: string;
  /** started by a person: bound by neither roots nor hosts, and the record's end is ours to write */
  readonly byHand: boolean;
  /** the origin an earlier attempt of this job made, if any */
  readonly originOfEarlierAttempt: number | null;
  /** the run that this one repeats, and the logical schema that moves its rows; null: it repeats none, or one that had chosen none */
  readonly repeats: { readonly idJob: number; readonly idLschma: number } | null;
  readonly limits: EngineLimits;
  readonly archiveLimits: ArchiveLimits;
  /** small documents that were fetched */
  readonly spool: FileSpool;
  /** keyed by path: the address that a file was fetched from, without its neighbours there */
  readonly fetchedAlone: Map<string, string>;
  readonly kernels: TokenizerKernels;
  /** facts that are known so far, for the summary */
  readonly soFar: RunSoFar;
  readonly steps: StepTimes;
  /** documents that are left out */
  readonly rejects: Rejects;
  /** returns the credential that `--credential` names; null without the option. AppError `invalid_option` if it does not exist. */
  credential(): Promise<Credential | null>;
  /** masks the secrets of the request and of this home in a line of log or message */
  mask(text: string): string;
  /** writes a line to the job's log */
  log(line: string): void;
  /** writes output that the user requested, which `--quiet` does not suppress */
  print(line: string): void;
  /** aborted when the person who runs it has had enough: children end then; never under a worker, which ends all of them */
  readonly interrupted: AbortSignal;
  /** rows are being committed, or have been */
  readonly committing: boolean;
  /** `fraction` 0 … 1; at most a write per second reaches the record. Throws `Interrupted`, and an error if the disk is full. */
  progress(fraction: number, done?: PassProgress): void;
  /**
   * Called before work on a model of so many elements, or on so many bytes, which may take long without a pause: the lease of the job
   * is renewed all the same.
   */
  expectWork(size: WorkSize): void;
  /** The logical schema that the run works by, for the summary. */
  choose(chosen: SchemaChosen, model: RelationalModel): void;
  /** The record holds it within moments. */
  report(progress: JobProgress): Promise<void>;
  /** Waits until the record holds all that was reported. */
  reported(): Promise<void>;
  /**
   * Returns whether this attempt still holds the job, and nobody has killed it: checked in the last moment before rows are committed.
   * From then on only the target knows how the job ends (src/service/jobs/worker/supervise-job.ts); `written` is the content of its record in that
   * case.
   */
  beginCommit(written: WrittenSoFar): Promise<boolean>;
  /** Notes that the target with this label was opened: a job may wait for its server from then on. */
  noteReached(label: string): void;
  /** Whether the job may wait for the end of the outage without losing the attempt. */
  mayWaitFor(outage: Outage | null): Promise<boolean>;
  resolvePath(path: string, mustExist: boolean): Promise<string>;
  /** Ends the record of a run by hand, whose log is complete then; a worker ends its jobs itself. */
  finish(status: 'completed' | 'failed' | 'killed', failure: string | null): Promise<void>;
  close(): Promise<void>;
}

/** interval between two progress lines of a log */
const progressLineMs = 10_000;

const neverAborted: AbortSignal = new AbortController().signal;

export interface SessionOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
  /** prints a line like `log`, even with `--quiet` */
  readonly print: (line: string) => void;
  readonly onProgress: (fraction: number, done?: PassProgress) => void;
  readonly complain: (line: string) => void;
  /** null: a worker ends it */
  readonly interruption: Interruption | null;
  /** absent: with the process */
  readonly begun: ProcessTime | undefined;
}

export async function openSession(request: ToolRequest, options: SessionOptions): Promise<ToolSession> {
  const home = await openInstallation(options.environment, {
    role: 'tool',
    // a person wants to see faults, not that the database was prepared
    write: (line) => void (line.includes('"level":"info"') ? true : process.stderr.write(line)),
  });
  try {
    return request.jobId === undefined
      ? await sessionByHand(home, request, options)
      : await sessionOfJob(home, request.jobId, options);
  } catch (error) {
    await home.close();
    throw error;
  }
}

async function sessionOfJob(
  home: OpenedInstallation<JobFiles>,
  idJob: number,
  options: SessionOptions,
): Promise<ToolSession> {
  const epoch = Number(options.environment['SVC_JOB_EPOCH']);
  if (!Number.isSafeInteger(epoch) || epoch < 1) {
    throw new AppError(
      'invalid_option',
      '-j runs a job that a worker has claimed; to run it again, use GET /v2/run/rerun',
    );
  }
  const { jobs, secrets, files, logs } = home.adapters;
  const stored = await jobs.findStoredJob(idJob);
  const request = await openRequest(stored.request, secrets);
  const claim = { idJob, epoch };
  const { id_parent_job: repeated, id_lschma: idLschma } = stored.record;
  const watch = watchClaim(jobs, claim, (why) => {
    options.log(why === 'lost' ? 'another worker has taken over the job' : 'the job was killed');
    endWithChildren();
  });
  const { id_org: idOrg } = stored.record;
  const space = createDiskSpace({ files, logs, jobs }, home.adapters.clock, home.config.limits.diskBytes);
  const disk = watchDisk(space, idOrg);
  return session(home, request, options, {
    kept: null,
    disk,
    waitedBefore: stored.outage.tries > 0,
    idOrg,
    claim,
    jobUuid: stored.uuid,
    byHand: false,
    originOfEarlierAttempt:
      request.originId === undefined || request.onDrift === 'evolve' ? stored.record.id_sch : null,
    repeats: repeated === null || idLschma === null ? null : { idJob: repeated, idLschma },
    resolvePath: async (path, mustExist) => {
      const location = await files.resolve(idOrg, path, mustExist);
      // absolute ones are folders that the operator has opened beside the organisation's own
      if (!mustExist && !isAbsolute(path)) await disk.begin();
      return location;
    },
    // the worker renews the lease
    expectWork: () => undefined,
    finish: async () => watch.stop(),
  });
}

async function sessionByHand(
  home: OpenedInstallation<JobFiles>,
  request: ToolRequest,
  options: SessionOptions,
): Promise<ToolSession> {
  const { jobs, secrets } = home.adapters;
  const { leaseMs } = home.config.limits;
  const claim = await jobs.startByHand(
    newJob(request, await sealRequest(request, secrets), home.config.spark.conf),
    1,
    readWorkerIdentity(process.cwd()),
    leaseMs,
  );
  // numbers are given out again after a restore: leftovers of another job with that number are removed
  await Promise.all([
    rm(jobFolder(home.home, claim.idJob), { recursive: true, force: true }),
    home.adapters.logs.removeLog(claim.idJob),
  ]);
  const lease = keepLeaseByHand(home, claim, leaseMs, (why) =>
    options.interruption!.interrupt(
      why === 'kill' ? 'killed on request' : 'another worker has taken over the job',
    ),
  );
  const kept = keepLog(
    () => home.adapters.logs.openLog(claim.idJob, claim.epoch),
    (error) => options.complain(`the log of the job cannot be kept: ${(error as Error).message}`),
  );
  return session(home, request, options, {
    kept,
    disk: null,
    waitedBefore: false,
    idOrg: 1,
    claim,
    jobUuid: claim.uuid,
    byHand: true,
    originOfEarlierAttempt: null,
    repeats: null,
    resolvePath: (path) => Promise.resolve(resolve(path)),
    expectWork: lease.expectWork,
    finish: async (status, failure) => {
      await lease.stop();
      await kept.flush();
      await jobs.finish(claim, status, failure);
    },
  });
}

interface SessionParts {
  /** null: the worker writes it */
  readonly kept: KeptLog | null;
  /** null: no limit on a person's own disk */
  readonly disk: DiskWatch | null;
  /** the job has waited for the end of an outage */
  readonly waitedBefore: boolean;
  readonly idOrg: number;
  readonly claim: { readonly idJob: number; readonly epoch: number };
  readonly jobUuid: string;
  readonly byHand: boolean;
  readonly originOfEarlierAttempt: number | null;
  readonly repeats: ToolSession['repeats'];
  readonly expectWork: ToolSession['expectWork'];
  readonly resolvePath: ToolSession['resolvePath'];
  readonly finish: ToolSession['finish'];
}

function session(
  home: OpenedInstallation<JobFiles>,
  request: ToolRequest,
  options: SessionOptions,
  parts: SessionParts,
): ToolSession {
  const maskRequest = createMask(secretsIn(request));
  // in a run by hand, the paths are the person's own
  const hidePaths = parts.byHand ? (text: string): string => text : createPathMask(home.home, parts.idOrg);
  let maskFound: ((text: string) => string) | null = null;
  const mask = (text: string): string => hidePaths(home.mask(maskRequest(maskFound?.(text) ?? text)));
  const { sources = [] } = home.config;
  const credential = createCredentialFinder(
    home.adapters,
    openSources(sources, parts.byHand ? null : parts.idOrg),
    parts.idOrg,
    request.credential,
    (secrets) => (maskFound = createMask(secrets)),
  );
  const { jobs } = home.adapters;
  const reports = createJobReports((progress) => jobs.report(parts.claim, withoutPaths(progress, hidePaths)));
  const reached = createReachedServers(jobs, parts.idOrg, parts.waitedBefore);
  let lastProgress = 0;
  let pending: Promise<unknown> = Promise.resolve();
  const reported = async (): Promise<void> => {
    await pending;
    await reports.flush();
  };
  const catalog = rememberReads(home.adapters.catalog);
  const { kept } = parts;
  if (kept !== null) reports.add({ logFile: `logs/${logName(parts.claim.idJob)}` });
  const writer =
    (show: (line: string) => void) =>
    (line: string): void => {
      const shown = oneLine(mask(line));
      show(shown);
      kept?.write(shown);
    };
  const log = writer(options.log);
  const lines = createProgressLines(log, progressLineMs);
  const interrupted = options.interruption?.signal ?? neverAborted;
  let committing = false;
  const soFar: { -readonly [member in keyof RunSoFar]: RunSoFar[member] } = {
    idJob: parts.claim.idJob,
    origin: null,
    chosen: null,
    mapped: null,
    steps: new StepTimes(options.begun),
    from: null,
    inputs: null,
  };
  const spool = new FileSpool(join(jobFolder(home.home, parts.claim.idJob), 'spool'));
  return {
    home: { ...home, adapters: { ...home.adapters, catalog } },
    request,
    idOrg: parts.idOrg,
    idJob: parts.claim.idJob,
    jobUuid: parts.jobUuid,
    byHand: parts.byHand,
    originOfEarlierAttempt: parts.originOfEarlierAttempt,
    repeats: parts.repeats,
    limits: home.config.limits.engine,
    kernels: createTokenizerKernels(),
    soFar,
    steps: soFar.steps,
    archiveLimits: archiveLimitsOf(home.config.limits),
    spool,
    fetchedAlone: new Map(),
    rejects: createRejects(log, createRootAdvice(catalog, parts.idOrg)),
    credential,
    mask,
    log,
    print: writer(options.print),
    interrupted,
    get committing() {
      return committing;
    },
    progress(fraction, done) {
      interrupted.throwIfAborted();
      parts.disk?.goOn();
      options.onProgress(fraction, done);
      if (done !== undefined) lines.take(fraction, done);
      const now = performance.now();
      if (now - lastProgress < 1000) return;
      lastProgress = now;
      // progress is a courtesy: a record that cannot be written now does not stop the work
      pending = pending
        .then(() =>
          jobs.report(parts.claim, {
            progress: Math.min(1, fraction),
            ...(done === undefined || done.pass === 'checking' ? {} : { messages: done.documents }),
          }),
        )
        // progress is a help for people: the next report contains more
        .catch(() => undefined);
    },
    choose(chosen, model) {
      soFar.chosen = {
        ...chosen,
        logical: chosen.logical === null || chosen.logical < 0 ? null : chosen.logical,
      };
      soFar.mapped = factsOf(model).mappedPaths;
      keepHeapSmall(model.tables.length);
    },
    report(progress) {
      soFar.origin = progress.idSch ?? soFar.origin;
      reports.add(progress);
      return Promise.resolve();
    },
    reported,
    async beginCommit(written) {
      await reported();
      interrupted.throwIfAborted();
      committing = true;
      const summary = summaryOfWork(soFar, { ...written, mapped: soFar.mapped ?? 0 });
      const ours = await jobs.beginCommit(parts.claim, { ...summary, details: written.details });
      if (!ours) committing = false;
      return ours;
    },
    noteReached: (label) => reached.note(label),
    mayWaitFor: (outage) => reached.mayWaitFor(outage),
    expectWork: parts.expectWork,
    resolvePath: parts.resolvePath,
    async finish(status, failure) {
      lines.end();
      await reported();
      await parts.finish(status, failure);
    },
    async close() {
      for (const place of spool.places) place.close();
      // a caller that depends on the report has awaited it
      await reported().catch(() => undefined);
      lines.end();
      await kept?.close();
      // a worker does so itself
      if (parts.byHand) await rm(jobFolder(home.home, parts.claim.idJob), { recursive: true, force: true });
      await home.close();
    },
  };
}

/** Returns the session with a request of which more is settled; `catalog`: replaces the stored one. */
export function settledSession(
  session: ToolSession,
  request: ToolRequest,
  catalog: CatalogStore = session.home.adapters.catalog,
): ToolSession {
  const { home } = session;
  return {
    ...session,
    request,
    home: { ...home, adapters: { ...home.adapters, catalog } },
    get committing() {
      return session.committing;
    },
  };
}

/** Hides paths in the members of a record that people read. */
function withoutPaths(progress: JobProgress, hide: (text: string) => string): JobProgress {
  const { outputPath, failure, summary } = progress;
  return {
    ...progress,
    ...(outputPath === undefined ? {} : { outputPath: hide(outputPath) }),
    ...(failure === undefined ? {} : { failure: hide(failure) }),
    ...(summary === undefined
      ? {}
      : { summary: JSON.parse(hide(JSON.stringify(summary))) as typeof summary }),
  };
}

// A catalogue that remembers the schemas of one run, as its steps ask for the same one after the other.

/** Milliseconds after which a value is read again, because another job may have changed it. */
const freshMs = 5_000;

/** Reads of origins and logical schemas are remembered for a few seconds, and forgotten with the first change. */
export function rememberReads(catalog: CatalogStore): CatalogStore {
  const known = new Map<string, { readonly since: number; readonly answer: Promise<unknown> }>();

  function remember<T>(question: unknown, ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(question);
    const earlier = known.get(key);
    if (earlier !== undefined && performance.now() - earlier.since < freshMs)
      return earlier.answer as Promise<T>;
    const answer = ask();
    known.set(key, { since: performance.now(), answer });
    answer.catch(() => known.delete(key));
    return answer;
  }

  function forgetting<Given extends readonly unknown[], T>(
    change: (...given: Given) => Promise<T>,
  ): (...given: Given) => Promise<T> {
    return (...given) => {
      known.clear();
      return change(...given).finally(() => known.clear());
    };
  }

  return {
    ...catalog,
    loadOrigin: (idOrg, idSch) => remember(['origin', idOrg, idSch], () => catalog.loadOrigin(idOrg, idSch)),
    loadLogicalSchema: (idOrg, which) =>
      remember(['logical schema', idOrg, which], () => catalog.loadLogicalSchema(idOrg, which)),
    createOrigin: forgetting(catalog.createOrigin),
    createLogicalSchema: forgetting(catalog.createLogicalSchema),
    refineOrigin: forgetting(catalog.refineOrigin),
    saveStatistics: forgetting(catalog.saveStatistics),
    setMappingsActive: forgetting(catalog.setMappingsActive),
    removeOrigin: forgetting(catalog.removeOrigin),
  };
}

// A tool under a worker also checks its own claim: if the worker is stopped, or its machine unreachable, the tool notices that another
// worker has its job, or that it was killed, and ends with all processes that it has started.

const everyMs = 2000;
/** A worker that lives ends a killed tool sooner. */
const killGraceMs = 6000;

export function watchClaim(
  jobs: Pick<JobStore, 'checkClaim'>,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  end: (why: 'kill' | 'lost') => void,
): { stop(): void } {
  let killedSince: number | null = null;
  let asking = false;
  let stopped = false;
  const timer = setInterval(() => {
    if (asking) return;
    asking = true;
    jobs
      .checkClaim(claim)
      .then((answer) => {
        // the process may be doing another run now
        if (stopped) return;
        if (answer === 'lost') return end('lost');
        if (answer === 'ok') killedSince = null;
        else if (performance.now() - (killedSince ??= performance.now()) > killGraceMs) end('kill');
      })
      // an outage decides nothing
      .catch(() => undefined)
      .finally(() => (asking = false));
  }, everyMs);
  timer.unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
  };
}

// The servers that a job may wait for: those that took a connection of it, or of an earlier job of the organisation. Nobody waits for a
// server that never answered, as its address may be mistyped (docs/decisions/service/outages.md).

export interface ReachedServers {
  note(label: string): void;
  mayWaitFor(outage: Outage | null): Promise<boolean>;
}

/** `waitedBefore`: earlier tries of the job found an outage. */
export function createReachedServers(
  jobs: Pick<JobStore, 'noteReachedServer' | 'isReachedServer'>,
  idOrg: number,
  waitedBefore: boolean,
): ReachedServers {
  const reached = new Set<string>();
  return {
    note(label) {
      const server = serverOf(label);
      if (server === null || reached.has(server)) return;
      reached.add(server);
      // without the note, later jobs wait for fewer servers
      if (server !== metadb) jobs.noteReachedServer(idOrg, server).catch(() => undefined);
    },
    async mayWaitFor(outage) {
      if (outage === null) return false;
      if (outage.of === 'room') return true;
      const server = serverOf(outage.label);
      if (server === null) return false;
      // a job that loses its server again and again may be the cause
      if (reached.has(server)) return !waitedBefore;
      return server === metadb || (await jobs.isReachedServer(idOrg, server));
    },
  };
}

const metadb = 'metadb:';

/** The server of a target by its label; null: the target has none. */
export function serverOf(label: string): string | null {
  if (label.startsWith(metadb)) return metadb;
  return /^(?:iceberg:)?[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.exec(label)?.[0] ?? null;
}

// Finds the credential that `--credential` names.

/**
 * The credential is looked up once; null without the option. `hide`: receives the secrets that must appear nowhere. AppError
 * `invalid_option` if there is none.
 */
export function createCredentialFinder(
  adapters: Pick<Adapters, 'credentials' | 'secrets'>,
  sources: readonly SourceConfig[],
  idOrg: number,
  name: string | undefined,
  hide: (secrets: readonly string[]) => void,
): () => Promise<Credential | null> {
  let found: Promise<Credential | null> | null = null;
  const find = async (): Promise<Credential | null> => {
    if (name === undefined) return null;
    const credential = await findCredential(adapters, sources, idOrg, name);
    if (credential === null) throw noCredential(name);
    hide(secretsOfAccess(credential.access));
    return credential;
  };
  return () => (found ??= find());
}
