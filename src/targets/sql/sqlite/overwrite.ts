/** Save mode `o`: the model's tables go, and from the tables beside the data what belonged to their rows. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { commentLine } from '../../../engine/sql/comment-text.ts';
import {
  documentsOfOthersQuery,
  isLoadedBy,
  overwrittenColumns,
} from '../../../engine/sql/loaded-documents.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { foldedName } from './database.ts';
import { SqliteRemoval } from './document-removal.ts';
import { runAll, temporaryName, type SqlitePublication } from './publication.ts';

/** Views stay: they find the tables that are made anew. */
export async function clearTables(publication: SqlitePublication): Promise<void> {
  const { database, plan, drawn, known } = publication;
  const existing = drawn.tables.filter((table) => known.has(foldedName(table.name)));
  if (existing.length === 0) return;
  const [documents, loads] = [sideTableNames.documents, sideTableNames.loads].map(doubleQuoted) as [
    string,
    string,
  ];
  const isByIt = isLoadedBy(plan);
  const isShared = database.read(documentsOfOthersQuery(plan, doubleQuoted)).length > 0;
  const sources = [
    ...(plan.modelHash === null
      ? []
      : [
          `SELECT d.document_key FROM ${documents} d JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE ${isByIt}`,
        ]),
    ...overwrittenColumns(plan.model, drawn.tables, isShared).flatMap(({ table, column }) =>
      known.get(foldedName(table))?.columns.has(foldedName(column))
        ? [`SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`]
        : [],
    ),
  ];
  const query = sources.length === 0 ? 'SELECT NULL' : sources.join(' UNION ');
  const cleared = temporaryName();
  await runAll(database, [
    `CREATE TEMP TABLE ${cleared} AS SELECT * FROM (${query.replace('SELECT NULL', 'SELECT NULL AS document_key')})`,
  ]);
  // another logical schema may have tables that this one has not: documents go whole
  const areOfOthers = database.read(
    `SELECT 1 FROM ${cleared} c JOIN ${documents} d ON d.document_key = c.document_key JOIN ${loads} l ON l.job_uuid = d.job_uuid
      WHERE (${isByIt}) IS NOT TRUE LIMIT 1`,
  );
  if (areOfOthers.length > 0) {
    const removal = new SqliteRemoval(database, plan.model, drawn, known);
    const gone = await removal.removeEarlier(`SELECT document_key FROM ${cleared}`);
    for (const [name, count] of Object.entries(gone))
      publication.changes.push(`${name}: ${count} rows of documents that were overwritten are gone`);
  }
  await runAll(database, [
    ...referringColumns(publication).map(
      ({ table, column }) =>
        `DELETE FROM ${cleared} WHERE document_key IN (SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)})`,
    ),
    ...existing.toReversed().map((table) => `DROP TABLE ${doubleQuoted(table.name)}`),
    ...[sideTableNames.lexical, sideTableNames.unmapped, sideTableNames.documents].map(
      (table) =>
        `DELETE FROM ${doubleQuoted(table)} WHERE document_key IN (SELECT document_key FROM ${cleared})`,
    ),
    `DROP TABLE ${cleared}`,
  ]);
}

/** Columns of other models' tables that name a document: foreign keys lead from tables of root elements alone, so their comments tell. */
function referringColumns({ plan, drawn, known }: SqlitePublication): { table: string; column: string }[] {
  const comments = new Set(
    plan.model.tables.flatMap(({ columns }, index) => {
      const at = columns.findIndex(({ role }) => role === 'document');
      return at < 0 ? [] : [commentLine(drawn.tables[index]!.columns[at]!.comment, null)];
    }),
  );
  const ours = new Set(drawn.tables.map((table) => foldedName(table.name)));
  return [...known.values()]
    .filter((table) => !table.isView && !ours.has(foldedName(table.name)))
    .flatMap((table) =>
      [...table.columns.values()]
        .filter(({ comment }) => comment !== null && comments.has(comment))
        .map(({ name }) => ({ table: table.name, column: name })),
    );
}
