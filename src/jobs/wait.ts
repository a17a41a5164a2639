/** Waits for the jobs of a workflow to end, so that their submitter needs no loop. */
import type { JobStore } from '../ports/stores/jobs.ts';
import { terminalStatuses, type JobStatus } from './record.ts';
import { pause } from './worker/waiting.ts';

export interface JobWait {
  /** longest waiting time */
  readonly forMs: number;
  /** aborting returns the current states at once */
  readonly signal: AbortSignal;
}

/** interval between two polls if ends are not notified: short jobs are seen at once, long ones cost a query a second */
const [shortestPauseMs, longestPauseMs] = [50, 1000];

/** Returns the states of the jobs, in their order, when all have ended or the time is up. A job that no longer exists counts as lost. */
export async function waitForJobs(
  jobs: Pick<JobStore, 'listWorkflowJobs' | 'waitForEnd'>,
  idOrg: number,
  idWorkflow: number,
  idJobs: readonly number[],
  { forMs, signal }: JobWait,
): Promise<readonly JobStatus[]> {
  const until = performance.now() + forMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const leftMs = until - performance.now();
    const looked = new AbortController();
    // before the look: an end that comes while it is under way is heard
    const ended = jobs.waitForEnd(
      idWorkflow,
      Math.max(0, Math.min(pauseMs, leftMs)),
      AbortSignal.any([signal, looked.signal]),
    );
    const found = await jobs.listWorkflowJobs(idOrg, idWorkflow, 0, idJobs.length);
    const statusOf = new Map(found?.content.map(({ id_job: idJob, status }) => [idJob, status]));
    const statuses = idJobs.map((idJob) => statusOf.get(idJob) ?? 'lost');
    const running = statuses.filter((status) => !terminalStatuses.has(status)).length;
    if (leftMs <= 0 || signal.aborted || running === 0) {
      looked.abort();
      return statuses;
    }
    // if many jobs end one by one, one poll sees several of them
    if (running > 1) await pause(Math.min(shortestPauseMs, leftMs), signal);
    await ended;
  }
}
