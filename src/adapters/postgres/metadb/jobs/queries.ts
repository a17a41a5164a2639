/** Job records and workflows, read; and the request to end a job. */
import { terminalStatuses, type JobRecord, type JobStatus } from '../../../../jobs/record.ts';
import { withStatusName, type StatusLetter } from '../../../../jobs/status-letters.ts';
import type { Page, WorkflowRecord } from '../../../../ports/stores/jobs.ts';
import { isId } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';
import { killAnswerMs } from './queue.ts';
import { jobColumns, jobRecord, type JobRow } from './records.ts';

export async function findJob(sql: Sql, idOrg: number, idJob: number): Promise<JobRecord | null> {
  if (!isId(idJob)) return null;
  const [row] = await sql<
    JobRow[]
  >`select ${jobColumns(sql)} from svc.job j where j.id_job = ${idJob} and j.id_org = ${idOrg}`;
  return row === undefined ? null : jobRecord(row);
}

/** Lists jobs. Pages begin with the ids alone, from an index: the other columns of jobs in front of the page are never computed. */
export async function listJobs(
  sql: Sql,
  idOrg: number,
  page: number,
  size: number,
): Promise<Page<JobRecord>> {
  const [content, [total]] = await Promise.all([
    sql<JobRow[]>`
      select ${jobColumns(sql)}
        from (select x.id_job from svc.job x where x.id_org = ${idOrg}
               order by x.id_job desc offset ${page * size} limit ${size}) x join svc.job j using (id_job)
       order by j.id_job desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.job where id_org = ${idOrg}`,
  ]);
  return { content: content.map(jobRecord), page, size, totalElements: total?.n ?? 0 };
}

export async function listWorkflowJobs(
  sql: Sql,
  idOrg: number,
  idWorkflow: number,
  page: number,
  size: number,
): Promise<Page<JobRecord> | null> {
  if (!isId(idWorkflow)) return null;
  const [content, [total]] = await Promise.all([
    sql<JobRow[]>`
      select ${jobColumns(sql)} from svc.job j where j.id_workflow = ${idWorkflow} and j.id_org = ${idOrg}
       order by j.position offset ${page * size} limit ${size}`,
    sql<{ n: number }[]>`
      select (select count(*) from svc.job j where j.id_workflow = w.id_workflow) as n
        from svc.workflow w where w.id_workflow = ${idWorkflow} and w.id_org = ${idOrg}`,
  ]);
  return total === undefined ? null : { content: content.map(jobRecord), page, size, totalElements: total.n };
}

export async function requestKill(sql: Sql, idOrg: number, idJob: number): Promise<JobRecord | null> {
  if (!isId(idJob)) return null;
  const [row] = await sql<JobRow[]>`
    update svc.job j
       set status = case when j.status = 'R' then 'T' else 'K' end,
           end_date = case when j.status = 'R' then null else clock_timestamp() end,
           next_attempt = null,
           -- a worker that lives answers with a heartbeat; one that does not is not waited for
           lease_until = case when j.status = 'R' then least(j.lease_until, clock_timestamp() + ${killAnswerMs} * interval '1 millisecond') end,
           failure = 'killed on request'
     where j.id_job = ${idJob} and j.id_org = ${idOrg} and j.status in ('Q', 'W', 'R')
    returning ${jobColumns(sql)}`;
  return row === undefined ? findJob(sql, idOrg, idJob) : jobRecord(row);
}

interface WorkflowRow {
  readonly id_workflow: number;
  readonly name: string | null;
  readonly jobs: readonly {
    readonly id: number;
    readonly status: StatusLetter;
    readonly start: number | null;
    readonly end: number | null;
  }[];
}

function workflowColumns(sql: Sql) {
  return sql`
    w.id_workflow, w.name,
    coalesce((select json_agg(json_build_object('id', j.id_job, 'status', j.status, 'start', svc.epoch_ms(j.start_date),
                                                'end', svc.epoch_ms(j.end_date)) order by j.position)
                from svc.job j where j.id_workflow = w.id_workflow), '[]') as jobs`;
}

export async function listWorkflows(
  sql: Sql,
  idOrg: number,
  page: number,
  size: number,
): Promise<Page<WorkflowRecord & { readonly jobs: readonly number[] }>> {
  const [rows, [total]] = await Promise.all([
    sql<WorkflowRow[]>`
      select ${workflowColumns(sql)}
        from (select x.id_workflow from svc.workflow x where x.id_org = ${idOrg}
               order by x.id_workflow desc offset ${page * size} limit ${size}) x join svc.workflow w using (id_workflow)
       order by w.id_workflow desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.workflow where id_org = ${idOrg}`,
  ]);
  const content = rows.map((row) => ({ ...workflowRecord(row), jobs: row.jobs.map((job) => job.id) }));
  return { content, page, size, totalElements: total?.n ?? 0 };
}

export async function findWorkflow(
  sql: Sql,
  idOrg: number,
  idWorkflow: number,
): Promise<(WorkflowRecord & { readonly jobs: readonly JobRecord[] }) | null> {
  if (!isId(idWorkflow)) return null;
  // One snapshot for both, so that the sums agree with the records.
  const found = await sql.begin('isolation level repeatable read read only', async (tx) => {
    const [row] = await tx<WorkflowRow[]>`
      select ${workflowColumns(sql)} from svc.workflow w where w.id_workflow = ${idWorkflow} and w.id_org = ${idOrg}`;
    if (row === undefined) return null;
    const jobs = await tx<
      JobRow[]
    >`select ${jobColumns(sql)} from svc.job j where j.id_workflow = ${idWorkflow} order by j.position`;
    return { row, jobs };
  });
  return found === null ? null : { ...workflowRecord(found.row), jobs: found.jobs.map(jobRecord) };
}

function workflowRecord({ id_workflow, name, jobs: rows }: WorkflowRow): WorkflowRecord {
  const jobs = rows.map(withStatusName);
  const starts = jobs.flatMap((job) => job.start ?? []);
  const ends = jobs.flatMap((job) => job.end ?? []);
  return {
    id_workflow,
    name: name ?? `workflow-${id_workflow}`,
    status: workflowStatus(jobs.map((job) => job.status)),
    start_date: starts.length === 0 ? null : Math.min(...starts),
    end_date: ends.length < jobs.length || jobs.length === 0 ? null : Math.max(...ends),
    job_count: jobs.length,
    completed_count: jobs.filter((job) => job.status === 'completed').length,
    failed_count: jobs.filter((job) => job.status !== 'completed' && terminalStatuses.has(job.status)).length,
  };
}

/**
 * Returns the status of a workflow: that of its current job, the first that has not completed. A job that is queued after completed
 * ones counts as running; if all have completed, so has the workflow. A failed job ends all that follow, so its state is the
 * workflow's.
 */
function workflowStatus(statuses: readonly JobStatus[]): JobStatus {
  const current = statuses.findIndex((status) => status !== 'completed');
  const status = statuses[current];
  if (status === undefined) return 'completed';
  return status === 'queued' && current > 0 ? 'running' : status;
}
