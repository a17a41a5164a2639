/**
 * The steps of publishing that differ in MySQL because every change of a table commits. Tables that are new or overwritten appear by one
 * RENAME TABLE, together with the side tables and the ledger. Rows of existing tables are inserted in one transaction with the ledger's
 * row, after these tables are altered to hold them.
 */
import {
  codesTable,
  fileKeyName,
  mergeColumns,
  sideTableDefinitions,
  sideTableNames,
  type SideTableName,
} from '../../../engine/model/side-tables.ts';
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import type { ListTable } from '../../../engine/sql/list-tables.ts';
import { sideTable } from '../../../engine/sql/ddl.ts';
import type { SideTable } from '../../../ports/row-sink.ts';
import {
  isWrittenText,
  textColumns,
  writtenTextStatement,
  type TextColumn,
} from '../../rows/written-texts.ts';
import { findAlterations, runAll } from '../database.ts';
import {
  knowsMerges,
  relationOf,
  type DrawnModel,
  type FoundColumn,
  type FoundTable,
  type FoundTables,
} from '../found-tables.ts';
import { addMergeColumns, nameUnmerged, noteOverwritten, textUpdates } from '../publish.ts';
import type { Publication, SqlDriver } from '../publication.ts';
import { earlierTables, otherTables, type ListOfRows } from '../removal.ts';
import type { Mysql } from './connection.ts';
import { mysqlWays } from './driver.ts';
import type { MysqlStagedTable, Staging } from './staging.ts';
import {
  foldedName,
  holdsInstants,
  parentIndexes,
  readTables,
  tableStatement,
  viewEnd,
  columnSqlType,
  isText,
  settledType,
  textOf,
  turnToText,
} from './tables.ts';

export type MysqlPublication = Publication<Mysql, MysqlStagedTable>;

interface MysqlStaged {
  readonly database: Mysql;
  /** the prefix of the names of this job's tables */
  readonly token: string;
  /** by index in the drawn model, also those without rows */
  readonly tables: readonly MysqlStagedTable[];
  readonly staging: Staging;
}

/** Makes the driver for one publication. */
export interface MysqlPublisher extends SqlDriver<Mysql, MysqlStagedTable> {
  /** Makes all that was published appear. */
  commit(): Promise<void>;
}

const { quote } = mysql;
const mergeColumnList = mergeColumns.map(({ name }) => quote(name)).join(', ');
const sideNames = Object.keys(sideTableDefinitions) as SideTableName[];

/** `relation`: returns the location of a table until the job is committed, quoted. */
function commonSteps({ database, token }: MysqlStaged, relation: (name: string) => string) {
  let notes = 0;
  return {
    ...mysqlWays(relation),
    title: 'MySQL',
    commitsDefinitions: true,
    // the target is locked from open to publish: the staged rows already have their final keys
    keyOffsets: () => Promise.resolve(new Map<string, bigint>()),
    stagesItems: true,
    notes: {
      async make(definition: string) {
        const name = quote(`${token}_noted_${(notes += 1)}`);
        const key = definition.startsWith('AS ') ? `(PRIMARY KEY (${quote(fileKeyName)})) ` : '';
        await database.run(`CREATE TABLE ${name} ${key}${definition}`);
        return name;
      },
      // dropped with the staging
      drop: () => Promise.resolve(),
    },
    async writeItemTexts(publication, isTextOf) {
      for (const list of publication.drawn.lists) {
        const items = list.table === null ? undefined : publication.staged.get(list.table);
        if (items === undefined || !isTextOf(list.table!, itemAt)) continue;
        const into = { table: items.physical.name, column: items.columns[itemAt]!.name };
        await database.run(writtenItemsStatement(publication, list, into, false));
      }
    },
    isText,
    isAsModelled({ type, comment }, { type: modelled }) {
      if (modelled.kind === 'timestamptz') return holdsInstants({ type, comment });
      if (modelled.kind === 'numeric') return type.startsWith('decimal');
      // all numbers of this kind are stored as DOUBLE
      return type === columnSqlType(modelled.kind === 'real' ? { kind: 'double' } : modelled);
    },
    viewStatements: ({ name, query }, comment) => [
      `CREATE OR REPLACE VIEW ${quote(name)} AS\nSELECT * FROM (\n${query}\n) made WHERE ${mysql.literal(viewEnd(comment)!)} <> ''`,
    ],
    replacesViews: true,
    viewRefusal: (error) => (error as Error).message,
  } satisfies Partial<SqlDriver<Mysql, MysqlStagedTable>>;
}

/** Returns the driver of jobs whose tables exist: their rows are inserted by one transaction. */
export function insertingPublisher(own: MysqlStaged): MysqlPublisher {
  const { database, tables } = own;
  /** keyed by index: expressions over the staged rows `s` */
  const values = new Map<number, readonly string[]>();
  return {
    ...commonSteps(own, quote),
    async readyTable(publication, index) {
      const { drawn, known } = publication;
      const table = tables[index]!;
      const { name } = drawn.tables[index]!;
      const there = known.get(foldedName(name));
      if (there === undefined) {
        await database.run(tableStatement(table.needed, name, (at) => table.isNullable(at)));
        for (const statement of parentIndexes(table.physical, name)) await database.run(statement);
        values.set(
          index,
          table.columns.map((column) => `s.${quote(column.name)}`),
        );
        return table.columns.map((_, at) => table.sqlType(at));
      }
      const adapted = await adaptTable(publication, index, table, there, (at, into) =>
        everyWrittenText(publication, index, at, { table: there.name, column: into }),
      );
      values.set(index, adapted.values);
      return adapted.types;
    },
    async beginRows({ driver }) {
      await database.run(driver.begin);
    },
    addSideRows,
    async addRows(publication, index) {
      const count = await insertRows(
        publication,
        tables[index]!,
        values.get(index)!,
        tables[index]!.physical.name,
      );
      for (const { owner, table } of publication.drawn.lists)
        if (owner === index && table !== null && publication.staged.has(table))
          await insertRows(publication, tables[table]!, values.get(table)!, tables[table]!.physical.name);
      return count;
    },
    async commit() {
      await database.run('COMMIT');
    },
  };
}

/**
 * Returns the driver of jobs whose tables are new or overwritten: these are made under other names, and the side tables are made again with
 * their rows.
 */
export function renamingPublisher(own: MysqlStaged): MysqlPublisher {
  const { database, token, tables, staging } = own;
  const moves: string[] = [];
  const gone: string[] = [];
  /** keyed by their final names: names of the tables that this job makes */
  const madeNames = new Map<string, string>();
  /** folded names of tables that are dropped */
  const vanished = new Set<string>();
  const counts = new Map<SideTable, number>();
  let number = 0;
  const vanishes = (known: FoundTables, name: string): void => {
    const there = known.get(foldedName(name));
    if (there === undefined || vanished.has(foldedName(name))) return;
    const old = `${token}_old_${(number += 1)}`;
    vanished.add(foldedName(name));
    gone.push(old);
    moves.push(`${quote(there.name)} TO ${quote(old)}`);
  };
  const appears = (known: FoundTables, as: string, name: string): void => {
    vanishes(known, name);
    madeNames.set(name, as);
    moves.push(`${quote(as)} TO ${quote(name)}`);
  };
  const relation = (name: string): string => quote(madeNames.get(name) ?? name);
  const countOf = async ({ name, rows }: MysqlStagedTable, isHashed: boolean): Promise<number> =>
    isHashed ? Number((await database.rows(`SELECT count(*) FROM ${quote(name)}`))[0]![0]) : rows;
  return {
    ...commonSteps(own, relation),
    /** Returns the target as it will be. */
    async readTables(database) {
      const there = await readTables(database);
      const found: FoundTables = new Map([...there].filter(([folded]) => !vanished.has(folded)));
      for (const [name, as] of madeNames)
        found.set(foldedName(name), { ...there.get(foldedName(as))!, name });
      return found;
    },
    async readyTarget(publication) {
      const { plan, known, drawn } = publication;
      const overwritten = plan.saveMode === 'overwrite' ? await clearedDocuments(publication) : null;
      const cleared = overwritten?.cleared ?? null;
      const left = async (name: string, owners?: string): Promise<void> => {
        const as = `${token}_left_${(number += 1)}`;
        await keepOthersRows(publication, name, as, cleared!, owners);
        appears(known, as, name);
      };
      for (const { name } of overwritten?.earlier ?? []) await left(name);
      for (const { list, owner, column, key } of overwritten?.earlierLists ?? [])
        await left(list, `JOIN ${quote(owner)} o ON o.${quote(key)} = i.${quote(column)}`);
      if (plan.saveMode === 'overwrite') for (const { name } of drawn.tables) vanishes(known, name);
      for (const side of sideNames) {
        const definition = sideTableDefinitions[side];
        const staged = publication.staged.get(side);
        // documents that a merge replaces are among the existing ones
        const isStaged =
          staged !== undefined && (plan.saveMode !== 'merge' || !known.has(sideTableNames.documents));
        const as = isStaged ? staged.name : `${token}_made_${side}`;
        if (isStaged) counts.set(side as SideTable, await countOf(staged, plan.keys === 'hash'));
        else await runAll(database, sideTable(mysqlWays().dialect, { ...definition, name: as }));
        await keepSideRows(publication, side, as, cleared);
        appears(known, as, definition.name);
      }
      return true;
    },
    async readyTable({ known }, index) {
      const table = tables[index]!;
      await staging.make(table);
      for (const statement of parentIndexes(table.physical, table.name)) await database.run(statement);
      appears(known, table.name, table.physical.name);
      return table.columns.map((_, at) => table.sqlType(at));
    },
    async addSideRows(publication, side) {
      const { plan, known, merging, driver } = publication;
      const table = publication.staged.get(side)!;
      const count = counts.get(side);
      if (count === undefined) return addSideRows(publication, side);
      if (side === 'documents' && merging !== null)
        await database.run(
          `UPDATE ${quote(table.name)} s JOIN ${merging.documents} m ON m.written = s.sha256 AND m.name = s.name
              SET s.${quote('key')} = m.${quote('key')}, s.sha256 = m.sha256, s.${quote('valid_from')} = ${driver.instant(merging.moment)}`,
        );
      else if (side === 'documents' && plan.saveMode !== 'merge' && knowsMerges(known))
        await nameUnmerged(publication);
      return count;
    },
    addRows: ({ plan }, index) => countOf(tables[index]!, plan.keys === 'hash'),
    async commit() {
      await database.run(`RENAME TABLE ${moves.join(', ')}`);
      // the next job drops the tables that cannot be dropped now
      for (const name of gone) await database.run(`DROP TABLE IF EXISTS ${quote(name)}`).catch(() => 0);
    },
  };
}

/** Adds the staged rows of a side table, with their keys if documents are merged. */
async function addSideRows(publication: MysqlPublication, side: SideTable): Promise<number> {
  const { merging, driver } = publication;
  const table = publication.staged.get(side)!;
  const into = sideTableNames[side];
  const columns = table.columns.map(({ name }) => quote(name));
  if (side !== 'documents' || merging === null)
    return insertRows(
      publication,
      table,
      columns.map((name) => `s.${name}`),
      into,
    );
  const values = columns.map((name) => (name === quote('sha256') ? 'm.sha256' : `s.${name}`));
  return insertRows(
    publication,
    table,
    [...values, `m.${quote('key')}`, driver.instant(merging.moment)],
    into,
    {
      columns: [...columns, quote('key'), quote('valid_from')],
      join: ` JOIN ${merging.documents} m ON m.written = s.sha256 AND m.name = s.name`,
    },
  );
}

/** Copies the rows of a side table that stay. `cleared`: a table of the documents whose rows are removed. */
async function keepSideRows(
  publication: MysqlPublication,
  side: SideTableName,
  as: string,
  cleared: string | null,
): Promise<void> {
  const { database, plan, known } = publication;
  const { name, columns } = sideTableDefinitions[side];
  const merges = side === 'documents' && knowsMerges(known);
  if (merges) await addMergeColumns(publication, undefined, quote(as));
  if (!known.has(name)) return;
  const ofSide = columns.map((column) => quote(column.name)).join(', ');
  const list = merges ? `${ofSide}, ${mergeColumnList}` : ofSide;
  const key = quote(fileKeyName);
  const kept =
    cleared !== null && columns[0]!.name === fileKeyName
      ? ` WHERE ${key} NOT IN (SELECT ${key} FROM ${cleared})`
      : '';
  // rows of existing documents are the same rows
  const ignore = plan.keys === 'hash' ? ' IGNORE' : '';
  await database.run(`INSERT${ignore} INTO ${quote(as)} (${list}) SELECT ${list} FROM ${quote(name)}${kept}`);
}

/** index of the item in the columns of a list's table, after its key, the key of the row that has the list, and the position */
const itemAt = 3;

/**
 * Returns the statement that writes the texts of documents into the items of a list: the words of the list as it is written, by their
 * positions.
 */
function writtenItemsStatement(
  { driver, plan, drawn }: Pick<MysqlPublication, 'driver' | 'plan' | 'drawn'>,
  { owner, column, table }: ListTable,
  into: Pick<TextColumn, 'table' | 'column'>,
  isTurned: boolean,
): string {
  const { name, columns } = plan.model.tables[owner]!;
  const of = { table: name, column: columns[column]!.name };
  const updates = textUpdates(driver);
  const { relation } = updates;
  const [, parent, position] = drawn.tables[table!]!.columns.map((one) => quote(one.name));
  const words = `TRIM(REGEXP_REPLACE(l.content, '[[:space:]]+', ' '))`;
  return `UPDATE ${relation(into.table)} i JOIN ${relation(sideTableNames.lexical)} l ON l.row_key = i.${parent} AND ${isWrittenText({ of, isTurned }, plan.jobUuid, updates)}
    SET i.${quote(into.column)} = SUBSTRING_INDEX(SUBSTRING_INDEX(${words}, ' ', i.${position}), ' ', -1)`;
}

/**
 * Returns a statement that copies the texts of a column of the model, as documents of all jobs have them, into a column of the target;
 * null: no text differs from the column's values.
 */
function everyWrittenText(
  publication: MysqlPublication,
  index: number,
  at: number,
  into: Pick<TextColumn, 'table' | 'column'>,
): string | null {
  const { plan } = publication;
  const { tables, lists } = publication.drawn;
  const list = lists.find(({ table }) => table === index);
  if (list !== undefined) return at === itemAt ? writtenItemsStatement(publication, list, into, true) : null;
  const isAsked = (of: number, column: number): boolean => of === index && column === at;
  const [column] = textColumns(plan.model, tables, false, (...place) =>
    isAsked(...place) ? 'turned' : null,
  );
  return column === undefined
    ? null
    : writtenTextStatement({ ...column, ...into }, plan.jobUuid, textUpdates(publication.driver));
}

/**
 * Rolls back the transaction of a job that failed, and drops the tables that it made and that are empty. `before`: folded names of tables
 * that existed before.
 */
export async function undo(
  { database, drawn }: Pick<MysqlPublication, 'database' | 'drawn'>,
  before: { has(name: string): boolean },
): Promise<void> {
  // a connection that is lost has rolled back, and the next load fills empty tables
  await database.run('ROLLBACK').catch(() => 0);
  const names = [...Object.values(sideTableNames), codesTable.name, ...drawn.tables.map(({ name }) => name)];
  for (const name of names) if (!before.has(foldedName(name))) await dropEmpty(database, name);
}

async function dropEmpty(database: Mysql, name: string): Promise<void> {
  try {
    if ((await database.rows(`SELECT 1 FROM ${quote(name)} LIMIT 1`)).length === 0)
      await database.run(`DROP TABLE ${quote(name)}`);
  } catch {
    // the fault that led here is reported
  }
}

function insertRows(
  { database, driver, plan }: MysqlPublication,
  table: MysqlStagedTable,
  values: readonly string[],
  into: string,
  {
    columns = table.columns.map(({ name }) => quote(name)),
    join = '',
  }: { readonly columns?: readonly string[]; readonly join?: string } = {},
): Promise<number> {
  const relation = relationOf(driver);
  const [key] = table.physical.primaryKey;
  let only = '';
  if (plan.keys === 'hash')
    only =
      key === undefined
        ? ` WHERE NOT EXISTS (SELECT 1 FROM ${relation(sideTableNames.documents)} d WHERE d.${quote(fileKeyName)} = s.${quote(fileKeyName)})`
        : ` WHERE NOT EXISTS (SELECT 1 FROM ${relation(into)} t WHERE t.${quote(key)} = s.${quote(key)})`;
  const distinct = plan.keys === 'hash' && key === undefined ? 'DISTINCT ' : '';
  return database.run(
    `INSERT INTO ${relation(into)} (${columns.join(', ')}) SELECT ${distinct}${values.join(', ')} FROM ${quote(table.name)} s${join}${only}`,
  );
}

interface ClearedDocuments {
  /** a table of the keys of documents whose rows are removed, as statements write it; documents that rows of another owner refer to stay */
  readonly cleared: string;
  /** tables of other versions that have rows of these documents, because documents are removed whole */
  readonly earlier: readonly FoundTable[];
  readonly earlierLists: readonly ListOfRows[];
}

/** Returns null if nothing was loaded there. */
async function clearedDocuments(publication: MysqlPublication): Promise<ClearedDocuments | null> {
  const { database, plan, known } = publication;
  if (!known.has(sideTableNames.documents) || !known.has(sideTableNames.loads)) return null;
  const { cleared, areOfOthers } = await noteOverwritten(publication);
  const scope = { ...publication, model: plan.model };
  const found = areOfOthers ? await earlierTables(scope) : { tables: [], lists: [] };
  const earlier: FoundTable[] = [];
  for (const table of found.tables) {
    const rows = await database.rows(
      `SELECT 1 FROM ${quote(table.name)} t JOIN ${cleared} c ON c.${quote(fileKeyName)} = t.${quote(fileKeyName)} LIMIT 1`,
    );
    if (rows.length > 0) earlier.push(table);
  }
  // a document stays while rows of remaining tables refer to it
  for (const table of otherTables(scope))
    if (!found.tables.includes(table))
      await database.run(
        `DELETE FROM ${cleared} WHERE ${quote(fileKeyName)} IN (SELECT ${quote(fileKeyName)} FROM ${quote(table.name)})`,
      );
  return { cleared, earlier, earlierLists: found.lists };
}

/** `made`: a new table with the rows of other documents. */
async function keepOthersRows(
  { database, changes }: MysqlPublication,
  name: string,
  made: string,
  cleared: string,
  /** `JOIN … ON …` of its rows with those that name their documents; absent: the rows name them */
  owners?: string,
): Promise<void> {
  const rows = `${quote(name)} i ${owners ?? ''}`;
  const naming = owners === undefined ? 'i' : 'o';
  await database.run(`CREATE TABLE ${quote(made)} LIKE ${quote(name)}`);
  await database.run(
    `INSERT INTO ${quote(made)} SELECT i.* FROM ${rows} LEFT JOIN ${cleared} c ON c.${quote(fileKeyName)} = ${naming}.${quote(fileKeyName)} WHERE c.${quote(fileKeyName)} IS NULL`,
  );
  changes.push(`${name}: rows of overwritten documents were deleted`);
}

export interface AdaptedTable {
  /** for each column, an expression over the staged rows `s` */
  readonly values: readonly string[];
  /** types of the columns, in the model's order */
  readonly types: readonly string[];
}

/**
 * Adds columns, widens types and drops NOT NULL, by statements that each leave a table without loss. Returns the expressions that convert
 * staged rows to rows of the table. `written`: for a column of the table that becomes text, returns a statement that writes the texts of
 * documents into another column.
 */
export async function adaptTable(
  publication: { readonly database: Mysql; readonly drawn: DrawnModel; readonly changes: string[] },
  index: number,
  table: MysqlStagedTable,
  known: FoundTable,
  written: (at: number, into: string) => string | null,
): Promise<AdaptedTable> {
  const { database } = publication;
  const columns = table.physical.columns;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({
      type: table.sqlType(at),
      nullable: columns[at]!.nullable || table.isNullable(at),
    }),
    settle: (there, at) => settledType(there.type, table.sqlType(at)),
    isLoosened: (there, type) => turnsToText(there.type, type),
  });
  const isPresent = (name: string): boolean => known.columns.has(foldedName(name));
  const clauses: string[] = [];
  /** keyed by name: the changes of columns */
  const modified = new Map<string, { readonly there: FoundColumn; type: string; notNull: boolean }>();
  for (const alteration of alterations) {
    if (alteration.kind === 'add') {
      const { name, comment } = columns[alteration.at]!;
      clauses.push(
        `ADD COLUMN ${quote(name)} ${alteration.type} NULL COMMENT ${mysql.literal(commentLine(comment, 1000))}`,
      );
      continue;
    }
    const { there } = alteration;
    if (alteration.kind === 'widen' && turnsToText(there.type, alteration.type)) {
      const { at } = alteration;
      const text = textOf(
        quote(there.name),
        there.type,
        table.columns[at]!.type,
        table.offsetOf(at, isPresent),
      );
      const column = { name: there.name, comment: there.comment ?? '' };
      await turnToText(database, known.name, column, text, (into) => written(at, into));
      continue;
    }
    const change = modified.get(there.name) ?? { there, type: there.type, notNull: there.notNull };
    if (alteration.kind === 'widen') change.type = alteration.type;
    else change.notNull = false;
    modified.set(there.name, change);
  }
  for (const { there, type, notNull } of modified.values())
    clauses.push(
      `MODIFY ${quote(there.name)} ${type} ${notNull ? 'NOT NULL' : 'NULL'} COMMENT ${mysql.literal(there.comment ?? '')}`,
    );
  if (clauses.length > 0) await database.run(`ALTER TABLE ${quote(known.name)} ${clauses.join(', ')}`);
  const values = table.columns.map(({ name, type }, at) => {
    const staged = `s.${quote(name)}`;
    if (!isPresent(name) || !isText(types[at]!)) return staged;
    const offset = table.offsetOf(at);
    return textOf(staged, table.sqlType(at), type, offset === null ? null : `s.${offset}`);
  });
  return { values, types };
}

function turnsToText(from: string, to: string): boolean {
  return isText(to) && !isText(from);
}
