/** Rows of documents out of a DuckDB file, within a transaction: each row names its document. */
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { documentColumns } from '../../../engine/sql/loaded-documents.ts';
import { nothingRemoved, type RemovedDocuments } from '../../../adapters/row-sinks/removed-documents.ts';
import { foldedName } from './database.ts';
import { temporaryName, type DuckDbPublication } from './publication.ts';

/** Those of `_documents` for which the condition holds, and that have a row in a root table of the model, or were kept whole. */
export async function removeDocuments(
  publication: DuckDbPublication,
  condition: string,
): Promise<RemovedDocuments> {
  const { database, known, plan, tables } = publication;
  const found = await noteDocuments(publication, condition);
  if (found.documents === 0) return nothingRemoved;
  const keys = `(SELECT document_key FROM ${found.noted})`;
  const rows: Record<string, number> = {};
  const ours = new Map(tables.map(({ name }) => [foldedName(name), documentColumn(publication, name)]));
  const others = await earlierTables(publication);
  for (const { name } of others) ours.set(foldedName(name), fileKeyName);
  for (const [folded, column] of ours) {
    const there = known.get(folded);
    if (there === undefined || there.isView || !there.columns.has(foldedName(column))) continue;
    const count = await database.run(
      `DELETE FROM ${doubleQuoted(there.name)} WHERE ${doubleQuoted(column)} IN ${keys}`,
    );
    if (count > 0) rows[there.name] = count;
  }
  const named = [...plan.model.tables.map(({ name }) => name), ...others.map(({ name }) => name)];
  const list = [...named, sideTableNames.documents].map(standardLiteral).join(', ');
  const { lexical, unmapped, documents } = sideTableNames;
  await database.run(`DELETE FROM ${lexical} WHERE document_key IN ${keys} AND table_name IN (${list})`);
  await database.run(`DELETE FROM ${unmapped} WHERE document_key IN ${keys} AND parent_table IN (${list})`);
  // a document that rows of somebody else name stays
  const still = [...known].flatMap(([folded, { name, isView, columns }]) =>
    !ours.has(folded) && !isView && !folded.startsWith('_') && columns.has(fileKeyName)
      ? [
          ` AND document_key NOT IN (SELECT document_key FROM ${doubleQuoted(name)} WHERE document_key IS NOT NULL)`,
        ]
      : [],
  );
  await database.run(`DELETE FROM ${documents} WHERE document_key IN ${keys}${still.join('')}`);
  await database.run(`DROP TABLE ${found.noted}`);
  return { documents: found.documents, names: found.keys, rows };
}

/** Tables of other versions of the model, whose rows name their documents: loads made them, too. */
export async function earlierTables({
  database,
  known,
  tables,
}: DuckDbPublication): Promise<readonly { readonly name: string }[]> {
  const ours = new Set(tables.map(({ name }) => foldedName(name)));
  const made = await database.read<{ name: string }>(
    `SELECT table_name AS name FROM ${doubleQuoted(sideTableNames.keys)}`,
  );
  return made.flatMap(({ name }) => {
    const there = known.get(foldedName(name));
    const isEarlier = !ours.has(foldedName(name)) && !hasOwnPrefix(name) && name !== sideTableNames.documents;
    return isEarlier && there?.isView === false && there.columns.has(fileKeyName) ? [there] : [];
  });
}

/** As `removeDocuments`, but they stay: they were valid until that moment, an expression. */
export async function closeDocuments(
  publication: DuckDbPublication,
  condition: string,
  moment: string,
): Promise<RemovedDocuments> {
  const { noted, documents, keys } = await noteDocuments(publication, condition);
  await publication.database.run(
    `UPDATE ${sideTableNames.documents} SET valid_to = ${moment} WHERE document_key IN (SELECT document_key FROM ${noted})`,
  );
  await publication.database.run(`DROP TABLE ${noted}`);
  return { documents, names: keys, rows: {} };
}

async function noteDocuments(
  { database, known, plan, tables }: DuckDbPublication,
  condition: string,
): Promise<{ readonly noted: string; readonly documents: number; readonly keys: number }> {
  const noted = temporaryName();
  const { documents, unmapped } = sideTableNames;
  const roots = documentColumns(plan.model, tables).flatMap(({ table, column }) =>
    known.has(foldedName(table)) ? [`SELECT ${doubleQuoted(column)} FROM ${doubleQuoted(table)}`] : [],
  );
  roots.push(`SELECT document_key FROM ${unmapped} WHERE parent_table = ${standardLiteral(documents)}`);
  await database.run(
    `CREATE TEMP TABLE ${noted} AS SELECT document_key, key FROM ${documents}
      WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')})`,
  );
  const [counted] = await database.read<{ documents: bigint; keys: bigint }>(
    `SELECT count(*) AS documents, count(DISTINCT key) AS keys FROM ${noted}`,
  );
  return { noted, documents: Number(counted!.documents), keys: Number(counted!.keys) };
}

function documentColumn({ plan, tables }: DuckDbPublication, name: string): string {
  const index = tables.findIndex((table) => table.name === name);
  const at = plan.model.tables[index]!.columns.findIndex(({ role }) => role === 'document');
  return tables[index]!.columns[at]!.name;
}
