/**
 * Removes the rows of documents from a target, within a transaction. Every row names its document, in tables of earlier versions of the
 * model as well; only items of lists name the row that has the list.
 */
import { AppError } from '../../errors.ts';
import type { RemovalPlan, Removed } from '../../ports/row-sink.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../../engine/model/side-tables.ts';
import { listItemsOf } from '../../engine/sql/list-tables.ts';
import { documentColumns, rowsOfDocuments, type DocumentColumn } from '../../engine/sql/loaded-documents.ts';
import { publishedQuery, nothingRemoved, type RemovedDocuments } from '../rows/ledger.ts';
import { temporaryName, type SqlDatabase } from './database.ts';
import {
  checkFoundTables,
  relationOf,
  drawModel,
  type FoundTable,
  type FoundTables,
  type SqlNames,
  type DrawnModel,
} from './found-tables.ts';
import { noteJob, sumOf } from './ledger.ts';

/** Creates tables that a job needs for itself. */
export interface Notes {
  /** Makes a table, and returns its name as statements write it. `definition`: follows the name, columns or `AS` and a query. */
  make(definition: string): Promise<string>;
  /** Informs the database that a table has all its rows. */
  filled?(table: string): Promise<void>;
  drop(table: string): Promise<void>;
}

/** The operations by which a database removes rows, if they differ from the standard. */
export interface RemovalWays extends SqlNames {
  /** Names documents by a list of their keys. MySQL with GTIDs makes no temporary table within a transaction. */
  readonly listsDocumentKeys?: true;
  /** The way in which tables are made that the job needs for itself. Absent: they are temporary, and exist as long as the connection. */
  readonly notes?: Notes;
  /** Deletes the rows of documents from all these tables, and returns how many by table. Absent: one table after the other. */
  deleteFrom?(tables: readonly DocumentColumn[], keys: string): Promise<Readonly<Record<string, number>>>;
  /**
   * Returns conditions under which a row of `_documents` has no rows of other programs. Absent: tables with a column `document_key` are
   * queried.
   */
  unreferred?(): Promise<readonly string[]>;
  /** Joins the table that a change depends on. MySQL has no `UPDATE … FROM`, and uses no index for `DELETE … WHERE … IN (SELECT …)`. */
  readonly joinsChanges?: true;
}

export interface RemovalScope<Database extends SqlDatabase> {
  readonly database: Database;
  readonly driver: RemovalWays;
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
  const { literal } = driver.dialect;
  const relation = relationOf(driver);
  const { documents: count, names, keys, forget } = await findDocuments(scope, condition, counted);
  if (count === 0) {
    await forget();
    return nothingRemoved;
  }
  const { rows, tables } = await deleteRows(scope, keys);
  const { lexical, unmapped, documents } = sideTableNames;
  const named = [...model.tables.map(({ name }) => name), ...tables, documents].map(literal).join(', ');
  await database.run(
    `DELETE FROM ${relation(lexical)} WHERE document_key IN (${keys}) AND table_name IN (${named})`,
  );
  await database.run(
    `DELETE FROM ${relation(unmapped)} WHERE document_key IN (${keys}) AND parent_table IN (${named})`,
  );
  // a document stays while rows of another owner refer to it
  const conditions = (await driver.unreferred?.()) ?? unreferred(scope, tables);
  await database.run(
    `DELETE FROM ${relation(documents)} WHERE ${[`document_key IN (${keys})`, ...conditions].join(' AND ')}`,
  );
  await forget();
  return { documents: count, names, rows };
}

function unreferred<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  ours: readonly string[],
): string[] {
  return otherTables(scope)
    .filter(({ name }) => !ours.includes(name))
    .map(
      ({ name }) =>
        `document_key NOT IN (SELECT document_key FROM ${scope.driver.dialect.quote(name)} WHERE document_key IS NOT NULL)`,
    );
}

/** Keeps the documents, but records that they were valid until then. `moment`: an expression. */
export async function closeDocuments<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  condition: string,
  moment: string,
): Promise<RemovedDocuments> {
  const { documents, names, keys, forget } = await findDocuments(scope, condition, 'key');
  if (documents > 0)
    await scope.database.run(
      `UPDATE ${relationOf(scope.driver)(sideTableNames.documents)} SET valid_to = ${moment} WHERE document_key IN (${keys})`,
    );
  await forget();
  return { documents, names, rows: {} };
}

interface FoundDocuments {
  readonly documents: number;
  /** different names, or keys of a merge */
  readonly names: number;
  /** their keys, in the form for `IN (…)` */
  readonly keys: string;
  /** removes the table of the keys */
  forget(): Promise<void>;
}

async function findDocuments<Database extends SqlDatabase>(
  { database, driver, model, drawn, known }: RemovalScope<Database>,
  condition: string,
  counted: 'name' | 'key',
): Promise<FoundDocuments> {
  const { quote, literal } = driver.dialect;
  const relation = relationOf(driver);
  const { documents, unmapped } = sideTableNames;
  const roots = documentColumns(model, drawn.tables)
    .filter(({ table }) => known.has(driver.foldedName(table)))
    .map(({ table, column }) => `SELECT ${quote(column)} FROM ${relation(table)}`);
  // a document whose root the model does not know is kept whole
  roots.push(`SELECT document_key FROM ${relation(unmapped)} WHERE parent_table = ${literal(documents)}`);
  const query = `SELECT document_key, ${quote(counted)} AS counted FROM ${relation(documents)}
      WHERE ${condition} AND document_key IN (${roots.join(' UNION ALL ')})`;
  if (driver.listsDocumentKeys === true) {
    const rows = await database.read<{ document_key: string; counted: string | null }>(`${query} FOR UPDATE`);
    const names = new Set(rows.map((row) => row.counted)).size;
    const keys = rows.map((row) => row.document_key).join(', ');
    return { documents: rows.length, names, keys, forget: () => Promise.resolve() };
  }
  const { make, drop } = notesOf({ database, driver });
  const noted = await make(`AS ${query}`);
  const [sums] = await database.read<{ documents: bigint | number; names: bigint | number }>(
    `SELECT count(*) AS documents, count(DISTINCT counted) AS names FROM ${noted}`,
  );
  return {
    documents: Number(sums!.documents),
    names: Number(sums!.names),
    keys: `SELECT document_key FROM ${noted}`,
    forget: () => drop(noted),
  };
}

export function notesOf<Database extends SqlDatabase>({
  database,
  driver,
}: Pick<RemovalScope<Database>, 'database' | 'driver'>): Notes {
  return (
    driver.notes ?? {
      make: async (definition) => {
        const name = temporaryName();
        await database.run(`CREATE TEMP TABLE ${name} ${definition}`);
        return name;
      },
      drop: () => Promise.resolve(),
    }
  );
}

interface DeletedRows {
  /** keyed by name of the table; tables that lost no rows, and those of lists, are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** tables of earlier versions of the model */
  readonly tables: readonly string[];
}

/** Deletes the rows of documents, also those in tables of earlier versions of the model. `keys`: a query of document keys. */
export async function deleteRows<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  keys: string,
): Promise<DeletedRows> {
  const { driver, model, drawn, known } = scope;
  const isPresent = (name: string): boolean => known.get(driver.foldedName(name))?.isView === false;
  const documentOf = new Map(
    rowsOfDocuments(model, drawn.tables).map(({ table, column }) => [table, column]),
  );
  const lists = drawn.lists.flatMap(({ owner, table }): ListOfRows[] => {
    if (table === null) return [];
    const [list, of] = [drawn.tables[table]!, drawn.tables[owner]!];
    if (!isPresent(list.name) || !isPresent(of.name)) return [];
    const [column, key, document] = [list.columns[1]!.name, of.primaryKey[0]!, documentOf.get(of.name)!];
    return [{ list: list.name, column, owner: of.name, key, document }];
  });
  const earlier = await earlierTables(scope);
  await deleteItems(scope, [...lists, ...earlier.lists], keys);
  const tables = [...documentOf].flatMap(([table, column]) => (isPresent(table) ? [{ table, column }] : []));
  const others = earlier.tables.map(({ name }) => ({ table: name, column: fileKeyName }));
  return {
    rows: await deleteFrom(scope, [...tables, ...others], keys),
    tables: others.map(({ table }) => table),
  };
}

/** Deletes the rows of documents in tables that only an earlier version of the model had. `keys`: a query of document keys. */
export async function deleteEarlierRows<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  keys: string,
): Promise<DeletedRows> {
  const earlier = await earlierTables(scope);
  await deleteItems(scope, earlier.lists, keys);
  const tables = earlier.tables.map(({ name }) => ({ table: name, column: fileKeyName }));
  const rows = await deleteFrom(scope, tables, keys);
  return { rows, tables: tables.map(({ table }) => table) };
}

async function deleteItems<Database extends SqlDatabase>(
  { database, driver }: RemovalScope<Database>,
  lists: readonly ListOfRows[],
  keys: string,
): Promise<void> {
  const { quote } = driver.dialect;
  for (const items of lists) {
    const [list, column, owner, key] = [items.list, items.column, items.owner, items.key].map(quote);
    const ofDocuments = `o.${quote(items.document)} IN (${keys})`;
    await database.run(
      driver.joinsChanges === true
        ? `DELETE i FROM ${list} i JOIN ${owner} o ON o.${key} = i.${column} WHERE ${ofDocuments}`
        : `DELETE FROM ${list} WHERE ${column} IN (SELECT o.${key} FROM ${owner} o WHERE ${ofDocuments})`,
    );
  }
}

async function deleteFrom<Database extends SqlDatabase>(
  { database, driver }: RemovalScope<Database>,
  tables: readonly DocumentColumn[],
  keys: string,
): Promise<Readonly<Record<string, number>>> {
  if (driver.deleteFrom !== undefined) return driver.deleteFrom(tables, keys);
  const { quote } = driver.dialect;
  const rows: Record<string, number> = {};
  for (const { table, column } of tables) {
    const count = await database.run(`DELETE FROM ${quote(table)} WHERE ${quote(column)} IN (${keys})`);
    if (count > 0) rows[table] = count;
  }
  return rows;
}

/**
 * Tables that this version of the model does not have and whose rows name documents. Another version has them, or another program made
 * them.
 */
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

/** Tables of another version of the model that this one does not have: with rows that name documents, and with items of lists. */
export async function earlierTables<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
): Promise<{ readonly tables: readonly FoundTable[]; readonly lists: readonly ListOfRows[] }> {
  const made = await madeTables(scope);
  return {
    tables: otherTables(scope).filter(({ name }) => made.has(scope.driver.foldedName(name))),
    lists: earlierLists(scope, made),
  };
}

/** Folded names of the tables that loads made, by this version of the model or another one. */
async function madeTables<Database extends SqlDatabase>({
  database,
  driver,
}: RemovalScope<Database>): Promise<ReadonlySet<string>> {
  const made = await database.read<{ name: string }>(
    `SELECT table_name AS name FROM ${relationOf(driver)(sideTableNames.keys)}`,
  );
  return new Set(made.map(({ name }) => driver.foldedName(name)));
}

/** A table of items of a list, and the table whose rows have the list. */
export interface ListOfRows {
  readonly list: string;
  /** the column of the list's table that holds keys of the owner */
  readonly column: string;
  readonly owner: string;
  readonly key: string;
  /** the owner's column that names the document */
  readonly document: string;
}

/**
 * Tables of items whose list this version of the model does not have. Such a table has four columns, the second named after its owner's
 * key.
 */
function earlierLists<Database extends SqlDatabase>(
  { known, driver, drawn }: RemovalScope<Database>,
  made: ReadonlySet<string>,
): readonly ListOfRows[] {
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
    if (owner === undefined) return [];
    const key = owner.columns.get(folded)!.name;
    return [{ list: list.name, column, owner: owner.name, key, document: fileKeyName }];
  });
}

/** The facts about a database that a removal needs. */
export interface RemovalDriver<Database extends SqlDatabase> extends RemovalWays {
  /** the statement that begins a transaction */
  readonly begin: string;
  readTables(database: Database): Promise<FoundTables> | FoundTables;
  /** Returns an expression for the current time. */
  now(): string;
}

/** Removes the documents that the plan names, in one transaction. `fence`: whether the job may commit. */
export async function removeInTransaction<Database extends SqlDatabase>(
  driver: RemovalDriver<Database>,
  database: Database,
  label: string,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  await database.run(driver.begin);
  let isOpen = true;
  try {
    const known = await driver.readTables(database);
    if (!known.has(sideTableNames.documents))
      throw new AppError('not_found', `${label}: no documents were loaded there.`);
    const drawn = drawModel(plan.model, driver.dialect);
    checkFoundTables(driver, label, known, drawn, () => true);
    const removed = await removeNamed({ database, driver, known, drawn }, plan, label);
    if (plan.dryRun || removed.already) return removed;
    if (!(await fence(removed)))
      throw new AppError('conflict', 'Another worker has taken over the job: nothing was removed.');
    await database.run('COMMIT');
    isOpen = false;
    return removed;
  } finally {
    // the first fault is reported; a connection that is lost has rolled back
    if (isOpen) await database.run('ROLLBACK').catch(() => 0);
  }
}

/** Removes the documents of that name, and records in the ledger how many documents and rows the target lost. */
export async function removeNamed<Database extends SqlDatabase>(
  {
    database,
    driver,
    known,
    drawn,
  }: Omit<RemovalScope<Database>, 'driver' | 'model'> & {
    readonly driver: Omit<RemovalDriver<Database>, 'begin' | 'readTables'>;
  },
  plan: RemovalPlan,
  label: string,
): Promise<Removed> {
  const { literal } = driver.dialect;
  const { model, idLschma, documentName } = plan;
  if ((await database.read(publishedQuery(plan, relationOf(driver)))).length > 0)
    return { documents: 0, rows: {}, already: true };
  const { documents, rows } = await removeDocuments(
    { database, driver, model, drawn, known },
    `name = ${literal(documentName)}`,
  );
  if (documents === 0)
    throw new AppError(
      'not_found',
      `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
    );
  await noteJob({ database, driver, plan }, { documents: -documents, rows: -sumOf(rows) });
  return { documents, rows, already: false };
}
