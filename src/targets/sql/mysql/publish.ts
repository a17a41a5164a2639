/**
 * Publishing in MySQL, where every change of a table commits. Tables that are new or overwritten appear by one RENAME TABLE, those beside the
 * data and the ledger among them. Rows for tables that are there go in by one transaction with the ledger's row, once these can take them.
 */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import {
  fileKeyName,
  mergeColumns,
  sideTableDefinitions,
  sideTableNames,
  type SideTableName,
} from '../../../engine/model/side-tables.ts';
import type { ListTable } from '../../../engine/sql/list-tables.ts';
import { sideTable } from '../../../engine/sql/statements.ts';
import { currentViews } from '../../../engine/views/current-rows.ts';
import type { MergeCounts } from '../../../ports/rows/merge.ts';
import type { Fence, Published } from '../../../ports/rows/sink.ts';
import { momentAfter } from '../../rows/merging.ts';
import { passFence } from '../../rows/staged-rows.ts';
import { widenedWords } from '../../rows/unfit-columns.ts';
import {
  isWrittenText,
  textColumns,
  writtenTextStatement,
  type TextColumn,
} from '../../rows/written-texts.ts';
import { runAll } from '../database.ts';
import { knowsMerges, type FoundTable } from '../found-tables.ts';
import { givenKeys, keepKeys } from '../keys.ts';
import { noteJob } from '../ledger.ts';
import { addMergeColumns, nameUnmerged, noteDocuments, takeReplaced } from '../merge.ts';
import { noteOverwritten } from '../overwrite.ts';
import type { PublishingScope } from '../publication.ts';
import { addedBy, makeSideTables, textUpdates, writeTexts } from '../publish.ts';
import { earlierTables, otherTables, type ListOfRows } from '../removal.ts';
import { adaptTable, type AdaptedTable } from './alter-tables.ts';
import { foldedName, parentIndexes, readTables, tableStatement } from './tables.ts';
import type { Mysql } from './connection.ts';
import { mysqlDriver } from './driver.ts';
import type { MysqlStagedTable, Staging } from './staging.ts';

interface MysqlPublication extends PublishingScope<Mysql> {
  /** in front of the names of tables of this job */
  readonly token: string;
  readonly staged: readonly MysqlStagedTable[];
  readonly sides: ReadonlyMap<SideTableName, MysqlStagedTable>;
  readonly staging: Staging;
  readonly fence: Fence;
}

const { quote } = mysql;
const mergeColumnList = mergeColumns.map(({ name }) => quote(name)).join(', ');

export async function publishRows(publication: MysqlPublication): Promise<Published> {
  const { plan, known, staged, changes } = publication;
  const { tables } = publication.drawn;
  for (const { physical, columns } of staged)
    for (const { name, wider, isLoose } of known.has(foldedName(physical.name)) &&
    plan.saveMode !== 'overwrite'
      ? []
      : columns) {
      if (wider !== null) changes.push(`${physical.name}.${name}: ${widenedWords(wider)}`);
      else if (isLoose) changes.push(`${physical.name}.${name}: NOT NULL dropped`);
    }
  const isThere = tables.some(({ name }) => known.has(foldedName(name)));
  const { rows, ...merged } =
    plan.saveMode === 'overwrite' || !isThere ? await rename(publication) : await insert(publication);
  if (plan.saveMode === 'merge' && publication.merge.keepsHistory)
    changes.push(...(await makeCurrentViews(publication)));
  const keys = await givenKeys(publication);
  return { rows, already: false, changes, ...merged, ...(keys === null ? {} : { keys }) };
}

interface PublishedRows {
  readonly rows: Record<string, number>;
  readonly merged?: MergeCounts;
}

function isWanted({ plan }: MysqlPublication, table: MysqlStagedTable): boolean {
  return table.rows > 0 || plan.allTables || plan.saveMode === 'write-schema';
}

/** Publishes by one RENAME TABLE: tables of the model are new or overwritten, and those beside the data are made again with their rows. */
async function rename(publication: MysqlPublication): Promise<PublishedRows> {
  const { database, plan, token, known, staged, sides, staging } = publication;
  const merges = plan.saveMode === 'merge';
  if (merges) await stageMerge(publication);
  const moves: string[] = [];
  const gone: string[] = [];
  let number = 0;
  /** by their names in the target: tables that this job makes under other names */
  const madeNames = new Map<string, string>();
  const relation = (name: string): string => quote(madeNames.get(name) ?? name);
  const made = { ...publication, driver: { ...mysqlDriver, relation } };
  const appears = (as: string, name: string): void => {
    vanishes(name);
    madeNames.set(name, as);
    moves.push(`${quote(as)} TO ${quote(name)}`);
  };
  const vanishes = (name: string): void => {
    const there = known.get(foldedName(name));
    if (there === undefined) return;
    const old = `${token}_old_${(number += 1)}`;
    gone.push(old);
    moves.push(`${quote(there.name)} TO ${quote(old)}`);
  };
  const rows: Record<string, number> = {};
  for (const [index, table] of staged.entries()) {
    if (!isWanted(publication, table)) {
      if (plan.saveMode === 'overwrite') vanishes(table.physical.name);
      continue;
    }
    await staging.make(table);
    for (const statement of parentIndexes(table.physical, table.name)) await database.run(statement);
    appears(table.name, table.physical.name);
    const count =
      plan.keys === 'hash'
        ? Number((await database.rows(`SELECT count(*) FROM ${quote(table.name)}`))[0]![0])
        : table.rows;
    if (count > 0 && index < plan.model.tables.length) rows[plan.model.tables[index]!.name] = count;
  }
  const overwritten = plan.saveMode === 'overwrite' ? await clearedDocuments(publication) : null;
  const cleared = overwritten?.cleared ?? null;
  for (const table of overwritten?.earlier ?? []) {
    const left = `${token}_left_${(number += 1)}`;
    await keepOthersRows(publication, table.name, left, cleared!);
    appears(left, table.name);
  }
  for (const { list, owner, column, key } of overwritten?.earlierLists ?? []) {
    const left = `${token}_left_${(number += 1)}`;
    const owners = `JOIN ${quote(owner)} o ON o.${quote(key)} = i.${quote(column)}`;
    await keepOthersRows(publication, list, left, cleared!, owners);
    appears(left, list);
  }
  for (const [side, { name, columns }] of Object.entries(sideTableDefinitions) as [
    SideTableName,
    (typeof sideTableDefinitions)[SideTableName],
  ][]) {
    const madeName = `${token}_${side}`;
    const own = sides.get(side);
    if (own?.isMade !== true) {
      const definition = { ...sideTableDefinitions[side], name: madeName };
      await runAll(database, sideTable(mysqlDriver.dialect, definition));
    } else if (own.name !== madeName) throw new Error(`${side} is staged as ${own.name}`);
    const hasMore = side === 'documents' && (merges || knowsMerges(known));
    if (hasMore && !(merges && own?.isMade === true))
      await addMergeColumns(publication, undefined, quote(madeName));
    const ofSide = columns.map((column) => quote(column.name)).join(', ');
    const list = hasMore && knowsMerges(known) ? `${ofSide}, ${mergeColumnList}` : ofSide;
    if (known.has(foldedName(name))) {
      const isCleared = cleared !== null && columns[0]!.name === fileKeyName;
      const kept = isCleared
        ? ` WHERE ${quote(fileKeyName)} NOT IN (SELECT ${quote(fileKeyName)} FROM ${cleared})`
        : '';
      // rows of documents that were there are the same rows
      const ignore = plan.keys === 'hash' ? ' IGNORE' : '';
      await database.run(
        `INSERT${ignore} INTO ${quote(madeName)} (${list}) SELECT ${list} FROM ${quote(name)}${kept}`,
      );
    }
    appears(madeName, name);
    if (hasMore) await nameUnmerged(made);
  }
  await writeJobTexts(made, (table, at) => table.isTurned(at));
  await keepJobKeys(made);
  await noteJob(made, addedBy({ documents: sides.get('documents')?.rows ?? 0, rows }, null));
  const merged = merges ? { merged: { replaced: 0, deleted: 0 } } : {};
  await passFence(publication.fence, merged.merged);
  await database.run(`RENAME TABLE ${moves.join(', ')}`);
  // what cannot be dropped now, the next job drops
  for (const name of gone) await database.run(`DROP TABLE IF EXISTS ${quote(name)}`).catch(() => 0);
  return { rows, ...merged };
}

/** Publishes by one transaction, once the tables that are there can take the rows of the job. */
async function insert(publication: MysqlPublication): Promise<PublishedRows> {
  const { database, plan, known, staged, sides } = publication;
  const { tables } = publication.drawn;
  const made: string[] = [];
  try {
    made.push(...Object.values(sideTableNames).filter((name) => !known.has(name)));
    await makeSideTables(publication);
    const values = new Map<MysqlStagedTable, readonly string[]>();
    const adapted = new Map<MysqlStagedTable, AdaptedTable>();
    for (const [index, table] of staged.entries()) {
      if (!isWanted(publication, table)) continue;
      const there = known.get(foldedName(table.physical.name));
      if (there !== undefined) {
        const written = (at: number, into: string): string | null =>
          everyWrittenText(publication, index, at, { table: there.name, column: into });
        const changed = await adaptTable(publication, table, there, written);
        values.set(table, changed.values);
        adapted.set(table, changed);
      } else {
        await database.run(tableStatement(table.needed, tables[index]!.name, (at) => table.isNullable(at)));
        made.push(tables[index]!.name);
        for (const statement of parentIndexes(table.physical, tables[index]!.name))
          await database.run(statement);
        values.set(
          table,
          table.columns.map(({ name }) => `s.${quote(name)}`),
        );
      }
    }
    const merge = plan.saveMode === 'merge' ? await stageMerge(publication) : null;
    if (merge !== null) await addMergeColumns(publication, known.get(sideTableNames.documents)?.columns);
    await database.run(mysqlDriver.begin);
    const scope = { ...publication, model: plan.model };
    const merged =
      merge === null
        ? null
        : await takeReplaced(scope, publication.merge, quote(merge.documents), merge.moment);
    const rows: Record<string, number> = {};
    // before the documents: what belongs to one that is there already is there
    for (const side of ['unmapped', 'lexical', 'documents'] as const) {
      const table = sides.get(side);
      if (table?.isMade !== true) continue;
      const names = table.columns.map(({ name }) => `s.${quote(name)}`);
      const more = merge !== null && side === 'documents' ? `, ${mergeColumnList}` : '';
      await insertRows(publication, table, names, sideTableNames[side], more);
    }
    for (const [table, expressions] of values) {
      if (table.rows === 0) continue;
      const count = await insertRows(publication, table, expressions, table.physical.name);
      const index = staged.indexOf(table);
      if (count > 0 && index < plan.model.tables.length) rows[plan.model.tables[index]!.name] = count;
    }
    const isText = (table: MysqlStagedTable, at: number): boolean =>
      table.isTurned(at) || adapted.get(table)?.texts.has(at) === true;
    await writeJobTexts(publication, isText);
    await keepJobKeys(publication);
    await noteJob(publication, addedBy({ documents: sides.get('documents')?.rows ?? 0, rows }, merged));
    await passFence(publication.fence, merged?.counts);
    await database.run('COMMIT');
    return { rows, ...(merged === null ? {} : { merged: merged.counts }) };
  } catch (error) {
    // the first fault is the one to tell; a connection that is lost has rolled back, and empty tables are the next load's to fill
    await database.run('ROLLBACK').catch(() => 0);
    for (const name of made) await dropEmpty(database, name);
    throw error;
  }
}

/** Columns that are text, and not in the model, say what documents of the job say; those of others do already. */
async function writeJobTexts(
  publication: MysqlPublication,
  isText: (table: MysqlStagedTable, at: number) => boolean,
): Promise<void> {
  const { database, drawn, staged, sides } = publication;
  const hasWritten = (sides.get('lexical')?.rows ?? 0) > 0;
  await writeTexts(publication, hasWritten, (index, at) =>
    staged[index]!.rows > 0 && isText(staged[index]!, at) ? 'text' : null,
  );
  if (!hasWritten) return;
  for (const list of drawn.lists) {
    const items = list.table === null ? undefined : staged[list.table];
    if (items === undefined || items.rows === 0 || !isText(items, itemAt)) continue;
    const into = { table: items.physical.name, column: items.columns[itemAt]!.name };
    await database.run(writtenItemsStatement(publication, list, into, false));
  }
}

function keepJobKeys(publication: MysqlPublication): Promise<void> {
  const filled = publication.staged.filter(({ rows }) => rows > 0).map(({ physical }) => physical);
  return keepKeys(publication, filled, (publication.sides.get('documents')?.rows ?? 0) > 0);
}

/** place of the item in the columns of a list's table, behind its key, the key of the row that has the list, and the position */
const itemAt = 3;

/** Statement that writes what documents say into the items of a list: the words of the list as it is written, by their positions. */
function writtenItemsStatement(
  { driver, plan, drawn }: MysqlPublication,
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

/** Of a column of the model, what documents of all jobs say, into a column of the target; null: it has no other texts. */
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

async function dropEmpty(database: Mysql, name: string): Promise<void> {
  try {
    if ((await database.rows(`SELECT 1 FROM ${quote(name)} LIMIT 1`)).length === 0)
      await database.run(`DROP TABLE ${quote(name)}`);
  } catch {
    // the fault that led here is told
  }
}

function insertRows(
  { database, plan }: MysqlPublication,
  table: MysqlStagedTable,
  values: readonly string[],
  into: string,
  /** further columns, the same in both */
  more = '',
): Promise<number> {
  const columns = table.columns.map(({ name }) => quote(name)).join(', ');
  const [key] = table.physical.primaryKey;
  let only = '';
  if (plan.keys === 'hash')
    only =
      key === undefined
        ? ` WHERE NOT EXISTS (SELECT 1 FROM ${quote(sideTableNames.documents)} d WHERE d.${quote(fileKeyName)} = s.${quote(fileKeyName)})`
        : ` WHERE NOT EXISTS (SELECT 1 FROM ${quote(into)} t WHERE t.${quote(key)} = s.${quote(key)})`;
  const distinct = plan.keys === 'hash' && key === undefined ? 'DISTINCT ' : '';
  return database.run(
    `INSERT INTO ${quote(into)} (${columns}${more}) SELECT ${distinct}${values.join(', ')}${more} FROM ${quote(table.name)} s${only}`,
  );
}

interface ClearedDocuments {
  /** a table of the keys of documents whose rows go, as statements write it; one that rows of somebody else name stays */
  readonly cleared: string;
  /** tables of other versions with rows of theirs: documents go whole */
  readonly earlier: readonly FoundTable[];
  readonly earlierLists: readonly ListOfRows[];
}

/** Null if nothing was loaded there. */
async function clearedDocuments(publication: MysqlPublication): Promise<ClearedDocuments | null> {
  const { database, plan, token, known } = publication;
  if (!known.has(sideTableNames.documents) || !known.has(sideTableNames.loads)) return null;
  const notes = {
    make: async (definition: string) => {
      const name = quote(`${token}_cleared`);
      await database.run(`CREATE TABLE ${name} (PRIMARY KEY (${quote(fileKeyName)})) ${definition}`);
      return name;
    },
    // goes with the staging
    drop: () => Promise.resolve(),
  };
  const { cleared, areOfOthers } = await noteOverwritten({
    ...publication,
    driver: { ...mysqlDriver, notes },
  });
  const scope = { ...publication, model: plan.model };
  const found = areOfOthers ? await earlierTables(scope) : { tables: [], lists: [] };
  const earlier: FoundTable[] = [];
  for (const table of found.tables) {
    const rows = await database.rows(
      `SELECT 1 FROM ${quote(table.name)} t JOIN ${cleared} c ON c.${quote(fileKeyName)} = t.${quote(fileKeyName)} LIMIT 1`,
    );
    if (rows.length > 0) earlier.push(table);
  }
  // a document stays while rows of tables that stay name it
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
  /** `JOIN … ON …` of its rows with those that name their documents; absent: they do */
  owners?: string,
): Promise<void> {
  const rows = `${quote(name)} i ${owners ?? ''}`;
  const naming = owners === undefined ? 'i' : 'o';
  await database.run(`CREATE TABLE ${quote(made)} LIKE ${quote(name)}`);
  await database.run(
    `INSERT INTO ${quote(made)} SELECT i.* FROM ${rows} LEFT JOIN ${cleared} c ON c.${quote(fileKeyName)} = ${naming}.${quote(fileKeyName)} WHERE c.${quote(fileKeyName)} IS NULL`,
  );
  changes.push(`${name}: rows of documents that were overwritten are gone`);
}

interface StagedMerge {
  /** table of the job's documents: `name`, `written`, `key`, `sha256` */
  readonly documents: string;
  /** an expression for the time from which they are valid */
  readonly moment: string;
}

/** Before the transaction, as each change of a table would end it: what the rows of the job's documents are to say is in the staged ones. */
async function stageMerge(publication: MysqlPublication): Promise<StagedMerge> {
  const { database, driver, known, sides, token, merge } = publication;
  const [key, from] = mergeColumns.map(({ name }) => quote(name)) as [string, string];
  const documents = `${token}_merge`;
  await database.run(
    `CREATE TABLE ${quote(documents)} (name LONGTEXT NOT NULL, written CHAR(64) NOT NULL, ${key} LONGTEXT NOT NULL, sha256 CHAR(64) NOT NULL, INDEX (written), INDEX (${key}(255)))
       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ENGINE = InnoDB`,
  );
  await noteDocuments(publication, quote(documents), merge);
  const latest = knowsMerges(known) ? await driver.latestChange(database) : null;
  const moment = driver.instant(momentAfter(latest));
  const staged = sides.get('documents');
  if (staged?.isMade === true) {
    await addMergeColumns(publication, undefined, quote(staged.name));
    await database.run(
      `UPDATE ${quote(staged.name)} s JOIN ${quote(documents)} m ON m.written = s.sha256 AND m.name = s.name
          SET s.${key} = m.${key}, s.sha256 = m.sha256, s.${from} = ${moment}`,
    );
  }
  return { documents, moment };
}

/**
 * Makes the views of rows that are current (`--history`), once the job is published, as each of them would end its transaction. No fault of one fails the
 * load. Returns lines for the log.
 */
async function makeCurrentViews({
  database,
  plan: { model },
  drawn: { tables },
}: MysqlPublication): Promise<readonly string[]> {
  const known = await readTables(database);
  const definitions = await database.rows(
    'SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()',
  );
  const ours = new Set(
    definitions.flatMap(([name, text]) =>
      text?.includes(sideTableNames.documents) === true && text.includes('valid_to')
        ? [foldedName(name!)]
        : [],
    ),
  );
  const views = currentViews(model, {
    dialect: mysql,
    sqlSchema: null,
    columnsOf: (table) => {
      const there = known.get(foldedName(tables[table]!.name));
      return there === undefined ? null : [...there.columns.values()].map(({ name }) => name);
    },
  });
  const told: string[] = [];
  for (const { name, statements } of views) {
    if (known.has(foldedName(name)) && !ours.has(foldedName(name))) {
      told.push(`${name}: not made as a view, no load made what has this name`);
      continue;
    }
    try {
      await database.run(statements[0]!.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW'));
    } catch (error) {
      told.push(`${name}: no view could be made: ${(error as Error).message}`);
    }
  }
  return told;
}
