/** One claimed job from the start of its process to the record of its end. */
import type { Claim, JobStore } from '../ports/job-store.ts';
import type { ToolProcess } from '../ports/process-runner.ts';
import { backOffMs, pause } from './waiting.ts';
import type { WorkerOptions } from './worker.ts';

/** Why a process was told to end. */
type EndReason = 'kill' | 'lost' | 'handed back';

const never: AbortSignal = new AbortController().signal;

/** Failed attempts are tried again after 2 s, 4 s, … at most a minute. */
function retryDelayMs(attempt: number): number {
  return backOffMs(attempt, 2000, 60_000);
}

/** `handBack`: aborted when this worker must give up its running jobs. */
export async function superviseJob(
  options: WorkerOptions,
  claim: Claim,
  handBack: AbortSignal,
): Promise<void> {
  const { jobs, runner, logger } = options;
  let child: ToolProcess;
  try {
    child = await runner.start({
      tool: claim.tool,
      argv: ['-j', String(claim.idJob)],
      environment: { SVC_JOB_EPOCH: String(claim.epoch) },
      idJob: claim.idJob,
    });
  } catch (error) {
    logger.error('the tool cannot be started', { job: claim.idJob, error: String(error) });
    const failure = `the tool ${claim.tool} could not be started`;
    const last = claim.attempt >= options.maxAttempts;
    await persist(options, claim, () =>
      last ? jobs.finish(claim, 'F', failure) : jobs.handBack(claim, retryDelayMs(claim.attempt), failure),
    );
    return;
  }

  const ended = new AbortController();
  const reason = keepLease(options, claim, child, ended.signal, handBack);
  const { code, signal } = await child.ended;
  ended.abort();
  const told = await reason;
  logger.info('process ended', { job: claim.idJob, code, signal, told });
  await record(options, claim, code, signal, told);
}

/** Sends heartbeats while the process runs; answers why it was told to end, or null when it ended by itself. */
async function keepLease(
  options: WorkerOptions,
  claim: Claim,
  child: ToolProcess,
  ended: AbortSignal,
  handBack: AbortSignal,
): Promise<EndReason | null> {
  const { jobs, logger, leaseMs, heartbeatMs } = options;
  const wake = AbortSignal.any([ended, handBack]);
  let heldSince = performance.now();
  let waitMs = heartbeatMs;
  for (;;) {
    await pause(waitMs, wake);
    if (ended.aborted) return null;
    if (handBack.aborted) {
      child.stop(options.killGraceMs);
      return 'handed back';
    }
    const asked = performance.now();
    const answer = await jobs.heartbeat(claim, leaseMs).catch((error: unknown) => {
      logger.warn('heartbeat not answered', { job: claim.idJob, error: String(error) });
      return null;
    });
    if (ended.aborted) return null;
    if (answer === 'ok') {
      heldSince = asked;
      waitMs = heartbeatMs;
    } else if (answer === 'kill') {
      child.stop(options.killGraceMs);
      return 'kill';
    } else if (answer === 'lost' || performance.now() - heldSince > leaseMs) {
      // Someone else may run this job by now: no grace
      child.stop(0);
      return 'lost';
    } else {
      waitMs = Math.min(heartbeatMs, 1000);
    }
  }
}

async function record(
  options: WorkerOptions,
  claim: Claim,
  code: number | null,
  signal: string | null,
  told: EndReason | null,
): Promise<void> {
  const { jobs } = options;
  if (code === 0) {
    await persist(options, claim, () => jobs.finish(claim, 'C', null));
  } else if (told === 'lost') {
    return;
  } else if (told === 'kill') {
    await persist(options, claim, async () => jobs.finish(claim, await endOfKilled(jobs, claim), null));
  } else if (told === 'handed back') {
    await persist(options, claim, () => jobs.handBack(claim, 0, null));
  } else if (code === 2) {
    // It refused its own job record, and would again
    await persist(options, claim, () =>
      jobs.finish(claim, 'F', `the tool ${claim.tool} refused its options`),
    );
  } else {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const failure = `the process of attempt ${claim.attempt} was ended ${how} and gave no reason; its log may have one`;
    await persist(options, claim, async () => {
      // 1 with a reason in the record: what the tool has found is final. All else may pass.
      if (code === 1 && (await jobs.request(claim.idJob)).record.failure !== null)
        return jobs.finish(claim, 'F', null);
      if (claim.attempt >= options.maxAttempts) return jobs.finish(claim, 'F', failure);
      return jobs.handBack(claim, retryDelayMs(claim.attempt), failure);
    });
  }
}

/** K when someone asked for it, E when the deadline passed. */
async function endOfKilled(jobs: JobStore, claim: Claim): Promise<'K' | 'E'> {
  const { record } = await jobs.request(claim.idJob);
  return record.status === 'T' ? 'K' : 'E';
}

/**
 * Writes the end of a job, through outages of the database. Past the lease the job is not ours to write about for sure,
 * but the epoch decides that: an answer of false is left as it is.
 */
async function persist(options: WorkerOptions, claim: Claim, write: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 4 * options.leaseMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const ours = await write();
      if (!ours) options.logger.warn('the job was no longer ours', { job: claim.idJob });
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      if (attempt === 1)
        options.logger.warn('the end of the job cannot be written now', {
          job: claim.idJob,
          error: String(error),
        });
      await pause(backOffMs(attempt, 100, 2000), never);
    }
  }
}
