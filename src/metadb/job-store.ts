/** The job store on PostgreSQL: `svc.job` is the record, the queue and the rule book. */
import type {
  JobFilter,
  JobStore,
  ListPosition,
  ListSelection,
  Page,
  WorkflowRecord,
  JobRun,
  LatestLoad,
  LoadedRows,
  EndedJob,
} from '../ports/stores/jobs.ts';
import { type Sql, isId, storable } from '../postgres/connect.ts';
import { createJobNotifications, type JobNotifications } from './job-notifications.ts';
import {
  beginCommit,
  checkClaim,
  claimJob,
  finish,
  handBack,
  heartbeat,
  reap,
  report,
  readJobRequest,
  settleCommit,
  killAnswerMs,
  type JobStoreSettings,
  jobColumns,
  jobRecord,
  type JobRow,
} from './job-queue.ts';
import {
  readInTransaction,
  withinOrganisation,
  type OrganisationReader,
} from '../postgres/organisation-pools.ts';
import { findSubmission, rerun, startByHand, submit } from './job-submission.ts';
import {
  terminalStatuses,
  type JobRecord,
  type JobStatus,
  statusLetters,
  withStatusName,
  type StatusLetter,
} from '../service/jobs/record.ts';
import { AppError } from '../errors.ts';

const defaultJobStoreSettings: JobStoreSettings = {
  maxRunningPerOrg: 4,
  maxQueuedPerOrg: 10_000,
  maxAttempts: 3,
  deadlineMs: 24 * 3_600_000,
  retryDelayMs: 2_000,
  idempotencyKeyMs: 24 * 3_600_000,
};

/** The job store with the parts that neighbouring stores share; `close` ends the connection that waits for work. */
interface PostgresJobStore extends JobStore {
  readonly notifications: JobNotifications;
  readonly settings: JobStoreSettings;
  close(): Promise<void>;
}

/** `read` runs read-only queries; absent: in transactions on the same pool. The caller keeps ownership of the pool. */
export function createPostgresJobStore(
  sql: Sql,
  options: Partial<JobStoreSettings> = {},
  read: OrganisationReader = readInTransaction(sql),
): PostgresJobStore {
  const settings = { ...defaultJobStoreSettings, ...options };
  const notifications = createJobNotifications(sql);
  /** a request for one organisation sees only that organisation's rows; workers access all organisations */
  const within = <T>(idOrg: number, work: (tx: Sql) => Promise<T>, mode?: string): Promise<T> =>
    withinOrganisation(sql, idOrg, work, mode);
  return {
    notifications,
    settings,
    submit: (submission) => within(submission.idOrg, (tx) => submit(tx, settings, submission)),
    findSubmission: (idOrg, idempotency) =>
      read(idOrg, (tx) => findSubmission(tx, settings, idOrg, idempotency)),
    findJob: (idOrg, idJob) => read(idOrg, (tx) => findJob(tx, idOrg, idJob)),
    listJobs: (idOrg, page, size, selection) =>
      read(idOrg, (tx) => listJobs(tx, idOrg, page, size, selection)),
    listWorkflowJobs: (idOrg, idWorkflow, page, size) =>
      read(idOrg, (tx) => listWorkflowJobs(tx, idOrg, idWorkflow, page, size)),
    rerunJob: (idOrg, idJob, traceparent) =>
      within(idOrg, (tx) => rerun(tx, settings, idOrg, idJob, traceparent)),
    requestKill: (idOrg, idJob) => within(idOrg, (tx) => requestKill(tx, idOrg, idJob)),
    claimJob: (worker, leaseMs, extra = false) => claimJob(sql, settings, worker, leaseMs, extra),
    startByHand: (job, idOrg, worker, leaseMs) =>
      within(idOrg, (tx) => startByHand(tx, job, idOrg, worker, leaseMs)),
    heartbeat: (held, leaseMs) => heartbeat(sql, held, leaseMs),
    checkClaim: (held) => checkClaim(sql, held),
    findStoredJob: (idJob) => readJobRequest(sql, idJob),
    report: (held, progress) => report(sql, held, progress),
    beginCommit: (held, summary) => beginCommit(sql, held, summary),
    settleCommit: (held) => settleCommit(sql, held),
    finish: (held, status, failure) => finish(sql, held, status, failure),
    handBack: (held, delayMs, failure, outage) => handBack(sql, settings, held, delayMs, failure, outage),
    noteReachedServer: (idOrg, server) => within(idOrg, (tx) => noteReachedServer(tx, idOrg, server)),
    isReachedServer: (idOrg, server) => read(idOrg, (tx) => isReachedServer(tx, idOrg, server)),
    reap: () => reap(sql, settings),
    waitForWork: (timeoutMs, signal) => notifications.waitForWork(timeoutMs, signal),
    waitForKill: (idJob, timeoutMs, signal) => notifications.waitForKill(idJob, timeoutMs, signal),
    waitForEnd: (idWorkflow, timeoutMs, signal) => notifications.waitForEnd(idWorkflow, timeoutMs, signal),
    listWorkflows: (idOrg, page, size, selection) =>
      read(idOrg, (tx) => listWorkflows(tx, idOrg, page, size, selection)),
    // one snapshot for the workflow and its jobs
    findWorkflow: (idOrg, idWorkflow) =>
      within(idOrg, (tx) => findWorkflow(tx, idOrg, idWorkflow), 'isolation level repeatable read read only'),
    countByStatus: () => countByStatus(sql),
    listEnded: (sinceMs) => listEnded(sql, sinceMs),
    queueAgeMs: () => queueAgeMs(sql),
    countWaitingOrganisations: () => countWaitingOrganisations(sql),
    listRuns: (idOrg, idSchs, page, size, selection) =>
      read(idOrg, (tx) => listRuns(tx, idOrg, idSchs, page, size, selection)),
    findRun: (idOrg, idJob) => read(idOrg, (tx) => findRun(tx, idOrg, idJob)),
    listIds: (idOrg) => read(idOrg, (tx) => listIds(tx, idOrg)),
    sumLoadedRows: (idOrg, idSchs) => read(idOrg, (tx) => sumLoadedRows(tx, idOrg, idSchs)),
    listLatestLoads: (idOrg, idSchs) => read(idOrg, (tx) => listLatestLoads(tx, idOrg, idSchs)),
    hasLoaded: (idOrg, outputs) => read(idOrg, (tx) => hasLoaded(tx, idOrg, outputs)),
    removeJob: (idOrg, idJob) => within(idOrg, (tx) => removeJob(tx, idOrg, idJob)),
    close: () => notifications.close(),
  };
}

// Job records and workflows, read; and the request to end a job.

async function findJob(sql: Sql, idOrg: number, idJob: number): Promise<JobRecord | null> {
  if (!isId(idJob)) return null;
  const [row] = await sql<
    JobRow[]
  >`select ${jobColumns(sql)} from svc.job j where j.id_job = ${idJob} and j.id_org = ${idOrg}`;
  return row === undefined ? null : jobRecord(row);
}

/** Lists jobs. Pages begin with the ids alone, from an index: the other columns of jobs in front of the page are never computed. */
async function listJobs(
  sql: Sql,
  idOrg: number,
  page: number,
  size: number,
  { filter = {}, position }: ListSelection = {},
): Promise<Page<JobRecord>> {
  const chosen = sql`x.id_org = ${idOrg} ${jobConditions(sql, filter)}`;
  const [content, [total]] = await Promise.all([
    sql<JobRow[]>`
      select ${jobColumns(sql)}
        from (select x.id_job from svc.job x
               where ${chosen} ${part(sql, sql`x.id_job`, page, size, position)}) x join svc.job j using (id_job)
       order by j.id_job desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.job x where ${chosen}`,
  ]);
  return { content: content.map(jobRecord), page, size, totalElements: total?.n ?? 0 };
}

/** Conditions on the job `x`, each preceded by `and`. */
function jobConditions(sql: Sql, { status, jobType, idSchs, since, until }: JobFilter) {
  return sql`
    ${status === undefined ? sql`` : sql`and x.status = ${statusLetters[status]}`}
    ${jobType === undefined ? sql`` : sql`and x.job_type = ${jobType}`}
    ${idSchs === undefined ? sql`` : sql`and x.id_sch in (${idList(sql, idSchs)})`}
    ${createdConditions(sql, { since, until })}`;
}

/** Conditions on when the job or workflow `x` was submitted, each preceded by `and`. */
function createdConditions(
  sql: Sql,
  { since, until }: { since: number | undefined; until: number | undefined },
) {
  const at = (epochMs: number) => sql`timestamptz 'epoch' + ${epochMs}::float8 * interval '1 millisecond'`;
  return sql`
    ${since === undefined ? sql`` : sql`and x.created >= ${at(since)}`}
    ${until === undefined ? sql`` : sql`and x.created < ${at(until)}`}`;
}

/** A query for ids; those that cannot exist are left out. */
function idList(sql: Sql, ids: readonly number[]) {
  return sql`select json_array_elements_text(${JSON.stringify(ids.filter(isId))}::text::json)::bigint`;
}

/** The end of a query for ids, newest first: the rows of a page, or those beside a position, which needs no rows in front to be read. */
function part(sql: Sql, id: ReturnType<Sql>, page: number, size: number, position: ListPosition | undefined) {
  if (position === undefined) return sql`order by ${id} desc offset ${page * size} limit ${size}`;
  return position.side === 'after'
    ? sql`and ${id} < ${position.id} order by ${id} desc limit ${size}`
    : sql`and ${id} > ${position.id} order by ${id} limit ${size}`;
}

async function listWorkflowJobs(
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

async function requestKill(sql: Sql, idOrg: number, idJob: number): Promise<JobRecord | null> {
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

async function listWorkflows(
  sql: Sql,
  idOrg: number,
  page: number,
  size: number,
  { filter = {}, position }: ListSelection = {},
): Promise<Page<WorkflowRecord & { readonly jobs: readonly number[] }>> {
  const chosen = sql`x.id_org = ${idOrg} ${workflowConditions(sql, idOrg, filter)}`;
  const [rows, [total]] = await Promise.all([
    sql<WorkflowRow[]>`
      select ${workflowColumns(sql)}
        from (select x.id_workflow from svc.workflow x
               where ${chosen} ${part(sql, sql`x.id_workflow`, page, size, position)}) x join svc.workflow w using (id_workflow)
       order by w.id_workflow desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.workflow x where ${chosen}`,
  ]);
  const content = rows.map((row) => ({ ...workflowRecord(row), jobs: row.jobs.map((job) => job.id) }));
  return { content, page, size, totalElements: total?.n ?? 0 };
}

/** Conditions on the workflow `x`, each preceded by `and`. */
function workflowConditions(sql: Sql, idOrg: number, { status, jobType, idSchs, since, until }: JobFilter) {
  const ofJobs =
    jobType === undefined && idSchs === undefined
      ? sql``
      : sql`and x.id_workflow in (
          select y.id_workflow from svc.job y
           where y.id_org = ${idOrg} ${jobType === undefined ? sql`` : sql`and y.job_type = ${jobType}`}
                 ${idSchs === undefined ? sql`` : sql`and y.id_sch in (${idList(sql, idSchs)})`})`;
  const ofStatus = status === undefined ? sql`` : statusCondition(sql, idOrg, statusLetters[status]);
  return sql`${ofJobs} ${ofStatus} ${createdConditions(sql, { since, until })}`;
}

/** States of jobs in workflows that have not completed. */
const incomplete = Object.values(statusLetters).filter((letter) => letter !== 'C');

/**
 * The condition that the workflow `x` has a status, as `workflowStatus` computes it. The jobs that decide it are found by their status,
 * in an index: most jobs have completed, and are not read.
 */
function statusCondition(sql: Sql, idOrg: number, status: StatusLetter) {
  if (status === 'C')
    return sql`and not exists (
      select from svc.job y
       where y.id_workflow = x.id_workflow and y.id_org = ${idOrg} and y.status in ${sql(incomplete)})`;
  const candidates = status === 'R' ? ['R', 'Q'] : [status];
  return sql`and x.id_workflow in (
      select y.id_workflow from svc.job y where y.id_org = ${idOrg} and y.status in ${sql(candidates)})
    and ${status} = (
      select case when y.status = 'Q' and y.position > 0 then 'R' else y.status end
        from svc.job y where y.id_workflow = x.id_workflow and y.status <> 'C' order by y.position limit 1)`;
}

async function findWorkflow(
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

// Jobs as runs of conversions, with the figures of their summaries; and the removal of ended jobs.

type RunRow = JobRow & { readonly summary: string | null };

function runOf({ summary, ...row }: RunRow): JobRun {
  return { record: jobRecord(row), summary: summary === null ? null : (JSON.parse(summary) as unknown) };
}

/** Like `listJobs`: finds only the ids of a page first, from an index. */
async function listRuns(
  sql: Sql,
  idOrg: number,
  idSchs: readonly number[] | null,
  page: number,
  size: number,
  { filter = {}, position }: ListSelection = {},
): Promise<Page<JobRun>> {
  const ofOrigins = idSchs === null ? sql`x.id_sch is not null` : sql`x.id_sch in (${idList(sql, idSchs)})`;
  const chosen = sql`x.id_org = ${idOrg} and ${ofOrigins} ${jobConditions(sql, filter)}`;
  const [rows, [total]] = await Promise.all([
    sql<RunRow[]>`
      select ${jobColumns(sql)}, j.summary
        from (select x.id_job from svc.job x
               where ${chosen} ${part(sql, sql`x.id_job`, page, size, position)}) x join svc.job j using (id_job)
       order by j.id_job desc`,
    sql<{ n: number }[]>`select count(*) as n from svc.job x where ${chosen}`,
  ]);
  return { content: rows.map(runOf), page, size, totalElements: total?.n ?? 0 };
}

/** Two parts, each from an index: the states of ended jobs and of open jobs are different ones. */
async function countByStatus(sql: Sql): Promise<ReadonlyMap<JobStatus, number>> {
  const rows = await sql<{ status: StatusLetter; n: number }[]>`
    select status, count(*) as n from svc.job where end_date is not null group by status
    union all
    select status, count(*) from svc.job where end_date is null group by status`;
  return new Map(rows.map(withStatusName).map(({ status, n }) => [status, n]));
}

async function findRun(sql: Sql, idOrg: number, idJob: number): Promise<JobRun | null> {
  if (!isId(idJob)) return null;
  const [row] = await sql<RunRow[]>`
    select ${jobColumns(sql)}, j.summary from svc.job j where j.id_job = ${idJob} and j.id_org = ${idOrg}`;
  return row === undefined ? null : runOf(row);
}

async function listLatestLoads(
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

async function hasLoaded(sql: Sql, idOrg: number, outputs: readonly string[]): Promise<boolean> {
  const names = JSON.stringify(outputs.map(storable));
  const [row] = await sql`
    select from json_array_elements_text(${names}::text::json) t (name)
     where exists (select from svc.job j
                    where j.id_org = ${idOrg} and md5(j.output_path) = md5(t.name) and j.output_path = t.name
                      and j.status = 'C' and j.job_type = 'Parse' and j.output_path is not null)
     limit 1`;
  return row !== undefined;
}

/** One row per origin, which the end of each job keeps up to date. */
async function sumLoadedRows(sql: Sql, idOrg: number, idSchs?: readonly number[]): Promise<LoadedRows> {
  const chosen =
    idSchs === undefined
      ? sql`true`
      : sql`id_sch in (select json_array_elements_text(${JSON.stringify(idSchs.filter(isId))}::text::json)::bigint)`;
  const rows = await sql<{ idSch: number; tables: string }[]>`
    select id_sch as "idSch", tables::text as tables from svc.loaded_rows where id_org = ${idOrg} and ${chosen}`;
  return new Map(rows.map(({ idSch, tables }) => [idSch, JSON.parse(tables) as Record<string, number>]));
}

async function listIds(sql: Sql, idOrg: number): Promise<readonly number[]> {
  const rows = await sql<{ id_job: number }[]>`select id_job from svc.job where id_org = ${idOrg}`;
  return rows.map(({ id_job }) => id_job);
}

async function removeJob(sql: Sql, idOrg: number, idJob: number): Promise<boolean> {
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
      throw new AppError('job_not_terminal', 'its watch has not processed its end yet: try again');
    await tx`delete from svc.job where id_job = ${idJob}`;
    await tx`
      delete from svc.workflow w
       where w.id_workflow = ${job.id_workflow} and not exists (select from svc.job j where j.id_workflow = w.id_workflow)`;
    return true;
  });
}

// Figures for metrics, over all organisations: ended jobs, and how long jobs have waited.

const most = 10_000;

type EndedRow = Omit<EndedJob, 'status' | 'documents' | 'rows' | 'bytes'> & {
  readonly status: StatusLetter;
  readonly summary: string | null;
};

async function listEnded(sql: Sql, sinceMs: number): Promise<readonly EndedJob[]> {
  const rows = await sql<EndedRow[]>`
    select id_job as "idJob", job_type as type, status, failure,
           (extract(epoch from start_date) * 1000)::bigint as "startMs",
           (extract(epoch from end_date) * 1000)::bigint as "endMs",
           case when status = 'C' then summary end as summary
      from svc.job
     where end_date >= to_timestamp(${sinceMs}::float8 / 1000)
     order by end_date, id_job limit ${most}`;
  return rows.map(({ summary, ...row }) => ({ ...withStatusName(row), ...sums(summary) }));
}

/** Sums a summary defensively: another version of the tool may have written another form. */
function sums(summary: string | null): Pick<EndedJob, 'documents' | 'rows' | 'bytes'> {
  const members = (summary === null ? {} : JSON.parse(summary)) as Readonly<Record<string, unknown>>;
  const count = (name: string): number => {
    const value = members[name];
    return typeof value === 'number' && value >= 0 ? value : 0;
  };
  return { documents: count('documents'), rows: count('rows'), bytes: count('bytes') };
}

async function queueAgeMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ age: number | null }[]>`
    select (extract(epoch from clock_timestamp() - min(coalesce(next_attempt, greatest(created, claimed_at)))) * 1000)::bigint as age
      from svc.job
     where status in ('Q', 'W') and ready and (next_attempt is null or next_attempt <= clock_timestamp())`;
  return Math.max(0, row?.age ?? 0);
}

/** Waiting time that exceeds the time for a claim if a place is free. */
const waitsMs = 5000;

async function countWaitingOrganisations(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    with running as (
      select distinct id_org from svc.job where status in ('R', 'T') and lease_until is not null and slot is not null)
    select count(*) as n from svc.org o
     where exists (
       select from svc.job j
        where j.id_org = o.id_org and j.ready and j.status in ('Q', 'W') and j.deadline > statement_timestamp()
          and coalesce(j.next_attempt, j.created) <= statement_timestamp() - ${waitsMs} * interval '1 millisecond')
       and not exists (select from running r where r.id_org = o.id_org)
       and exists (select from running)`;
  return row!.n;
}

// Servers that took a connection of a job.

/** characters */
const longestServer = 1000;

/** Jobs that wait for the server are tried at once. Servers that were not reached for a year are forgotten. */
async function noteReachedServer(sql: Sql, idOrg: number, server: string): Promise<void> {
  await sql`
    update svc.job set next_attempt = least(next_attempt, clock_timestamp())
     where id_org = ${idOrg} and status = 'W' and outage_since is not null
       and starts_with(coalesce(output_path, input_path), ${storable(server)})`;
  if (server.length > longestServer) return;
  await sql`
    with old as (
      delete from svc.reached_server
       where id_org = ${idOrg} and reached < statement_timestamp() - interval '1 year' and server <> ${storable(server)})
    insert into svc.reached_server as r (id_org, server) values (${idOrg}, ${storable(server)})
    on conflict (id_org, server) do update set reached = excluded.reached where r.reached < excluded.reached - interval '1 day'`;
}

async function isReachedServer(sql: Sql, idOrg: number, server: string): Promise<boolean> {
  const [row] = await sql`
    select from svc.reached_server where id_org = ${idOrg} and server = ${storable(server)}`;
  return row !== undefined;
}
