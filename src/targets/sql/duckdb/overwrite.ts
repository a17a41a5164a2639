/** Save mode `o`: the model's tables go, and from the tables beside the data what belonged to their rows. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import {
  documentsOfOthersQuery,
  isLoadedBy,
  overwrittenColumns,
} from '../../../engine/sql/loaded-documents.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import { foldedName } from './database.ts';
import { earlierTables } from './document-removal.ts';
import { runAll, temporaryName, type DuckDbPublication } from './publication.ts';

/** Views stay: they find the tables that are made anew. */
export async function clearTables(publication: DuckDbPublication): Promise<void> {
  const { database, plan, tables, known } = publication;
  const existing = tables.filter((table) => known.has(foldedName(table.name)));
  if (existing.length === 0) return;
  const [documents, loads] = [sideTableNames.documents, sideTableNames.loads].map(doubleQuoted) as [
    string,
    string,
  ];
  const isByIt = isLoadedBy(plan);
  const isShared = (await database.read(documentsOfOthersQuery(plan, doubleQuoted))).length > 0;
  const sources = [
    ...(plan.modelHash === null
      ? []
      : [
          `SELECT d.document_key FROM ${documents} d JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE ${isByIt}`,
        ]),
    ...overwrittenColumns(plan.model, tables, isShared).flatMap(({ table, column }) =>
      known.get(foldedName(table))?.columns.has(foldedName(column))
        ? [`SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`]
        : [],
    ),
  ];
  const query = sources.length === 0 ? 'SELECT NULL::BIGINT' : sources.join(' UNION ');
  const clearedDocuments = temporaryName();
  await runAll(database, [`CREATE TEMP TABLE ${clearedDocuments} (document_key) AS ${query}`]);
  // another logical schema may have tables that this one has not: documents go whole
  const areOfOthers = await database.read(
    `SELECT 1 FROM ${clearedDocuments} c JOIN ${documents} d ON d.document_key = c.document_key JOIN ${loads} l ON l.job_uuid = d.job_uuid
      WHERE (${isByIt}) IS NOT TRUE LIMIT 1`,
  );
  if (areOfOthers.length > 0)
    for (const { name } of await earlierTables(publication)) {
      const count = await database.run(
        `DELETE FROM ${doubleQuoted(name)} WHERE ${fileKeyName} IN (SELECT document_key FROM ${clearedDocuments})`,
      );
      if (count > 0)
        publication.changes.push(`${name}: ${count} rows of documents that were overwritten are gone`);
    }
  await runAll(database, [
    ...referringColumns(publication).map(
      ({ table, column }) =>
        `DELETE FROM ${clearedDocuments} WHERE document_key IN (SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)})`,
    ),
    // children first, should somebody have added foreign keys
    ...existing.toReversed().map((table) => `DROP TABLE ${doubleQuoted(table.name)}`),
    ...[sideTableNames.lexical, sideTableNames.unmapped, sideTableNames.documents].map(
      (table) =>
        `DELETE FROM ${doubleQuoted(table)} WHERE document_key IN (SELECT document_key FROM ${clearedDocuments})`,
    ),
    `DROP TABLE ${clearedDocuments}`,
  ]);
}

/** Columns of other models' tables that name a document; there are no foreign keys to tell, so their comments do. */
function referringColumns(publication: DuckDbPublication): { table: string; column: string }[] {
  const { plan, tables } = publication;
  const comments = new Set(
    plan.model.tables.flatMap(({ columns }, index) => {
      const at = columns.findIndex(({ role }) => role === 'document');
      return at < 0 ? [] : [tables[index]!.columns[at]!.comment];
    }),
  );
  const ours = new Set(publication.tables.map((table) => foldedName(table.name)));
  return [...publication.known.values()]
    .filter((table) => !table.isView && !ours.has(foldedName(table.name)))
    .flatMap((table) =>
      [...table.columns.values()]
        .filter(({ comment }) => comment !== null && comments.has(comment))
        .map(({ name }) => ({ table: table.name, column: name })),
    );
}
