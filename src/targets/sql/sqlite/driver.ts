/**
 * SQLite as a target: rows wait in the text of PostgreSQL's COPY and are bound to prepared statements. A reader does not wait for a load,
 * because a file that a load makes keeps a write-ahead log.
 */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { AppError } from '../../../errors.ts';
import { foldedName, type SqliteDb, openSqlite, sqliteFault } from './database.ts';
import {
  changedTable,
  type ChangedColumn,
  isText,
  lexicalText,
  settledType,
  readTables,
  tableStatement,
} from './tables.ts';
import { findAlterations, runAll, temporaryName } from '../database.ts';
import { drawModel, type FoundTable, type FoundTables, type DrawnModel } from '../found-tables.ts';
import { type Publication, keepCodeTexts, keepHigherKey } from '../publication.ts';
import { physicalName } from '../../../engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RowRemover, RowSink } from '../../../ports/row-sink.ts';
import {
  createDatabaseFileRemover,
  DatabaseFileSink,
  type DatabaseFileRemoverOptions,
  type DatabaseFileOptions,
  type FileDriver,
} from '../database-files.ts';
import { makeIndexes, addSideRows, insertRows, looksStaged } from './insert-rows.ts';

// Alters an existing table so that it can hold the incoming rows. SQLite adds columns; for every other change the table is made again and
// filled.

type SqlitePublication = Publication<SqliteDb>;

/**
 * Adds missing columns, widens types, and drops NOT NULL if a row may leave the column empty. Returns the types that the table's columns
 * have afterwards, in the model's order. `index`: in the drawn model.
 */
async function adaptTable(
  publication: SqlitePublication,
  index: number,
  known: FoundTable,
): Promise<string[]> {
  const { database, drawn } = publication;
  const table = drawn.tables[index]!;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({ type: table.columns[at]!.sqlType, nullable: table.columns[at]!.nullable }),
    settle: (there, at) => settledType(there.type, table.columns[at]!.sqlType),
    isAdded: (at) => !wasList(publication, index, at, known),
  });
  const changed = new Map<string, { readonly change: ChangedColumn; readonly from: string }>();
  const statements: string[] = [];
  for (const alteration of alterations) {
    if (alteration.kind === 'add') {
      const { name, sqlType, comment } = table.columns[alteration.at]!;
      const { comments } = sqlite;
      const told = comments.kind === 'inline' ? comments.column(commentLine(comment, null)) : '';
      statements.push(
        `ALTER TABLE ${doubleQuoted(known.name)} ADD COLUMN ${doubleQuoted(name)} ${sqlType} ${told}`,
      );
      continue;
    }
    const { name, type: from } = alteration.there;
    const change = alteration.kind === 'widen' ? { type: alteration.type } : { dropsNotNull: true };
    changed.set(name, { change: { ...changed.get(name)?.change, ...change }, from });
  }
  if (changed.size > 0) await remake(publication, known, changed);
  await runAll(database, statements);
  await listsToText(publication, index, known);
  return types;
}

/** Makes a new table with the changed columns, fills it from the old one, and replaces that, with its indexes and triggers. */
async function remake(
  { database }: SqlitePublication,
  known: FoundTable,
  changed: ReadonlyMap<string, { readonly change: ChangedColumn; readonly from: string }>,
): Promise<void> {
  const name = temporaryName();
  const statement = changedTable(
    known.statement!,
    doubleQuoted(name),
    new Map([...changed].map(([column, { change }]) => [column, change])),
  );
  if (statement === null)
    throw new AppError(
      'conflict',
      `${known.name} has a definition that cannot be changed automatically: widen ${[...changed.keys()].join(', ')} by hand, or name another target.`,
    );
  const belonging = database.read<{ sql: string }>(
    `SELECT sql FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL`,
    known.name,
  );
  const columns = [...known.columns.values()];
  const values = columns.map((column) => {
    const change = changed.get(column.name);
    const quoted = doubleQuoted(column.name);
    if (change?.change.type === undefined || !isText(change.change.type)) return quoted;
    return lexicalText(quoted, change.from, false);
  });
  const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
  await runAll(database, [
    statement,
    `INSERT INTO ${doubleQuoted(name)} (${names}) SELECT ${values.join(', ')} FROM ${doubleQuoted(known.name)}`,
    `DROP TABLE ${doubleQuoted(known.name)}`,
    `ALTER TABLE ${doubleQuoted(name)} RENAME TO ${doubleQuoted(known.name)}`,
    ...belonging.map(({ sql }) => sql),
  ]);
}

/** Returns the list as the model draws it, if a column of text replaces it now and the table of its items exists; otherwise null. */
function listBefore(publication: SqlitePublication, index: number, at: number) {
  const { plan, drawn } = publication;
  const column = plan.model.tables[index]?.columns[at];
  if (column?.type.list !== true || drawn.lists.some((list) => list.owner === index && list.column === at))
    return null;
  const before = drawModel(plan.model, sqlite);
  const list = before.lists.find((one) => one.owner === index && one.column === at)!;
  return { table: before.tables[list.table!]!, count: before.tables[index]!.columns[at]!.name };
}

function wasList(publication: SqlitePublication, index: number, at: number, known: FoundTable): boolean {
  const before = listBefore(publication, index, at);
  return before !== null && known.columns.has(foldedName(before.count));
}

/** Writes the items of lists into the column that became text, separated by spaces, as in XML. */
async function listsToText(publication: SqlitePublication, index: number, known: FoundTable): Promise<void> {
  const { database, drawn, changes, plan } = publication;
  if (index >= plan.model.tables.length) return;
  const { name, columns, primaryKey } = drawn.tables[index]!;
  for (const [at, column] of columns.entries()) {
    const before = listBefore(publication, index, at);
    if (before === null || !known.columns.has(foldedName(before.count))) continue;
    const [, parent, position, item] = before.table.columns.map((one) => doubleQuoted(one.name)) as [
      string,
      string,
      string,
      string,
    ];
    const list = doubleQuoted(before.table.name);
    const itemType = before.table.columns[3]!.sqlType;
    if (publication.known.has(foldedName(before.table.name)))
      await runAll(database, [
        `CREATE INDEX ${doubleQuoted(temporaryName())} ON ${list} (${parent}, ${position})`,
        `UPDATE ${doubleQuoted(name)} SET ${doubleQuoted(column.name)} = coalesce((SELECT group_concat(${lexicalText(`l.${item}`, itemType, false)}, ' ' ORDER BY l.${position}) FROM ${list} l WHERE l.${parent} = ${doubleQuoted(name)}.${doubleQuoted(primaryKey[0]!)}), '') WHERE ${doubleQuoted(before.count)} IS NOT NULL`,
        `DROP TABLE ${list}`,
        `DELETE FROM _keys WHERE table_name = ${standardLiteral(before.table.name)}`,
      ]);
    await database.run(`ALTER TABLE ${doubleQuoted(name)} DROP COLUMN ${doubleQuoted(before.count)}`);
    changes.push(`${name}.${column.name}: list widened to text`);
  }
}

/**
 * Returns the model as it is drawn for the rows of a job. A column is text if a value does not fit its type, or if it is a list that an
 * earlier job made text.
 */
function drawForRows(
  model: RelationalModel,
  known: FoundTables,
  { widened, nullAllowed }: Pick<Publication<never>, 'widened' | 'nullAllowed'>,
): DrawnModel {
  const asModelled = drawModel(model, sqlite);
  const isTextThere = (table: number, column: number): boolean => {
    const there = known.get(foldedName(asModelled.tables[table]!.name))?.columns;
    const { columns } = asModelled.tables[table]!;
    const name = physicalName(sqlite, model.tables[table]!.columns[column]!.name);
    return (
      there !== undefined && there.has(foldedName(name)) && !there.has(foldedName(columns[column]!.name))
    );
  };
  return drawModel(
    {
      ...model,
      tables: model.tables.map((table, index) => ({
        ...table,
        columns: table.columns.map((column, at) => {
          const id = columnId(index, at);
          const becomesText = widened.has(id) || (column.type.list === true && isTextThere(index, at));
          if (!becomesText && !nullAllowed.has(id)) return column;
          return {
            ...column,
            ...(becomesText ? { type: { kind: 'text' as const } } : {}),
            nullable: column.nullable || nullAllowed.has(id),
          };
        }),
      })),
    },
    sqlite,
  );
}

// The driver.

export function createSqliteRowSink(options: DatabaseFileOptions): RowSink {
  return new DatabaseFileSink(sqliteDriver, options);
}

export function createSqliteRowRemover(options: DatabaseFileRemoverOptions): RowRemover {
  return createDatabaseFileRemover(sqliteDriver, options);
}

export const sqliteDriver: FileDriver<SqliteDb> = {
  title: 'SQLite',
  scheme: 'sqlite',
  dialect: sqlite,
  encoding: 'copy-text',
  scalesDecimals: false,
  // a number of more than 15 digits is kept as text
  decimalRoom: { digits: 0, fraction: 0 },
  sidecars: ['-wal', '-shm', '-journal'],
  begin: 'BEGIN IMMEDIATE',
  keepHigherKey: keepHigherKey('max'),
  keepCodeTexts,
  foldedName,
  readTables,
  now: () => standardLiteral(new Date().toISOString()),
  instant: standardLiteral,
  async latestChange(database) {
    const [row] = database.read<{ latest: string | null }>(
      `SELECT max(max(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${sideTableNames.documents}`,
    );
    return row!.latest;
  },
  open: (path, { label, busyTimeoutMs, signal, isNew }) =>
    openSqlite(path, { label, busyTimeoutMs, signal, isNew }),
  async readOnly(path, { label, busyTimeoutMs }, read) {
    const database = await openSqlite(path, { label, busyTimeoutMs, readOnly: true });
    try {
      return await read(database);
    } finally {
      database.close();
    }
  },
  looksStaged,
  drawForRows: ({ plan, known, widened, nullAllowed }) =>
    drawForRows(plan.model, known, { widened, nullAllowed }),
  async readyTable(publication, index) {
    const table = publication.drawn.tables[index]!;
    const there = publication.known.get(foldedName(table.name));
    if (there !== undefined) return adaptTable(publication, index, there);
    await publication.database.run(tableStatement(table));
    return table.columns.map(({ sqlType }) => sqlType);
  },
  addRows: insertRows,
  addSideRows,
  finishTables: makeIndexes,
  isText,
  isAsModelled: ({ type }, { sqlType }) => type === sqlType || !isText(type),
  viewStatements: ({ name, query }, comment) => [
    `CREATE VIEW ${sqlite.quote(name)} AS /* ${comment.replaceAll('*/', '* /').replaceAll('/*', '/ *')} */\n${query.replace(/^\s*/, '')}`,
  ],
  viewRefusal: (error) => (error as Error).message.split('\n')[0]!,
  async settle(database, isNew) {
    // from now on readers and the next load do not wait for each other
    await database.run(isNew ? 'PRAGMA journal_mode = WAL' : 'PRAGMA wal_checkpoint(PASSIVE)');
  },
  faultOf: sqliteFault,
};
