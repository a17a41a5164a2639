/**
 * A worker: claims jobs, runs each as a child process, keeps their leases, and records how they ended. It never stops by itself: an
 * unresponsive database is retried at growing intervals.
 */
import { beginJobSpan, superviseJob, type WorkerOptions } from './supervise-job.ts';
import { backOffMs, pause, race } from './waiting.ts';
import type { JobStore } from '../../../ports/stores/jobs.ts';
import type { Logger } from '../../../ports/environment.ts';

export interface Worker {
  start(): void;
  /** Claims nothing more, lets running jobs finish for `graceMs`, then hands the rest back. Resolves when none is left. Idempotent. */
  drain(graceMs: number): Promise<void>;
  /** jobs running here now */
  running(): number;
}

export function createWorker(options: WorkerOptions): Worker {
  const { jobs, logger } = options;
  const draining = new AbortController();
  const handingBack = new AbortController();
  const running = new Set<Promise<void>>();
  // aborted, and replaced, when a job ends
  let jobEnd = new AbortController();
  let loops: Promise<unknown> | null = null;
  let reaper: Reaper | null = null;
  let drained: Promise<void> | null = null;

  async function claimLoop(): Promise<void> {
    let failures = 0;
    while (!draining.signal.aborted) {
      try {
        if (running.size > options.concurrency) {
          await race([...running], draining.signal);
          continue;
        }
        const wake = AbortSignal.any([draining.signal, jobEnd.signal]);
        // Beyond its places a process runs one job more, of an organisation that would have to wait for others to end theirs
        const claim = await jobs.claimJob(
          options.identity,
          options.leaseMs,
          running.size === options.concurrency,
        );
        failures = 0;
        if (claim === null) {
          await jobs.waitForWork(options.pollMs, wake);
          continue;
        }
        const span = beginJobSpan(options, claim);
        logger.info('job claimed', {
          job: claim.idJob,
          tool: claim.tool,
          attempt: claim.attempt,
          ...span.fields,
        });
        const job = superviseJob(options, claim, handingBack.signal, span)
          .then(() => span.end())
          .catch((error: unknown) =>
            logger.error('the job is left until its lease expires', {
              job: claim.idJob,
              error: messageOf(error),
              ...span.fields,
            }),
          )
          .finally(() => {
            running.delete(job);
            jobEnd.abort();
            jobEnd = new AbortController();
          });
        running.add(job);
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn('no jobs can be claimed now', { error: messageOf(error) });
        await pause(backOffMs(failures, 200, 5000), draining.signal);
      }
    }
  }

  return {
    start: () => {
      if (loops !== null) return;
      reaper = startReaper({ jobs, logger, everyMs: Math.min(options.heartbeatMs, 2000) });
      loops = claimLoop();
    },
    drain: (graceMs) => {
      drained ??= (async () => {
        draining.abort();
        await Promise.all([loops, reaper?.stop()]);
        await pause(graceMs, handingBack.signal, Promise.all(running));
        handingBack.abort();
        await Promise.all(running);
        await options.runner.close();
      })();
      return drained;
    },
    running: () => running.size,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Ends or requeues, now and then, jobs whose lease or deadline has passed. Any number of them may run.

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
        if (changed > 0) logger.info('jobs whose lease or deadline has expired', { changed });
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
