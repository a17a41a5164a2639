/** The parts that merges have in common in all targets: the counts, the time from which documents are valid, and the staged versions. */
import type { MergeCounts, MergedDocument } from '../../ports/rows/merge.ts';
import type { RemovedDocuments } from './removed-documents.ts';

/** A merge within the publishing transaction, once documents that were there have been removed or closed. */
export interface Merging<Documents> {
  /** identifies the keys of the documents of the job */
  readonly documents: Documents;
  /** from which they are valid */
  readonly moment: string;
  readonly removed: RemovedDocuments;
  readonly counts: MergeCounts;
}

/** Now, or a millisecond after the latest that is there: versions follow one another whatever the clock says. `latest`: ISO 8601, null for none. */
export function momentAfter(latest: string | null): string {
  const now = Date.now();
  const after = latest === null ? now : Date.parse(latest) + 1;
  return new Date(Number.isNaN(after) ? now : Math.max(now, after)).toISOString();
}

/** Documents of one name and content have one key. */
export function documentIdentity({ name, written }: Pick<MergedDocument, 'name' | 'written'>): string {
  return `${written} ${name}`;
}
