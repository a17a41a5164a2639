/**
 * Reconciles a job that ended between `beginCommit` and the report of its tool. The tool itself queries the target before the job may
 * end or be retried. A job whose rows are in the target is therefore never reported as killed or lost.
 */
import type { Claim } from '../../ports/stores/jobs.ts';
import type { ToolProcess } from '../../ports/processes.ts';
import { keepLease } from './keep-lease.ts';
import { exitCodes, reconcileVariable } from './tool-exit.ts';
import { backOffMs, pause } from './waiting.ts';
import type { WorkerOptions } from './options.ts';

/** `unknown`: the target did not answer in the time there was. `lost`: the job is another worker's. */
export type TargetAnswer = 'published' | 'not published' | 'unknown' | 'lost';

/** Time limit for querying a target about a job that was asked to end: its end is due in 15 s. */
const patienceMs = 7_000;

/** `hurried`: the job was killed or has expired. `handBack`: this worker is to end soon. */
export async function askTarget(
  options: WorkerOptions,
  claim: Claim,
  hurried: boolean,
  handBack: AbortSignal,
): Promise<TargetAnswer> {
  const giveUp = new AbortController();
  const done = new AbortController();
  let current: ToolProcess | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const end = (): void => {
    giveUp.abort();
    current?.stop(0);
  };
  const hurry = (): void => void (timer ??= setTimeout(end, patienceMs));
  const endReason = keepLease(
    options,
    claim,
    // no grace means that another worker has the job; otherwise there is time for one answer
    { stop: (graceMs) => (graceMs === 0 ? end() : hurry()) },
    done.signal,
    handBack,
  );
  if (hurried) hurry();
  let answer: TargetAnswer = 'unknown';
  for (let attempt = 1; answer === 'unknown' && !giveUp.signal.aborted; attempt += 1) {
    try {
      current = await options.runner.start({
        tool: claim.tool,
        argv: ['-j', String(claim.idJob)],
        environment: { SVC_JOB_EPOCH: String(claim.epoch), [reconcileVariable]: '1' },
        idJob: claim.idJob,
        epoch: claim.epoch,
      });
      if (giveUp.signal.aborted) current.stop(0);
      const { code } = await current.ended;
      if (code === exitCodes.completed) answer = 'published';
      else if (code === exitCodes.notPublished) answer = 'not published';
    } catch (error) {
      options.logger.warn('the target cannot be asked now', { job: claim.idJob, error: String(error) });
    }
    if (answer === 'unknown') await pause(backOffMs(attempt, 500, 30_000), giveUp.signal);
  }
  if (timer !== null) clearTimeout(timer);
  done.abort();
  return (await endReason) === 'lost' ? 'lost' : answer;
}
