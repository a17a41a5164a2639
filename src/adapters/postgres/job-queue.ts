/**
 * The job table as a queue: claims with leases and epochs, reports, ends, and what becomes of dead workers' jobs.
 * Times are compared with `statement_timestamp()`: indexes cannot be searched for the volatile `clock_timestamp()`.
 */
import { AppError } from '../../errors.ts';
import type { JobRecord } from '../../jobs/job.ts';
import type { Claim, JobProgress, WorkerIdentity } from '../../ports/job-store.ts';
import { isId, sqlState, storable } from './connect.ts';
import type { Sql } from './connect.ts';
import { jobColumns } from './job-records.ts';
import { resolveReferences } from './job-references.ts';
import type { JobStoreSettings } from './job-store.ts';

/** A running job past its deadline is told so by its heartbeat; one that goes on regardless is ended after this. */
const deadlineGraceMs = 60_000;

export async function claim(
  sql: Sql,
  settings: JobStoreSettings,
  worker: WorkerIdentity,
  leaseMs: number,
): Promise<Claim | null> {
  await sql`
    update svc.job set status = 'Q', next_attempt = null
     where id_job = any (array(
       select id_job from svc.job where status = 'W' and next_attempt <= statement_timestamp() for no key update skip locked))`;
  const running = sql`(select count(*) from svc.job r where r.id_org = o.id_org and r.status in ('R', 'T') and r.slot is not null)`;
  // Whoever has the fewest running comes first, then who has waited longest.
  const orgs = await sql<{ id_org: number }[]>`
    select o.id_org from svc.org o
     cross join lateral (
       select j.id_job from svc.job j
        where j.id_org = o.id_org and j.ready and j.status = 'Q' and j.deadline > statement_timestamp() order by j.id_job limit 1
     ) oldest
     where ${running} < ${settings.maxRunningPerOrg}
     order by ${running}, oldest.id_job`;
  for (const { id_org: idOrg } of orgs) {
    const claimed = await claimOf(sql, settings, idOrg, worker, leaseMs);
    if (claimed !== null) return claimed;
  }
  return null;
}

/** The organisation's oldest runnable job, put in one of its free places. */
async function claimOf(
  sql: Sql,
  settings: JobStoreSettings,
  idOrg: number,
  worker: WorkerIdentity,
  leaseMs: number,
): Promise<Claim | null> {
  for (;;) {
    try {
      const [row] = await sql<{ id_job: number; epoch: number; attempts: number; tool: string }[]>`
        with place as (
          select n from generate_series(1, ${settings.maxRunningPerOrg}::int) n
           where not exists (select from svc.job r where r.id_org = ${idOrg} and r.slot = n and r.status in ('R', 'T'))
           order by random() limit 1
        ), chosen as (
          select j.id_job, p.n from svc.job j, place p
           where j.id_org = ${idOrg} and j.ready and j.status = 'Q' and j.deadline > statement_timestamp()
           order by j.id_job limit 1 for no key update of j skip locked
        )
        update svc.job j
           set status = 'R', slot = c.n, attempts = j.attempts + 1, epoch = j.epoch + 1, start_date = coalesce(j.start_date, clock_timestamp()),
               lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
               worker_id = ${worker.workerId}, host = ${worker.host}, os_user = ${worker.osUser}, base_path = ${worker.basePath},
               log_file = 'logs/job-' || j.id_job || '.log', progress = null, messages = 0, failure = null, summary = null
          from chosen c where c.id_job = j.id_job
        returning j.id_job, j.epoch, j.attempts, j.tool`;
      return row === undefined
        ? null
        : { idJob: row.id_job, idOrg, epoch: row.epoch, attempt: row.attempts, tool: row.tool };
    } catch (error) {
      // Another worker took that place in the same moment: look for the next one.
      if (sqlState(error) !== '23505') throw error;
    }
  }
}

export async function heartbeat(sql: Sql, claim: Claim, leaseMs: number): Promise<'ok' | 'kill' | 'lost'> {
  const [row] = await sql<{ kill: boolean }[]>`
    update svc.job set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')
    returning status = 'T' or deadline <= statement_timestamp() as kill`;
  if (row === undefined) return 'lost';
  return row.kill ? 'kill' : 'ok';
}

export async function request(
  sql: Sql,
  idJob: number,
): Promise<{ readonly request: string; readonly record: JobRecord; readonly epoch: number }> {
  const [row] = isId(idJob)
    ? await sql<(JobRecord & { request: string; epoch: number })[]>`
        select ${jobColumns(sql)}, j.request, j.epoch from svc.job j where j.id_job = ${idJob}`
    : [];
  if (row === undefined) throw new AppError('not_found', `there is no job ${idJob}`);
  const { request: stored, epoch, ...record } = row;
  const resolved = await resolveReferences(sql, record.id_workflow, stored);
  return { request: resolved.request, record, epoch };
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
           id_app = coalesce(${progress.idApp ?? null}, id_app), output_path = coalesce(${progress.outputPath ?? null}, output_path),
           summary = coalesce(${summary}, summary), failure = coalesce(${failure}, failure)
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return done.count === 1;
}

export async function finish(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  status: 'C' | 'F' | 'K' | 'E',
  failure: string | null,
): Promise<boolean> {
  const ours = sql`id_job = ${claim.idJob} and epoch = ${claim.epoch}`;
  const text = failure === null ? null : storable(failure);
  // Killing passes through T; a job in T that does not complete is killed, whatever its tool says of itself.
  if (status === 'K') await sql`update svc.job set status = 'T' where ${ours} and status = 'R'`;
  const done = await sql`
    update svc.job
       set status = case when status = 'T' and ${status} <> 'C' then 'K' else ${status} end,
           end_date = clock_timestamp(), lease_until = null,
           progress = case when ${status} = 'C' then 1 else progress end,
           failure = case when ${status} = 'C' then ${text}
                          else coalesce(${text}, failure, case when status = 'T' then 'killed on request' end) end
     where ${ours} and status in ('R', 'T')`;
  return done.count === 1;
}

export async function handBack(
  sql: Sql,
  claim: Pick<Claim, 'idJob' | 'epoch'>,
  delayMs: number,
  failure: string | null,
): Promise<boolean> {
  const text = failure === null ? null : storable(failure);
  // handed back without a failure (a worker that drains), the attempt was none of the job's fault and does not count
  const blameless = failure === null;
  const waits = sql`status = 'R' and (${blameless} or attempts < max_attempts)`;
  const done = await sql`
    update svc.job
       set status = case when ${waits} then 'W' when status = 'T' then 'K' else 'L' end,
           next_attempt = case when ${waits} then clock_timestamp() + ${delayMs} * interval '1 millisecond' end,
           end_date = case when ${waits} then null else clock_timestamp() end,
           lease_until = null,
           attempts = case when ${blameless} and status = 'R' then attempts - 1 else attempts end,
           failure = coalesce(${text}, failure, case when ${waits} then null when status = 'T' then 'killed on request' else 'its attempts are spent' end)
     where id_job = ${claim.idJob} and epoch = ${claim.epoch} and status in ('R', 'T')`;
  return done.count === 1;
}

export async function reap(sql: Sql, settings: JobStoreSettings): Promise<number> {
  const done = await sql`
    with due as (
      select id_job,
             case when status = 'T' then 'K' when deadline <= statement_timestamp() then 'E' when attempts >= max_attempts then 'L' else 'W' end as next
        from svc.job
       where (lease_until is not null and lease_until <= statement_timestamp())
          or (end_date is null and deadline <= statement_timestamp() and status in ('Q', 'W'))
          or (end_date is null and deadline <= statement_timestamp() - ${deadlineGraceMs} * interval '1 millisecond' and status = 'R')
         for no key update skip locked
    )
    update svc.job j
       set status = due.next, lease_until = null,
           next_attempt = case when due.next = 'W' then clock_timestamp() + j.attempts * ${settings.retryDelayMs} * interval '1 millisecond' end,
           end_date = case when due.next = 'W' then null else clock_timestamp() end,
           failure = case due.next when 'E' then 'its deadline passed' when 'K' then 'killed on request; its worker had died'
                                   when 'L' then 'its worker died and its attempts are spent' else 'its worker died' end
      from due where due.id_job = j.id_job`;
  return done.count;
}
