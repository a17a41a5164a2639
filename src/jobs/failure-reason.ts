/** Why a job did not complete, as one of few reasons: metrics have it as a label, so there must not be many. */
import type { JobStatus } from './record.ts';

export type FailureReason =
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
