/** Sends heartbeats of a worker for one job, and acts on the answers. */
import type { Claim } from '../../ports/stores/jobs.ts';
import { answerWithin, pause } from './waiting.ts';
import type { WorkerOptions } from './options.ts';

/** The reason why a process was asked to end. */
export type EndReason = 'kill' | 'lost' | 'handed back' | 'run limit';

/** A process that is ended when the job must not go on: SIGTERM, then SIGKILL after `graceMs`. */
export interface Endable {
  stop(graceMs: number): void;
}

/**
 * Sends heartbeats until `ended`. If the job is killed, lost, handed back, or has run for `runMs`, ends the process and returns the
 * reason. Returns null if the process ended by itself.
 */
export async function keepLease(
  options: WorkerOptions,
  claim: Claim,
  process: Endable,
  ended: AbortSignal,
  handBack: AbortSignal,
  runMs: number = Infinity,
): Promise<EndReason | null> {
  const { jobs, logger, leaseMs, heartbeatMs } = options;
  const wake = AbortSignal.any([ended, handBack]);
  let heldSince = performance.now();
  const runsUntil = heldSince + runMs;
  let nextMs = heartbeatMs;
  for (;;) {
    const waitMs = Math.max(0, Math.min(nextMs, runsUntil - performance.now()));
    // A kill request ends the wait; the heartbeat then says so
    await Promise.race([jobs.waitForKill(claim.idJob, waitMs, wake), pause(waitMs, wake)]);
    if (ended.aborted) return null;
    if (handBack.aborted) {
      process.stop(options.killGraceMs);
      return 'handed back';
    }
    const asked = performance.now();
    if (asked >= runsUntil) {
      process.stop(options.killGraceMs);
      return 'run limit';
    }
    // A connection that is dead without knowing it must not keep us from counting
    const answer = await answerWithin(jobs.heartbeat(claim, leaseMs), Math.min(heartbeatMs, leaseMs / 4));
    if (ended.aborted) return null;
    if (answer === null) logger.warn('heartbeat not answered', { job: claim.idJob });
    if (answer === 'ok') {
      heldSince = asked;
      nextMs = heartbeatMs;
    } else if (answer === 'kill') {
      process.stop(options.killGraceMs);
      return 'kill';
    } else if (answer === 'lost' || performance.now() - heldSince > leaseMs) {
      // Another worker may run this job now: no grace
      process.stop(0);
      return 'lost';
    } else {
      nextMs = Math.min(heartbeatMs, 1000);
    }
  }
}
