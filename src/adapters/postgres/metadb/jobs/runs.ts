/** Jobs as runs of conversions, with the figures of their summaries; and the removal of ended jobs. */
import { AppError } from '../../../../errors.ts';
import type { JobStatus } from '../../../../jobs/record.ts';
import { withStatusName, type StatusLetter } from '../../../../jobs/status-letters.ts';
import type { JobRun, LatestLoad, LoadedRows, Page } from '../../../../ports/stores/jobs.ts';
import { isId } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';
import { jobColumns, jobRecord, type JobRow } from './records.ts';

type RunRow = JobRow & { readonly summary: string | null };

function runOf({ summary, ...row }: RunRow): JobRun {
  return { record: jobRecord(row), summary: summary === null ? null : (JSON.parse(summary) as unknown) };
}

/** Like `listJobs`: finds only the ids of a page first, from an index. */
export async function listRuns(
  sql: Sql,
  idOrg: number,
  idSchs: readonly number[] | null,
  page: number,
  size: number,
): Promise<Page<JobRun>> {
  const ids = JSON.stringify((idSchs ?? []).filter(isId));
  const chosen =
    idSchs === null
      ? sql`j.id_sch is not null`
      : sql`j.id_sch in (select json_array_elements_text(${ids}::text::json)::bigint)`;
  const [rows, [total]] = await Promise.all([
    sql<RunRow[]>`
      select ${jobColumns(sql)}, j.summary
        from (select j.id_job from svc.job j where j.id_org = ${idOrg} and ${chosen}
               order by j.id_job desc offset ${page * size} limit ${size}) x join svc.job j using (id_job)
       order by j.id_job desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.job j where j.id_org = ${idOrg} and ${chosen}`,
  ]);
  return { content: rows.map(runOf), page, size, totalElements: total?.n ?? 0 };
}

/** Two parts, each from an index: the states of ended jobs and of open jobs are different ones. */
export async function countByStatus(sql: Sql): Promise<ReadonlyMap<JobStatus, number>> {
  const rows = await sql<{ status: StatusLetter; n: number }[]>`
    select status, count(*) as n from svc.job where end_date is not null group by status
    union all
    select status, count(*) from svc.job where end_date is null group by status`;
  return new Map(rows.map(withStatusName).map(({ status, n }) => [status, n]));
}

export async function findRun(sql: Sql, idOrg: number, idJob: number): Promise<JobRun | null> {
  if (!isId(idJob)) return null;
  const [row] = await sql<RunRow[]>`
    select ${jobColumns(sql)}, j.summary from svc.job j where j.id_job = ${idJob} and j.id_org = ${idOrg}`;
  return row === undefined ? null : runOf(row);
}

export async function listLatestLoads(
  sql: Sql,
  idOrg: number,
  idSchs: readonly number[],
): Promise<readonly LatestLoad[]> {
  const rows = await sql<(Omit<LatestLoad, 'keys'> & { readonly keys: string | null })[]>`
    select s.id_sch::bigint as "idSch", j.id_job as "idJob", j.output_path as output,
           (j.summary::json #> '{details,keys}')::text as keys
      from json_array_elements_text(${JSON.stringify(idSchs.filter(isId))}::text::json) s (id_sch)
     cross join lateral (
       select id_job, output_path, summary from svc.job
        where id_org = ${idOrg} and id_sch = s.id_sch::bigint and status = 'C' and job_type = 'Parse' and output_path is not null
        order by id_job desc limit 1) j`;
  return rows.map((row) => ({
    ...row,
    keys: row.keys === null ? null : (JSON.parse(row.keys) as Record<string, number>),
  }));
}

/** One row per origin, which the end of each job keeps up to date. */
export async function sumLoadedRows(
  sql: Sql,
  idOrg: number,
  idSchs?: readonly number[],
): Promise<LoadedRows> {
  const chosen =
    idSchs === undefined
      ? sql`true`
      : sql`id_sch in (select json_array_elements_text(${JSON.stringify(idSchs.filter(isId))}::text::json)::bigint)`;
  const rows = await sql<{ idSch: number; tables: string }[]>`
    select id_sch as "idSch", tables::text as tables from svc.loaded_rows where id_org = ${idOrg} and ${chosen}`;
  return new Map(rows.map(({ idSch, tables }) => [idSch, JSON.parse(tables) as Record<string, number>]));
}

export async function listIds(sql: Sql, idOrg: number): Promise<readonly number[]> {
  const rows = await sql<{ id_job: number }[]>`select id_job from svc.job where id_org = ${idOrg}`;
  return rows.map(({ id_job }) => id_job);
}

export async function removeJob(sql: Sql, idOrg: number, idJob: number): Promise<boolean> {
  if (!isId(idJob)) return false;
  return sql.begin(async (tx) => {
    const [job] = await tx<{ id_workflow: number }[]>`
      select id_workflow from svc.job where id_job = ${idJob} and id_org = ${idOrg}`;
    if (job === undefined) return false;
    await tx`select 1 from svc.workflow where id_workflow = ${job.id_workflow} for update`;
    const [open] = await tx<{ id_job: number }[]>`
      select id_job from svc.job where id_workflow = ${job.id_workflow} and end_date is null order by position limit 1`;
    if (open !== undefined)
      throw new AppError('job_not_terminal', `job ${open.id_job} of its workflow has not ended`);
    const [watch] = await tx`select 1 from svc.watch where id_job = ${idJob}`;
    if (watch !== undefined)
      throw new AppError('job_not_terminal', 'its watch has not taken note of its end yet: try again');
    await tx`delete from svc.job where id_job = ${idJob}`;
    await tx`
      delete from svc.workflow w
       where w.id_workflow = ${job.id_workflow} and not exists (select from svc.job j where j.id_workflow = w.id_workflow)`;
    return true;
  });
}
