/** What the job table in memory holds, and how it is read. */
import { statusLetters, terminalStatuses, type JobRecord } from '../../../src/service/jobs/record.ts';
import type {
  EndedJob,
  JobFilter,
  JobRun,
  ListPosition,
  LoadedRows,
  NewJob,
  Page,
  WorkflowRecord,
} from '../../../src/ports/stores/jobs.ts';

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

export interface Row {
  readonly uuid: string;
  readonly record: Mutable<JobRecord>;
  readonly tool: string;
  readonly request: string;
  /** without a result */
  readonly paramsJson: string;
  summary: unknown;
  readonly position: number;
  readonly rerunOf: number | null;
  readonly byHand: boolean;
  attempts: number;
  epoch: number;
  committing: boolean;
  leaseUntil: number | null;
  /** when the attempt that runs was claimed, and how long those before it ran */
  claimedMs: number;
  ranMs: number;
  outage: { readonly sinceMs: number; readonly tries: number } | null;
  /** who holds it, or held it last */
  workerId: string | null;
  nextAttempt: number | null;
  readonly deadline: number;
  readonly createdMs: number;
}

export interface WorkflowRow {
  readonly idWorkflow: number;
  readonly idOrg: number;
  readonly name: string;
  readonly createdMs: number;
}

export interface MemoryJobStoreOptions {
  readonly maxRunningPerOrg: number;
  readonly maxQueuedPerOrg: number;
  readonly maxAttempts: number;
  readonly deadlineMs: number;
  readonly retryDelayMs: number;
}

export const defaultJobLimits: MemoryJobStoreOptions = {
  maxRunningPerOrg: 4,
  maxQueuedPerOrg: 10_000,
  maxAttempts: 3,
  deadlineMs: 24 * 3_600_000,
  retryDelayMs: 2_000,
};

/** A job that was just submitted, or was begun by hand. */
export function newRow(
  job: NewJob,
  workflow: WorkflowRow,
  more: {
    readonly idJob: number;
    readonly position: number;
    readonly deadline: number;
    readonly createdMs: number;
    readonly rerunOf?: number;
    readonly byHand?: boolean;
  },
): Row {
  return {
    uuid: crypto.randomUUID(),
    record: {
      id_job: more.idJob,
      id_parent_job: job.idParentJob,
      id_org: workflow.idOrg,
      id_sch: job.idSch,
      id_lschma: null,
      id_app: null,
      job_type: job.jobType,
      status: 'queued',
      params: job.params,
      params_json: job.paramsJson,
      host: null,
      os_user: null,
      base_path: null,
      parm_path_input: job.inputPath,
      parm_path_output: job.outputPath,
      msg_proc_qty: 0,
      log_file: null,
      start_date: null,
      end_date: null,
      id_workflow: workflow.idWorkflow,
      attempt: 1,
      progress: null,
      failure: null,
      trace_id: crypto.randomUUID().replaceAll('-', ''),
    },
    tool: job.tool,
    request: job.request,
    paramsJson: job.paramsJson,
    summary: null,
    position: more.position,
    rerunOf: more.rerunOf ?? null,
    byHand: more.byHand ?? false,
    attempts: 0,
    epoch: 0,
    committing: false,
    leaseUntil: null,
    claimedMs: 0,
    ranMs: 0,
    outage: null,
    workerId: null,
    nextAttempt: null,
    deadline: more.deadline,
    createdMs: more.createdMs,
  };
}

/** `params_json` of a job that has ended. */
export function paramsWithResult({ paramsJson, summary, record }: Row): string {
  const { details: _, ...result } = (summary ?? {}) as Readonly<Record<string, unknown>>;
  if (result['status'] !== statusLetters[record.status]) return paramsJson;
  return JSON.stringify({ ...(JSON.parse(paramsJson) as object), result });
}

/** What figures are made of; `row` has ended. */
export function endedJobOf(row: Row): EndedJob {
  const { record } = row;
  const summary = (record.status === 'completed' ? row.summary : null) as Partial<EndedJob> | null;
  return {
    idJob: record.id_job,
    type: record.job_type,
    status: record.status,
    startMs: record.start_date,
    endMs: record.end_date!,
    failure: record.failure,
    documents: summary?.documents ?? 0,
    rows: summary?.rows ?? 0,
    bytes: summary?.bytes ?? 0,
  };
}

/** What a worker hears that asks for its job. */
export function standingOf(row: Row | undefined, nowMs: number): 'ok' | 'kill' | 'lost' {
  if (row === undefined) return 'lost';
  return row.record.status === 'terminating' || row.deadline <= nowMs ? 'kill' : 'ok';
}

/** Whether a job may be claimed; `siblings`: the jobs of its workflow. */
export function isRunnable(row: Row, siblings: readonly Row[], nowMs: number): boolean {
  const { status } = row.record;
  const due = status === 'queued' || (status === 'waiting' && (row.nextAttempt ?? 0) <= nowMs);
  const ready = siblings.every(
    (earlier) => earlier.position >= row.position || earlier.record.status === 'completed',
  );
  return due && ready && row.deadline > nowMs;
}

/** `{"ref": N}` becomes the id of the origin that the workflow's N-th job made. */
export function resolvedRequest(row: Row, siblings: readonly Row[]): string {
  const parsed = JSON.parse(row.request) as { originId?: { ref?: number } };
  const ref = parsed.originId?.ref;
  const idSch = ref === undefined ? null : (siblings[ref]?.record.id_sch ?? null);
  return idSch === null ? row.request : JSON.stringify({ ...parsed, originId: { id: idSch } });
}

export function workflowRecord({ idWorkflow, name }: WorkflowRow, rows: readonly Row[]): WorkflowRecord {
  const jobs = rows.map(({ record }) => record);
  const starts = jobs.flatMap((job) => job.start_date ?? []);
  const ends = jobs.flatMap((job) => job.end_date ?? []);
  const current = jobs.findIndex((job) => job.status !== 'completed');
  const status = jobs[current]?.status ?? 'completed';
  return {
    id_workflow: idWorkflow,
    name,
    status: status === 'queued' && current > 0 ? 'running' : status,
    start_date: starts.length === 0 ? null : Math.min(...starts),
    end_date: ends.length < jobs.length || jobs.length === 0 ? null : Math.max(...ends),
    job_count: jobs.length,
    completed_count: jobs.filter((job) => job.status === 'completed').length,
    failed_count: jobs.filter((job) => job.status !== 'completed' && terminalStatuses.has(job.status)).length,
  };
}

export function recordOf(row: Row): JobRecord {
  return { ...row.record };
}

export function copyOf(row: Row | undefined): JobRecord | null {
  return row === undefined ? null : recordOf(row);
}

/** The part of a list that is newest first: of its records that pass the filter, a page, or those beside a position. */
export function selected<T>(
  all: readonly T[],
  page: number,
  size: number,
  idOf: (one: T) => number,
  position: ListPosition | undefined,
): Page<T> {
  if (position === undefined) return paged(all, page, size);
  const { side, id } = position;
  const content =
    side === 'after'
      ? all.filter((one) => idOf(one) < id).slice(0, size)
      : all.filter((one) => idOf(one) > id).slice(-size);
  return { content, page, size, totalElements: all.length };
}

/** Whether a job passes a filter. */
export function passes(
  { record, createdMs }: Pick<Row, 'record' | 'createdMs'>,
  { status, jobType, idSchs, since, until }: JobFilter = {},
): boolean {
  return (
    (status === undefined || record.status === status) &&
    (jobType === undefined || record.job_type === jobType) &&
    (idSchs === undefined || idSchs.includes(record.id_sch ?? -1)) &&
    (since === undefined || createdMs >= since) &&
    (until === undefined || createdMs < until)
  );
}

export function paged<T>(all: readonly T[], page: number, size: number): Page<T> {
  return { content: all.slice(page * size, page * size + size), page, size, totalElements: all.length };
}

export function runOf(row: Row): JobRun {
  return { record: recordOf(row), summary: row.summary };
}

export function sumLoaded(rows: readonly Row[]): LoadedRows {
  const sums = new Map<number, Record<string, number>>();
  const loads = rows.filter(
    ({ record }) =>
      record.status === 'completed' && record.id_sch !== null && /^(?:Parse|Unload)$/.test(record.job_type),
  );
  for (const { record, summary } of loads) {
    const { place } = actionOf(record);
    const overwritten = loads.some(({ record: later }) => {
      const action = actionOf(later);
      return (
        later.id_job > record.id_job &&
        later.id_sch === record.id_sch &&
        action.overwrites &&
        action.place === place
      );
    });
    if (overwritten) continue;
    const tables = (summary as { tables?: Record<string, number> } | null)?.tables ?? {};
    for (const [tableName, count] of Object.entries(tables)) {
      const more = record.job_type === 'Unload' ? -count : count;
      const own = sums.get(record.id_sch!) ?? {};
      sums.set(record.id_sch!, { ...own, [tableName]: (own[tableName] ?? 0) + more });
    }
  }
  return sums;
}

function actionOf({ job_type: type, params_json: text }: Row['record']): {
  readonly place?: string;
  readonly overwrites: boolean;
} {
  const { action = {} } = JSON.parse(text) as { readonly action?: Readonly<Record<string, string>> };
  return { place: action[type === 'Unload' ? 'in' : 'out'], overwrites: action['savemode'] === 'o' };
}
