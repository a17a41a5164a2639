/** One turn with a claimed watch: records the end of its job, looks at its location, starts the next job, and releases the watch. */
import { AppError } from '../../errors.ts';
import type {
  OpenJob,
  ClaimRelease,
  WatchClaim,
  WatchOutcome,
  WatchSchedule,
  CandidateFile,
  FileOutcome,
  ListedObject,
  ClaimShares,
  OnDrift,
  ReplacedFile,
} from '../../ports/stores/watches.ts';
import { pause, backOffMs } from '../jobs/worker/waiting.ts';
import {
  parseSchedule,
  rowServerOf,
  isPlainName,
  openPlace,
  withoutEmptyFolder,
  watchRequest,
  removesGone,
  nameWithoutGz,
} from './define.ts';
import { credentialSecrets } from '../files/credentials.ts';
import { checkAccess, type AccessSettings } from '../jobs/request/check-access.ts';
import { sealRequest } from '../jobs/request/stored-request.ts';
import type { RequestItem } from '../jobs/request/tool-request.ts';
import { newJob } from '../jobs/new-job.ts';
import { accessError, checkOwners } from '../jobs/submit.ts';
import type { WatchedLocation, WatchedLocations, WatchedPlace } from '../../ports/network.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Logger } from '../../ports/environment.ts';
import { failureReason, type JobStatus } from '../jobs/record.ts';

/** Consecutive failed looks before the watch is called stalled: faults of a store mostly pass. */
const maxFailedLooks = 3;
const firstPauseMs = 5000;
const longestPauseMs = 15 * 60_000;

/** The error for a lost claim: another scheduler has the watch, or it no longer exists. */
class ClaimLost extends Error {}

export async function takeTurn(
  options: TurnOptions,
  claim: WatchClaim,
  leaseMs: number,
  stopping: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const kept = keepClaim(options.schedule, claim, leaseMs, done.signal, lost);
  const locations = limitLook(options.locations, options.lookMs);
  try {
    const release = await goOn({ ...options, locations }, claim, signal);
    await options.schedule.release(claim, release);
  } catch (error) {
    // otherwise the lease ends by itself
    if (lost.signal.aborted) return;
    if (error instanceof ClaimLost) {
      // a person may have changed the watch meanwhile: a claim that another scheduler holds now is not released
      await options.schedule.release(claim, { dueMs: claim.nowMs });
      return;
    }
    const retryMs = stopping.aborted ? 0 : firstPauseMs;
    await options.schedule.release(claim, { dueMs: claim.nowMs + retryMs });
    if (!stopping.aborted) throw error;
  } finally {
    locations.close();
    done.abort();
    await kept;
  }
}

async function keepClaim(
  schedule: WatchSchedule,
  claim: WatchClaim,
  leaseMs: number,
  done: AbortSignal,
  lost: AbortController,
): Promise<void> {
  let aliveMs = performance.now();
  while (!done.aborted) {
    await pause(leaseMs / 3, done);
    if (done.aborted) return;
    try {
      if (!(await schedule.keepClaim(claim, leaseMs))) lost.abort();
      aliveMs = performance.now();
    } catch {
      // an outage decides nothing until the lease has ended
      if (performance.now() - aliveMs > leaseMs) lost.abort();
    }
  }
}

async function goOn(options: TurnOptions, claim: WatchClaim, signal: AbortSignal): Promise<ClaimRelease> {
  const { schedule } = options;
  const open = await schedule.findOpenJob(claim);
  const isLoading = open !== null && open.end === null;
  const current = open === null || isLoading ? claim : await takeNote(options, claim, open);
  if (current.watch.paused) return { dueMs: null };
  const looked = await lookWhenDue(options, current, signal);
  if (looked.failed) return looked.release;
  const next = isLoading ? null : await nextJob(options, current, signal);
  const settlesMs = await schedule.settlesAt(claim);
  const times = [
    looked.nextTickMs,
    next?.retryMs ?? null,
    settlesMs === null ? null : Math.max(settlesMs, claim.nowMs + 100),
  ];
  return {
    ...looked.release,
    ...next?.outcome,
    dueMs: Math.min(...times.filter((time) => time !== null)),
  };
}

/** The end of the open job: the claim as it is after it. */
async function takeNote(
  { schedule, logger }: TurnOptions,
  claim: WatchClaim,
  open: OpenJob,
): Promise<WatchClaim> {
  const { watch, failures } = claim;
  const {
    files,
    replaced = [],
    watch: outcome,
    pauseMs,
  } = settle(open, {
    onDrift: watch.on_drift,
    failures,
    inOrder: rowServerOf(watch.location) !== null,
  });
  const heldUntilMs = pauseMs > 0 ? claim.nowMs + pauseMs : (outcome.heldUntilMs ?? claim.heldUntilMs);
  if (!(await schedule.settleJob(claim, open.idJob, files, { ...outcome, heldUntilMs }, replaced)))
    throw new ClaimLost();
  logger.info('job of a watch ended', { watch: watch.id_watch, job: open.idJob, end: open.end });
  return {
    ...claim,
    watch: { ...watch, paused: watch.paused || outcome.paused === true },
    usedSch: outcome.usedSch ?? claim.usedSch,
    failures: outcome.failures ?? failures,
    heldUntilMs,
  };
}

interface Looked {
  readonly failed: boolean;
  readonly release: ClaimRelease;
  readonly nextTickMs: number;
}

/** Looks according to the schedule, and when files that were found last time may have settled. */
async function lookWhenDue(options: TurnOptions, claim: WatchClaim, signal: AbortSignal): Promise<Looked> {
  const { watch, nowMs, failedLooks } = claim;
  const afterMs = parseSchedule(watch.every).next(nowMs);
  const isTick = watch.next_run === null || watch.next_run <= nowMs;
  const nextTickMs = isTick ? afterMs : watch.next_run!;
  const settlesMs = isTick ? null : await options.schedule.settlesAt(claim);
  const ran = isTick ? { nextRunMs: nextTickMs, ran: true as const } : {};
  if (!isTick && (settlesMs === null || settlesMs > nowMs))
    return { failed: false, release: { dueMs: null }, nextTickMs };
  const failure = await lookAt(options, claim, signal);
  if (failure === null) {
    const recovered =
      failedLooks === 0 ? {} : { failedLooks: 0, ...(claim.failures === 0 ? { stalled: null } : {}) };
    return { failed: false, release: { ...ran, ...recovered, dueMs: null }, nextTickMs };
  }
  const dueMs = Math.max(nextTickMs, nowMs + pauseAfter(failedLooks));
  const { reason, isLimit, pauses } = failure;
  const stalled = isLimit || failedLooks + 1 >= maxFailedLooks ? { stalled: reason } : {};
  const paused = pauses ? { paused: true as const } : {};
  const release = { ...ran, nextRunMs: dueMs, failedLooks: failedLooks + 1, ...stalled, ...paused, dueMs };
  return { failed: true, release, nextTickMs: dueMs };
}

/** `retryMs`: time of the next try, even if nothing else happens. */
async function nextJob(
  options: TurnOptions,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<{ readonly retryMs: number | null; readonly outcome: WatchOutcome }> {
  const { nowMs, heldUntilMs, failures } = claim;
  if (heldUntilMs !== null && heldUntilMs > nowMs) return { retryMs: heldUntilMs, outcome: {} };
  const next = await startNextJob(options, claim, signal);
  if (next === 'lost') throw new ClaimLost();
  if (next === 'later') return { retryMs: nowMs + firstPauseMs, outcome: {} };
  if (next === 'started' || next === 'nothing') return { retryMs: null, outcome: {} };
  const retryMs = nowMs + pauseAfter(failures);
  const paused = next.pauses ? { paused: true as const } : {};
  const outcome = { failures: failures + 1, heldUntilMs: retryMs, stalled: next.failure, ...paused };
  return { retryMs, outcome };
}

/** Why a look came to nothing. */
interface FailedLook {
  readonly reason: string;
  /** the check exceeded a limit of this program, and would exceed it again */
  readonly isLimit: boolean;
  /** it is not to be tried again before a person says so */
  readonly pauses: boolean;
}

/** Returns null if the look went well. */
async function lookAt(
  options: TurnOptions,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<FailedLook | null> {
  try {
    if (!(await look(options, claim, signal))) throw new ClaimLost();
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) || error.code === 'internal_error') throw error;
    options.logger.warn('the location of a watch cannot be checked', {
      watch: claim.watch.id_watch,
      error: error.message,
    });
    const isLimit = error instanceof LookLimit;
    return {
      reason: `${claim.watch.location}: ${error.message}`,
      isLimit,
      pauses: isLimit && error.pauses,
    };
  }
}

/** Longer and longer. */
function pauseAfter(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
}

// Makes the next job of a watch: the content of its files is read once, and the job is stored with them in one transaction.

/** A file with its SHA-256; null: it is gone. */
interface ReadFile extends CandidateFile {
  readonly sha256: string | null;
}

/** Why no job can be started. */
interface FailedBatch {
  /** a sentence */
  readonly failure: string;
  /** it is not to be tried again before a person says so */
  readonly pauses: boolean;
}

/**
 * `started`; `nothing`: no settled file waits; `later`: the queue is full; `lost`: the claim is, or the watch was changed. `failure`:
 * why none can be started, in a sentence.
 */
async function startNextJob(
  options: TurnOptions,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<'started' | 'nothing' | 'later' | 'lost' | FailedBatch> {
  const { schedule, locations, logger, adapters } = options;
  const { watch } = claim;
  let location: WatchedLocation | null = null;
  for (;;) {
    const candidates = await schedule.findCandidates(claim);
    if (candidates.length === 0) return 'nothing';
    try {
      location ??= await locations.open(await openPlace(adapters.secrets, claim), signal);
      const { files, others } = await readAll(location, candidates, signal);
      if (others.length > 0 && !(await schedule.recordFiles(claim, others))) return 'lost';
      if (files.length === 0) continue;
      const job = await jobOf(options, claim, files);
      const idJob = await schedule.startJob(claim, job, files);
      if (idJob === null) return 'lost';
      logger.info('job of a watch stored', { watch: watch.id_watch, job: idJob, files: files.length });
      return 'started';
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError) || error.code === 'internal_error') throw error;
      if (error.code === 'too_many_requests') return 'later';
      return { failure: error.message, pauses: error instanceof LookLimit && error.pauses };
    }
  }
}

/**
 * Reads files in the order of the candidates. If the time of the look ends, returns those read so far; throws `LookLimit` if not even
 * the first was.
 */
async function readAll(
  location: WatchedLocation,
  candidates: readonly CandidateFile[],
  signal: AbortSignal,
): Promise<{ readonly files: readonly ReadFile[]; readonly others: readonly FileOutcome[] }> {
  const read = new Map<number, ReadFile | FileOutcome>();
  const waiting = candidates.entries();
  let limit: LookLimit | null = null;
  const worker = async (): Promise<void> => {
    for (const [at, file] of waiting) {
      signal.throwIfAborted();
      try {
        read.set(at, await readOne(location, file));
      } catch (error) {
        if (!(error instanceof LookLimit)) throw error;
        limit ??= error;
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const unread = candidates.findIndex((_, at) => !read.has(at));
  if (limit !== null && unread === 0) throw limit as LookLimit;
  const done = candidates.slice(0, unread < 0 ? undefined : unread).map((_, at) => read.get(at)!);
  return {
    files: done.filter((one): one is ReadFile => !('status' in one)),
    others: done.filter((one): one is FileOutcome => 'status' in one),
  };
}

/** files that are read at the same time: of small ones elsewhere, most time is that of the way there and back */
const atOnce = 16;

async function readOne(location: WatchedLocation, file: CandidateFile): Promise<ReadFile | FileOutcome> {
  const { idFile, name, version, loadedSha256, loadedBy } = file;
  const outcome = (status: FileOutcome['status'], reason: string | null): FileOutcome => ({
    idFile,
    status,
    reason,
  });
  if (!isPlainName(name)) return outcome('rejected', 'this is not a valid file name; rename the file');
  const read = await location.digest(file).catch((error: unknown) => {
    // the fault concerns one file only; otherwise the place itself may be out of reach
    if (error instanceof AppError && error.code !== 'service_unavailable' && error.code !== 'internal_error')
      return error;
    throw error;
  });
  if (read instanceof AppError) return outcome('rejected', read.message);
  if (file.removes) return read === null ? { ...file, sha256: null } : outcome('loaded', null);
  if (read === null) return outcome('ignored', 'it was removed before it could be loaded');
  if (read.object.version !== version) return { ...outcome('waiting', null), met: read.object };
  if (read.sha256 !== loadedSha256) return { ...file, sha256: read.sha256 };
  const reason = `job ${loadedBy ?? '?'} has already loaded this content under this name`;
  return { ...outcome('ignored', reason), sha256: read.sha256 };
}

async function jobOf(
  { adapters, settings }: TurnOptions,
  claim: WatchClaim,
  files: readonly ReadFile[],
): Promise<ReturnType<typeof newJob>> {
  const { watch, idOrg } = claim;
  const { kept } = await openPlace(adapters.secrets, claim);
  const there = files.filter(({ removes }) => !removes);
  const gone = files.filter(({ removes }) => removes).map(({ name }) => name);
  const request = watchRequest(
    { ...kept, onError: watch.on_error, credential: watch.credential },
    schemaItems(claim, kept.options),
    {
      files: there.map(({ name, version, bytes, changedMs: modified }) => ({
        name,
        version,
        bytes,
        modified,
      })),
      ...(gone.length === 0 ? {} : { gone: [...new Set(gone)] }),
      watch: watch.id_watch,
    },
  );
  const all = await checkAccess(adapters, settings, idOrg, request, ['/location'], () => '', new Set());
  const faults = withoutEmptyFolder(adapters.files, kept.location, all);
  if (faults.length > 0) throw accessError(faults);
  await checkOwners(adapters.catalog, idOrg, [request]);
  return newJob(
    request,
    await sealRequest(request, adapters.secrets),
    settings.spark.conf,
    await credentialSecrets(adapters, settings.sources, idOrg, request.credential),
  );
}

/** Returns the options for the origin with which documents are read, and for content that it does not know. */
function schemaItems(
  { watch, usedSch }: WatchClaim,
  options: Readonly<Record<string, unknown>>,
): readonly RequestItem[] {
  const byXsd = hasFlag(options, '--xsd');
  const namesLogical = hasFlag(options, '-l', '--logical');
  const uses = byXsd || namesLogical ? null : usedSch;
  // a logical schema that is named stays as it is
  const onDrift = namesLogical && watch.on_drift === 'evolve' ? 'keep' : watch.on_drift;
  return [
    ...(uses === null ? [] : [item('-x', uses)]),
    { pointer: '/on_drift', flag: '--on-drift', value: onDrift },
  ];
}

function item(flag: string, id: number): RequestItem {
  return { pointer: '/id_sch', flag, value: String(id) };
}

function hasFlag(options: Readonly<Record<string, unknown>>, ...flags: readonly string[]): boolean {
  return flags.some((flag) => Object.hasOwn(options, flag));
}

// Looks at the location of a watch: the objects found are recorded, some at a time.

/** objects that are recorded at once */
const chunk = 1000;
/** characters of all names of a watch whose files are removed when they go: these are held to the end of a look */
const maxNameCharacters = 32 * 1024 * 1024;

/** False: the claim is lost. AppErrors of the location. */
async function look(
  { schedule, locations, adapters }: Pick<TurnOptions, 'schedule' | 'locations' | 'adapters'>,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<boolean> {
  const sinceMs = await schedule.beginLook(claim);
  if (sinceMs === null) return false;
  const location = await locations.open(await openPlace(adapters.secrets, claim), signal);
  const names: string[] | null = removesGone(claim.watch.options) ? [] : null;
  let characters = 0;
  let met: ListedObject[] = [];
  for await (const object of location.objects()) {
    signal.throwIfAborted();
    met.push(object);
    names?.push(object.name);
    if (names !== null && (characters += object.name.length) > maxNameCharacters)
      throw new LookLimit(
        `the names of its files have more than ${maxNameCharacters} characters in total: watch parts of it, or omit --delete-missing`,
      );
    if (met.length < chunk) continue;
    if (!(await schedule.recordObjects(claim, met))) return false;
    met = [];
  }
  if (met.length > 0 && !(await schedule.recordObjects(claim, met))) return false;
  const { fileSystem } = location;
  if (names?.length === 0) checkMounted(claim, fileSystem);
  return schedule.endLook(claim, sinceMs, names, fileSystem);
}

/**
 * Throws an AppError if files that were loaded were in another place: an unmounted folder is empty, and so is a store that took
 * another's place.
 */
function checkMounted({ watch, fileSystem: before }: WatchClaim, found: string | null): void {
  if (before === null || found === null || found === before || watch.files.loaded === 0) return;
  const elsewhere = before.includes('://')
    ? `in another store (${before}): nothing is removed from the target; name that one again`
    : 'on another file system, which is not mounted there now: nothing is removed from the target; mount it again';
  throw new AppError(
    'service_unavailable',
    `it is empty, and its files lay ${elsewhere}, or, where the files are gone for good, say so by PATCH with {"paused": false}`,
  );
}

// A scheduler: claims watches that are due, looks at their locations, and starts their jobs. Any number of schedulers may run; the
// database decides which one continues a watch. It never stops by itself: an unresponsive database is retried at growing intervals.

interface SchedulerOptions extends TurnOptions {
  /** turns at the same time, at least 2: an organisation has at most half of them */
  readonly concurrency: number;
}

export interface Scheduler {
  start(): void;
  /** Abandons running work; another scheduler, or this one when it starts again, continues it. Idempotent. */
  stop(): Promise<void>;
}

/** longest wait for a notification */
const pollMs = 30_000;
/** time for which a claim is kept without a heartbeat */
const leaseMs = 30_000;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { schedule, logger } = options;
  const stopping = new AbortController();
  const shares = createTurnShares(options.concurrency);
  const running = new Set<Promise<void>>();
  // aborted, and replaced, when a turn ends
  let turnEnd = new AbortController();
  let failedTurns = 0;
  let loop: Promise<void> | null = null;

  async function claimLoop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const wake = AbortSignal.any([stopping.signal, turnEnd.signal]);
      try {
        if (shares.free() === 0) {
          await pause(pollMs, wake);
          continue;
        }
        const claims = shares.claims();
        const claim = await schedule.claimWatch(leaseMs, claims);
        failures = 0;
        if (claim === null) {
          const dueMs = await schedule.nextDueInMs(claims.without);
          await schedule.waitForWatches(Math.min(pollMs, Math.max(dueMs ?? pollMs, shortestWaitMs)), wake);
          continue;
        }
        const turn = runTurn(claim).finally(() => running.delete(turn));
        running.add(turn);
      } catch (error) {
        failures += 1;
        if (failures === 1) tellFailure(error);
        await pause(backOffMs(failures, 200, 5000), stopping.signal);
      }
    }
  }

  async function runTurn(claim: WatchClaim): Promise<void> {
    const giveBack = shares.take(claim.idOrg);
    try {
      await takeTurn(options, claim, leaseMs, stopping.signal);
      failedTurns = 0;
    } catch (error) {
      failedTurns += 1;
      if (failedTurns === 1) tellFailure(error);
      // its organisation waits, and no other one does
      await pause(backOffMs(failedTurns, 200, 5000), stopping.signal);
    } finally {
      giveBack();
      turnEnd.abort();
      turnEnd = new AbortController();
    }
  }

  function tellFailure(error: unknown): void {
    if (!stopping.signal.aborted) logger.warn('watches cannot continue now', { error: messageOf(error) });
  }

  return {
    start: () => {
      loop ??= claimLoop();
    },
    stop: async () => {
      stopping.abort();
      await loop;
      await Promise.all(running);
    },
  };
}

/** A watch that is due and held by another scheduler is not asked for all the time. */
const shortestWaitMs = 50;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Shares the turns of a scheduler between organisations. An organisation may have at most as many turns at a time as are free. It
// therefore never has more than half of them, and even if slow places of several organisations hold turns, one is left for the next. Of
// organisations whose watches are due, the one that was served longest ago comes first.

export interface TurnShares {
  /** number of free turns */
  free(): number;
  /** The organisations that get no turn now, and in which order the others do. */
  claims(): ClaimShares;
  /** Takes a turn for the organisation. Returns the function that releases it, which does nothing when called again. */
  take(idOrg: number): () => void;
}

/** Organisations whose order is remembered; earlier turns are forgotten. */
const maxServed = 1000;

/** `turns`: how many there are, at least 2. */
export function createTurnShares(turns: number): TurnShares {
  const taken = new Map<number, number>();
  // organisations in the order of their last turns
  const served = new Set<number>();
  let free = turns;
  return {
    free: () => free,
    claims: () => ({
      without: [...taken].filter(([, count]) => count >= free).map(([idOrg]) => idOrg),
      served: [...served],
    }),
    take(idOrg) {
      free -= 1;
      taken.set(idOrg, (taken.get(idOrg) ?? 0) + 1);
      served.delete(idOrg);
      served.add(idOrg);
      for (const earliest of served) {
        if (served.size <= maxServed) break;
        served.delete(earliest);
      }
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        free += 1;
        const rest = taken.get(idOrg)! - 1;
        if (rest === 0) taken.delete(idOrg);
        else taken.set(idOrg, rest);
      };
    },
  };
}

// The options of a scheduler: ports, and the settings that its jobs are checked by.

interface BatchSettings extends AccessSettings {
  /** Spark's settings for all jobs */
  readonly spark: { readonly conf: Readonly<Record<string, string>> };
}

export interface TurnOptions {
  readonly schedule: WatchSchedule;
  readonly locations: WatchedLocations;
  readonly adapters: Pick<Adapters, 'catalog' | 'files' | 'secrets' | 'credentials'>;
  readonly settings: BatchSettings;
  readonly logger: Logger;
  /** total time of a look at a place: listing, reading, hashing */
  readonly lookMs: number;
}

// The time limit of a look (`svc.limits.look`): of all that one turn reads at the place of a watch.

/** The error for a check that exceeded a limit of this program. The next check would exceed it again, so `stalled` reports it at once. */
export class LookLimit extends AppError {
  /** the watch is to be paused: another look may take this machine's memory once more */
  readonly pauses: boolean;

  constructor(detail: string, pauses = false) {
    super('service_unavailable', detail);
    this.name = 'LookLimit';
    this.pauses = pauses;
  }
}

interface LimitedLocations extends WatchedLocations {
  /** Ends the timer, and any pending reading. */
  close(): void;
}

/**
 * Limits locations: opening, listing and reading together take at most `lookMs`, from the first `open` on. Past it each of them rejects
 * with a `LookLimit`, even if the awaited source does not answer.
 */
export function limitLook(locations: WatchedLocations, lookMs: number): LimitedLocations {
  const late = new AbortController();
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let opened: Promise<WatchedLocation> | null = null;
  const time = `${lookMs / 1000} s (svc.limits.look)`;
  const within = async <T>(work: Promise<T>, detail: string): Promise<T> => {
    const limit = Promise.withResolvers<never>();
    const stop = (): void => limit.reject(new LookLimit(detail));
    if (late.signal.aborted) stop();
    else late.signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([work, limit.promise]);
    } catch (error) {
      // the reason for the interruption says more than the fault that it caused
      if (late.signal.aborted && !(error instanceof LookLimit)) throw new LookLimit(detail);
      throw error;
    } finally {
      late.signal.removeEventListener('abort', stop);
    }
  };
  return {
    // all that a turn reads is of one watch
    open: (place, signal) => (opened ??= open(place, signal)),
    close() {
      clearTimeout(timer ?? undefined);
      over.abort();
    },
  };

  async function open(place: WatchedPlace, signal: AbortSignal): Promise<WatchedLocation> {
    timer ??= setTimeout(() => late.abort(), lookMs);
    const ended = AbortSignal.any([signal, late.signal, over.signal]);
    const location = await within(locations.open(place, ended), `the place did not answer within ${time}`);
    return limited(location, place);
  }

  function limited(location: WatchedLocation, { rows }: WatchedPlace): WatchedLocation {
    const listing =
      rows === null
        ? `the list of files did not end within ${time}`
        : `the query returned no row within ${time}: has --after ${rows.after?.column ?? ''} an index?`;
    return {
      fileSystem: location.fileSystem,
      async *objects() {
        const iterator = location.objects()[Symbol.asyncIterator]();
        let isDone = false;
        try {
          for (;;) {
            const next = await within(iterator.next(), listing);
            isDone = next.done === true;
            if (next.done === true) return;
            yield next.value;
          }
        } finally {
          // do not wait for a source that does not answer
          if (!isDone) void iterator.return?.()?.catch(() => undefined);
        }
      },
      digest: (object) => within(location.digest(object), `${object.name} could not be read within ${time}`),
    };
  }
}

// The states of a job's files after its end. A job publishes all of its files or none: after a failure, all files wait again except those
// at fault. If the job does not say which, halves are tried separately until one file is left.

/** Code of a reject: the file was another one when the job read it. */
export const changedFileCode = 'changed_file';
const driftCode = 'unmapped_content';

interface Settled {
  readonly files: readonly FileOutcome[];
  /** files of earlier jobs whose documents are not in the target any more */
  readonly replaced?: readonly ReplacedFile[];
  readonly watch: WatchOutcome;
  /** nothing is tried before so many milliseconds have passed; 0: at once */
  readonly pauseMs: number;
}

interface SettleSettings {
  readonly onDrift: OnDrift;
  /** failures in a row so far */
  readonly failures: number;
  /** for rows: batches after a rejected one wait for it */
  readonly inOrder: boolean;
}

/** consecutive failures without a document at fault, after which further tries wait for a pause */
const maxFailures = 4;

/** Returns the outcomes after a job has ended. */
export function settle(job: OpenJob, settings: SettleSettings): Settled {
  const settled = settledFiles(job, settings);
  const rejected = settled.files.find(({ status }) => status === 'rejected');
  if (!settings.inOrder || rejected === undefined) return settled;
  const name = job.files.find(({ idFile }) => idFile === rejected.idFile)?.name;
  const stalled = `rows from ${name} on are not loaded: ${rejected.reason}; repair that row, or set on_error to skip, and retry`;
  return { ...settled, watch: { ...settled.watch, stalled } };
}

function settledFiles(job: OpenJob, { onDrift, failures, inOrder }: SettleSettings): Settled {
  if (job.end === 'completed') return completed(job);
  if (job.end === 'removed')
    return all(job, 'rejected', 'the record of its job was removed before its end was seen');
  if (job.end === 'killed') return all(job, 'rejected', `job ${job.idJob}: ${job.failure ?? 'killed'}`);
  if (job.neverRan) return all(job, 'waiting', null);
  const blamed = job.rejects.filter(({ document }) => fileOf(job, document) !== null);
  if (job.rejects.some(({ code }) => code === driftCode)) return drifted(job, onDrift, blamed);
  if (blamed.length > 0) return { files: outcomes(job, blamed), watch: healthy, pauseMs: 0 };
  return withoutCulprit(job, failures, inOrder);
}

const healthy: WatchOutcome = { failures: 0, heldUntilMs: null, stalled: null };

type Reject = OpenJob['rejects'][number];

/** `--on-error skip`: a job completes without the documents that it has rejected. */
function completed(job: OpenJob): Settled {
  const { replaced: allReplaced = [] } = job;
  return {
    files: job.files.map((file) => {
      if (file.removes) return removed(job, file.idFile);
      const replaced = allReplaced.find(({ name, ofJob }) => ofJob && name === file.name);
      if (replaced !== undefined) return replacedFile(file.idFile, replaced.by);
      const own = rejectsOf(job, file.name);
      const whole = own.filter(
        ({ document }) => document === file.name || document === nameWithoutGz(file.name),
      );
      if (own.length === 0) return { idFile: file.idFile, status: 'loaded', reason: null };
      if (whole.length > 0) return rejected(file, whole[0]!);
      return {
        idFile: file.idFile,
        status: 'loaded',
        reason: `without ${own.length} of its documents: ${worded(own[0]!)}`,
      };
    }),
    replaced: allReplaced.filter(({ ofJob }) => !ofJob),
    watch: { ...healthy, ...(job.idSch === null ? {} : { usedSch: job.idSch }) },
    pauseMs: 0,
  };
}

/** `on_drift` is `fail`, and documents have content that is not in the schema: a person is waited for. */
function drifted(job: OpenJob, onDrift: OnDrift, blamed: readonly Reject[]): Settled {
  const drift = job.rejects.find(({ code }) => code === driftCode)!;
  const others = blamed.filter(({ code }) => code !== driftCode);
  // a person may have said otherwise since the job began
  return { files: outcomes(job, others), watch: onDrift === 'fail' ? stopped(drift) : healthy, pauseMs: 0 };
}

function replacedFile(idFile: number, by: string): FileOutcome {
  const reason = `a later file, ${by}, has the keys of its documents`;
  return { idFile, status: 'replaced', replacedBy: by, reason };
}

function removed({ idJob }: OpenJob, idFile: number): FileOutcome {
  return {
    idFile,
    status: 'ignored',
    removed: true,
    reason: `it was removed from the location: job ${idJob} removed its documents`,
  };
}

function stopped(drift: Reject): WatchOutcome {
  return {
    paused: true,
    failures: 0,
    stalled: `on_drift is fail, and documents have content that is not in the schema: ${drift.message}`,
  };
}

/** Sets each file at fault aside, or replaces it by its current version; the others wait again. */
function outcomes(job: OpenJob, blamed: readonly Reject[]): FileOutcome[] {
  return job.files.map((file) => {
    const own = blamed.find(({ document }) => fileOf(job, document) === file.name);
    if (own === undefined) return { idFile: file.idFile, status: 'waiting', reason: null };
    if (own.code === changedFileCode)
      return { idFile: file.idFile, status: 'ignored', reason: 'it was replaced before it could be loaded' };
    return rejected(file, own);
  });
}

/** The job failed, and no document is said to be the cause. */
function withoutCulprit(job: OpenJob, failures: number, inOrder: boolean): Settled {
  const { end, failure, files, idJob } = job;
  const reason = failureReason(end as JobStatus, failure);
  const why = `job ${idJob}: ${failure ?? end}`;
  const next = failures + 1;
  const stalls = reason === 'unreachable' || (reason === 'other' && (inOrder || next >= maxFailures));
  if (stalls) {
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
    return { ...all(job, 'waiting', null), watch: { failures: next, stalled: why }, pauseMs };
  }
  // an error caused by using all memory or all the time is not an outage
  const watch = { failures: reason === 'other' ? next : 0 };
  if (files.length <= 1) return { ...all(job, 'rejected', why), watch };
  const half = Math.ceil(files.length / 2);
  return {
    files: files.map(({ idFile }, at) => ({
      idFile,
      status: 'waiting',
      reason: null,
      batch: `${idJob} ${at < half ? 'first' : 'second'} half`,
    })),
    watch,
    pauseMs: 0,
  };
}

function all(job: OpenJob, status: 'waiting' | 'rejected', reason: string | null): Settled {
  return {
    files: job.files.map(({ idFile }) => ({ idFile, status, reason })),
    watch: {},
    pauseMs: 0,
  };
}

function rejected(file: { readonly idFile: number }, reject: Reject): FileOutcome {
  return { idFile: file.idFile, status: 'rejected', reason: worded(reject) };
}

function worded({ line, column, message }: Reject): string {
  return line === null ? message : `line ${line}, column ${column ?? 1}: ${message}`;
}

function rejectsOf(job: OpenJob, name: string): readonly Reject[] {
  return job.rejects.filter(({ document }) => fileOf(job, document) === name);
}

/** A member of an archive, or a document of a file that holds several. */
function isWithin(name: string, document: string): boolean {
  return (
    document.startsWith(`${name}/`) ||
    document.startsWith(`${name}#`) ||
    document.startsWith(`${nameWithoutGz(name)}#`)
  );
}

/** Returns the file of a document, which is the file itself, the unpacked content of a `.gz`, or a member of an archive. */
function fileOf({ files }: OpenJob, document: string | null): string | null {
  if (document === null) return files.length === 1 ? files[0]!.name : null;
  const found = files.find(
    ({ name }) => document === name || document === nameWithoutGz(name) || isWithin(name, document),
  );
  return found?.name ?? (files.length === 1 ? files[0]!.name : null);
}
