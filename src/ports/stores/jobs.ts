/** The job table, which is also the queue, and the removal of old records. All times come from the database's clock, epoch milliseconds. */
import type { JobRecord, JobStatus, JobType } from '../../service/jobs/record.ts';

/** A page of records; pages count from 0. */
export interface Page<T> {
  readonly content: readonly T[];
  readonly page: number;
  readonly size: number;
  readonly totalElements: number;
}

/** Conditions on the jobs of a list; absent ones are met by all jobs. */
export interface JobFilter {
  readonly status?: JobStatus;
  readonly jobType?: JobType;
  /** origins: jobs that speak of one of these */
  readonly idSchs?: readonly number[];
  /** submitted at that time or later, epoch milliseconds */
  readonly since?: number;
  /** submitted before that time, epoch milliseconds */
  readonly until?: number;
}

/** A place in a list that is ordered by id, newest first: right after or right before the record with that id. */
export interface ListPosition {
  readonly side: 'after' | 'before';
  readonly id: number;
}

/** A part of a list. With `position`, `page` is only repeated in the answer. */
export interface ListSelection {
  readonly filter?: JobFilter;
  readonly position?: ListPosition;
}

export interface NewJob {
  readonly jobType: JobType;
  readonly tool: string;
  /** one line for people, secrets masked */
  readonly params: string;
  /** `params_json`: engine settings and tool settings, secrets masked */
  readonly paramsJson: string;
  /** the tool's full request as JSON with secrets replaced by `{"sealed":…}`: see src/service/jobs/request/tool-request.ts */
  readonly request: string;
  readonly inputPath: string | null;
  readonly outputPath: string | null;
  /** origin this job reads, when known at submission */
  readonly idSch: number | null;
  readonly idParentJob: number | null;
}

export interface Submission {
  readonly idOrg: number;
  readonly workflowName: string | null;
  readonly jobs: readonly NewJob[];
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** trace of the request (W3C Trace Context); absent: each job begins a trace of its own */
  readonly traceparent?: string;
}

export interface Submitted {
  readonly idWorkflow: number;
  readonly idJobs: readonly number[];
  /** true: an earlier submission with this key and body, given again */
  readonly replayed: boolean;
}

export interface WorkflowRecord {
  readonly id_workflow: number;
  readonly name: string;
  readonly status: JobStatus;
  readonly start_date: number | null;
  readonly end_date: number | null;
  readonly job_count: number;
  readonly completed_count: number;
  readonly failed_count: number;
}

/** A claimed job: only who holds this epoch may report on it. */
export interface Claim {
  readonly idJob: number;
  readonly idOrg: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly tool: string;
  /**
   * `reconcile`: its last holder died between `beginCommit` and the end. Nothing may run again before the target has shown whether the
   * rows are there.
   */
  readonly purpose: 'run' | 'reconcile';
  /** running time of earlier attempts */
  readonly ranMs: number;
  /** the trace that the job belongs to */
  readonly traceId?: string;
  /** `traceparent` of the request that made the job; absent: none did, or it named none */
  readonly traceparent?: string;
}

/** A job as its tool and its worker need it. */
export interface StoredJob {
  /** Identifies the job in targets. Numbers are given out again after the database was restored from a backup. */
  readonly uuid: string;
  readonly request: string;
  readonly record: JobRecord;
  readonly epoch: number;
  /** between `beginCommit` and its outcome */
  readonly committing: boolean;
  readonly summary: unknown;
  readonly outage: OutageWait;
}

/** The wait of a job for a server or for room on a disk; times by the database's clock. */
interface OutageWait {
  /** epoch milliseconds; now, if the job waits for nothing */
  readonly sinceMs: number;
  readonly waitedMs: number;
  /** tries that found the outage; 0: the job waits for nothing */
  readonly tries: number;
}

export interface WorkerIdentity {
  readonly workerId: string;
  /** `name/address` */
  readonly host: string;
  readonly osUser: string;
  readonly basePath: string;
  /** jobs that its process runs at the same time; absent if it runs this one alone */
  readonly slots?: number;
}

/** The report of a tool on a job that it runs; absent members stay unchanged. */
export interface JobProgress {
  readonly progress?: number;
  readonly idSch?: number;
  readonly idLschma?: number;
  readonly idApp?: string;
  readonly messages?: number;
  readonly outputPath?: string;
  /** relative to the home */
  readonly logFile?: string;
  /** the summary, once known (docs/decisions/service/job-queue.md) */
  readonly summary?: unknown;
  readonly failure?: string;
}

/** A job with the summary its tool left (docs/decisions/service/job-queue.md); null while it has none. */
export interface JobRun {
  readonly record: JobRecord;
  readonly summary: unknown;
}

/** Numbers of rows by origin and name of the table, over all targets of completed jobs. */
export type LoadedRows = ReadonlyMap<number, Readonly<Record<string, number>>>;

export interface LatestLoad {
  readonly idSch: number;
  readonly idJob: number;
  /** target of the load, as its record shows it */
  readonly output: string;
  /** the highest row key of each table, as the run reported it; null: it did not */
  readonly keys: Readonly<Record<string, number>> | null;
}

/** The facts about a job that metrics are computed from. */
export interface EndedJob {
  readonly idJob: number;
  readonly type: JobType;
  readonly status: JobStatus;
  /** epoch milliseconds; null: it never ran */
  readonly startMs: number | null;
  readonly endMs: number;
  readonly failure: string | null;
  /** number of documents in its summary; 0 if it has none */
  readonly documents: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Records of jobs and workflows, as endpoints show them. */
export interface JobReader {
  findJob(idOrg: number, idJob: number): Promise<JobRecord | null>;
  /** Newest first. `totalElements` counts the jobs that pass the filter, wherever the position is. */
  listJobs(idOrg: number, page: number, size: number, selection?: ListSelection): Promise<Page<JobRecord>>;
  /** Returns null if there is no such workflow in this organisation. */
  listWorkflowJobs(
    idOrg: number,
    idWorkflow: number,
    page: number,
    size: number,
  ): Promise<Page<JobRecord> | null>;
  /** Newest first. The filter's status and times are those of the workflow; one job of it meets all other conditions. */
  listWorkflows(
    idOrg: number,
    page: number,
    size: number,
    selection?: ListSelection,
  ): Promise<Page<WorkflowRecord & { readonly jobs: readonly number[] }>>;
  findWorkflow(
    idOrg: number,
    idWorkflow: number,
  ): Promise<(WorkflowRecord & { readonly jobs: readonly JobRecord[] }) | null>;
  /** Jobs that speak of one of these origins (null: of any), newest first. */
  listRuns(
    idOrg: number,
    idSchs: readonly number[] | null,
    page: number,
    size: number,
    selection?: ListSelection,
  ): Promise<Page<JobRun>>;
  findRun(idOrg: number, idJob: number): Promise<JobRun | null>;
  /**
   * Sums the rows that completed jobs loaded, according to their summaries, and that were neither overwritten nor unloaded since.
   * `idSchs`: restricts the sum to these origins.
   */
  sumLoadedRows(idOrg: number, idSchs?: readonly number[]): Promise<LoadedRows>;
  /** Returns, for each of these origins, the latest run that completed a load, with its description of the target. */
  listLatestLoads(idOrg: number, idSchs: readonly number[]): Promise<readonly LatestLoad[]>;
  /** Returns whether a completed job of the organisation loaded a target that its record names in one of these ways. */
  hasLoaded(idOrg: number, outputs: readonly string[]): Promise<boolean>;
  /** Ids of all jobs of an organisation, in no order. */
  listIds(idOrg: number): Promise<readonly number[]>;
}

/** The changes that callers ask for. */
export interface JobSubmitter {
  /** AppError `too_many_requests`, `idempotency_key_reused`; `not_found` if an origin of it no longer exists. */
  submit(submission: Submission): Promise<Submitted>;
  /** Returns the submission that an idempotency key was used for, or null. AppError `idempotency_key_reused`. */
  findSubmission(
    idOrg: number,
    idempotency: NonNullable<Submission['idempotency']>,
  ): Promise<Submitted | null>;
  /**
   * The rerun of a terminal job; an unended rerun of it is given again. `not_found`, `job_not_terminal` as AppError. Of a run that
   * moves rows the record has the logical schema from the start.
   */
  rerunJob(
    idOrg: number,
    idJob: number,
    traceparent?: string,
  ): Promise<{ readonly idJob: number; readonly idWorkflow: number; readonly tool: string }>;
  /** Asks for the end of a job, idempotent; null: no such job. */
  requestKill(idOrg: number, idJob: number): Promise<JobRecord | null>;
  /**
   * Removes the record of an ended job, and its workflow when it was the last there. False: no such job.
   * AppError `job_not_terminal` while a job of its workflow has not ended.
   */
  removeJob(idOrg: number, idJob: number): Promise<boolean>;
  /** Resolves when a job of that workflow has ended, or after `timeoutMs`, or when aborted. An end may be missed: polls find it too. */
  waitForEnd(idWorkflow: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** The queue, for workers: each claims jobs, keeps their leases, and records how they ended. */
export interface JobQueue {
  /**
   * Claims the next runnable job, oldest first and fair between organisations, with a lease; returns null if there is none. With
   * several organisations, none gets the last of a worker's slots, so that a job of another one need not wait. `extra`: all slots of
   * the worker are taken, and the job is for the extra one beside them: only an organisation that runs nothing gets it.
   */
  claimJob(worker: WorkerIdentity, leaseMs: number, extra?: boolean): Promise<Claim | null>;
  /** Extends the lease. `lost`: the epoch is no longer ours; `kill`: end it (it is terminating, or its deadline passed). */
  heartbeat(claim: Claim, leaseMs: number): Promise<'ok' | 'kill' | 'lost'>;
  /** The target did not commit: the job may be tried again or end. */
  settleCommit(claim: Pick<Claim, 'idJob' | 'epoch'>): Promise<boolean>;
  /**
   * Ends a claimed job; unless it completed, the later jobs of its workflow end killed. Returns false if another worker has taken over the
   * job.
   */
  finish(
    claim: Pick<Claim, 'idJob' | 'epoch'>,
    status: Extract<JobStatus, 'completed' | 'failed' | 'killed' | 'expired'>,
    failure: string | null,
  ): Promise<boolean>;
  /**
   * Hands a claimed job back (drain, transient fault): waiting with a delay; lost when attempts are spent. `outage`: the job waits for
   * a server or for room, and neither the attempt nor its time counts.
   */
  handBack(
    claim: Pick<Claim, 'idJob' | 'epoch'>,
    delayMs: number,
    failure: string | null,
    outage?: boolean,
  ): Promise<boolean>;
  /** Ends or requeues jobs whose lease or deadline passed; returns the number of changed jobs. */
  reap(): Promise<number>;
  /** Resolves when a job may be runnable, or after `timeoutMs`, or when aborted. */
  waitForWork(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Resolves when that job is asked to end, or after `timeoutMs`, or when aborted. A request may be missed: heartbeats report it too. */
  waitForKill(idJob: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** The job that a tool runs. */
export interface ToolJobs {
  /** Registers a job a person runs by hand: it is running at once, and has one attempt. */
  startByHand(
    job: NewJob,
    idOrg: number,
    worker: WorkerIdentity,
    leaseMs: number,
  ): Promise<Claim & Pick<StoredJob, 'uuid'>>;
  /** Returns the result of a heartbeat, but does not extend the lease. */
  checkClaim(claim: Pick<Claim, 'idJob' | 'epoch'>): Promise<'ok' | 'kill' | 'lost'>;
  /** Returns the request of a claimed job, with `$N` references resolved to origin ids if their jobs have ended. */
  findStoredJob(idJob: number): Promise<StoredJob>;
  report(claim: Pick<Claim, 'idJob' | 'epoch'>, progress: JobProgress): Promise<boolean>;
  /**
   * The fence, in the last moment before rows are committed: returns false if the job is killed, expired or claimed by another worker.
   * From then on the job ends, or is retried, only after it is known whether the target did commit. `summary`: stored for the case that
   * it did, and no process was left to report it.
   */
  beginCommit(claim: Pick<Claim, 'idJob' | 'epoch'>, summary: unknown): Promise<boolean>;
  /** Notes that a server took a connection of a job. Jobs of the organisation that wait for a target or source there are due at once. */
  noteReachedServer(idOrg: number, server: string): Promise<void>;
  /** Returns whether the server has accepted a connection of a job of the organisation. */
  isReachedServer(idOrg: number, server: string): Promise<boolean>;
}

/** Figures of all organisations, for metrics. */
export interface JobFigures {
  /** Jobs of all organisations by state; states without jobs may be left out. */
  countByStatus(): Promise<ReadonlyMap<JobStatus, number>>;
  /** Jobs of all organisations that ended at that time or later (epoch milliseconds), oldest first, at most 10,000. */
  listEnded(sinceMs: number): Promise<readonly EndedJob[]>;
  /** Returns the waiting time of the runnable job that has waited longest, in milliseconds; 0 if none waits. */
  queueAgeMs(): Promise<number>;
  /** Organisations that run nothing and have had a job to run for some seconds, while others run theirs. */
  countWaitingOrganisations(): Promise<number>;
}

export interface JobStore extends JobReader, JobSubmitter, JobQueue, ToolJobs, JobFigures {}

/** Removes records past their retention time. Ages are measured with the database's clock. */
export interface RetentionStore {
  /** Runs `work` if no other process of this database does; otherwise returns false without running it. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** epoch milliseconds */
  nowMs(): Promise<number>;
  /**
   * Examines at most `limit` workflows that are older than `ageMs`, in the order of their ids from the one behind `afterWorkflow` on,
   * and removes those whose jobs all ended longer ago than that. `forget` receives the ids of their jobs before the records are
   * deleted; if it fails, the records stay. Returns null if there was no workflow left to examine.
   */
  removeEndedJobs(
    ageMs: number,
    afterWorkflow: number,
    limit: number,
    forget: (idJobs: readonly number[]) => Promise<void>,
  ): Promise<RemovedJobs | null>;
  removeIdempotencyKeys(ageMs: number): Promise<number>;
  /** Removes events that were delivered or given up that long ago, and events of kinds that nobody receives any more. */
  removeSettledEvents(ageMs: number): Promise<number>;
  /** Returns the inputs of jobs that have not ended. */
  inputsInUse(): Promise<readonly { readonly idOrg: number; readonly path: string }[]>;
}

/** One batch of removed jobs. */
interface RemovedJobs {
  readonly jobs: number;
  /** the last workflow that the batch examined: the next one begins behind it */
  readonly lastWorkflow: number;
}
