/**
 * Save mode `m` in a folder of tables: selects the documents that are removed or closed when those of the job are added, and writes their
 * merge columns in `_documents`. A file with rows of such a document is rewritten in the version that has the job's own rows.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileKeyName, mergeColumns, sideTableNames } from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type {
  MergeCounts,
  MergedDocument,
  MergeOrder,
  CurrentDocument,
  UnmappedOfDocument,
  UnitFile,
} from '../../../ports/row-sink.ts';
import { columnSqlType } from '../../sql/duckdb/types.ts';
import { fieldIdsOption } from '../parquet/writing.ts';
import { syncPath } from '../../../storage/staging/durable-file.ts';
import {
  momentAfter,
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../../rows/ledger.ts';
import { parquet, type DataFiles } from './data-files.ts';
import type { DocumentClosing, LakeJob } from './manifest.ts';
import { fieldOf, type LakeColumn, dataFileName } from './table-format.ts';
import type { ExistingTables } from './existing-tables.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  unmappedContentQuery,
  type Loading,
} from '../../../engine/sql/loaded-documents.ts';
import { physicalTables } from '../../../engine/sql/physical-model.ts';
import { isByLogicalSchema } from '../folder/manifest.ts';
import { filesOf } from './removed-rows.ts';

/** the maximum number of documents in one statement */
const documentsPerStatement = 1000;

/** The columns that `_documents` has in addition when documents are merged. */
export const mergeLakeColumns: readonly LakeColumn[] = mergeColumns.map((column) => ({
  ...column,
  sqlType: columnSqlType(column.type),
}));

/** The effect of a merge on existing documents. */
export interface LakeMerge {
  readonly order: MergeOrder;
  /** keys of the documents whose rows are removed, decimal digits */
  readonly gone: readonly string[];
  /** the documents that remain until a moment, from which the job's own documents are valid */
  readonly closing: DocumentClosing;
  readonly counts: MergeCounts;
}

export async function planMerge(
  known: ExistingTables,
  jobs: readonly LakeJob[],
  loader: ModelLoading,
  order: MergeOrder,
): Promise<LakeMerge> {
  const ours = new Set(order.documents.map(({ key }) => key));
  const missing = new Set(order.missing);
  const replaced = new Set<string>();
  const keys: string[] = [];
  let deleted = 0;
  // missing documents are known only by their document keys
  const asked = missing.size > 0 ? null : ours;
  for (const { documentKey, key } of await currentLakeDocuments(known, jobs, loader, asked)) {
    if (ours.has(key)) replaced.add(key);
    else if (missing.has(documentKey)) deleted += 1;
    else continue;
    keys.push(documentKey);
  }
  return {
    order,
    gone: order.keepsHistory ? [] : keys,
    closing: { keys: order.keepsHistory ? keys : [], until: momentAfter(await latestMoment(known)) },
    counts: { replaced: replaced.size, deleted },
  };
}

/** Returns the latest time in ISO 8601; null if no document was merged. */
async function latestMoment(known: ExistingTables): Promise<string | null> {
  const { documents } = sideTableNames;
  if ((await known.columns(documents))?.has('valid_to') !== true) return null;
  const relation = (await known.relations([documents])).get(documents)!;
  const [row] = await known.read<{ latest: bigint | null }>(
    `SELECT epoch_ms(max(greatest(valid_from, valid_to))) AS latest FROM ${relation}`,
  );
  const latest = row?.latest ?? null;
  return latest === null ? null : new Date(Number(latest)).toISOString();
}

/** The condition for documents that were loaded without a merge. */
export const unmergedCondition = '"key" IS NULL';

/**
 * Returns values by column of `_documents`. Documents that were loaded without a merge get their name as key, and are valid from the time
 * they were loaded.
 */
export function closedValues({ keys, until }: DocumentClosing): ReadonlyMap<string, string> {
  const end = `${standardLiteral(until)}::TIMESTAMPTZ`;
  return new Map([
    ['key', 'coalesce("key", name)'],
    ['valid_from', 'coalesce(valid_from, loaded_at)'],
    [
      'valid_to',
      keys.length === 0
        ? 'valid_to'
        : `CASE WHEN ${fileKeyName} IN (${keys.join(', ')}) THEN ${end} ELSE valid_to END`,
    ],
  ]);
}

interface StagedPlace {
  readonly files: DataFiles;
  readonly known: ExistingTables;
  readonly staging: string;
  readonly mark: string;
}

/** Writes the job's documents with their merge columns, in files that replace the staged ones. `columns`: those of the documents. */
export async function mergedDocumentFiles(
  place: StagedPlace,
  { order, closing }: LakeMerge,
  staged: readonly UnitFile[],
  columns: readonly LakeColumn[],
): Promise<readonly UnitFile[]> {
  await keepDocuments(place.files, order.documents);
  const told: UnitFile[] = [];
  for (const file of staged) told.push(await mergedDocuments(place, closing, file, columns));
  return told;
}

/** Reads the documents of the table `merged_documents`. */
async function mergedDocuments(
  { files, known, staging, mark }: StagedPlace,
  closing: DocumentClosing,
  file: UnitFile,
  columns: readonly LakeColumn[],
): Promise<UnitFile> {
  const values = columns.map(({ name }) => (name === 'sha256' ? 'm.sha256' : `d.${doubleQuoted(name)}`));
  const told = ['m.key', `${standardLiteral(closing.until)}::TIMESTAMPTZ`, 'NULL::TIMESTAMPTZ'];
  const all = [...columns, ...mergeLakeColumns];
  const fieldIds = await known.fieldIds(sideTableNames.documents, all.map(fieldOf));
  const select = [...values, ...told].map((value, at) => `${value} AS ${doubleQuoted(all[at]!.name)}`);
  const name = dataFileName(mark);
  const path = join(staging, name);
  const before = join(staging, file.name);
  const rows = await files.run(
    `COPY (SELECT ${select.join(', ')} FROM ${parquet([before])} d JOIN merged_documents m ON m.name IS NOT DISTINCT FROM d.name AND m.written = d.sha256) TO ${standardLiteral(path)} (FORMAT parquet, COMPRESSION zstd${fieldIdsOption(fieldIds)})`,
  );
  if (rows !== file.rows)
    throw new AppError(
      'conflict',
      `${file.rows} documents were loaded, but there are keys for ${rows}; nothing was changed.`,
    );
  await syncPath(path);
  await rm(before);
  const { size: bytes } = await stat(path);
  const types = all.map(({ sqlType }) => sqlType);
  const stats = await files.statistics(path, rows, all);
  return { ...file, name, bytes, types, stats, ...(fieldIds === null ? {} : { fieldIds }) };
}

async function keepDocuments(files: DataFiles, documents: readonly MergedDocument[]): Promise<void> {
  await files.run(
    'CREATE TEMP TABLE merged_documents (name VARCHAR, written VARCHAR, key VARCHAR, sha256 VARCHAR)',
  );
  for (let at = 0; at < documents.length; at += documentsPerStatement) {
    const rows = documents
      .slice(at, at + documentsPerStatement)
      .map(
        ({ name, written, key, sha256 }) =>
          `(${[name, written, key, sha256].map(standardLiteral).join(', ')})`,
      );
    await files.run(`INSERT INTO merged_documents VALUES ${rows.join(', ')}`);
  }
}

interface ModelLoading extends Loading {
  readonly model: RelationalModel;
}

interface DocumentRow extends CurrentDocumentRow {
  readonly job_uuid: string;
}

/**
 * Returns documents that have rows in tables of the model or are kept whole, and that no other document has replaced. `keys`: those to
 * return; null: all. Rows are searched for the requested documents; if all are requested, only for documents of other logical schemas,
 * because the schema's own documents are known by their jobs.
 */
export async function currentLakeDocuments(
  known: ExistingTables,
  jobs: readonly LakeJob[],
  { model, ...loading }: ModelLoading,
  keys: ReadonlySet<string> | null,
): Promise<readonly CurrentDocument[]> {
  const { documents, unmapped, loads } = sideTableNames;
  const there = await known.relations([documents, loads]);
  if (!there.has(documents)) return [];
  const isMerged = (await known.columns(documents))!.has('valid_to');
  const listed = await currentRows(known, there.get(documents)!, isMerged);
  const roots = documentColumns(model, physicalTables(model, duckdb));
  const own = ownJobs(jobs, loading);
  const rootNames = roots.map(({ table }) => table);
  const apart = jobsApart(jobs, loading, rootNames);
  const told: CurrentDocument[] = [];
  const unsure: string[] = [];
  for (const row of listed) {
    const job = row.job_uuid;
    // documents that are not requested are listed as they are, without a search
    const isTold = keys === null || !keys.has(row.merge_key ?? '');
    if (own.has(job) && isTold) told.push(currentDocumentOf(row));
    else if (keys === null ? !apart.has(job) : keys.has(row.merge_key ?? ''))
      unsure.push(String(row.document_key));
  }
  if (unsure.length === 0) return told;
  const rowTables = [...rootNames, unmapped];
  const relations = new Map([...there, ...(await known.relations(rowTables, filesOf(unsure)))]);
  const nothing = `(SELECT NULL::BIGINT AS ${fileKeyName}, NULL::VARCHAR AS parent_table WHERE false)`;
  const rows = await known.read<CurrentDocumentRow>(
    currentDocumentsQuery(
      roots.filter(({ table }) => relations.has(table)),
      loading,
      (table) => relations.get(table) ?? nothing,
      isMerged,
    ),
  );
  // a file may also have rows of other documents
  const wanted = new Set(unsure);
  return [...told, ...rows.map(currentDocumentOf).filter(({ documentKey }) => wanted.has(documentKey))];
}

/** `from`: the relation that follows FROM. */
async function currentRows(
  known: ExistingTables,
  from: string,
  isMerged: boolean,
): Promise<readonly DocumentRow[]> {
  const [key, current] = isMerged
    ? [`coalesce(${doubleQuoted('key')}, name)`, ' WHERE valid_to IS NULL']
    : ['name', ''];
  return known.read<DocumentRow>(
    `SELECT document_key, ${key} AS merge_key, name, sha256, job_uuid FROM ${from}${current}`,
  );
}

/** Returns the UUIDs of jobs that loaded by the logical schema. */
function ownJobs(jobs: readonly LakeJob[], loading: Loading): ReadonlySet<string> {
  return new Set(jobs.filter((job) => isByLogicalSchema(job, loading)).map((job) => job.job_uuid));
}

/**
 * Returns the UUIDs of jobs that added no row to the tables and did not load by this logical schema, which keeps unknown documents whole.
 */
function jobsApart(
  jobs: readonly LakeJob[],
  loading: Loading,
  tables: readonly string[],
): ReadonlySet<string> {
  const wanted = new Set(tables);
  const isNear = (job: LakeJob): boolean =>
    isByLogicalSchema(job, loading) || job.tables.some((name) => wanted.has(name));
  return new Set(jobs.filter((job) => !isNear(job)).map((job) => job.job_uuid));
}

/** Returns the content of documents in `_unmapped`: of those that another logical schema loaded, or (null) of all. */
export async function unmappedLakeContent(
  known: ExistingTables,
  loading: Loading | null,
): Promise<readonly UnmappedOfDocument[]> {
  const { documents, unmapped, loads } = sideTableNames;
  const there = await known.relations([documents, loads, unmapped]);
  if (!there.has(unmapped)) return [];
  const rows = await known.read<UnmappedContentRow>(
    unmappedContentQuery(loading, (table) => there.get(table)!),
  );
  return rows.map(unmappedContentOf);
}
