/** The parts that merges have in common in all targets: the counts, the time from which documents are valid, and the staged versions. */
import type { MergeCounts, MergedDocument } from '../../ports/rows/sink.ts';
import type { RemovedDocuments } from './removed-documents.ts';

/** A merge within the publishing transaction, after existing documents have been removed or closed. */
export interface Merging<Documents> {
  /** the documents of the job, with the key of each */
  readonly documents: Documents;
  /** the time from which the documents are valid */
  readonly moment: string;
  readonly removed: RemovedDocuments;
  readonly counts: MergeCounts;
}

/**
 * Returns the current time, or a millisecond after the latest existing one, so that versions are in order whatever the clock shows.
 * `latest`: ISO 8601, null if there is none.
 */
export function momentAfter(latest: string | null): string {
  const now = Date.now();
  const after = latest === null ? now : Date.parse(latest) + 1;
  return new Date(Number.isNaN(after) ? now : Math.max(now, after)).toISOString();
}

/** Returns the identity of a document: documents with the same name and content have one key. */
export function documentIdentity({ name, written }: Pick<MergedDocument, 'name' | 'written'>): string {
  return `${written} ${name}`;
}
