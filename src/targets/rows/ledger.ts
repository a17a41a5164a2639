/** The rows that loads have in common in all targets: those of `_loads`, of documents in the target, and of merges. */
import type {
  CurrentDocument,
  UnmappedOfDocument,
  MergeCounts,
  MergedDocument,
  SinkPlan,
} from '../../ports/row-sink.ts';
import { standardLiteral } from '../../engine/sql/dialect.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';

// The documents that a target holds, from rows of `currentDocumentsQuery`.

export interface CurrentDocumentRow {
  /** text if the driver does not return 64-bit integers */
  readonly document_key: bigint | string;
  readonly merge_key: string | null;
  readonly name: string | null;
  readonly sha256: string;
}

export function currentDocumentOf({
  document_key: documentKey,
  merge_key: key,
  name,
  sha256,
}: CurrentDocumentRow): CurrentDocument {
  return { documentKey: String(documentKey), key: key ?? '', name: name ?? '', sha256 };
}

/** A row of `unmappedContentQuery`. */
export interface UnmappedContentRow {
  readonly document_key: bigint | string | number;
  readonly xpath: string | null;
}

export function unmappedContentOf({
  document_key: documentKey,
  xpath,
}: UnmappedContentRow): UnmappedOfDocument {
  return { documentKey: String(documentKey), xpath: xpath ?? '' };
}

/** Counts the documents whose rows were removed from a target. */
export interface RemovedDocuments {
  readonly documents: number;
  /** the number of different document names, or merge keys */
  readonly names: number;
  /** keyed by table, without tables that lost no rows */
  readonly rows: Readonly<Record<string, number>>;
}

export const nothingRemoved: RemovedDocuments = { documents: 0, names: 0, rows: {} };

export function addRemoved(one: RemovedDocuments, other: RemovedDocuments): RemovedDocuments {
  const rows = { ...one.rows };
  for (const [table, count] of Object.entries(other.rows)) rows[table] = (rows[table] ?? 0) + count;
  return { documents: one.documents + other.documents, names: one.names + other.names, rows };
}

// Merges: the counts, the time from which documents are valid, and the staged versions.

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

// The row of a job in `_loads`.

type LedgerJob = Pick<SinkPlan, 'idJob' | 'jobUuid' | 'installation' | 'idSch' | 'idLschma' | 'modelHash'>;

/** Returns a query that returns a row if the job was published. `relation`: names a table beside the data. */
export function publishedQuery(
  { jobUuid }: Pick<LedgerJob, 'jobUuid'>,
  relation: (table: string) => string,
): string {
  return `SELECT 1 FROM ${relation(sideTableNames.loads)} WHERE job_uuid = ${standardLiteral(jobUuid)}`;
}

/** The numbers of documents and rows that the job added, minus those that it removed. */
interface Added {
  readonly documents: number;
  readonly rows: number;
}

/**
 * Returns the statement that inserts the job's row. `into`: the table; `now`: the time as an expression; `quote`: quotes the name of a
 * column.
 */
export function ledgerStatement(
  job: LedgerJob,
  { documents, rows }: Added,
  {
    into,
    now,
    quote,
  }: { readonly into: string; readonly now: string; readonly quote: (name: string) => string },
): string {
  const values: Readonly<Record<string, string | number>> = {
    job_uuid: textOrNull(job.jobUuid),
    job: job.idJob,
    installation: textOrNull(job.installation ?? ''),
    id_sch: job.idSch ?? 'NULL',
    id_lschma: job.idLschma ?? 'NULL',
    model_sha256: textOrNull(job.modelHash),
    published_at: now,
    documents,
    rows,
  };
  return `INSERT INTO ${into} (${Object.keys(values).map(quote).join(', ')}) VALUES (${Object.values(values).join(', ')})`;
}

function textOrNull(value: string | null): string {
  return value === null ? 'NULL' : standardLiteral(value);
}
