/**
 * Publishing in MySQL, where every change of a table commits. Tables that are new or overwritten appear by one RENAME TABLE, those beside the
 * data and the ledger among them. Rows for tables that are there go in by one transaction with the ledger's row, once these can take them.
 */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import {
  fileKeyName,
  sideTableDefinitions,
  sideTableNames,
  type SideTableName,
} from '../../../engine/model/side-tables.ts';
import type { MergeCounts, MergeOrder } from '../../../ports/rows/merge.ts';
import type { Fence, Published, SinkPlan } from '../../../ports/rows/sink.ts';
import type { Merging } from '../../rows/merging.ts';
import { passFence } from '../../rows/staged-rows.ts';
import { widenedWords } from '../../rows/unfit-columns.ts';
import { isWrittenText, textColumns, type TextColumn } from '../../rows/written-texts.ts';
import type { Mysql } from './connection.ts';
import type { ListTable } from '../../../engine/sql/list-tables.ts';
import { adaptTable, type AdaptedTable } from './alter-tables.ts';
import { makeCurrentViews } from './current-views.ts';
import { addMergeColumns, callByName, knowsMerges, mergeColumnList, stageMerge } from './merge.ts';
import type { MysqlStagedTable, Staging } from './staging.ts';
import { clearedDocuments, keepOthersRows } from './overwrite.ts';
import type { DrawnModel } from '../drawn-model.ts';
import type { FoundTables } from '../found-tables.ts';
import { givenKeys } from '../keys.ts';
import { takeReplaced } from '../merge.ts';
import { mysqlDriver } from './driver.ts';
import { foldedName, parentIndexes, sideTableStatement, tableStatement } from './tables.ts';
import { ledgerStatement } from '../../rows/ledger.ts';

export interface MysqlPublication {
  readonly database: Mysql;
  readonly plan: SinkPlan;
  readonly token: string;
  readonly drawn: DrawnModel;
  readonly staged: readonly MysqlStagedTable[];
  readonly sides: ReadonlyMap<SideTableName, MysqlStagedTable>;
  readonly staging: Staging;
  known: FoundTables;
  readonly merge: MergeOrder;
  readonly fence: Fence;
  readonly changes: string[];
}

const { quote } = mysql;

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
    changes.push(...(await makeCurrentViews(publication.database, plan, tables)));
  const keys = await givenKeys({ ...publication, driver: mysqlDriver });
  return { rows, already: false, changes, ...merged, ...(keys === null ? {} : { keys }) };
}

interface PublishedRows {
  readonly rows: Record<string, number>;
  readonly merged?: MergeCounts;
}

function isWanted({ plan }: MysqlPublication, table: MysqlStagedTable): boolean {
  return table.rows > 0 || plan.allTables || plan.saveMode === 'write-schema';
}

async function rename(publication: MysqlPublication): Promise<PublishedRows> {
  const { database, plan, token, known, staged, sides, staging } = publication;
  const merges = plan.saveMode === 'merge';
  if (merges) await stageMerge(database, publication.merge, known, sides.get('documents'), token);
  const moves: string[] = [];
  const gone: string[] = [];
  let number = 0;
  const appears = (made: string, name: string): void => {
    vanishes(name);
    moves.push(`${quote(made)} TO ${quote(name)}`);
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
    const made = `${token}_left_${(number += 1)}`;
    await keepOthersRows(publication, table.name, made, cleared!);
    appears(made, table.name);
  }
  for (const { list, owner, column, key } of overwritten?.earlierLists ?? []) {
    const made = `${token}_left_${(number += 1)}`;
    const owners = `JOIN ${quote(owner)} o ON o.${quote(key)} = i.${quote(column)}`;
    await keepOthersRows(publication, list, made, cleared!, owners);
    appears(made, list);
  }
  for (const [side, { name, columns }] of Object.entries(sideTableDefinitions) as [
    SideTableName,
    (typeof sideTableDefinitions)[SideTableName],
  ][]) {
    const made = `${token}_${side}`;
    const own = sides.get(side);
    if (own?.isMade !== true) await database.run(sideTableStatement(sideTableDefinitions[side], made));
    else if (own.name !== made) throw new Error(`${side} is staged as ${own.name}`);
    const hasMore = side === 'documents' && (merges || knowsMerges(known));
    if (hasMore && !(merges && own?.isMade === true)) await addMergeColumns(database, made);
    const ofSide = columns.map((column) => quote(column.name)).join(', ');
    const list = hasMore && knowsMerges(known) ? `${ofSide}, ${mergeColumnList}` : ofSide;
    if (known.has(foldedName(name))) {
      const isCleared = cleared !== null && columns[0]!.name === fileKeyName;
      const kept = isCleared
        ? ` WHERE ${quote(fileKeyName)} NOT IN (SELECT ${quote(fileKeyName)} FROM ${quote(cleared)})`
        : '';
      // rows of documents that were there are the same rows
      const ignore = plan.keys === 'hash' ? ' IGNORE' : '';
      await database.run(
        `INSERT${ignore} INTO ${quote(made)} (${list}) SELECT ${list} FROM ${quote(name)}${kept}`,
      );
    }
    if (hasMore) await callByName(database, made);
    appears(made, name);
  }
  const madeSide = (side: SideTableName): string => `${token}_${side}`;
  await writeTexts(
    publication,
    (table, at) => table.isTurned(at),
    ({ name }) => name,
    (name) => quote(name === sideTableNames.lexical ? madeSide('lexical') : madeSide('documents')),
  );
  for (const statement of keyStatements(
    publication,
    madeSide('keys'),
    ({ name }) => name,
    madeSide('documents'),
  ))
    await database.run(statement);
  const documents = sides.get('documents')?.rows ?? 0;
  await database.run(loadsStatement(publication, madeSide('loads'), documents, rows));
  const merged = merges ? { merged: { replaced: 0, deleted: 0 } } : {};
  await passFence(publication.fence, merged.merged);
  await database.run(`RENAME TABLE ${moves.join(', ')}`);
  // what cannot be dropped now, the next job drops
  for (const name of gone) await database.run(`DROP TABLE IF EXISTS ${quote(name)}`).catch(() => 0);
  return { rows, ...merged };
}

async function insert(publication: MysqlPublication): Promise<PublishedRows> {
  const { database, plan, known, staged, sides, token } = publication;
  const { tables } = publication.drawn;
  const made: string[] = [];
  try {
    for (const definition of Object.values(sideTableDefinitions)) {
      if (known.has(foldedName(definition.name))) continue;
      await database.run(sideTableStatement(definition, definition.name));
      made.push(definition.name);
    }
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
    const merge =
      plan.saveMode === 'merge'
        ? await stageMerge(database, publication.merge, known, sides.get('documents'), token)
        : null;
    if (merge !== null && !knowsMerges(known)) await addMergeColumns(database, sideTableNames.documents);
    await database.run(mysqlDriver.begin);
    const merged =
      merge === null
        ? null
        : await takeReplaced(
            {
              database,
              driver: mysqlDriver,
              model: plan.model,
              drawn: publication.drawn,
              known,
            },
            merge.order,
            quote(merge.documents),
            merge.moment,
          );
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
    await writeTexts(publication, isText, ({ physical }) => physical.name, quote);
    for (const statement of keyStatements(
      publication,
      sideTableNames.keys,
      ({ physical }) => physical.name,
      sideTableNames.documents,
    ))
      await database.run(statement);
    await database.run(
      loadsStatement(publication, sideTableNames.loads, sides.get('documents')?.rows ?? 0, rows, merged),
    );
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

/**
 * Columns that are text, and not in the model, say what documents of the job say; those of others do already. `relation`: of a table beside the
 * data.
 */
async function writeTexts(
  publication: MysqlPublication,
  isText: (table: MysqlStagedTable, at: number) => boolean,
  tableOf: (table: MysqlStagedTable) => string,
  relation: (name: string) => string,
): Promise<void> {
  const { database, plan, staged, sides } = publication;
  const { tables, lists } = publication.drawn;
  const ofModel = (index: number, at: number) =>
    staged[index]!.rows > 0 && isText(staged[index]!, at) ? 'text' : null;
  const hasWritten = (sides.get('lexical')?.rows ?? 0) > 0;
  for (const column of textColumns(plan.model, tables, hasWritten, ofModel)) {
    const table = tableOf(staged.find(({ physical }) => physical.name === column.table)!);
    await database.run(writtenTextStatement(publication, column, table, relation));
  }
  if (!hasWritten) return;
  for (const list of lists) {
    const items = list.table === null ? undefined : staged[list.table];
    if (items === undefined || items.rows === 0 || !isText(items, itemAt)) continue;
    const into = { table: tableOf(items), column: items.columns[itemAt]!.name };
    await database.run(writtenItemsStatement(publication, list, into, { isTurned: false, relation }));
  }
}

/** place of the item in the columns of a list's table, behind its key, the key of the row that has the list, and the position */
const itemAt = 3;

/** Statement that writes what documents say into the items of a list: the words of the list as it is written, by their positions. */
function writtenItemsStatement(
  { plan, drawn }: MysqlPublication,
  { owner, column, table }: ListTable,
  into: { readonly table: string; readonly column: string },
  { isTurned, relation }: { readonly isTurned: boolean; readonly relation: (name: string) => string },
): string {
  const { name, columns } = plan.model.tables[owner]!;
  const of = { table: name, column: columns[column]!.name };
  const [, parent, position] = drawn.tables[table!]!.columns.map((one) => quote(one.name));
  const words = `TRIM(REGEXP_REPLACE(l.content, '[[:space:]]+', ' '))`;
  return `UPDATE ${quote(into.table)} i JOIN ${relation(sideTableNames.lexical)} l ON l.row_key = i.${parent} AND ${isWrittenText({ of, isTurned }, plan.jobUuid, relation, mysql.literal)}
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
  if (list !== undefined)
    return at === itemAt
      ? writtenItemsStatement(publication, list, into, { isTurned: true, relation: quote })
      : null;
  const isAsked = (of: number, column: number): boolean => of === index && column === at;
  const [column] = textColumns(plan.model, tables, false, (...place) =>
    isAsked(...place) ? 'turned' : null,
  );
  return column === undefined
    ? null
    : writtenTextStatement(publication, { ...column, ...into }, into.table, quote);
}

function writtenTextStatement(
  { plan }: MysqlPublication,
  column: TextColumn,
  table: string,
  relation: (name: string) => string,
): string {
  return `UPDATE ${quote(table)} t JOIN ${relation(sideTableNames.lexical)} l ON l.row_key = t.${quote(column.key)} AND ${isWrittenText(column, plan.jobUuid, relation, mysql.literal)}
    SET t.${quote(column.column)} = l.content`;
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

/** `_keys`: the highest key ever given out, of every table that took rows. */
function keyStatements(
  { plan, staged, sides }: MysqlPublication,
  into: string,
  tableOf: (table: MysqlStagedTable) => string,
  documents: string,
): string[] {
  // of tables whose keys are not counted it tells that loads made them
  const lastOf = (key: string, from: string): string =>
    plan.keys === 'hash' ? '0 AS highest' : `max(${quote(key)}) AS highest FROM ${quote(from)}`;
  const highest = staged.flatMap((table): (readonly [string, string, string])[] =>
    table.rows > 0 && table.physical.primaryKey.length > 0
      ? [[table.physical.name, table.physical.primaryKey[0]!, tableOf(table)]]
      : [],
  );
  if ((sides.get('documents')?.rows ?? 0) > 0)
    highest.push([sideTableNames.documents, fileKeyName, documents]);
  return highest.map(
    ([name, key, from]) =>
      `INSERT INTO ${quote(into)} (table_name, last_value) SELECT * FROM (SELECT ${mysql.literal(name)} AS name, ${lastOf(key, from)}) k
       ON DUPLICATE KEY UPDATE last_value = greatest(last_value, k.highest)`,
  );
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function loadsStatement(
  { plan }: MysqlPublication,
  into: string,
  documents: number,
  rows: Readonly<Record<string, number>>,
  merged: Pick<Merging<string>, 'removed'> | null = null,
): string {
  return ledgerStatement(
    plan,
    {
      documents: documents - (merged?.removed.documents ?? 0),
      rows: sumOf(rows) - sumOf(merged?.removed.rows ?? {}),
    },
    { into: quote(into), now: mysqlDriver.now(), quote },
  );
}
