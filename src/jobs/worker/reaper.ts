/** Ends or requeues, now and then, jobs whose lease or deadline has passed. Any number of them may run. */
import type { JobStore } from '../../ports/stores/jobs.ts';
import type { Logger } from '../../ports/logger.ts';
import { pause } from './waiting.ts';

export interface Reaper {
  /** Resolves once all of its work has ended. Idempotent. */
  stop(): Promise<void>;
}

export function startReaper(options: {
  readonly jobs: Pick<JobStore, 'reap'>;
  readonly logger: Logger;
  readonly everyMs: number;
}): Reaper {
  const { jobs, logger, everyMs } = options;
  const stopping = new AbortController();
  async function reap(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const changed = await jobs.reap();
        if (changed > 0) logger.info('jobs whose lease or deadline had passed', { changed });
      } catch (error) {
        logger.warn('leases cannot be checked now', { error: String(error) });
      }
      await pause(everyMs, stopping.signal);
    }
  }
  const stopped = reap();
  return {
    stop: () => {
      stopping.abort();
      return stopped;
    },
  };
}
