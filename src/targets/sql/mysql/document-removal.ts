/** Rows of documents out of a MySQL database, within a transaction: each row names its document. */
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { listItemsOf, type ListTable } from '../../../engine/sql/list-tables.ts';
import { documentColumns } from '../../../engine/sql/loaded-documents.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { nothingRemoved, type RemovedDocuments } from '../../../adapters/row-sinks/removed-documents.ts';
import type { Mysql } from './connection.ts';
import { foldedName, type MysqlTable, type MysqlTables } from './tables.ts';

const { quote } = mysql;

export interface MysqlRemovalScope {
  readonly database: Mysql;
  readonly known: MysqlTables;
  readonly model: RelationalModel;
  /** the model's tables, then those of lists */
  readonly tables: readonly PhysicalTable[];
  readonly lists: readonly ListTable[];
}

/**
 * Those of `_documents` for which the condition holds, and that have a row in a root table of the model, or were kept whole. `told`: the
 * column whose different values are counted.
 */
export async function removeDocuments(
  scope: MysqlRemovalScope,
  condition: string,
  told = 'name',
): Promise<RemovedDocuments> {
  const { database, known, model, tables, lists } = scope;
  const { documents, unmapped, lexical } = sideTableNames;
  const isThere = (name: string): boolean => known.has(foldedName(name));
  const found = await findDocuments(scope, condition, told);
  if (found.length === 0) return nothingRemoved;
  const keys = `(${found.map(([key]) => key!).join(', ')})`;
  const rows: Record<string, number> = {};
  const documentOf = (index: number): string =>
    quote(
      tables[index]!.columns[model.tables[index]!.columns.findIndex(({ role }) => role === 'document')]!.name,
    );
  for (const { owner, table } of lists) {
    if (table === null || !isThere(tables[table]!.name) || !isThere(tables[owner]!.name)) continue;
    const key = quote(tables[owner]!.primaryKey[0]!);
    await database.run(
      `DELETE i FROM ${quote(tables[table]!.name)} i JOIN ${quote(tables[owner]!.name)} o ON o.${key} = i.${quote(tables[table]!.columns[1]!.name)} WHERE o.${documentOf(owner)} IN ${keys}`,
    );
  }
  const ours = new Set([...tables.map(({ name }) => foldedName(name)), ...Object.values(sideTableNames)]);
  for (const { list, rows: owned } of await earlierLists(database, known, ours))
    await database.run(
      `DELETE i FROM ${quote(list.name)} i ${owned} WHERE o.${quote(fileKeyName)} IN ${keys}`,
    );
  for (const index of model.tables.keys()) {
    const { name } = tables[index]!;
    if (!isThere(name)) continue;
    const count = await database.run(`DELETE FROM ${quote(name)} WHERE ${documentOf(index)} IN ${keys}`);
    if (count > 0) rows[name] = count;
  }
  const others = await earlierTables(database, known, ours);
  for (const { name } of others) {
    const count = await database.run(`DELETE FROM ${quote(name)} WHERE ${quote(fileKeyName)} IN ${keys}`);
    if (count > 0) rows[name] = count;
    ours.add(foldedName(name));
  }
  const named = [...model.tables.map(({ name }) => name), ...others.map(({ name }) => name), documents]
    .map((name) => mysql.literal(name))
    .join(', ');
  await database.run(
    `DELETE FROM ${quote(lexical)} WHERE document_key IN ${keys} AND table_name IN (${named})`,
  );
  await database.run(
    `DELETE FROM ${quote(unmapped)} WHERE document_key IN ${keys} AND parent_table IN (${named})`,
  );
  // a document that rows of somebody else name stays
  const still = [...known].flatMap(([folded, { name, isView, columns }]) =>
    !ours.has(folded) && !isView && !hasOwnPrefix(folded) && columns.has(fileKeyName)
      ? [` AND document_key NOT IN (SELECT document_key FROM ${quote(name)} WHERE document_key IS NOT NULL)`]
      : [],
  );
  await database.run(`DELETE FROM ${quote(documents)} WHERE document_key IN ${keys}${still.join('')}`);
  return { documents: found.length, names: new Set(found.map(([, name]) => name)).size, rows };
}

/** Tables of other versions of the model, whose rows name their documents: loads made them, too. `ours`: folded names of all others. */
export async function earlierTables(
  database: Mysql,
  known: MysqlTables,
  ours: ReadonlySet<string>,
): Promise<readonly MysqlTable[]> {
  const made = await madeTables(database, known);
  return made.filter(({ name, columns }) => !ours.has(foldedName(name)) && columns.has(fileKeyName));
}

export interface EarlierList {
  readonly list: MysqlTable;
  /** `JOIN … ON …` of its rows `i` with the rows `o` that have the list, which name their documents */
  readonly rows: string;
}

/** Tables of items of lists that another version of the model has and this one has not. `ours`: as of `earlierTables`. */
export async function earlierLists(
  database: Mysql,
  known: MysqlTables,
  ours: ReadonlySet<string>,
): Promise<readonly EarlierList[]> {
  const made = await madeTables(database, known);
  const owners = Map.groupBy(
    made.filter(({ columns }) => columns.has(fileKeyName)),
    ({ columns }) => [...columns.keys()][0]!,
  );
  const found: EarlierList[] = [];
  for (const list of made) {
    const [, parent] = [...list.columns.values()];
    if (ours.has(foldedName(list.name)) || list.columns.has(fileKeyName) || list.columns.size !== 4) continue;
    const named = owners.get(foldedName(parent!.name)) ?? [];
    // a table that continues the rows of another has their keys, and its key their name
    const owner = named.length < 2 ? named[0] : await toldOwner(database, list, named);
    if (owner === undefined) continue;
    const on = `o.${quote(parent!.name)} = i.${quote(parent!.name)}`;
    found.push({ list, rows: `JOIN ${quote(owner.name)} o ON ${on}` });
  }
  return found;
}

/** The one that the comment of the list's table names. */
async function toldOwner(
  database: Mysql,
  { name }: MysqlTable,
  owners: readonly MysqlTable[],
): Promise<MysqlTable | undefined> {
  const [row] = await database.rows(
    `SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ${mysql.literal(name)}`,
  );
  const comment = row?.[0] ?? '';
  return owners.find((owner) => comment.includes(`${listItemsOf(owner.name)}.`));
}

/** Tables that loads made, but for those beside the data. */
async function madeTables(database: Mysql, known: MysqlTables): Promise<readonly MysqlTable[]> {
  if (!known.has(sideTableNames.keys)) return [];
  const made = await database.rows(`SELECT table_name FROM ${quote(sideTableNames.keys)}`);
  return made.flatMap(([name]) => {
    const there = known.get(foldedName(name!));
    return hasOwnPrefix(name!) || there === undefined || there.isView ? [] : [there];
  });
}

/** As `removeDocuments`, but they stay: they were valid until that moment, an expression. */
export async function closeDocuments(
  scope: MysqlRemovalScope,
  condition: string,
  told: string,
  moment: string,
): Promise<RemovedDocuments> {
  const found = await findDocuments(scope, condition, told);
  if (found.length === 0) return nothingRemoved;
  const keys = found.map(([key]) => key!).join(', ');
  await scope.database.run(
    `UPDATE ${quote(sideTableNames.documents)} SET valid_to = ${moment} WHERE document_key IN (${keys})`,
  );
  return { documents: found.length, names: new Set(found.map(([, name]) => name)).size, rows: {} };
}

/** Keys of the documents, and the column that is told; locked. */
function findDocuments(
  { database, known, model, tables }: MysqlRemovalScope,
  condition: string,
  told: string,
): Promise<(string | null)[][]> {
  const { documents, unmapped } = sideTableNames;
  const roots = documentColumns(model, tables).flatMap(({ table, column }) =>
    known.has(foldedName(table)) ? [`SELECT ${quote(column)} FROM ${quote(table)}`] : [],
  );
  roots.push(`SELECT document_key FROM ${quote(unmapped)} WHERE parent_table = '${documents}'`);
  return database.rows(
    `SELECT document_key, ${told} FROM ${quote(documents)} WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')}) FOR UPDATE`,
  );
}
