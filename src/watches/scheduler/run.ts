/**
 * A scheduler: claims watches that are due, looks at their locations, and starts their jobs. Any number of them may run; the database
 * decides which one goes on with a watch. It never stops by itself: a database that does not answer is asked again, later and later.
 */
import { backOffMs, pause } from '../../jobs/worker/waiting.ts';
import type { TurnOptions } from './options.ts';
import { takeTurn } from './turn.ts';

export interface SchedulerOptions extends TurnOptions {
  /** watches that are gone on with at the same time */
  readonly concurrency: number;
}

export interface Scheduler {
  start(): void;
  /** Gives up what is under way; another scheduler, or this one when it starts again, goes on with it. Idempotent. */
  stop(): Promise<void>;
}

/** longest wait for a notification */
const pollMs = 30_000;
/** how long a claim is kept without a sign of life */
const leaseMs = 30_000;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { schedule, logger } = options;
  const stopping = new AbortController();
  let loops: Promise<unknown> | null = null;

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const claim = await schedule.claimWatch(leaseMs);
        failures = 0;
        if (claim === null) {
          const dueMs = await schedule.nextDueInMs();
          const waitMs = Math.min(pollMs, Math.max(dueMs ?? pollMs, shortestWaitMs));
          await schedule.waitForWatches(waitMs, stopping.signal);
          continue;
        }
        await takeTurn(options, claim, leaseMs, stopping.signal);
      } catch (error) {
        failures += 1;
        if (failures === 1 && !stopping.signal.aborted)
          logger.warn('watches cannot be gone on with now', { error: messageOf(error) });
        await pause(backOffMs(failures, 200, 5000), stopping.signal);
      }
    }
  }

  return {
    start: () => {
      loops ??= Promise.all(Array.from({ length: options.concurrency }, loop));
    },
    stop: async () => {
      stopping.abort();
      await loops;
    },
  };
}

/** A watch that is due and held by another scheduler is not asked for all the time. */
const shortestWaitMs = 50;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
