/** The letters for job states in the API and in the metadata database; all other code uses names. */
import type { JobStatus } from './record.ts';

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
