/** What the job table in memory holds, and how it is read. */
import type { JobRecord } from '../../../src/jobs/record.ts';
import type { JobRun, LoadedRows, Page, WorkflowRecord } from '../../../src/ports/stores/jobs.ts';

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

export interface Row {
  readonly record: Mutable<JobRecord>;
  readonly tool: string;
  readonly request: string;
  summary: unknown;
  readonly position: number;
  readonly rerunOf: number | null;
  readonly byHand: boolean;
  attempts: number;
  epoch: number;
  committing: boolean;
  leaseUntil: number | null;
  /** who holds it, or held it last */
  workerId: string | null;
  nextAttempt: number | null;
  readonly deadline: number;
}

export interface WorkflowRow {
  readonly idWorkflow: number;
  readonly idOrg: number;
  readonly name: string;
}

export function workflowRecord({ idWorkflow, name }: WorkflowRow, rows: readonly Row[]): WorkflowRecord {
  const jobs = rows.map(({ record }) => record);
  const starts = jobs.flatMap((job) => job.start_date ?? []);
  const ends = jobs.flatMap((job) => job.end_date ?? []);
  const current = jobs.findIndex((job) => job.status !== 'C');
  const status = jobs[current]?.status ?? 'C';
  return {
    id_workflow: idWorkflow,
    name,
    status: status === 'Q' && current > 0 ? 'R' : status,
    start_date: starts.length === 0 ? null : Math.min(...starts),
    end_date: ends.length < jobs.length || jobs.length === 0 ? null : Math.max(...ends),
    job_count: jobs.length,
    completed_count: jobs.filter((job) => job.status === 'C').length,
    failed_count: jobs.filter((job) => 'FKEL'.includes(job.status)).length,
  };
}

export function recordOf(row: Row): JobRecord {
  return { ...row.record };
}

export function copyOf(row: Row | undefined): JobRecord | null {
  return row === undefined ? null : recordOf(row);
}

export function paged<T>(all: readonly T[], page: number, size: number): Page<T> {
  return { content: all.slice(page * size, page * size + size), page, size, totalElements: all.length };
}

export function runOf(row: Row): JobRun {
  return { record: recordOf(row), summary: row.summary };
}

export function sumLoaded(rows: readonly Row[]): LoadedRows[] {
  const sums = new Map<string, LoadedRows>();
  const loads = rows.filter(
    ({ record }) =>
      record.status === 'C' && record.id_sch !== null && /^(?:Parse|Unload)$/.test(record.job_type),
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
      const identity = `${record.id_sch}/${tableName}`;
      const rowsBefore = sums.get(identity)?.rows ?? 0;
      const more = record.job_type === 'Unload' ? -count : count;
      sums.set(identity, { idSch: record.id_sch!, tableName, rows: rowsBefore + more });
    }
  }
  return [...sums.values()];
}

function actionOf({ job_type: type, params_json: text }: Row['record']): {
  readonly place?: string;
  readonly overwrites: boolean;
} {
  const { action = {} } = JSON.parse(text) as { readonly action?: Readonly<Record<string, string>> };
  return { place: action[type === 'Unload' ? 'in' : 'out'], overwrites: action['savemode'] === 'o' };
}
