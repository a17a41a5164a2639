/**
 * The job table as a queue: claims with leases and epochs, reports, ends, and the jobs of dead workers. Also converts rows of `svc.job` to
 * records.
 */
import {
  type JobRecord,
  withStatusName,
  type StatusLetter,
  type JobStatus,
  statusLetters,
} from '../service/jobs/record.ts';
import { type Sql, type TransactionSql, isId, storable } from '../postgres/connect.ts';
import { AppError } from '../errors.ts';
import type { RemovedFiles } from '../ports/stores/watches.ts';
import type { Claim, JobProgress, StoredJob, WorkerIdentity } from '../ports/stores/jobs.ts';

// Settings of the queue, and the conversion of rows to job records.

/** The limits of the job queue (docs/decisions/service/limits.md); times in milliseconds. */
export interface JobStoreSettings {
  /** jobs of one organisation that run at a time, those by hand not counted */
  readonly maxRunningPerOrg: number;
  /** jobs of one organisation that wait */
  readonly maxQueuedPerOrg: number;
  readonly maxAttempts: number;
  /** time from submission to end */
  readonly deadlineMs: number;
  /** pause after a dead worker, times the number of attempts made */
  readonly retryDelayMs: number;
  /** time for which an idempotency key is remembered */
  readonly idempotencyKeyMs: number;
}

/** A row of the columns in `jobColumns`. */
export type JobRow = Omit<JobRecord, 'status' | 'id_watch'> & {
  readonly status: StatusLetter;
  readonly id_watch: number | null;
};

export function jobRecord({ id_watch: idWatch, ...row }: JobRow): JobRecord {
  return withStatusName({ ...row, ...(idWatch === null ? {} : { id_watch: idWatch }) });
}

/** The select list of a `JobRow`; the table must be called `j`. */
export function jobColumns(sql: Sql | TransactionSql) {
  return sql`
    j.id_job, j.id_parent_job, j.id_org, j.id_sch, j.id_lschma, j.id_app, j.job_type, j.status, j.params, svc.shown_params(j.params_json, j.result) as params_json,
    j.host, j.os_user, j.base_path, j.input_path as parm_path_input, j.output_path as parm_path_output,
    j.messages as msg_proc_qty, j.log_file, svc.epoch_ms(j.start_date) as start_date, svc.epoch_ms(j.end_date) as end_date,
    j.id_workflow, greatest(j.attempts, 1) as attempt, j.progress, j.failure, j.id_watch, j.trace_id`;
}

// References in stored requests: `"originId": {"ref": N}` means the origin of the workflow's N-th job, counted from 0.

/** The columns that store a job's request: the whole request, and its public form. */
export interface RequestColumns {
  readonly request: string;
  readonly params: string;
  readonly params_json: string;
}

/** The same with the origin's id in place of a reference whose job knows its origin, and the origin the request reads, if any. */
export async function resolveReferences(
  sql: Sql | TransactionSql,
  idWorkflow: number,
  { request, params, params_json }: RequestColumns,
): Promise<RequestColumns & { readonly idSch: number | null }> {
  const parsed = JSON.parse(request) as { originId?: { readonly ref?: number; readonly id?: number } };
  const ref = parsed.originId?.ref;
  if (ref === undefined) return { request, params, params_json, idSch: parsed.originId?.id ?? null };
  const [job] = await sql<{ id_sch: number | null }[]>`
    select id_sch from svc.job where id_workflow = ${idWorkflow} and position = ${ref}`;
  const idSch = job?.id_sch ?? null;
  if (idSch === null) return { request, params, params_json, idSch };
  return {
    request: JSON.stringify({ ...parsed, originId: { id: idSch } }),
    params: params.replace(new RegExp(`(?<=(?:^| )-x )(?:'\\$${ref}'|\\$${ref})(?= |$)`), String(idSch)),
    params_json: shownInJson(params_json, ref, idSch),
    idSch,
  };
}

function shownInJson(text: string, ref: number, idSch: number): string {
  const shown = JSON.parse(text) as { action?: { origin?: unknown } };
  if (shown.action?.origin !== `$${ref}`) return text;
  return JSON.stringify({ ...shown, action: { ...shown.action, origin: String(idSch) } });
}

// The queue. Times are compared with `statement_timestamp()`, because indexes cannot be searched for the volatile `clock_timestamp()`.

/** A running job learns from its heartbeat that its deadline has passed; one that continues regardless is ended after this. */
const deadlineGraceMs = 60_000;

/** Jobs that wait for an outage are tried so that they use half of the organisation's places at most, yet at least this often. */
const longestShareMs = 30 * 60_000;

/** Once killed, a job whose worker is silent for so long is ended for it: kills take 15 s at most (docs/decisions/service/job-queue.md). */
export const killAnswerMs = 9_000;

export async function claimJob(
  sql: Sql,
  settings: JobStoreSettings,
  worker: WorkerIdentity,
  leaseMs: number,
  extra: boolean,
): Promise<Claim | null> {
  const [row] = await sql<ClaimRow[]>`
    select c.*, j.trace_id, j.trace_parent from svc.claim_job(${settings.maxRunningPerOrg}::int, ${leaseMs} * interval '1 millisecond',
                                ${worker.workerId}, ${worker.host}, ${worker.osUser}, ${worker.basePath},
                                ${worker.slots ?? null}::int, ${extra}) c
      left join svc.job j on j.id_job = c.claimed`;
  if (row === undefined) return null;
  return {
    idJob: row.claimed,
    idOrg: row.org,
    epoch: row.held_epoch,
    attempt: row.attempt,
    tool: row.run_tool,
    purpose: row.adopted ? 'reconcile' : 'run',
    ranMs: row.ran_ms,
    traceId: row.trace_id,
    ...(row.trace_parent === null ? {} : { traceparent: row.trace_parent }),
  };
}

interface ClaimRow {
  readonly claimed: number;
  readonly org: number;
  readonly held_epoch: number;
  readonly attempt: number;
  readonly run_tool: string;
  readonly adopted: boolean;
  readonly ran_ms: number;
  readonly trace_id: string;
  readonly trace_parent: string | null;
}

export async function heartbeat(sql: Sql, claim: Claim, leaseMs: number): Promise<'ok' | 'kill' | 'lost'> {
  const [row] = await sql<{ kill: boolean }[]>`
    update svc.job
       set lease_until = clock_timestamp() + case when status = 'T' then least(${leaseMs}::float8, ${killAnswerMs}::float8) else ${leaseMs}::float8 end * interval '1 millisecond'
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')
    returning status = 'T' or deadline <= statement_timestamp() as kill`;
  return standing(row);
}

export async function checkClaim(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
): Promise<'ok' | 'kill' | 'lost'> {
  const [row] = await sql<{ kill: boolean }[]>`
    select status = 'T' or deadline <= statement_timestamp() as kill from svc.job
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return standing(row);
}

function standing(row: { readonly kill: boolean } | undefined): 'ok' | 'kill' | 'lost' {
  if (row === undefined) return 'lost';
  return row.kill ? 'kill' : 'ok';
}

export async function beginCommit(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  summary: unknown,
): Promise<boolean> {
  const done = await sql`
    update svc.job set committing = true, summary = coalesce(${summary === undefined ? null : storable(JSON.stringify(summary))}, summary)
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status = 'R' and deadline > statement_timestamp()`;
  return done.count === 1;
}

export async function settleCommit(sql: Sql, claim: Pick<Claim, 'idJob' | 'epoch'>): Promise<boolean> {
  const done = await sql`
    update svc.job set committing = false, summary = null
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return done.count === 1;
}

export async function readJobRequest(sql: Sql, idJob: number): Promise<StoredJob> {
  const [row] = isId(idJob)
    ? await sql<
        (JobRow & {
          uuid: string;
          request: string;
          epoch: number;
          committing: boolean;
          summary: string | null;
          outage_since: number;
          outage_waited: number;
          outage_tries: number;
        })[]
      >`
        select ${jobColumns(sql)}, j.uuid::text as uuid, j.request, j.epoch, j.committing, j.summary,
               svc.epoch_ms(coalesce(j.outage_since, statement_timestamp())) as outage_since,
               svc.epoch_ms(statement_timestamp()) - svc.epoch_ms(coalesce(j.outage_since, statement_timestamp())) as outage_waited, j.outage_tries
          from svc.job j where j.id_job = ${idJob}`
    : [];
  if (row === undefined) throw new AppError('not_found', `there is no job ${idJob}`);
  const { uuid, request: stored, epoch, committing, summary, ...others } = row;
  const { outage_since: sinceMs, outage_waited: waitedMs, outage_tries: tries, ...columns } = others;
  const record = jobRecord(columns);
  const { params, params_json } = record;
  const resolved = await resolveReferences(sql, record.id_workflow, { request: stored, params, params_json });
  // stored, so that the record shows the request that was run, even when the job before it is gone
  if (resolved.request !== stored)
    await sql`
      update svc.job set request = ${resolved.request}, params = ${resolved.params}, params_json = ${resolved.params_json}
       where id_job = ${idJob} and end_date is null`;
  return {
    uuid,
    request: resolved.request,
    record: { ...record, params: resolved.params, params_json: resolved.params_json },
    epoch,
    committing,
    summary: summary === null ? null : (JSON.parse(summary) as unknown),
    outage: { sinceMs, waitedMs, tries },
  };
}

export async function report(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  progress: JobProgress,
): Promise<boolean> {
  const summary = progress.summary === undefined ? null : storable(JSON.stringify(progress.summary));
  const failure = progress.failure === undefined ? null : storable(progress.failure);
  const done = await sql`
    update svc.job
       set progress = coalesce(${progress.progress ?? null}, progress), messages = coalesce(${progress.messages ?? null}, messages),
           id_sch = coalesce(${progress.idSch ?? null}, id_sch), id_lschma = coalesce(${progress.idLschma ?? null}, id_lschma),
           id_app = coalesce(${progress.idApp ?? null}, id_app), output_path = coalesce(${progress.outputPath ?? null}, output_path), log_file = coalesce(${progress.logFile ?? null}, log_file),
           summary = coalesce(${summary}, summary),
           failure = case when status = 'T' then coalesce(failure, ${failure}) else coalesce(${failure}, failure) end
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return done.count === 1;
}

export async function finish(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  status: Extract<JobStatus, 'completed' | 'failed' | 'killed' | 'expired'>,
  failure: string | null,
): Promise<boolean> {
  const ours = sql`id_job = ${claim.idJob} and epoch = ${claim.epoch}`;
  const text = failure === null ? null : storable(failure);
  const letter = statusLetters[status];
  // Killing passes through `terminating`: a job there that does not complete is killed, whatever its tool says of itself.
  if (status === 'killed') await sql`update svc.job set status = 'T' where ${ours} and status = 'R'`;
  // in one statement with the end of the job: files of watches whose rows it has removed from the target
  const removed = letter === statusLetters.completed ? await removedFiles(sql, claim) : null;
  const done = await sql<{ id_job: number }[]>`
    with done as (
      update svc.job
         set status = case when status = 'T' and ${letter} <> 'C' then 'K' else ${letter} end,
             end_date = clock_timestamp(), lease_until = null, committing = false,
             progress = case when ${letter} = 'C' then 1 else progress end,
             failure = case when ${letter} = 'C' then ${text}
                            else coalesce(${text}, failure, case when status = 'T' then 'killed on request' end) end
       where ${ours} and status in ('R', 'T')
      returning id_job, id_org, ${removed}::text::json as removed),
    files as (
      select d.id_job, d.id_org, d.removed ->> 'target' as target, m.name, m.by
        from done d
       cross join lateral json_to_recordset(
               case json_typeof(d.removed -> 'files') when 'array' then d.removed -> 'files' end) as m(name text, by text)
       union all
      select d.id_job, d.id_org, d.removed ->> 'target', null, null from done d where d.removed ->> 'files' = 'all'),
    told as (
      update svc.watch_file f
         set status = case when r.by is null then 'ignored' else 'replaced' end, replaced_by = r.by,
             reason = case when r.by is null then 'its rows were removed by job ' || r.id_job
                           else r.by || ', which has the key of its document, was loaded by job ' || r.id_job end
        from files r, svc.watch w, svc.job brought
       where w.id_org = r.id_org and f.id_watch = w.id_watch and f.status = 'loaded' and (r.name is null or f.name = r.name)
         and brought.id_job = f.id_job and brought.id_job <> r.id_job and brought.output_path = r.target)
    select id_job from done`;
  return done.length === 1;
}

/** Returns the removed files that the job has stored, as JSON; null if it removed none. */
async function removedFiles(
  sql: Sql,
  { idJob, epoch }: Pick<Claim, 'idJob' | 'epoch'>,
): Promise<string | null> {
  const [row] = await sql<{ summary: string }[]>`
    select summary from svc.job where id_job = ${idJob} and epoch = ${epoch} and summary like '%"removed":{"target"%'`;
  if (row === undefined) return null;
  const { details } = JSON.parse(row.summary) as { readonly details?: { readonly removed?: RemovedFiles } };
  const removed = details?.removed;
  if (removed === undefined) return null;
  const { target, files } = removed;
  const named =
    files === 'all'
      ? files
      : files.map(({ name, by }) => ({ name: storable(name), by: by === null ? null : storable(by) }));
  return JSON.stringify({ target: storable(target), files: named });
}

export async function handBack(
  sql: Sql,
  settings: Pick<JobStoreSettings, 'maxRunningPerOrg'>,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  delayMs: number,
  failure: string | null,
  outage = false,
): Promise<boolean> {
  const text = failure === null ? null : storable(failure);
  // handed back without a failure (a worker that drains), or for an outage, the attempt was none of the job's fault and does not count
  const blameless = failure === null || outage;
  const waits = sql`status = 'R' and (${blameless} or attempts < max_attempts)`;
  const delay = sql`${delayMs} * interval '1 millisecond'`;
  const share = sql`
    least(${longestShareMs} * interval '1 millisecond',
          (clock_timestamp() - claimed_at) / ${Math.max(1, settings.maxRunningPerOrg / 2)}::float8
          * (select count(*) from svc.job o where o.id_org = job.id_org and o.status = 'W' and o.outage_since is not null))`;
  const done = await sql`
    update svc.job
       set status = case when ${waits} then 'W' when status = 'T' then 'K' else 'L' end,
           next_attempt = case when ${waits} then clock_timestamp() + ${outage ? sql`greatest(${delay}, ${share})` : delay} end,
           end_date = case when ${waits} then null else clock_timestamp() end,
           lease_until = null, committing = false, ran = ${outage ? sql`ran` : ranSoFar(sql)},
           outage_since = ${outage ? sql`coalesce(outage_since, statement_timestamp())` : sql`null`},
           outage_tries = ${outage ? sql`outage_tries + 1` : sql`0`},
           attempts = case when ${blameless} and status = 'R' then attempts - 1 else attempts end,
           failure = coalesce(${text}, failure, case when ${waits} then null when status = 'T' then 'killed on request' else 'its attempts are spent' end)
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return done.count === 1;
}

/**
 * SQL for the total running time of all attempts at a job, at the end of one of them; the statement's table must have the name `job` or
 * `j`.
 */
function ranSoFar(sql: Sql) {
  return sql`ran + case when status in ('R', 'T') then coalesce(clock_timestamp() - claimed_at, '0') else '0' end`;
}

export async function reap(sql: Sql, settings: JobStoreSettings): Promise<number> {
  const done = await sql`
    with due as (
      select id_job,
             case when status = 'T' then 'K' when deadline <= statement_timestamp() then 'E' when attempts >= max_attempts then 'L' else 'W' end as next
        from svc.job
       where ((lease_until is not null and lease_until <= statement_timestamp())
              or (end_date is null and deadline <= statement_timestamp() and status in ('Q', 'W'))
              or (end_date is null and deadline <= statement_timestamp() - ${deadlineGraceMs} * interval '1 millisecond' and status = 'R'))
         -- what may be published is for a worker to find out: it adopts the job (svc.claim_job)
         and (not committing or by_hand)
         for no key update skip locked
    )
    update svc.job j
       set status = due.next, lease_until = null, committing = false, ran = ${ranSoFar(sql)},
           next_attempt = case when due.next = 'W' then clock_timestamp() + j.attempts * ${settings.retryDelayMs} * interval '1 millisecond' end,
           end_date = case when due.next = 'W' then null else clock_timestamp() end,
           failure = case when j.committing then 'its process died while it published: whether its rows are there, the table _loads of the target tells'
                          when due.next = 'E' then 'its deadline passed' || case when j.status = 'W' and j.outage_since is not null then '; ' || j.failure else '' end when due.next = 'K' then 'killed on request; its worker had died'
                          when due.next = 'L' then 'its worker died and its attempts are spent' else 'its worker died' end
      from due where due.id_job = j.id_job`;
  return done.count;
}
