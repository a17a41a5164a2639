/**
 * A tool under a worker also checks its own claim: if the worker is stopped, or its machine unreachable, the tool notices that another
 * worker has its job, or that it was killed, and ends with all processes that it has started.
 */
import type { Claim, JobStore } from '../../ports/stores/jobs.ts';

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
