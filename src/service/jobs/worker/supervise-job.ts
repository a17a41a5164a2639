/** One claimed job from the start of its process to the record of its end. */
import type { Claim, JobQueue, StoredJob, ToolJobs, WorkerIdentity } from '../../../ports/stores/jobs.ts';
import type { Logger, Tracer } from '../../../ports/environment.ts';
import type { JobRunner, ToolProcess } from '../../../ports/processes.ts';
import { answerWithin, pause, backOffMs } from './waiting.ts';
import { exitCodes, reconcileVariable, crashSignals, leftBehind } from './tool-exit.ts';
import { isDiskFull } from '../../../errors.ts';
import { isTool } from '../request/tools.ts';
import { childOf, formatTraceparent, parseTraceparent } from '../trace-context.ts';

// The options of a worker: ports, times and the number of jobs that it runs.

export interface WorkerOptions {
  readonly jobs: JobQueue & ToolJobs;
  readonly runner: JobRunner;
  readonly logger: Logger;
  readonly identity: WorkerIdentity;
  /** jobs at the same time, beside one extra job for an organisation that runs nothing else */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** longest wait for a notification of new work */
  readonly pollMs: number;
  /** time from SIGTERM to SIGKILL of a job's process group */
  readonly killGraceMs: number;
  /** a job whose process ended without a reason is given up after so many */
  readonly maxAttempts: number;
  /** time that a job waits for a server or for room on a disk; absent: none */
  readonly outageWaitMs?: number;
  /** Whether the database has the version of this program, checked now; absent: it always has. */
  readonly fitsDatabase?: () => Promise<boolean>;
  /** running time of a job, all its attempts together; absent: none */
  readonly runLimitMs?: number;
  /** exports the spans of jobs and their steps; absent: nobody wants them */
  readonly tracer?: Tracer;
}

// The lease of a job: sends heartbeats, and acts on the answers.

/** The reason why a process was asked to end. */
type EndReason = 'kill' | 'lost' | 'handed back' | 'run limit';

/** A process that is ended when the job must not go on: SIGTERM, then SIGKILL after `graceMs`. */
interface Endable {
  stop(graceMs: number): void;
}

/**
 * Sends heartbeats until `ended`. If the job is killed, lost, handed back, or has run for `runMs`, ends the process and returns the
 * reason. Returns null if the process ended by itself.
 */
async function keepLease(
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
    if (answer === null) logger.warn('the heartbeat was not answered', { job: claim.idJob });
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

// Reconciles a job that ended between `beginCommit` and the report of its tool. The tool queries the target before the job may end or be
// retried. A job whose rows are in the target is therefore never reported as killed or lost.

/** `unknown`: the target did not answer in the time there was. `lost`: the job is another worker's. */
type TargetAnswer = 'published' | 'not published' | 'unknown' | 'lost';

/** Time limit for querying a target about a job that was asked to end: its end is due in 15 s. */
const patienceMs = 7_000;

/** `hurried`: the job was killed or has expired. `handBack`: this worker is to end soon. */
async function askTarget(
  options: WorkerOptions,
  claim: Claim,
  hurried: boolean,
  handBack: AbortSignal,
): Promise<TargetAnswer> {
  const giveUp = new AbortController();
  const done = new AbortController();
  let current: Pick<ToolProcess, 'stop'> | null = null;
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
      const asking = await options.runner.start({
        tool: claim.tool,
        argv: ['-j', String(claim.idJob)],
        environment: { SVC_JOB_EPOCH: String(claim.epoch), [reconcileVariable]: '1' },
        idJob: claim.idJob,
        epoch: claim.epoch,
      });
      current = asking;
      if (giveUp.signal.aborted) asking.stop(0);
      const { code } = await asking.ended;
      if (code === exitCodes.completed) answer = 'published';
      else if (code === exitCodes.notPublished) answer = 'not published';
    } catch (error) {
      options.logger.warn('the target does not answer now', { job: claim.idJob, error: String(error) });
    }
    if (answer === 'unknown') await pause(backOffMs(attempt, 500, 30_000), giveUp.signal);
  }
  if (timer !== null) clearTimeout(timer);
  done.abort();
  return (await endReason) === 'lost' ? 'lost' : answer;
}

// The job.

/** The end of a tool's process, and the reason why we had asked it to end. */
interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** reason why its output could not be logged */
  readonly logFault: string | null;
  /** the exceeded limit, if it ended for lack of memory */
  readonly outOfMemory: string | null;
  /** the limit of this program for which it was ended */
  readonly overLimit: string | null;
  readonly endReason: EndReason | null;
}

const never: AbortSignal = new AbortController().signal;

/** Returns the pause before a retry. A killed process can be started again at once; a server or a full disk takes longer to recover. */
function retryDelayMs(attempt: number): number {
  return attempt === 1 ? 2_000 : backOffMs(attempt - 1, 15_000, 30_000);
}

/** `handBack`: aborted when this worker must give up its running jobs. */
export async function superviseJob(
  options: WorkerOptions,
  claim: Claim,
  handBack: AbortSignal,
  span: JobSpan,
): Promise<void> {
  const { jobs, logger } = options;
  if (claim.purpose === 'reconcile') {
    logger.info('a worker died while the job was publishing', { job: claim.idJob });
    return settle(options, claim, null, handBack);
  }
  let ending: Ending;
  try {
    ending = await runProcess(options, claim, handBack, span);
  } catch (error) {
    logger.error('the tool cannot be started', { job: claim.idJob, error: String(error), ...span.fields });
    const failure = `the tool ${claim.tool} could not be started`;
    return persist(options, claim, () =>
      isDiskFull(error)
        ? waitForEnd(options, claim, `${failure}: the disk is full`)
        : tryAgain(options, claim, failure),
    );
  }
  logger.info('process ended', { job: claim.idJob, ...ending, ...span.fields });
  if (ending.code === exitCodes.completed) {
    return persist(options, claim, () => jobs.finish(claim, 'completed', null));
  }
  if (ending.endReason !== 'lost') await settle(options, claim, ending, handBack);
}

async function runProcess(
  options: WorkerOptions,
  claim: Claim,
  handBack: AbortSignal,
  span: JobSpan,
): Promise<Ending> {
  const child = await options.runner.start({
    tool: claim.tool,
    argv: ['-j', String(claim.idJob)],
    environment: { SVC_JOB_EPOCH: String(claim.epoch), TRACEPARENT: span.traceparent },
    idJob: claim.idJob,
    epoch: claim.epoch,
    // a retry gets a process of its own
    ...(claim.attempt === 1 ? { idOrg: claim.idOrg } : {}),
  });
  const ended = new AbortController();
  const runMs = (options.runLimitMs ?? Infinity) - claim.ranMs;
  const reason = keepLease(options, claim, child, ended.signal, handBack, runMs);
  const end = await child.ended;
  ended.abort();
  return { ...end, endReason: await reason };
}

/**
 * The record of a job whose process did not complete. One that may have published is not judged before its target was asked.
 * `ending` null: the process was a dead worker's.
 */
async function settle(
  options: WorkerOptions,
  claim: Claim,
  ending: Ending | null,
  handBack: AbortSignal,
): Promise<void> {
  const { jobs } = options;
  const stored = await persistently(options, claim, () => jobs.findStoredJob(claim.idJob));
  if (stored.epoch !== claim.epoch) return;
  let open = false;
  if (stored.committing) {
    const hurried = stored.record.status === 'terminating' || endsAtOnce(ending);
    const answer = await askTarget(options, claim, hurried, handBack);
    options.logger.info('asked the target whether the job had published its rows', {
      job: claim.idJob,
      answer,
    });
    if (answer === 'lost') return;
    if (answer === 'published') {
      if (hurried)
        await note(options, claim, 'the job was stopped after it had published its rows: it is complete');
      return persist(options, claim, () => jobs.finish(claim, 'completed', null));
    }
    // A worker that drains leaves the question to the next one
    if (answer === 'unknown' && handBack.aborted && !endsAtOnce(ending)) return;
    open = answer === 'unknown';
  }
  await persist(options, claim, async () => {
    if (stored.committing && !open) await jobs.settleCommit(claim);
    return recordEnd(options, claim, ending, open);
  });
}

/** Returns whether the job was asked to end for good. */
function endsAtOnce(ending: Ending | null): boolean {
  return ending?.endReason === 'kill' || ending?.endReason === 'run limit';
}

/**
 * Writes the last line of a log, before the record tells its followers that the job has ended. A log that cannot be written does not
 * delay the job.
 */
async function note({ runner, logger }: WorkerOptions, claim: Claim, line: string): Promise<void> {
  await runner
    .note(claim, line)
    .catch((error: unknown) =>
      logger.warn('the log cannot be written', { job: claim.idJob, error: String(error) }),
    );
}

/** `open`: it could not be found out whether the rows are in the target. */
async function recordEnd(
  options: WorkerOptions,
  claim: Claim,
  ending: Ending | null,
  open: boolean,
): Promise<boolean> {
  const { jobs } = options;
  const stored = await jobs.findStoredJob(claim.idJob);
  const standing = await jobs.checkClaim(claim);
  if (standing === 'lost') return false;
  if (open) {
    const failure =
      'ended while it published, and its target did not answer: the table _loads in the target shows whether its rows are there';
    return jobs.finish(
      claim,
      stored.record.status === 'terminating'
        ? 'killed'
        : standing === 'kill' || ending?.endReason === 'run limit'
          ? 'expired'
          : 'failed',
      failure,
    );
  }
  if (standing === 'kill') {
    const killed = stored.record.status === 'terminating';
    const why = killed ? 'killed on request' : 'its deadline passed';
    await note(options, claim, isTool(claim.tool) ? `${why}; ${leftBehind[claim.tool]}` : why);
    return killed ? jobs.finish(claim, 'killed', null) : jobs.finish(claim, 'expired', why);
  }
  if (ending?.endReason === 'run limit') {
    const why = `it ran for longer than ${(options.runLimitMs ?? 0) / 1000} s (svc.limits.job_seconds)`;
    await note(options, claim, isTool(claim.tool) ? `${why}; ${leftBehind[claim.tool]}` : why);
    return jobs.finish(claim, 'expired', why);
  }
  if (ending === null) return tryAgain(options, claim, 'its worker died');
  if (ending.endReason === 'handed back') return jobs.handBack(claim, 0, null);
  return recordFault(options, claim, ending, stored);
}

async function recordFault(
  options: WorkerOptions,
  claim: Claim,
  ending: Ending,
  stored: StoredJob,
): Promise<boolean> {
  const { jobs } = options;
  const { code, signal, logFault, outOfMemory, overLimit } = ending;
  const reason = stored.record.failure;
  if (overLimit !== null) return jobs.finish(claim, 'failed', `the job was ended: ${overLimit}`);
  if (logFault !== null) {
    const failure = `the log of the job could not be written: ${logFault}`;
    return /ENOSPC|EDQUOT/.test(logFault)
      ? waitForEnd(options, claim, failure)
      : tryAgain(options, claim, failure);
  }
  // It refused its own job record, and would again
  if (code === exitCodes.usage) {
    return jobs.finish(claim, 'failed', `the tool ${claim.tool} refused its options`);
  }
  // If the record has a reason, the tool's finding is final. All other failures may pass.
  if (code === exitCodes.failed && reason !== null) return jobs.finish(claim, 'failed', null);
  if (code === exitCodes.waits && reason !== null) return waitForEnd(options, claim, reason);
  if (code === exitCodes.tryAgain && reason !== null) return tryAgain(options, claim, reason);
  // A newer release migrated the database after the claim: a worker of that release runs the job
  if (code === exitCodes.tryAgain && (await options.fitsDatabase?.()) === false)
    return jobs.handBack(claim, 0, null);
  const crash = signal ?? (code !== null && code > 128 ? signalNames[code - 128] : undefined);
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const failure =
    outOfMemory === null
      ? `the process of attempt ${claim.attempt} was ended ${how} and gave no reason; its log may have one`
      : `out of memory in attempt ${claim.attempt}: ${outOfMemory}; ${advice(claim.tool)}`;
  return crash !== undefined && crashSignals.has(crash)
    ? jobs.finish(claim, 'failed', failure)
    : tryAgain(options, claim, failure);
}

/** The advice in the failure of a job that ran out of memory. */
function advice(tool: string): string {
  return tool === 'xml2er'
    ? 'give it more, or less at once: fewer --workers, large documents in parts (--row-tag), fewer documents in a job, fewer jobs at a time (svc.worker.concurrency)'
    : 'give it more, or let fewer jobs run at a time (svc.worker.concurrency)';
}

/** Signals as shells report them: exit code 128 + n. */
const signalNames: Readonly<Record<number, string>> = {
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  8: 'SIGFPE',
  11: 'SIGSEGV',
};

/** Waits for its next attempt; failed, with the reason of this one, when it was the last. */
function tryAgain(options: WorkerOptions, claim: Claim, failure: string): Promise<boolean> {
  return claim.attempt >= options.maxAttempts
    ? options.jobs.finish(claim, 'failed', failure)
    : options.jobs.handBack(claim, retryDelayMs(claim.attempt), failure);
}

/** ms; a server that is restarted is back within seconds, and one that is away for long is not asked often */
const firstOutageDelayMs = 5_000;
const longestOutageDelayMs = 5 * 60_000;

/** Up to a quarter more or less, so that jobs that wait for one server do not come back at once. */
function outageDelayMs(tries: number): number {
  return backOffMs(tries, firstOutageDelayMs, longestOutageDelayMs) * (0.75 + Math.random() / 2);
}

/** Waits for the end of an outage without losing the attempt; failed when it has waited for too long. */
async function waitForEnd(options: WorkerOptions, claim: Claim, reason: string): Promise<boolean> {
  const { jobs, outageWaitMs = 0 } = options;
  if (outageWaitMs === 0) return tryAgain(options, claim, reason);
  const { outage } = await jobs.findStoredJob(claim.idJob);
  const since = timeText(outage.sinceMs);
  if (outage.waitedMs >= outageWaitMs)
    return jobs.finish(
      claim,
      'failed',
      `${reason}; the job has waited since ${since}, which is as long as svc.limits.outage_wait allows`,
    );
  const until = timeText(outage.sinceMs + outageWaitMs);
  const delayMs = outageDelayMs(outage.tries + 1);
  await note(
    options,
    claim,
    `waiting since ${since}, until ${until} at the latest (svc.limits.outage_wait): ${reason}; next try in ${Math.round(delayMs / 1000)} s or later`,
  );
  return jobs.handBack(
    claim,
    delayMs,
    `waiting since ${since}, until ${until} at the latest: ${reason}`,
    true,
  );
}

/** `2026-11-29T14:00:00Z` */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/**
 * Writes the end of a job, through outages of the database. After the lease another worker may have taken over the job; the epoch decides
 * that, and false is not an error.
 */
async function persist(options: WorkerOptions, claim: Claim, write: () => Promise<boolean>): Promise<void> {
  const ours = await persistently(options, claim, write);
  if (!ours) options.logger.warn('the job had been taken over by another worker', { job: claim.idJob });
}

async function persistently<T>(options: WorkerOptions, claim: Claim, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 4 * options.leaseMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      if (attempt === 1)
        options.logger.warn('the result of the job cannot be recorded now', {
          job: claim.idJob,
          error: String(error),
        });
      await pause(backOffMs(attempt, 100, 2000), never);
    }
  }
}

// One attempt at a job as a span of the trace that its request began, and the steps of its tool as spans below it.

interface JobSpan {
  /** handed to the tool */
  readonly traceparent: string;
  /** fields for lines of the log */
  readonly fields: { readonly trace_id: string };
  /** Exports the span and its steps, after the end of the attempt was recorded. Never rejects. */
  end(): Promise<void>;
}

interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly cpu_seconds?: number;
}

export function beginJobSpan(
  { jobs, tracer }: Pick<WorkerOptions, 'jobs' | 'tracer'>,
  claim: Claim,
): JobSpan {
  const parent = parseTraceparent(claim.traceparent);
  const made = childOf(parent);
  const trace = parent === null && claim.traceId !== undefined ? { ...made, traceId: claim.traceId } : made;
  const startMs = Date.now();

  async function record(): Promise<void> {
    if (tracer === undefined || !trace.sampled) return;
    const endMs = Date.now();
    const { record: job, summary, epoch } = await jobs.findStoredJob(claim.idJob);
    // another worker has the job now
    if (epoch !== claim.epoch) return;
    const { traceId } = trace;
    tracer.record({
      name: `job ${claim.tool}`,
      kind: 'consumer',
      traceId,
      spanId: trace.spanId,
      ...(parent === null ? {} : { parentSpanId: parent.spanId }),
      startMs,
      endMs,
      ...(job.status === 'completed' ? {} : { error: job.failure ?? job.status }),
      attributes: {
        'svc.job.id': claim.idJob,
        'svc.job.tool': claim.tool,
        'svc.job.attempt': claim.attempt,
        'svc.job.status': job.status,
        'svc.org.id': claim.idOrg,
      },
    });
    // steps follow one another from the start of the tool
    let from = startMs;
    for (const { name, seconds, cpu_seconds: cpu } of stepsOf(summary)) {
      const until = Math.min(from + seconds * 1000, endMs);
      tracer.record({
        name: `step ${name}`,
        kind: 'internal',
        traceId,
        spanId: childOf(trace).spanId,
        parentSpanId: trace.spanId,
        startMs: from,
        endMs: until,
        attributes: {
          'svc.job.id': claim.idJob,
          ...(cpu === undefined ? {} : { 'svc.step.cpu_seconds': cpu }),
        },
      });
      from = until;
    }
  }

  return {
    traceparent: formatTraceparent(trace),
    fields: { trace_id: trace.traceId },
    // a span that is lost is no fault of the job
    end: () => record().catch(() => undefined),
  };
}

function stepsOf(summary: unknown): readonly Step[] {
  const steps = (summary as { readonly steps?: unknown } | null)?.steps;
  return Array.isArray(steps) ? (steps as readonly Step[]) : [];
}
