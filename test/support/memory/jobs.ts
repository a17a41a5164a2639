/** The job table in memory: the same states, epochs and leases as the real one, by the clock it is given. */
import { AppError } from '../../../src/errors.ts';
import { legalTransitions, terminalStatuses, type JobStatus } from '../../../src/service/jobs/record.ts';
import { parseTraceparent } from '../../../src/service/jobs/trace-context.ts';
import { pause } from '../../../src/service/jobs/worker/waiting.ts';
import {
  copyOf,
  endedJobOf,
  isRunnable,
  newRow,
  paged,
  passes,
  recordOf,
  resolvedRequest,
  runOf,
  selected,
  standingOf,
  sumLoaded,
  workflowRecord,
  paramsWithResult,
} from './rows-of-jobs.ts';
import { defaultJobLimits, type MemoryJobStoreOptions } from './rows-of-jobs.ts';
import type { Row, WorkflowRow } from './rows-of-jobs.ts';
import { idempotencyKeyReused } from '../../../src/metadb/idempotency-store.ts';
import type { Clock } from '../../../src/ports/environment.ts';
import type {
  Claim,
  JobStore,
  LatestLoad,
  NewJob,
  Submission,
  Submitted,
  WorkerIdentity,
} from '../../../src/ports/stores/jobs.ts';

/** The trace of the request, or one of its own. */
const traceIdOf = (traceparent: string | undefined): string =>
  parseTraceparent(traceparent)?.traceId ?? crypto.randomUUID().replaceAll('-', '');
const isIdle = (status: JobStatus): boolean => status === 'queued' || status === 'waiting';
const isHeld = (status: JobStatus): boolean => status === 'running' || status === 'terminating';

export function createMemoryJobStore(clock: Clock, options: Partial<MemoryJobStoreOptions> = {}): JobStore {
  const settings = { ...defaultJobLimits, ...options };
  const rows: Row[] = [];
  const workflows: WorkflowRow[] = [];
  let lastJob = 0;
  let lastWorkflow = 0;
  const idempotency = new Map<string, { bodyHash: string; idWorkflow: number }>();

  const jobsOf = (idWorkflow: number): Row[] =>
    rows.filter(({ record }) => record.id_workflow === idWorkflow);
  const own = (idOrg: number, idJob: number): Row | undefined =>
    rows.find(({ record }) => record.id_job === idJob && record.id_org === idOrg);
  const held = (claim: Pick<Claim, 'idJob' | 'epoch'>): Row | undefined =>
    rows.find(
      (row) => row.record.id_job === claim.idJob && row.epoch === claim.epoch && isHeld(row.record.status),
    );

  function move(row: Row, status: JobStatus, failure: string | null): void {
    const from = row.record.status;
    if (!legalTransitions[from].includes(status)) throw new Error(`a job in ${from} cannot go to ${status}`);
    row.record.status = status;
    if (status !== 'terminating') row.committing = false;
    if (failure !== null) row.record.failure = failure;
    if (!terminalStatuses.has(status)) return;
    row.record.end_date = clock.nowMs();
    row.record.params_json = paramsWithResult(row);
    row.leaseUntil = null;
    row.nextAttempt = null;
    if (status === 'completed') {
      row.record.progress = 1;
      return;
    }
    for (const later of jobsOf(row.record.id_workflow)) {
      if (later.position > row.position && isIdle(later.record.status)) {
        move(later, 'killed', `job ${row.record.id_job} before it did not complete`);
      }
    }
  }

  function createWorkflow(idOrg: number, name: string | null): WorkflowRow {
    const idWorkflow = (lastWorkflow += 1);
    const workflow = {
      idWorkflow,
      idOrg,
      name: name ?? `workflow-${idWorkflow}`,
      createdMs: clock.nowMs(),
    };
    workflows.push(workflow);
    return workflow;
  }

  const reachedServers = new Set<string>();

  function insert(
    job: NewJob,
    workflow: WorkflowRow,
    position: number,
    more: { rerunOf?: number; byHand?: boolean } = {},
  ): Row {
    const deadline = more.byHand === true ? Infinity : clock.nowMs() + settings.deadlineMs;
    const row = newRow(job, workflow, {
      idJob: (lastJob += 1),
      position,
      deadline,
      createdMs: clock.nowMs(),
      ...more,
    });
    rows.push(row);
    return row;
  }

  function submissionOf(
    idOrg: number,
    { key, bodyHash }: NonNullable<Submission['idempotency']>,
  ): Submitted | null {
    const known = idempotency.get(`${idOrg}/${key}`);
    if (known === undefined) return null;
    if (known.bodyHash !== bodyHash) throw idempotencyKeyReused();
    const idJobs = jobsOf(known.idWorkflow).map(({ record }) => record.id_job);
    return { idWorkflow: known.idWorkflow, idJobs, replayed: true };
  }

  function checkRoom(idOrg: number, more: number): void {
    const waiting = rows.filter(({ record }) => record.id_org === idOrg && isIdle(record.status)).length;
    if (waiting + more > settings.maxQueuedPerOrg) {
      throw new AppError(
        'too_many_requests',
        `at most ${settings.maxQueuedPerOrg} jobs of an organisation may wait`,
        {
          headers: { 'Retry-After': '60' },
        },
      );
    }
  }

  function start(row: Row, worker: WorkerIdentity, leaseMs: number): Claim & { readonly uuid: string } {
    if (row.record.status === 'waiting') move(row, 'queued', null);
    move(row, 'running', null);
    row.attempts += 1;
    row.epoch += 1;
    row.leaseUntil = clock.nowMs() + leaseMs;
    row.claimedMs = clock.nowMs();
    row.workerId = worker.workerId;
    Object.assign(row.record, {
      attempt: row.attempts,
      start_date: row.record.start_date ?? clock.nowMs(),
      host: worker.host,
      os_user: worker.osUser,
      base_path: worker.basePath,
      log_file: `logs/job-${row.record.id_job}.log`,
      progress: null,
      msg_proc_qty: 0,
      failure: null,
    });
    return {
      traceId: row.record.trace_id,
      idJob: row.record.id_job,
      uuid: row.uuid,
      idOrg: row.record.id_org,
      epoch: row.epoch,
      attempt: row.attempts,
      tool: row.tool,
      purpose: 'run',
      ranMs: row.ranMs,
    };
  }

  return {
    async submit({ idOrg, workflowName, jobs, idempotency: wanted, traceparent }): Promise<Submitted> {
      const known = wanted === null ? null : submissionOf(idOrg, wanted);
      if (known !== null) return known;
      checkRoom(idOrg, jobs.length);
      const workflow = createWorkflow(idOrg, workflowName);
      const idJobs = jobs.map((job, position) => {
        const { record } = insert(job, workflow, position);
        Object.assign(record, { trace_id: traceIdOf(traceparent) });
        return record.id_job;
      });
      if (wanted !== null)
        idempotency.set(`${idOrg}/${wanted.key}`, {
          bodyHash: wanted.bodyHash,
          idWorkflow: workflow.idWorkflow,
        });
      return { idWorkflow: workflow.idWorkflow, idJobs, replayed: false };
    },
    findSubmission: async (idOrg, wanted) => submissionOf(idOrg, wanted),
    findJob: async (idOrg, idJob) => copyOf(own(idOrg, idJob)),
    listJobs: async (idOrg, page, size, { filter, position } = {}) =>
      selected(
        rows
          .filter((row) => row.record.id_org === idOrg && passes(row, filter))
          .toReversed()
          .map(recordOf),
        page,
        size,
        (record) => record.id_job,
        position,
      ),
    async listWorkflowJobs(idOrg, idWorkflow, page, size) {
      const found = workflows.some((one) => one.idWorkflow === idWorkflow && one.idOrg === idOrg);
      return found ? paged(jobsOf(idWorkflow).map(recordOf), page, size) : null;
    },
    async rerunJob(idOrg, idJob, traceparent) {
      const old = own(idOrg, idJob);
      if (old === undefined) throw new AppError('not_found', 'there is no such job');
      if (!terminalStatuses.has(old.record.status))
        throw new AppError('job_not_terminal', `job ${idJob} has not ended yet`);
      const open = rows.find((row) => row.rerunOf === idJob && row.record.end_date === null);
      if (open !== undefined)
        return { idJob: open.record.id_job, idWorkflow: open.record.id_workflow, tool: open.tool };
      checkRoom(idOrg, 1);
      const { record } = old;
      const workflow = createWorkflow(
        idOrg,
        workflows.find(({ idWorkflow }) => idWorkflow === record.id_workflow)?.name ?? null,
      );
      const request = resolvedRequest(old, jobsOf(old.record.id_workflow));
      const made = insert(
        {
          jobType: record.job_type,
          tool: old.tool,
          params: record.params,
          paramsJson: old.paramsJson,
          request,
          inputPath: record.parm_path_input,
          outputPath: record.parm_path_output,
          idSch: (JSON.parse(request) as { originId?: { id?: number } }).originId?.id ?? null,
          idParentJob: idJob,
        },
        workflow,
        0,
        { rerunOf: idJob },
      );
      Object.assign(made.record, { trace_id: traceIdOf(traceparent) });
      if (['Parse', 'Write', 'Unload'].includes(record.job_type)) made.record.id_lschma = record.id_lschma;
      return { idJob: made.record.id_job, idWorkflow: workflow.idWorkflow, tool: old.tool };
    },
    async requestKill(idOrg, idJob) {
      const row = own(idOrg, idJob);
      if (row !== undefined && row.record.status === 'running') move(row, 'terminating', 'killed on request');
      else if (row !== undefined && isIdle(row.record.status)) move(row, 'killed', 'killed on request');
      return copyOf(row);
    },
    async claimJob(worker, leaseMs, extra = false) {
      const left = extra
        ? undefined
        : rows.find((row) => row.committing && !row.byHand && (row.leaseUntil ?? Infinity) <= clock.nowMs());
      if (left !== undefined) {
        left.epoch += 1;
        left.leaseUntil = clock.nowMs() + leaseMs;
        const { id_job: idJob, id_org: idOrg } = left.record;
        return {
          idJob,
          idOrg,
          epoch: left.epoch,
          attempt: left.attempts,
          tool: left.tool,
          purpose: 'reconcile',
          ranMs: 0,
        };
      }
      const running = (idOrg: number): number =>
        rows.filter(
          ({ record, byHand }) => record.id_org === idOrg && !byHand && 'RT'.includes(record.status),
        ).length;
      const organisations = new Set(rows.map(({ record }) => record.id_org));
      const here = (idOrg: number): number =>
        rows.filter(
          ({ record, workerId }) =>
            record.id_org === idOrg && workerId === worker.workerId && 'RT'.includes(record.status),
        ).length;
      const mayRun = (idOrg: number): boolean =>
        running(idOrg) < (extra ? 1 : settings.maxRunningPerOrg) &&
        (worker.slots === undefined ||
          organisations.size === 1 ||
          here(idOrg) < Math.max(1, worker.slots - 1));
      const next = rows
        .filter(
          (row) =>
            isRunnable(row, jobsOf(row.record.id_workflow), clock.nowMs()) && mayRun(row.record.id_org),
        )
        .toSorted(
          (a, b) => running(a.record.id_org) - running(b.record.id_org) || a.record.id_job - b.record.id_job,
        )[0];
      return next === undefined ? null : start(next, worker, leaseMs);
    },
    startByHand: async (job, idOrg, worker, leaseMs) =>
      start(insert(job, createWorkflow(idOrg, null), 0, { byHand: true }), worker, leaseMs),
    async heartbeat(claim, leaseMs) {
      const row = held(claim);
      if (row !== undefined) row.leaseUntil = clock.nowMs() + leaseMs;
      return standingOf(row, clock.nowMs());
    },
    checkClaim: async (claim) => standingOf(held(claim), clock.nowMs()),
    async findStoredJob(idJob) {
      const row = rows.find(({ record }) => record.id_job === idJob);
      if (row === undefined) throw new AppError('not_found', `there is no job ${idJob}`);
      const { uuid, epoch, committing, summary } = row;
      return {
        uuid,
        request: resolvedRequest(row, jobsOf(row.record.id_workflow)),
        record: recordOf(row),
        epoch,
        committing,
        summary,
        outage: {
          sinceMs: row.outage?.sinceMs ?? clock.nowMs(),
          waitedMs: clock.nowMs() - (row.outage?.sinceMs ?? clock.nowMs()),
          tries: row.outage?.tries ?? 0,
        },
      };
    },
    async noteReachedServer(idOrg, server) {
      reachedServers.add(`${idOrg} ${server}`);
      for (const row of rows)
        if (
          row.record.id_org === idOrg &&
          row.record.status === 'waiting' &&
          row.outage !== null &&
          (row.record.parm_path_output ?? row.record.parm_path_input)?.startsWith(server) === true
        )
          row.nextAttempt = Math.min(row.nextAttempt ?? Infinity, clock.nowMs());
    },
    isReachedServer: async (idOrg, server) => reachedServers.has(`${idOrg} ${server}`),
    async report(claim, progress) {
      const row = held(claim);
      if (row === undefined) return false;
      const { record } = row;
      record.progress = progress.progress ?? record.progress;
      record.id_sch = progress.idSch ?? record.id_sch;
      record.id_lschma = progress.idLschma ?? record.id_lschma;
      record.id_app = progress.idApp ?? record.id_app;
      record.msg_proc_qty = progress.messages ?? record.msg_proc_qty;
      record.parm_path_output = progress.outputPath ?? record.parm_path_output;
      record.log_file = progress.logFile ?? record.log_file;
      record.failure = progress.failure ?? record.failure;
      row.summary = progress.summary ?? row.summary;
      return true;
    },
    async beginCommit(claim, summary) {
      const row = held(claim);
      if (row === undefined || standingOf(row, clock.nowMs()) !== 'ok') return false;
      row.committing = true;
      row.summary = summary ?? row.summary;
      return true;
    },
    async settleCommit(claim) {
      const row = held(claim);
      if (row === undefined) return false;
      row.committing = false;
      row.summary = null;
      return true;
    },
    async finish(claim, status, failure) {
      const row = held(claim);
      if (row === undefined) return false;
      const killed = row.record.status === 'terminating' && status !== 'completed';
      if (status === 'killed' && row.record.status === 'running') move(row, 'terminating', null);
      move(row, killed ? 'killed' : status, failure ?? (killed ? 'killed on request' : null));
      return true;
    },
    async handBack(claim, delayMs, failure, outage = false) {
      const row = held(claim);
      if (row === undefined) return false;
      const runs = row.record.status === 'running';
      if (runs && (failure === null || outage)) row.attempts -= 1;
      const waits = runs && row.attempts < settings.maxAttempts && !row.byHand;
      if (!outage) row.ranMs += clock.nowMs() - row.claimedMs;
      row.outage = outage
        ? { sinceMs: row.outage?.sinceMs ?? clock.nowMs(), tries: (row.outage?.tries ?? 0) + 1 }
        : null;
      if (waits) {
        move(row, 'waiting', failure);
        row.leaseUntil = null;
        row.nextAttempt = clock.nowMs() + delayMs;
      } else if (row.record.status === 'terminating') move(row, 'killed', failure ?? 'killed on request');
      else move(row, 'lost', failure ?? 'its attempts are spent');
      return true;
    },
    async reap() {
      const nowMs = clock.nowMs();
      let changed = 0;
      for (const row of rows) {
        const late = row.deadline <= nowMs;
        const dead = row.leaseUntil !== null && row.leaseUntil <= nowMs;
        if (row.committing && !row.byHand) continue;
        if (row.record.end_date !== null || !(dead || (late && isIdle(row.record.status)))) continue;
        changed += 1;
        if (row.record.status === 'terminating')
          move(row, 'killed', 'killed on request; its worker had died');
        else if (late) move(row, 'expired', 'its deadline passed');
        else if (row.byHand || row.attempts >= settings.maxAttempts)
          move(row, 'lost', 'its worker died and its attempts are spent');
        else {
          move(row, 'waiting', 'its worker died');
          row.ranMs += nowMs - row.claimedMs;
          row.leaseUntil = null;
          row.nextAttempt = nowMs + row.attempts * settings.retryDelayMs;
        }
      }
      return changed;
    },
    waitForWork: (timeoutMs, signal) => pause(timeoutMs, signal),
    waitForKill: (_, timeoutMs, signal) => pause(timeoutMs, signal),
    waitForEnd: (_, timeoutMs, signal) => pause(timeoutMs, signal),
    async listWorkflows(
      idOrg,
      page,
      size,
      { filter: { status, since, until, ...ofJobs } = {}, position } = {},
    ) {
      const all = workflows
        .filter(
          ({ idOrg: of, createdMs }) =>
            of === idOrg && createdMs >= (since ?? 0) && createdMs < (until ?? Infinity),
        )
        .filter(
          ({ idWorkflow }) =>
            Object.keys(ofJobs).length === 0 || jobsOf(idWorkflow).some((row) => passes(row, ofJobs)),
        )
        .toReversed()
        .map((one) => ({
          ...workflowRecord(one, jobsOf(one.idWorkflow)),
          jobs: jobsOf(one.idWorkflow).map(({ record }) => record.id_job),
        }))
        .filter((one) => status === undefined || one.status === status);
      return selected(all, page, size, (one) => one.id_workflow, position);
    },
    async countByStatus() {
      const counts = new Map<JobStatus, number>();
      for (const { record } of rows) counts.set(record.status, (counts.get(record.status) ?? 0) + 1);
      return counts;
    },
    listEnded: async (sinceMs) =>
      rows.filter(({ record }) => record.end_date !== null && record.end_date >= sinceMs).map(endedJobOf),
    queueAgeMs: async () => {
      const waiting = rows.filter(({ record }) => record.status === 'queued' || record.status === 'waiting');
      const created = waiting.map(({ deadline }) => deadline - settings.deadlineMs);
      return created.length === 0 ? 0 : clock.nowMs() - Math.min(...created);
    },
    countWaitingOrganisations: async () => 0,
    listRuns: async (idOrg, idSchs, page, size, { filter, position } = {}) =>
      selected(
        rows
          .filter(({ record }) => record.id_org === idOrg && record.id_sch !== null)
          .filter(({ record }) => idSchs === null || idSchs.includes(record.id_sch!))
          .filter((row) => passes(row, filter))
          .toReversed()
          .map(runOf),
        page,
        size,
        ({ record }) => record.id_job,
        position,
      ),
    async findRun(idOrg, idJob) {
      const row = own(idOrg, idJob);
      return row === undefined ? null : runOf(row);
    },
    listIds: async (idOrg) => rows.flatMap(({ record }) => (record.id_org === idOrg ? [record.id_job] : [])),
    sumLoadedRows: async (idOrg, idSchs) =>
      sumLoaded(
        rows.filter(
          ({ record }) =>
            record.id_org === idOrg && (idSchs === undefined || idSchs.includes(record.id_sch ?? -1)),
        ),
      ),
    hasLoaded: async (idOrg, outputs) =>
      rows.some(
        ({ record }) =>
          record.id_org === idOrg &&
          record.status === 'completed' &&
          record.job_type === 'Parse' &&
          record.parm_path_output !== null &&
          outputs.includes(record.parm_path_output),
      ),
    listLatestLoads: async (idOrg, idSchs) =>
      idSchs.flatMap((idSch): LatestLoad[] => {
        const latest = rows.findLast(
          ({ record }) =>
            record.id_org === idOrg &&
            record.id_sch === idSch &&
            record.status === 'completed' &&
            record.job_type === 'Parse' &&
            record.parm_path_output !== null,
        );
        if (latest === undefined) return [];
        const summary = latest.summary as { details?: { keys?: Record<string, number> } } | null;
        const { id_job: idJob, parm_path_output: output } = latest.record;
        return [{ idSch, idJob, output: output!, keys: summary?.details?.keys ?? null }];
      }),
    async removeJob(idOrg, idJob) {
      const row = own(idOrg, idJob);
      if (row === undefined) return false;
      if (jobsOf(row.record.id_workflow).some(({ record }) => record.end_date === null))
        throw new AppError('job_not_terminal', 'a job of its workflow has not ended');
      rows.splice(rows.indexOf(row), 1);
      if (jobsOf(row.record.id_workflow).length === 0)
        workflows.splice(
          workflows.findIndex((one) => one.idWorkflow === row.record.id_workflow),
          1,
        );
      return true;
    },
    async findWorkflow(idOrg, idWorkflow) {
      const found = workflows.find((one) => one.idWorkflow === idWorkflow && one.idOrg === idOrg);
      return found === undefined
        ? null
        : { ...workflowRecord(found, jobsOf(idWorkflow)), jobs: jobsOf(idWorkflow).map(recordOf) };
    },
  };
}
