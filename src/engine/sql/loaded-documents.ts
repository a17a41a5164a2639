/** The SQL query for the documents that have rows in a model's tables of a target. */
import { rootTables } from '../model/keys.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { sideTableNames } from '../model/side-tables.ts';
import { doubleQuoted, standardLiteral } from './dialect.ts';
import type { PhysicalTable } from './physical-model.ts';

/** A place that has a row of every loaded document: a table of root elements. */
export interface DocumentColumn {
  readonly table: string;
  readonly column: string;
}

export function documentColumns(
  model: RelationalModel,
  tables: readonly PhysicalTable[],
): readonly DocumentColumn[] {
  return [...rootTables(model)]
    .toSorted((a, b) => a - b)
    .flatMap((index) => documentColumnOf(model, tables, index));
}

function documentColumnOf(
  model: RelationalModel,
  tables: readonly PhysicalTable[],
  index: number,
): DocumentColumn[] {
  const { name, columns } = tables[index]!;
  return model.tables[index]!.columns.flatMap(({ role }, at) =>
    role === 'document' ? [{ table: name, column: columns[at]!.name }] : [],
  );
}

/** The columns of all tables that name the document of a row. */
export function rowsOfDocuments(
  model: RelationalModel,
  tables: readonly PhysicalTable[],
): readonly DocumentColumn[] {
  return model.tables.flatMap((_, index) => documentColumnOf(model, tables, index));
}

/**
 * Returns the columns that are searched for rows that an overwrite deletes. `isShared`: the target has documents of other logical
 * schemas, which may have rows in any table.
 */
export function overwrittenColumns(
  model: RelationalModel,
  tables: readonly PhysicalTable[],
  isShared: boolean,
): readonly DocumentColumn[] {
  return isShared ? rowsOfDocuments(model, tables) : documentColumns(model, tables);
}

/** Returns a query that has a row if there is a document that another, or an unknown, logical schema loaded. */
export function documentsOfOthersQuery(loading: Loading, relation: (table: string) => string): string {
  const { documents, loads } = sideTableNames;
  return `SELECT 1 FROM ${relation(documents)} d LEFT JOIN ${relation(loads)} l ON l.job_uuid = d.job_uuid WHERE (${isLoadedBy(loading)}) IS NOT TRUE LIMIT 1`;
}

/** The loading schema. A document that it kept whole, because it did not know the root element, would be kept whole again. */
export interface Loading {
  /** hash of the model; null: the schema has loaded nothing */
  readonly modelHash: string | null;
}

/** `name` and `sha256` of every document with a row in one of the tables, or kept whole; a document of another model in the same target does not count. */
export function loadedDocumentsQuery(
  roots: readonly DocumentColumn[],
  loading: Loading,
  relation: (table: string) => string,
): string {
  const { documents } = sideTableNames;
  return `SELECT name, sha256 FROM ${relation(documents)} WHERE document_key IN (${loadedKeys(roots, loading, relation)})`;
}

/**
 * Returns `document_key`, `merge_key`, `name` and `sha256` of the documents that no other one has replaced. `isMerged`: `_documents` has
 * the columns of merges.
 */
export function currentDocumentsQuery(
  roots: readonly DocumentColumn[],
  loading: Loading,
  relation: (table: string) => string,
  isMerged: boolean,
): string {
  const { documents } = sideTableNames;
  const [key, current] = isMerged
    ? [`coalesce(${doubleQuoted('key')}, name)`, ' AND valid_to IS NULL']
    : ['name', ''];
  return `SELECT document_key, ${key} AS merge_key, name, sha256 FROM ${relation(documents)} WHERE document_key IN (${loadedKeys(roots, loading, relation)})${current}`;
}

/**
 * Returns `document_key` and `xpath` of elements, attributes and texts in `_unmapped`, except white space. `by`: only of documents that
 * this logical schema did not load; null: of all documents.
 */
export function unmappedContentQuery(by: Loading | null, relation: (table: string) => string): string {
  const { documents, unmapped, loads } = sideTableNames;
  // the characters themselves, as dialects have no escape in common
  const text = ['\t', '\n', '\r', ' '].reduce(
    (value, space) => `replace(${value}, '${space}', '')`,
    'u.content',
  );
  const others =
    by === null
      ? ''
      : ` AND u.document_key NOT IN (SELECT d.document_key FROM ${relation(documents)} d JOIN ${relation(loads)} l ON l.job_uuid = d.job_uuid WHERE ${isLoadedBy(by)})`;
  return `SELECT DISTINCT u.document_key, u.xpath FROM ${relation(unmapped)} u
     WHERE (u.kind IN ('element', 'attribute') OR (u.kind = 'text' AND ${text} <> ''))${others}`;
}

/** Returns the condition that a row `l` of `_loads` is of a job of this logical schema. */
export function isLoadedBy({ modelHash }: Loading): string {
  return `l.model_sha256 = ${modelHash === null ? 'NULL' : standardLiteral(modelHash)}`;
}

function loadedKeys(
  roots: readonly DocumentColumn[],
  loading: Loading,
  relation: (table: string) => string,
): string {
  const { documents, unmapped, loads } = sideTableNames;
  const keys = roots.map(({ table, column }) => `SELECT ${doubleQuoted(column)} FROM ${relation(table)}`);
  keys.push(
    `SELECT u.document_key FROM ${relation(unmapped)} u JOIN ${relation(documents)} d ON d.document_key = u.document_key
       JOIN ${relation(loads)} l ON l.job_uuid = d.job_uuid
      WHERE u.parent_table = ${standardLiteral(documents)} AND ${isLoadedBy(loading)}`,
  );
  return keys.join(' UNION ALL ');
}

// Selects versions of documents in a target that keeps replaced documents.

/** `all`: all versions; `at`: the versions at a moment, ISO 8601 in UTC, to the millisecond. Absent: the current versions. */
export type DocumentVersions = 'all' | { readonly at: string };

/**
 * Returns a condition on rows of `_documents`, whose columns are prefixed with `of`, or null if all versions are selected. `isMerged`:
 * the table has the columns of merges; `literal`: writes a moment as a literal.
 */
export function versionCondition(
  versions: DocumentVersions | undefined,
  isMerged: boolean,
  of: string,
  literal: (moment: string) => string,
): string | null {
  if (versions === 'all') return null;
  if (versions === undefined) return isMerged ? `${of}valid_to IS NULL` : null;
  const moment = literal(versions.at);
  return isMerged
    ? `coalesce(${of}valid_from, ${of}loaded_at) <= ${moment} AND (${of}valid_to IS NULL OR ${of}valid_to > ${moment})`
    : `${of}loaded_at <= ${moment}`;
}

/** The same of one document; texts as XML Schema writes moments, null for none. */
export function isVersion(
  versions: DocumentVersions | undefined,
  document: { readonly loadedAt: string | null; readonly from: string | null; readonly to: string | null },
): boolean {
  if (versions === 'all') return true;
  if (versions === undefined) return document.to === null;
  const moment = Date.parse(versions.at);
  const from = Date.parse(document.from ?? document.loadedAt ?? '');
  return !(from > moment) && (document.to === null || Date.parse(document.to) > moment);
}

// The SQL query for the logical schemas that loaded a target.

/**
 * Returns the columns of `TargetLoad` by logical schema, the one that loaded last first. The ledger has deletions with negative numbers.
 * Documents are only searched if the answer depends on them.
 */
export function targetLoadsQuery(relation: (table: string) => string): string {
  const loads = relation(sideTableNames.loads);
  const documents = relation(sideTableNames.documents);
  return `WITH used AS (
      SELECT installation, id_sch, id_lschma, model_sha256, max(published_at) AS published_at, max(job) AS job
        FROM ${loads} WHERE documents >= 0 GROUP BY installation, id_sch, id_lschma, model_sha256)
    SELECT u.installation, u.id_sch AS "idSch", u.id_lschma AS "idLschma", u.model_sha256 AS "modelHash",
           CASE WHEN (SELECT count(*) FROM used) > 1 THEN EXISTS (
             SELECT 1 FROM ${loads} l JOIN ${documents} d ON d.job_uuid = l.job_uuid
              WHERE l.installation = u.installation AND (l.id_sch = u.id_sch OR (l.id_sch IS NULL AND u.id_sch IS NULL))
                AND (l.id_lschma = u.id_lschma OR (l.id_lschma IS NULL AND u.id_lschma IS NULL)) AND (l.model_sha256 = u.model_sha256 OR (l.model_sha256 IS NULL AND u.model_sha256 IS NULL))) ELSE true END AS holds
      FROM used u ORDER BY u.published_at DESC, u.job DESC`;
}
