/** New jobs: submissions, jobs run by hand, reruns. */
import { AppError } from '../errors.ts';
import type {
  Claim,
  NewJob,
  StoredJob,
  Submission,
  Submitted,
  WorkerIdentity,
} from '../ports/stores/jobs.ts';
import { formatTraceparent, parseTraceparent } from '../service/jobs/trace-context.ts';
import { forgetOldKey, idempotencyKeyReused } from './idempotency-store.ts';
import { isId, storable, type Sql, type TransactionSql } from '../postgres/connect.ts';
import { resolveReferences, type RequestColumns, type JobStoreSettings } from './job-queue.ts';

export async function submit(
  sql: Sql,
  settings: JobStoreSettings,
  submission: Submission,
): Promise<Submitted> {
  return sql
    .begin((tx) => submitWithin(tx, settings, submission))
    .catch((error: unknown) => {
      // looked at before, and not there any more: the next try says which
      if (error instanceof Error && 'constraint_name' in error && error.constraint_name === 'job_id_sch_fkey')
        throw new AppError('not_found', 'a schema that the request names has just been removed', {
          cause: error,
        });
      throw error;
    });
}

async function submitWithin(
  tx: TransactionSql,
  settings: JobStoreSettings,
  submission: Submission,
): Promise<Submitted> {
  const { idOrg, idempotency } = submission;
  if (idempotency !== null) {
    const earlier = await takeKey(tx, settings, idOrg, idempotency.key, idempotency.bodyHash);
    if (earlier !== null) return earlier;
  }
  await checkRoom(tx, settings, idOrg, submission.jobs.length);
  const idWorkflow = await createWorkflow(tx, idOrg, submission.workflowName);
  const idJobs = await insertQueued(
    tx,
    settings,
    idOrg,
    idWorkflow,
    submission.jobs,
    null,
    submission.traceparent,
  );
  if (idempotency !== null) {
    await tx`update svc.idempotency set id_workflow = ${idWorkflow} where id_org = ${idOrg} and key = ${idempotency.key}`;
  }
  return { idWorkflow, idJobs, replayed: false };
}

/** Records the key for this submission, or returns the submission that it was used for. A second request with it waits for the first. */
async function takeKey(
  tx: TransactionSql,
  settings: JobStoreSettings,
  idOrg: number,
  key: string,
  bodyHash: string,
): Promise<Submitted | null> {
  await forgetOldKey(tx, idOrg, key, settings.idempotencyKeyMs);
  const taken = await tx`
    insert into svc.idempotency (id_org, key, body_hash) values (${idOrg}, ${key}, ${bodyHash})
    on conflict do nothing returning key`;
  if (taken.length > 0) return null;
  const earlier = await findSubmission(tx, settings, idOrg, { key, bodyHash });
  if (earlier === null) {
    throw new AppError(
      'conflict',
      'the first request with this idempotency key has just been removed: send it again',
    );
  }
  return earlier;
}

export async function findSubmission(
  sql: Sql | TransactionSql,
  settings: JobStoreSettings,
  idOrg: number,
  { key, bodyHash }: NonNullable<Submission['idempotency']>,
): Promise<Submitted | null> {
  const [known] = await sql<{ body_hash: string; id_workflow: number | null }[]>`
    select body_hash, id_workflow from svc.idempotency
     where id_org = ${idOrg} and key = ${key}
       and created >= statement_timestamp() - ${settings.idempotencyKeyMs} * interval '1 millisecond'`;
  if (known === undefined) return null;
  if (known.body_hash !== bodyHash) throw idempotencyKeyReused();
  if (known.id_workflow === null) return null;
  const jobs = await sql<
    { id_job: number }[]
  >`select id_job from svc.job where id_workflow = ${known.id_workflow} order by position`;
  return { idWorkflow: known.id_workflow, idJobs: jobs.map((job) => job.id_job), replayed: true };
}

/** The one job of a workflow that is called as its watch, ready to be claimed. AppError `too_many_requests`. */
export async function insertWorkflowOfWatch(
  tx: TransactionSql,
  settings: JobStoreSettings,
  idOrg: number,
  name: string,
  idWatch: number,
  job: NewJob,
): Promise<number> {
  await checkRoom(tx, settings, idOrg, 1);
  const idWorkflow = await createWorkflow(tx, idOrg, name);
  const [idJob] = await insertQueued(tx, settings, idOrg, idWorkflow, [job], idWatch);
  return idJob!;
}

async function checkRoom(
  tx: TransactionSql,
  settings: JobStoreSettings,
  idOrg: number,
  more: number,
): Promise<void> {
  const [waiting] = await tx<
    { n: number }[]
  >`select count(*) as n from svc.job where id_org = ${idOrg} and status in ('Q', 'W')`;
  if ((waiting?.n ?? 0) + more > settings.maxQueuedPerOrg) {
    throw new AppError(
      'too_many_requests',
      `at most ${settings.maxQueuedPerOrg} jobs of an organisation may wait`,
      {
        headers: { 'Retry-After': '60' },
      },
    );
  }
}

async function createWorkflow(tx: TransactionSql, idOrg: number, name: string | null): Promise<number> {
  const [row] = await tx<{ id_workflow: number }[]>`
    insert into svc.workflow (id_org, name) values (${idOrg}, ${name === null ? null : storable(name)}) returning id_workflow`;
  if (row === undefined) throw new Error('the insert answered no row');
  return row.id_workflow;
}

async function insertQueued(
  tx: TransactionSql,
  settings: JobStoreSettings,
  idOrg: number,
  idWorkflow: number,
  jobs: readonly NewJob[],
  idWatch: number | null = null,
  traceparent?: string,
): Promise<number[]> {
  const rows = jobs.map((job, position) => ({
    position,
    job_type: job.jobType,
    tool: job.tool,
    params: storable(job.params),
    params_json: job.paramsJson,
    request: job.request,
    input_path: job.inputPath,
    output_path: job.outputPath,
    id_sch: job.idSch,
    id_parent_job: job.idParentJob,
  }));
  const inserted = await tx<{ id_job: number }[]>`
    insert into svc.job (id_org, id_workflow, position, ready, job_type, tool, params, params_json, request, input_path, output_path,
                         id_sch, id_parent_job, id_watch, trace_id, trace_parent, deadline, max_attempts)
    select ${idOrg}, ${idWorkflow}, r.position, r.position = 0, r.job_type, r.tool, r.params, r.params_json, r.request, r.input_path, r.output_path,
           r.id_sch, r.id_parent_job, ${idWatch}, ${traceColumns(tx, traceparent)}, clock_timestamp() + ${settings.deadlineMs} * interval '1 millisecond', ${settings.maxAttempts}
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r(
             position int, job_type text, tool text, params text, params_json text, request text, input_path text, output_path text,
             id_sch bigint, id_parent_job bigint)
     order by r.position
    returning id_job`;
  return inserted.map((row) => row.id_job);
}

/** Values of `trace_id` and `trace_parent`. */
function traceColumns(tx: TransactionSql | Sql, traceparent: string | undefined) {
  const trace = parseTraceparent(traceparent);
  return trace === null
    ? tx`replace(gen_random_uuid()::text, '-', ''), null`
    : tx`${trace.traceId}, ${formatTraceparent(trace)}`;
}

/** One attempt, no deadline: a person watches it. That an origin does not exist is for the tool to say. */
export async function startByHand(
  sql: Sql,
  job: NewJob,
  idOrg: number,
  worker: WorkerIdentity,
  leaseMs: number,
): Promise<Claim & Pick<StoredJob, 'uuid'>> {
  return sql.begin(async (tx) => {
    const idWorkflow = await createWorkflow(tx, idOrg, null);
    const [row] = await tx<{ id_job: number; uuid: string }[]>`
      insert into svc.job (id_org, id_workflow, position, ready, by_hand, job_type, tool, params, params_json, request, input_path, output_path,
                           id_sch, id_parent_job, deadline, max_attempts, status, attempts, epoch, start_date, lease_until,
                           worker_id, host, os_user, base_path)
      values (${idOrg}, ${idWorkflow}, 0, true, true, ${job.jobType}, ${job.tool}, ${storable(job.params)}, ${job.paramsJson}, ${job.request},
              ${job.inputPath}, ${job.outputPath},
              (select id_sch from svc.origin where id_sch = ${job.idSch} for key share), ${job.idParentJob}, 'infinity', 1, 'R', 1, 1, clock_timestamp(),
              clock_timestamp() + ${leaseMs} * interval '1 millisecond', ${worker.workerId}, ${worker.host}, ${worker.osUser}, ${worker.basePath})
      returning id_job, uuid::text as uuid`;
    if (row === undefined) throw new Error('the insert answered no row');
    return {
      idJob: row.id_job,
      uuid: row.uuid,
      idOrg,
      epoch: 1,
      attempt: 1,
      tool: job.tool,
      purpose: 'run',
      ranMs: 0,
    };
  });
}

interface RerunSource extends RequestColumns {
  readonly id_workflow: number;
  readonly end_date: number | null;
  readonly tool: string;
  readonly workflow_name: string | null;
}

export async function rerun(
  sql: Sql,
  settings: JobStoreSettings,
  idOrg: number,
  idJob: number,
  traceparent?: string,
): Promise<{ readonly idJob: number; readonly idWorkflow: number; readonly tool: string }> {
  const absent = new AppError('not_found', 'there is no such job');
  if (!isId(idJob)) throw absent;
  return sql.begin(async (tx) => {
    // The lock makes a repeated call wait, and then find the job that this one made.
    const [old] = await tx<RerunSource[]>`
      select j.id_workflow, svc.epoch_ms(j.end_date) as end_date, j.tool, j.request, j.params, j.params_json, w.name as workflow_name
        from svc.job j join svc.workflow w using (id_workflow)
       where j.id_job = ${idJob} and j.id_org = ${idOrg} for no key update of j`;
    if (old === undefined) throw absent;
    if (old.end_date === null) throw new AppError('job_not_terminal', `job ${idJob} has not ended yet`);
    const [open] = await tx<{ id_job: number; id_workflow: number }[]>`
      select id_job, id_workflow from svc.job where rerun_of = ${idJob} and end_date is null`;
    if (open !== undefined) return { idJob: open.id_job, idWorkflow: open.id_workflow, tool: old.tool };
    await checkRoom(tx, settings, idOrg, 1);
    const idWorkflow = await createWorkflow(tx, idOrg, old.workflow_name);
    const { request, params, params_json, idSch } = await resolveReferences(tx, old.id_workflow, old);
    const [inserted] = await tx<{ id_job: number }[]>`
      insert into svc.job (id_org, id_workflow, position, ready, job_type, tool, params, params_json, request, input_path, output_path,
                           id_sch, id_lschma, id_parent_job, rerun_of, trace_id, trace_parent, deadline, max_attempts)
      select id_org, ${idWorkflow}, 0, true, job_type, tool, ${params}, ${params_json}, ${request}, input_path, output_path,
             (select id_sch from svc.origin where id_sch = ${idSch} for key share),
             case when job_type in ('Parse', 'Write', 'Unload') then id_lschma end, id_job, id_job, ${traceColumns(tx, traceparent)},
             clock_timestamp() + ${settings.deadlineMs} * interval '1 millisecond', ${settings.maxAttempts}
        from svc.job where id_job = ${idJob}
      returning id_job`;
    if (inserted === undefined) throw new Error('the insert answered no row');
    return { idJob: inserted.id_job, idWorkflow, tool: old.tool };
  });
}
