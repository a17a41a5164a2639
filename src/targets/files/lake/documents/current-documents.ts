/** Which documents a folder of tables has that no other one has replaced, told of as little of its rows as there need be. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { fileKeyName, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { duckdb } from '../../../../engine/sql/dialects/duckdb.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  unmappedContentQuery,
  type Loading,
} from '../../../../engine/sql/loaded-documents.ts';
import { physicalTables } from '../../../../engine/sql/physical-model.ts';
import type { CurrentDocument, UnmappedOfDocument } from '../../../../ports/rows/merge.ts';
import { isByLogicalSchema } from '../../folder/contents/next-manifest.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../../../rows/current-documents.ts';
import type { LakeJob } from '../manifest.ts';
import type { TablesThere } from '../tables-there.ts';
import { filesOf } from './files-of-documents.ts';

export interface ModelLoading extends Loading {
  readonly model: RelationalModel;
}

interface DocumentRow extends CurrentDocumentRow {
  readonly job_uuid: string;
}

/**
 * Documents with rows in tables of the model, or kept whole, that no other one has replaced. `keys`: of those that are asked for; null: all. Rows are
 * looked for of those that are asked for, and of all, only of documents that another logical schema loaded: its own are known by their jobs.
 */
export async function currentLakeDocuments(
  known: TablesThere,
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
    // those without a key of their own are told, whatever is asked for
    const isTold = keys === null || (row.merge_key === row.name && !keys.has(row.merge_key ?? ''));
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
  // a file may have rows of further documents
  const wanted = new Set(unsure);
  return [...told, ...rows.map(currentDocumentOf).filter(({ documentKey }) => wanted.has(documentKey))];
}

/** `from`: what stands behind FROM. */
async function currentRows(
  known: TablesThere,
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

/** UUIDs of jobs by the logical schema. */
function ownJobs(jobs: readonly LakeJob[], loading: Loading): ReadonlySet<string> {
  return new Set(jobs.filter((job) => isByLogicalSchema(job, loading)).map((job) => job.job_uuid));
}

/** UUIDs of jobs that gave no row to the tables, nor are by the logical schema, which keeps whole what it does not know. */
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

/** Content of documents that lies in `_unmapped`: of those that another logical schema loaded, or (null) of all. */
export async function unmappedLakeContent(
  known: TablesThere,
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
