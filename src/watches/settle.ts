/**
 * Determines the states of a job's files after its end. A job publishes all of its files or none: after a failure, all files wait again
 * except those at fault. If the job does not say which, halves are tried separately until one file is left.
 */
import { failureReason, type JobStatus } from '../jobs/record.ts';
import type { FileOutcome, OnDrift, OpenJob, ReplacedFile, WatchOutcome } from '../ports/stores/watches.ts';
import { unpacked } from './define.ts';

/** Code of a reject: the file was another one when the job read it. */
export const changedFileCode = 'changed_file';
const driftCode = 'unmapped_content';

export interface Settled {
  readonly files: readonly FileOutcome[];
  /** files of earlier jobs whose documents are not in the target any more */
  readonly replaced?: readonly ReplacedFile[];
  readonly watch: WatchOutcome;
  /** nothing is tried before so many milliseconds have passed; 0: at once */
  readonly pauseMs: number;
}

export interface SettleSettings {
  readonly onDrift: OnDrift;
  /** failures in a row so far */
  readonly failures: number;
  /** for rows: batches after a rejected one wait for it */
  readonly inOrder: boolean;
}

/** consecutive failures without a document at fault, after which further tries wait for a pause */
const mostFailures = 4;
const firstPauseMs = 5000;
const longestPauseMs = 15 * 60_000;

/** Returns the outcomes after a job has ended. */
export function settle(job: OpenJob, settings: SettleSettings): Settled {
  const settled = settledFiles(job, settings);
  const rejected = settled.files.find(({ status }) => status === 'rejected');
  if (!settings.inOrder || rejected === undefined) return settled;
  const name = job.files.find(({ idFile }) => idFile === rejected.idFile)?.name;
  const stalled = `rows from ${name} on are not loaded: ${rejected.reason}; mend that row, or leave bad ones out by on_error skip, and try it again`;
  return { ...settled, watch: { ...settled.watch, stalled } };
}

function settledFiles(job: OpenJob, { onDrift, failures, inOrder }: SettleSettings): Settled {
  if (job.end === 'completed') return completed(job);
  if (job.end === 'removed')
    return all(job, 'rejected', 'the record of its job was removed before its end was seen');
  if (job.end === 'killed') return all(job, 'rejected', `job ${job.idJob}: ${job.failure ?? 'killed'}`);
  if (job.neverRan) return all(job, 'waiting', null);
  const blamed = job.rejects.filter(({ document }) => fileOf(job, document) !== null);
  if (job.rejects.some(({ code }) => code === driftCode)) return drifted(job, onDrift, blamed);
  if (blamed.length > 0) return { files: outcomes(job, blamed), watch: healthy, pauseMs: 0 };
  return withoutCulprit(job, failures, inOrder);
}

const healthy: WatchOutcome = { failures: 0, heldUntilMs: null, stalled: null };

type Reject = OpenJob['rejects'][number];

/** `--on-error skip`: a job completes without the documents that it has rejected. */
function completed(job: OpenJob): Settled {
  const { replaced: allReplaced = [] } = job;
  return {
    files: job.files.map((file) => {
      if (file.removes) return removed(job, file.idFile);
      const replaced = allReplaced.find(({ name, ofJob }) => ofJob && name === file.name);
      if (replaced !== undefined) return replacedFile(file.idFile, replaced.by);
      const own = rejectsOf(job, file.name);
      const whole = own.filter(({ document }) => document === file.name || document === unpacked(file.name));
      if (own.length === 0) return { idFile: file.idFile, status: 'loaded', reason: null };
      if (whole.length > 0) return rejected(file, whole[0]!);
      return {
        idFile: file.idFile,
        status: 'loaded',
        reason: `without ${own.length} of its documents: ${worded(own[0]!)}`,
      };
    }),
    replaced: allReplaced.filter(({ ofJob }) => !ofJob),
    watch: { ...healthy, ...(job.idSch === null ? {} : { usedSch: job.idSch }) },
    pauseMs: 0,
  };
}

/** `on_drift` is `fail`, and documents hold content that the schema does not know: a person is waited for. */
function drifted(job: OpenJob, onDrift: OnDrift, blamed: readonly Reject[]): Settled {
  const drift = job.rejects.find(({ code }) => code === driftCode)!;
  const others = blamed.filter(({ code }) => code !== driftCode);
  // a person may have said otherwise since the job began
  return { files: outcomes(job, others), watch: onDrift === 'fail' ? stopped(drift) : healthy, pauseMs: 0 };
}

function replacedFile(idFile: number, by: string): FileOutcome {
  const reason = `a later file, ${by}, has the keys of its documents`;
  return { idFile, status: 'replaced', replacedBy: by, reason };
}

function removed({ idJob }: OpenJob, idFile: number): FileOutcome {
  return {
    idFile,
    status: 'ignored',
    removed: true,
    reason: `it is gone: job ${idJob} has removed what it had brought`,
  };
}

function stopped(drift: Reject): WatchOutcome {
  return {
    paused: true,
    failures: 0,
    stalled: `on_drift is fail, and documents hold content that the schema does not know: ${drift.message}`,
  };
}

/** Sets each file at fault aside, or replaces it by its current version; the others wait again. */
function outcomes(job: OpenJob, blamed: readonly Reject[]): FileOutcome[] {
  return job.files.map((file) => {
    const own = blamed.find(({ document }) => fileOf(job, document) === file.name);
    if (own === undefined) return { idFile: file.idFile, status: 'waiting', reason: null };
    if (own.code === changedFileCode)
      return { idFile: file.idFile, status: 'ignored', reason: 'it was replaced before it could be loaded' };
    return rejected(file, own);
  });
}

/** The job failed, and no document is said to be the cause. */
function withoutCulprit(job: OpenJob, failures: number, inOrder: boolean): Settled {
  const { end, failure, files, idJob } = job;
  const reason = failureReason(end as JobStatus, failure);
  const why = `job ${idJob}: ${failure ?? end}`;
  const next = failures + 1;
  const stalls = reason === 'unreachable' || (reason === 'other' && (inOrder || next >= mostFailures));
  if (stalls) {
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
    return { ...all(job, 'waiting', null), watch: { failures: next, stalled: why }, pauseMs };
  }
  // an error caused by using all memory or all the time is not an outage
  const watch = { failures: reason === 'other' ? next : 0 };
  if (files.length <= 1) return { ...all(job, 'rejected', why), watch };
  const half = Math.ceil(files.length / 2);
  return {
    files: files.map(({ idFile }, at) => ({
      idFile,
      status: 'waiting',
      reason: null,
      batch: `${idJob} ${at < half ? 'first' : 'second'} half`,
    })),
    watch,
    pauseMs: 0,
  };
}

function all(job: OpenJob, status: 'waiting' | 'rejected', reason: string | null): Settled {
  return {
    files: job.files.map(({ idFile }) => ({ idFile, status, reason })),
    watch: {},
    pauseMs: 0,
  };
}

function rejected(file: { readonly idFile: number }, reject: Reject): FileOutcome {
  return { idFile: file.idFile, status: 'rejected', reason: worded(reject) };
}

function worded({ line, column, message }: Reject): string {
  return line === null ? message : `line ${line}, column ${column ?? 1}: ${message}`;
}

function rejectsOf(job: OpenJob, name: string): readonly Reject[] {
  return job.rejects.filter(({ document }) => fileOf(job, document) === name);
}

/** A member of an archive, or a document of a file that holds several. */
function isWithin(name: string, document: string): boolean {
  return (
    document.startsWith(`${name}/`) ||
    document.startsWith(`${name}#`) ||
    document.startsWith(`${unpacked(name)}#`)
  );
}

/** Returns the file of a document, which is the file itself, the unpacked content of a `.gz`, or a member of an archive. */
function fileOf({ files }: OpenJob, document: string | null): string | null {
  if (document === null) return files.length === 1 ? files[0]!.name : null;
  const found = files.find(
    ({ name }) => document === name || document === unpacked(name) || isWithin(name, document),
  );
  return found?.name ?? (files.length === 1 ? files[0]!.name : null);
}
