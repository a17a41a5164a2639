/**
 * A scheduler: claims watches that are due, looks at their locations, and starts their jobs. Any number of schedulers may run; the
 * database decides which one continues a watch. It never stops by itself: an unresponsive database is retried at growing intervals.
 */
import { backOffMs, pause } from '../../jobs/worker/waiting.ts';
import type { WatchClaim } from '../../ports/stores/watches.ts';
import type { TurnOptions } from './options.ts';
import { createTurnShares } from './shares.ts';
import { takeTurn } from './turn.ts';

export interface SchedulerOptions extends TurnOptions {
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
    if (!stopping.signal.aborted)
      logger.warn('watches cannot be gone on with now', { error: messageOf(error) });
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
