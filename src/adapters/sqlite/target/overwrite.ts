/** Save mode `o`: the model's tables go, and from the tables beside the data what belonged to their rows. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { documentColumns } from '../../../engine/sql/loaded-documents.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { foldedName } from '../database.ts';
import { runAll, temporaryName, type SqlitePublication } from './publication.ts';

/** Views stay: they find the tables that are made anew. */
export async function clearTables(publication: SqlitePublication): Promise<void> {
  const { database, plan, drawn, known } = publication;
  const existing = drawn.tables.filter((table) => known.has(foldedName(table.name)));
  if (existing.length === 0) return;
  const documents = doubleQuoted(sideTableNames.documents);
  const sources = [
    ...(plan.idLschma === null
      ? []
      : [
          `SELECT d.document_key FROM ${documents} d JOIN ${doubleQuoted(sideTableNames.loads)} l ON l.job = d.job
            WHERE l.id_lschma = ${plan.idLschma}`,
        ]),
    ...documentColumns(plan.model, drawn.tables).flatMap(({ table, column }) =>
      known.get(foldedName(table))?.columns.has(foldedName(column))
        ? [`SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`]
        : [],
    ),
  ];
  const query = sources.length === 0 ? 'SELECT NULL' : sources.join(' UNION ');
  const cleared = temporaryName();
  await runAll(database, [
    `CREATE TEMP TABLE ${cleared} AS SELECT * FROM (${query.replace('SELECT NULL', 'SELECT NULL AS document_key')})`,
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
