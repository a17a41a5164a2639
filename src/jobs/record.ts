/** The job record and its states (docs/decisions/service/job-queue.md). */

export type JobStatus = 'Q' | 'R' | 'W' | 'T' | 'C' | 'F' | 'K' | 'E' | 'L';
export type JobType = 'Schema' | 'Parse' | 'Write' | 'Unload' | 'Export' | 'Import';

export const terminalStatuses: ReadonlySet<JobStatus> = new Set<JobStatus>(['C', 'F', 'K', 'E', 'L']);

/** From each state, the states that may follow. The database holds the same table and refuses all else. */
export const legalTransitions: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  Q: ['R', 'K', 'E'],
  R: ['C', 'F', 'T', 'E', 'W', 'L'],
  W: ['Q', 'K', 'E'],
  T: ['K', 'C'],
  C: [],
  F: [],
  K: [],
  E: [],
  L: [],
};

/** As it goes over the wire; times are epoch milliseconds. */
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
}
