/**
 * The job record and its states (docs/decisions/service/job-queue.md). The letters for states are used in the API and in the metadata
 * database, and names everywhere else.
 */

/** The API and the database use `statusLetters` for these states. */
export type JobStatus =
  | 'queued'
  | 'running'
  /** waiting for its next attempt */
  | 'waiting'
  /** asked to end */
  | 'terminating'
  | 'completed'
  | 'failed'
  | 'killed'
  /** its deadline passed */
  | 'expired'
  /** its attempts are spent */
  | 'lost';
export type JobType = 'Schema' | 'Parse' | 'Write' | 'Unload' | 'Export' | 'Import';

export const terminalStatuses: ReadonlySet<JobStatus> = new Set<JobStatus>([
  'completed',
  'failed',
  'killed',
  'expired',
  'lost',
]);

/** From each state, the states that may follow. The database holds the same table and refuses all other changes. */
export const legalTransitions: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ['running', 'killed', 'expired'],
  running: ['completed', 'failed', 'terminating', 'expired', 'waiting', 'lost'],
  waiting: ['queued', 'killed', 'expired'],
  terminating: ['killed', 'completed'],
  completed: [],
  failed: [],
  killed: [],
  expired: [],
  lost: [],
};

/** A job as in the API, except for the name of its state; times are epoch milliseconds. */
export interface JobRecord {
  readonly id_job: number;
  readonly id_parent_job: number | null;
  readonly id_org: number;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  readonly id_app: string | null;
  readonly job_type: JobType;
  readonly status: JobStatus;
  readonly params: string;
  readonly params_json: string;
  readonly host: string | null;
  readonly os_user: string | null;
  readonly base_path: string | null;
  readonly parm_path_input: string | null;
  readonly parm_path_output: string | null;
  readonly msg_proc_qty: number;
  readonly log_file: string | null;
  readonly start_date: number | null;
  readonly end_date: number | null;
  readonly id_workflow: number;
  readonly attempt: number;
  readonly progress: number | null;
  readonly failure: string | null;
  /** the watch that found its files; absent: none did */
  readonly id_watch?: number;
  /** the trace that it belongs to (W3C Trace Context) */
  readonly trace_id: string;
}

// The reason for which a job did not complete, as one of a few: metrics have it as a label, so there must not be many.

type FailureReason =
  | 'input'
  | 'memory'
  | 'deadline'
  | 'killed'
  | 'predecessor'
  | 'lost'
  | 'unreachable'
  | 'other';

const byStatus: Readonly<Partial<Record<JobStatus, FailureReason>>> = { expired: 'deadline', lost: 'lost' };

const byText: readonly (readonly [FailureReason, RegExp])[] = [
  ['memory', /\bmemory\b/i],
  [
    'input',
    /\bline \d+\b|\bdocuments? (?:was|were|is|are) (?:rejected|refused)\b|\brejected\b|\bnot well-formed\b/i,
  ],
  ['unreachable', /\b(?:cannot be reached|does not answer|connection|refused)\b/i],
];

/** `failure`: the line of the job's record. Null for a job that completed or has not ended. */
export function failureReason(status: JobStatus, failure: string | null): FailureReason | null {
  if (status === 'killed') return failure?.startsWith('not run:') === true ? 'predecessor' : 'killed';
  if (status !== 'failed') return byStatus[status] ?? null;
  return byText.find(([, pattern]) => pattern.test(failure ?? ''))?.[0] ?? 'other';
}

// Letters and names of states.

export const statusLetters = {
  queued: 'Q',
  running: 'R',
  waiting: 'W',
  terminating: 'T',
  completed: 'C',
  failed: 'F',
  killed: 'K',
  expired: 'E',
  lost: 'L',
} as const satisfies Readonly<Record<JobStatus, string>>;

export type StatusLetter = (typeof statusLetters)[JobStatus];

const statusNames: Readonly<Record<StatusLetter, JobStatus>> = {
  Q: 'queued',
  R: 'running',
  W: 'waiting',
  T: 'terminating',
  C: 'completed',
  F: 'failed',
  K: 'killed',
  E: 'expired',
  L: 'lost',
};

type Lettered<R> = Omit<R, 'status'> & { readonly status: StatusLetter };
type Named<R> = Omit<R, 'status'> & { readonly status: JobStatus };

/** Converts a record to its form in the database and the API, with a letter for the status. */
export function withStatusLetter<R extends { readonly status: JobStatus }>(record: R): Lettered<R> {
  return { ...record, status: statusLetters[record.status] };
}

/** Converts a record to its internal form, with a name for the status. */
export function withStatusName<R extends { readonly status: StatusLetter }>(record: R): Named<R> {
  return { ...record, status: statusNames[record.status] };
}
