/**
 * Removes the rows of documents from a target, within a transaction. Every row names its document, in tables of earlier versions of the model as
 * well; only items of lists name the row that has the list.
 */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../../engine/model/side-tables.ts';
import { listItemsOf } from '../../engine/sql/list-tables.ts';
import { documentColumns, rowsOfDocuments } from '../../engine/sql/loaded-documents.ts';
import { nothingRemoved, type RemovedDocuments } from '../../adapters/row-sinks/removed-documents.ts';
import { temporaryName, type SqlDatabase } from './database.ts';
import type { FoundTable, FoundTables, SqlNames } from './found-tables.ts';
import type { DrawnModel } from './publication.ts';

export interface RemovalScope<Database extends SqlDatabase> {
  readonly database: Database;
  readonly driver: SqlNames;
  /** the model of the job, without tables of lists */
  readonly model: RelationalModel;
  readonly drawn: DrawnModel;
  readonly known: FoundTables;
}

/**
 * Removes the documents of `_documents` for which the condition holds and that have a row in a root table of the model, or were kept whole.
 * `counted`: the column whose different values are counted as names.
 */
export async function removeDocuments<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  condition: string,
  counted: 'name' | 'key' = 'name',
): Promise<RemovedDocuments> {
  const { database, driver, model } = scope;
  const { quote, literal } = driver.dialect;
  const found = await noteDocuments(scope, condition, counted);
  if (found.documents === 0) return nothingRemoved;
  const keys = `SELECT document_key FROM ${found.noted}`;
  const { rows, tables } = await deleteRows(scope, keys);
  const { lexical, unmapped, documents } = sideTableNames;
  const named = [...model.tables.map(({ name }) => name), ...tables, documents].map(literal).join(', ');
  await database.run(
    `DELETE FROM ${quote(lexical)} WHERE document_key IN (${keys}) AND table_name IN (${named})`,
  );
  await database.run(
    `DELETE FROM ${quote(unmapped)} WHERE document_key IN (${keys}) AND parent_table IN (${named})`,
  );
  // a document stays while rows of somebody else name it
  const still = otherTables(scope)
    .filter(({ name }) => !tables.includes(name))
    .map(
      ({ name }) =>
        ` AND document_key NOT IN (SELECT document_key FROM ${quote(name)} WHERE document_key IS NOT NULL)`,
    );
  await database.run(`DELETE FROM ${quote(documents)} WHERE document_key IN (${keys})${still.join('')}`);
  await database.run(`DROP TABLE ${found.noted}`);
  return { documents: found.documents, names: found.names, rows };
}

/** Keeps the documents, but notes that they were valid until then. `moment`: an expression. */
export async function closeDocuments<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  condition: string,
  moment: string,
): Promise<RemovedDocuments> {
  const { noted, documents, names } = await noteDocuments(scope, condition, 'key');
  await scope.database.run(
    `UPDATE ${scope.driver.dialect.quote(sideTableNames.documents)} SET valid_to = ${moment} WHERE document_key IN (SELECT document_key FROM ${noted})`,
  );
  await scope.database.run(`DROP TABLE ${noted}`);
  return { documents, names, rows: {} };
}

async function noteDocuments<Database extends SqlDatabase>(
  { database, driver, model, drawn, known }: RemovalScope<Database>,
  condition: string,
  counted: 'name' | 'key',
): Promise<{ readonly noted: string; readonly documents: number; readonly names: number }> {
  const { quote, literal } = driver.dialect;
  const { documents, unmapped } = sideTableNames;
  const noted = temporaryName();
  const roots = documentColumns(model, drawn.tables)
    .filter(({ table }) => known.has(driver.foldedName(table)))
    .map(({ table, column }) => `SELECT ${quote(column)} FROM ${quote(table)}`);
  // a document whose root the model does not know is kept whole
  roots.push(`SELECT document_key FROM ${quote(unmapped)} WHERE parent_table = ${literal(documents)}`);
  await database.run(
    `CREATE TEMP TABLE ${noted} AS SELECT document_key, ${quote(counted)} AS counted FROM ${quote(documents)}
      WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')})`,
  );
  const [sums] = await database.read<{ documents: bigint | number; names: bigint | number }>(
    `SELECT count(*) AS documents, count(DISTINCT counted) AS names FROM ${noted}`,
  );
  return { noted, documents: Number(sums!.documents), names: Number(sums!.names) };
}

interface DeletedRows {
  /** by name of the table; tables that lost none, and those of lists, are left out */
  readonly rows: Record<string, number>;
  /** tables of earlier versions of the model */
  readonly tables: readonly string[];
}

/** `keys`: a query of document keys. */
async function deleteRows<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  keys: string,
): Promise<DeletedRows> {
  const { database, driver, model, drawn, known } = scope;
  const { quote } = driver.dialect;
  const isThere = (name: string): boolean => known.get(driver.foldedName(name))?.isView === false;
  const documentOf = new Map(
    rowsOfDocuments(model, drawn.tables).map(({ table, column }) => [table, column]),
  );
  for (const { owner, table } of drawn.lists) {
    if (table === null) continue;
    const [list, of] = [drawn.tables[table]!, drawn.tables[owner]!];
    if (!isThere(list.name) || !isThere(of.name)) continue;
    await database.run(
      `DELETE FROM ${quote(list.name)} WHERE ${quote(list.columns[1]!.name)} IN (SELECT ${quote(of.primaryKey[0]!)} FROM ${quote(of.name)}
        WHERE ${quote(documentOf.get(of.name)!)} IN (${keys}))`,
    );
  }
  const earlier = await deleteEarlierRows(scope, keys);
  const rows: Record<string, number> = {};
  for (const [table, column] of documentOf) {
    if (!isThere(table)) continue;
    const count = await database.run(`DELETE FROM ${quote(table)} WHERE ${quote(column)} IN (${keys})`);
    if (count > 0) rows[table] = count;
  }
  return { rows: { ...rows, ...earlier.rows }, tables: earlier.tables };
}

/** Deletes the rows of documents in tables that an earlier version of the model had and this one has not. `keys`: a query of document keys. */
export async function deleteEarlierRows<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  keys: string,
): Promise<DeletedRows> {
  const { database } = scope;
  const { quote } = scope.driver.dialect;
  const made = await madeTables(scope);
  for (const { list, owner, column, key } of earlierLists(scope, made))
    await database.run(
      `DELETE FROM ${quote(list.name)} WHERE ${quote(column)} IN (SELECT ${quote(key)} FROM ${quote(owner.name)} WHERE ${quote(fileKeyName)} IN (${keys}))`,
    );
  const tables = otherTables(scope).filter(({ name }) => made.has(scope.driver.foldedName(name)));
  const rows: Record<string, number> = {};
  for (const { name } of tables) {
    const count = await database.run(`DELETE FROM ${quote(name)} WHERE ${quote(fileKeyName)} IN (${keys})`);
    if (count > 0) rows[name] = count;
  }
  return { rows, tables: tables.map(({ name }) => name) };
}

/** Tables that this version of the model does not have and whose rows name documents. Another version has them, or another program made them. */
export function otherTables<Database extends SqlDatabase>({
  driver,
  drawn,
  known,
}: RemovalScope<Database>): readonly FoundTable[] {
  const ours = new Set([
    ...drawn.tables.map(({ name }) => driver.foldedName(name)),
    ...Object.values(sideTableNames),
  ]);
  return [...known].flatMap(([folded, table]) =>
    ours.has(folded) || table.isView || hasOwnPrefix(folded) || !table.columns.has(fileKeyName)
      ? []
      : [table],
  );
}

/** Folded names of the tables that loads made, by this version of the model or another one. */
async function madeTables<Database extends SqlDatabase>({
  database,
  driver,
}: RemovalScope<Database>): Promise<ReadonlySet<string>> {
  const made = await database.read<{ name: string }>(
    `SELECT table_name AS name FROM ${driver.dialect.quote(sideTableNames.keys)}`,
  );
  return new Set(made.map(({ name }) => driver.foldedName(name)));
}

interface EarlierList {
  readonly list: FoundTable;
  readonly owner: FoundTable;
  /** the column of the list's table that holds keys of the owner, and that key */
  readonly column: string;
  readonly key: string;
}

/** Tables of items whose list this version of the model does not have. Such a table has four columns, the second named after its owner's key. */
function earlierLists<Database extends SqlDatabase>(
  { known, driver, drawn }: RemovalScope<Database>,
  made: ReadonlySet<string>,
): readonly EarlierList[] {
  const tables = [...known].flatMap(([folded, table]) => (made.has(folded) && !table.isView ? [table] : []));
  const ours = new Set(drawn.tables.map(({ name }) => driver.foldedName(name)));
  const owners = Map.groupBy(
    tables.filter(({ columns }) => columns.has(fileKeyName)),
    ({ columns }) => columns.keys().next().value!,
  );
  return tables.flatMap((list) => {
    const isOurs = ours.has(driver.foldedName(list.name));
    if (isOurs || list.columns.has(fileKeyName) || list.columns.size !== 4) return [];
    const [, parent] = [...list.columns];
    const [folded, { name: column }] = parent!;
    const named = owners.get(folded) ?? [];
    // a table that continues the rows of another one has the same key: then the comment names the owner
    const owner =
      named.length < 2
        ? named[0]
        : named.find(({ name }) => list.comment?.includes(`${listItemsOf(name)}.`) === true);
    return owner === undefined ? [] : [{ list, owner, column, key: owner.columns.get(folded)!.name }];
  });
}
