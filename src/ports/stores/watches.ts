/**
 * Watches and the files that they found: operations for people, and those for schedulers. Also the progress of loads of rows. All times
 * come from the database's clock.
 */
import type { NewJob, Page } from './jobs.ts';

export const watchFileStatuses = ['waiting', 'loading', 'loaded', 'rejected', 'ignored', 'replaced'] as const;
export type WatchFileStatus = (typeof watchFileStatuses)[number];

export type ObjectOrder = 'name' | 'modified';
export type OnDrift = 'keep' | 'evolve' | 'fail';

/** The user's definition of a watch, in the form in which it is stored. */
export interface WatchDefinition {
  readonly name: string;
  readonly location: string;
  readonly pattern: string | null;
  readonly id_sch: number | null;
  /** secrets masked */
  readonly target: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** `{target, options}` as given, sealed */
  readonly sealed: string;
  /** a duration, or five fields of cron */
  readonly every: string;
  readonly order: ObjectOrder;
  readonly settle: string;
  readonly settleMs: number;
  readonly on_error: 'fail' | 'skip';
  readonly on_drift: OnDrift;
  readonly max_files: number;
  readonly max_bytes: number;
  readonly credential: string | null;
  readonly paused: boolean;
}

/** A watch as in the API; times are epoch milliseconds. */
export interface WatchRecord extends Omit<WatchDefinition, 'sealed' | 'settleMs'> {
  readonly id_watch: number;
  readonly id_org: number;
  readonly created: number;
  /** null while it is paused */
  readonly next_run: number | null;
  readonly last_run: number | null;
  /** the job that loads now */
  readonly id_job: number | null;
  /** reason why it is stalled, as a sentence */
  readonly stalled: string | null;
  readonly stalled_at: number | null;
  /** files by state */
  readonly files: Readonly<Record<WatchFileStatus, number>>;
  /** bytes of the waiting files, and since when the oldest of them waits */
  readonly waiting_bytes: number;
  readonly waiting_since: number | null;
}

/** One version of one object. */
export interface WatchFileRecord {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  readonly modified: number | null;
  readonly sha256: string | null;
  readonly status: WatchFileStatus;
  readonly id_job: number | null;
  readonly reason: string | null;
  /** the file whose documents took the place of its own; null: it is not replaced */
  readonly replaced_by: string | null;
  readonly seen_at: number;
}

/** `all`: every rejected file; otherwise those with these names. */
export type Retry = 'none' | 'all' | readonly string[];

export interface WatchStore {
  /**
   * `nextRunMs`: epoch milliseconds; null: at once. `most`: watches that the organisation may have. AppErrors `conflict` if the name is
   * in use, `too_many_requests` if the organisation has `most` watches already.
   */
  createWatch(
    idOrg: number,
    watch: WatchDefinition,
    nextRunMs: number | null,
    most: number,
  ): Promise<WatchRecord>;
  findWatch(idOrg: number, idWatch: number): Promise<WatchRecord | null>;
  findWatchNamed(idOrg: number, name: string): Promise<WatchRecord | null>;
  /** Oldest first. */
  listWatches(idOrg: number, page: number, size: number): Promise<Page<WatchRecord>>;
  /** `{target, options}`, sealed; null: no such watch */
  readSealed(idOrg: number, idWatch: number): Promise<string | null>;
  /**
   * Replaces the whole definition. A stalled watch is tried again, from `nextRunMs` on (as in `createWatch`). `leaves`: returns whether
   * the watch ignores the file of a name from now on; its documents stay. AppError `conflict`; null: no such watch.
   */
  replaceWatch(
    idOrg: number,
    idWatch: number,
    watch: WatchDefinition,
    nextRunMs: number | null,
    leaves: ((name: string) => boolean) | null,
  ): Promise<WatchRecord | null>;
  removeWatch(idOrg: number, idWatch: number): Promise<boolean>;
  /** Newest first; null: no such watch. */
  listWatchFiles(
    idOrg: number,
    idWatch: number,
    status: WatchFileStatus | null,
    page: number,
    size: number,
  ): Promise<Page<WatchFileRecord> | null>;
  /** Returns the loaded files among these names, with the time when their content was last changed, in epoch milliseconds. */
  listBroughtFiles(
    idOrg: number,
    idWatch: number,
    names: readonly string[],
  ): Promise<readonly { readonly name: string; readonly modified: number }[]>;
  /**
   * Returns the loaded files among these names whose rows lie in this target, whatever watch they are of; without names, one of all,
   * if there are any. `except`: a watch that is left out.
   */
  listFilesInTarget(
    idOrg: number,
    target: string,
    names: readonly string[] | null,
    except: number | null,
  ): Promise<readonly string[]>;
  /** Due at once; rejected files wait again as `retry` says. AppError `conflict` while paused; null: no such watch. */
  runNow(idOrg: number, idWatch: number, retry: Retry): Promise<WatchRecord | null>;
  /** Over all organisations. */
  watchFigures(): Promise<WatchFigures>;
}

export interface WatchFigures {
  readonly active: number;
  readonly paused: number;
  readonly stalled: number;
  readonly files: Readonly<Record<WatchFileStatus, number>>;
  /** waiting time of the file that has waited longest; 0 if none waits */
  readonly oldestWaitingMs: number;
}

/** A watch that one scheduler has claimed for a while: only the holder of this epoch may continue with it. */
export interface WatchClaim {
  readonly watch: WatchRecord;
  readonly idOrg: number;
  readonly epoch: number;
  /** changes by people until it was claimed */
  readonly changes: number;
  readonly sealed: string;
  readonly settleMs: number;
  /** the origin that its last job used, otherwise the one that it names */
  readonly usedSch: number | null;
  /** consecutive jobs that failed through no fault of a document, and consecutive failed looks */
  readonly failures: number;
  readonly failedLooks: number;
  /** no job is to be started before, epoch milliseconds; null: at once */
  readonly heldUntilMs: number | null;
  /** file system of its files, as in `WatchedLocation`, recorded since a person last changed the watch; null: unknown */
  readonly fileSystem: string | null;
  /** the database's time of the claim, epoch milliseconds */
  readonly nowMs: number;
}

/** An object of a location, as it was found. */
export interface ListedObject {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  /** epoch milliseconds; null: unknown */
  readonly modified: number | null;
}

/** A file that may be loaded. */
export interface CandidateFile extends ListedObject {
  readonly idFile: number;
  /** it is gone, and its documents must be removed */
  readonly removes: boolean;
  /** SHA-256 of the version of that name that was loaded last; null: none was */
  readonly loadedSha256: string | null;
  /** the job that loaded it */
  readonly loadedBy: number | null;
  /** modification time, or, if unknown, the time when it was first found; epoch milliseconds */
  readonly changedMs: number;
}

/** The job of a watch, as far as its files follow from it. */
export interface OpenJob {
  readonly idJob: number;
  /** null: it has not ended. `removed`: its record no longer exists */
  readonly end: 'completed' | 'failed' | 'killed' | 'expired' | 'lost' | 'removed' | null;
  readonly failure: string | null;
  readonly idSch: number | null;
  /** it never ran */
  readonly neverRan: boolean;
  readonly rejects: readonly {
    readonly document: string | null;
    readonly line: number | null;
    readonly column: number | null;
    readonly code: string | null;
    readonly message: string;
  }[];
  /** files without any document in the target since it completed, as those of another file took their place; absent: none */
  readonly replaced?: readonly ReplacedFile[];
  /** files of the job, by name */
  readonly files: readonly {
    readonly idFile: number;
    readonly name: string;
    /** it is gone: the job removes its documents */
    readonly removes: boolean;
  }[];
}

/** Files of watches whose rows a job removes that is not of the watch. */
export interface RemovedFiles {
  /** name of the target in the records of watches */
  readonly target: string;
  /** `all`: the rows of all earlier jobs are removed. `by`: the document that has the key of the file's document, null for none */
  readonly files: 'all' | readonly { readonly name: string; readonly by: string | null }[];
}

/**
 * A file without any document in the target after a job has published, and the file whose documents replaced its own. `ofJob`: it is a
 * file of this job, not of an earlier one.
 */
export interface ReplacedFile {
  readonly name: string;
  readonly by: string;
  readonly ofJob: boolean;
}

/** The outcome of a file. */
export interface FileOutcome {
  readonly idFile: number;
  readonly status: WatchFileStatus;
  readonly reason: string | null;
  /** for a replaced file: the name of the file that replaced it */
  readonly replacedBy?: string;
  /** for a waiting file: name of the batch of files that are loaded together, and with no others */
  readonly batch?: string;
  /** hash of its content, if it has been read */
  readonly sha256?: string;
  /** for a waiting file: the version that was found, which has to settle again */
  readonly met?: ListedObject;
  /** its documents were removed: the file is new if it comes back */
  readonly removed?: true;
}

/** A file that a job takes. */
export interface StartedFile {
  readonly idFile: number;
  /** null: it has not been read, because it is gone */
  readonly sha256: string | null;
}

/** The outcome of a look or a run for the watch. Absent members stay unchanged. */
export interface WatchOutcome {
  readonly usedSch?: number | null;
  readonly failures?: number;
  readonly failedLooks?: number;
  readonly heldUntilMs?: number | null;
  /** null: nothing stalls it any more; a new reason is sent to webhooks */
  readonly stalled?: string | null;
  /** stopped until a person resumes it */
  readonly paused?: true;
}

export interface ClaimRelease extends WatchOutcome {
  /** epoch milliseconds by the database's clock; absent: as it was */
  readonly nextRunMs?: number;
  readonly ran?: true;
  /** time of the next action; null: when the open job has ended */
  readonly dueMs: number | null;
}

/** How a scheduler shares its turns among organisations. */
export interface ClaimShares {
  /** organisations that get no turn now */
  readonly without: readonly number[];
  /** organisations by their last turn, the earliest first; organisations that are not named come before them */
  readonly served: readonly number[];
}

/** The operations of schedulers. Each one that changes something returns whether the claim still holds; if not, nothing has changed. */
export interface WatchSchedule {
  /** The watch that has waited longest, of the organisation whose turn it is; `shares` absent: of all organisations. */
  claimWatch(leaseMs: number, shares?: ClaimShares): Promise<WatchClaim | null>;
  /** Milliseconds until the next watch is due, `without` those of these organisations; null: none has a time. */
  nextDueInMs(without?: readonly number[]): Promise<number | null>;
  /** Resolves when there may be something to do, after `timeoutMs`, or when aborted; never rejects. */
  waitForWatches(timeoutMs: number, signal: AbortSignal): Promise<void>;
  keepClaim(claim: WatchClaim, leaseMs: number): Promise<boolean>;
  /** Returns null if no job of the watch is open. */
  findOpenJob(claim: WatchClaim): Promise<OpenJob | null>;
  /** Writes the outcomes of the files of the open job, which has ended, and of the files of earlier jobs (`replaced`). */
  settleJob(
    claim: WatchClaim,
    idJob: number,
    files: readonly FileOutcome[],
    watch: WatchOutcome,
    replaced?: readonly Pick<ReplacedFile, 'name' | 'by'>[],
  ): Promise<boolean>;
  /**
   * Returns the database's time, before the first object of a look is recorded. Returns null, like false below, if another scheduler
   * has claimed the watch, or it now looks elsewhere or for other files.
   */
  beginLook(claim: WatchClaim): Promise<number | null>;
  recordObjects(claim: WatchClaim, objects: readonly ListedObject[]): Promise<boolean>;
  /**
   * Waiting files that the look since `sinceMs` has not found are gone. `met`: names of all files found, if documents of missing files
   * must be removed; otherwise null. `fileSystem`: the file system of the location.
   */
  endLook(
    claim: WatchClaim,
    sinceMs: number,
    met: readonly string[] | null,
    fileSystem: string | null,
  ): Promise<boolean>;
  /** Settled files of the next job, in the order of the watch, at most as many as it takes at a time. */
  findCandidates(claim: WatchClaim): Promise<readonly CandidateFile[]>;
  recordFiles(claim: WatchClaim, files: readonly FileOutcome[]): Promise<boolean>;
  /**
   * Inserts the job and assigns it the files, in one transaction. Returns null if the claim is lost, the watch was changed, or one of
   * the files no longer waits: nothing was done. AppError `too_many_requests` if the organisation's queue is full.
   */
  startJob(claim: WatchClaim, job: NewJob, files: readonly StartedFile[]): Promise<number | null>;
  /** Returns the time when the first of the unsettled files will have settled, epoch milliseconds; null: all have. */
  settlesAt(claim: WatchClaim): Promise<number | null>;
  /** Gives the claim back. */
  release(claim: WatchClaim, release: ClaimRelease): Promise<boolean>;
}

// The progress of loads of rows: for each query and target, the last value of the column that its rows are ordered by.

export interface QueryMark {
  readonly idJob: number;
  /** identifies the job in the target */
  readonly jobUuid: string;
  /** the highest value, as a cell has it */
  readonly mark: string;
  /** digests of the rows that have it */
  readonly seen: readonly string[];
  /** the rows are known to be in the target; false: the target must be queried */
  readonly settled: boolean;
}

export interface QueryMarkStore {
  /** `source`: hash of the query and its target. Returns marks of the newest jobs first. */
  list(idOrg: number, source: string): Promise<readonly QueryMark[]>;
  /**
   * Called just before a job's rows are committed; `idWatch`: the watch that owns the mark, which is removed with it. Returns false if
   * another job has written a mark that is not in `known`; nothing is written then.
   */
  write(
    idOrg: number,
    source: string,
    mark: Omit<QueryMark, 'settled'> & { readonly idWatch: number | null },
    known: readonly number[],
  ): Promise<boolean>;
  /** The job's rows are in the target: its mark is the only one from then on. */
  settle(idOrg: number, source: string, idJob: number): Promise<void>;
  /** The job's rows are not in the target. */
  remove(idOrg: number, source: string, idJob: number): Promise<void>;
}
