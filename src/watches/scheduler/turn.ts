/** One turn with a claimed watch: records the end of its job, looks at its location, starts the next job, and releases the watch. */
import { AppError } from '../../errors.ts';
import type {
  OpenJob,
  ClaimRelease,
  WatchClaim,
  WatchOutcome,
  WatchSchedule,
} from '../../ports/stores/watches.ts';
import { pause } from '../../jobs/worker/waiting.ts';
import { parseSchedule } from '../schedule.ts';
import { rowServerOf } from '../row-server.ts';
import { settle } from '../settle.ts';
import { startNextJob } from './batch.ts';
import type { TurnOptions } from './options.ts';
import { look } from './look.ts';
import { LookLimit, limitLook } from './look-limit.ts';

/** Consecutive failed looks before the watch is called stalled: faults of a store mostly pass. */
const mostFailedLooks = 3;
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
  const stalled = isLimit || failedLooks + 1 >= mostFailedLooks ? { stalled: reason } : {};
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
  /** it exceeded a limit of ours, and would again */
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
    options.logger.warn('a location cannot be looked at', {
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
