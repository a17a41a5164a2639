/** The steps of publishing that are specific to PostgreSQL, within one transaction. */
import { sqlState } from '../../../postgres/connect.ts';
import {
  fileKeyName,
  mergeColumns,
  sideTableDefinitions,
  sideTableNames,
} from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { AppError } from '../../../errors.ts';
import { relationOf } from '../found-tables.ts';
import { keyOffsets as keysInUse, shiftedSideRows } from '../keys.ts';
import { deleteRowsElsewhere, noteOverwritten, keptTables, makeSideTables } from '../publish.ts';
import { newPublication, type KeyOffsets } from '../publication.ts';
import { deleteEarlierRows, deleteRows } from '../removal.ts';
import {
  addCodeChecks,
  existingCodes,
  dropChecks,
  publishCodes,
  type CheckedColumn,
  type CodesChoice,
  adaptTable,
  deferTurnedKeys,
  finishTables,
  loosenForeignKeys,
  makeTables,
  moveDocuments,
  moveStaged,
  converted,
  dropViewsOfNames,
  publishViews,
  setViewsAside,
  viewRefusal,
  viewStatements,
  viewTypes,
} from './tables.ts';
import {
  postgresWays,
  referringToDocuments,
  runAll,
  type PostgresDriver,
  type PostgresWays,
} from './driver.ts';
import { offsetBehind, relation, type Insertion, type PostgresPublication } from './publication.ts';
import { strayReferences, unconvertedValues, type StagedTable } from './staged-table.ts';

/** The state with which a publishing transaction starts. */
export type StartedPublication = Pick<
  PostgresPublication,
  | 'database'
  | 'tx'
  | 'sqlSchema'
  | 'plan'
  | 'drawn'
  | 'staging'
  | 'target'
  | 'merge'
  | 'countedFrom'
  | 'nullAllowed'
  | 'widened'
>;

/** Returns the publication of a transaction that has begun, whose staged rows are in their tables. */
export function postgresPublication(started: StartedPublication): PostgresPublication {
  const { target, staging, drawn, tx, sqlSchema } = started;
  const { count, elapsedMs } = staging.indexes;
  const own = {
    ...started,
    tables: drawn.tables,
    known: target.tables,
    staged: new Map([...staging.entries()].filter(([, { created }]) => created)),
    createdTables: new Set<string>(),
    present: new Set(target.tables.keys()),
    rekeyed: new Set<string>(),
    keyed: new Set<string>(),
    moved: new Set<StagedTable>(),
    insertions: [],
    addedColumns: new Set<string>(),
    uncheckedColumns: new Map<string, string>(),
    viewsAside: new Map<string, readonly string[]>(),
  };
  const driver = publishingDriver(postgresWays(tx, sqlSchema, drawn.tables), () => publication);
  const publication: PostgresPublication = {
    ...own,
    ...newPublication({ ...own, driver }),
    driver,
    nullAllowed: started.nullAllowed,
    indexes: { count, seconds: elapsedMs / 1000 },
  };
  return publication;
}

/** Returns the driver of one publication, which knows more than the shared steps. */
function publishingDriver(ways: PostgresWays, publicationOf: () => PostgresPublication): PostgresDriver {
  let offsets: KeyOffsets = new Map();
  /** types of the staged columns as `format_type` writes them, by name of the staged table and of the column */
  let types = new Map<string, Map<string, string>>();
  let keptCodes: CodesChoice = 'none';
  let checkedColumns: readonly CheckedColumn[] = [];
  /** rows of existing documents exist, too */
  let repeats = false;
  /** rows that were added, by table of the model */
  const added = new Map<number, number>();
  return {
    ...ways,
    title: 'PostgreSQL',
    // only a removal needs tables of other owners
    async readTables(database) {
      const { plan, target } = publicationOf();
      if (plan.saveMode !== 'merge' && plan.saveMode !== 'overwrite') return target.tables;
      return new Map([...(await ways.readTables(database)), ...target.tables]);
    },
    async readyTarget() {
      const publication = publicationOf();
      keptCodes = existingCodes(publication.target);
      await dropViewsOfNames(publication);
      await makeSideTables(publication);
      if (publication.plan.saveMode === 'overwrite') await clearTables(publication);
      return true;
    },
    keyOffsets: async () => (offsets = await keyOffsets(publicationOf())),
    async readyTables(_, lacking) {
      const publication = publicationOf();
      await widenStaged(publication);
      types = await stagedTypes(publication);
      const moves = lacking.filter((index) => canMove(publication, index, offsets));
      await makeTables(
        publication,
        lacking.filter((index) => !moves.includes(index)),
      );
      await moveTables(publication, moves);
    },
    async readyTable(_, index) {
      const publication = publicationOf();
      const { createdTables, tables, staging, target } = publication;
      const { name, columns } = tables[index]!;
      const staged = types.get(staging.get(index)!.name);
      if (createdTables.has(name)) return columns.map((column) => staged?.get(column.name) ?? column.sqlType);
      await adaptTable(publication, index, staged!);
      return columns.map((column) => target.tables.get(name)!.columns.get(column.name)!.type);
    },
    async publishCodes() {
      checkedColumns = await publishCodes(publicationOf(), keptCodes);
    },
    async beginRows() {
      await loosenForeignKeys(publicationOf());
      await deferTurnedKeys(publicationOf());
    },
    async addSideRows(_, side) {
      const publication = publicationOf();
      if (side !== 'documents') return addSideRows(publication, side, offsets);
      const count = await addDocuments(publication, offsets);
      repeats = publication.plan.keys === 'hash' && count < publication.staging.get('documents')!.rows;
      return count;
    },
    async addRows(_, index) {
      const publication = publicationOf();
      const { moved, createdTables, tables, staging, target } = publication;
      const [table, staged] = [tables[index]!, staging.get(index)!];
      let count = staged.rows;
      if (!moved.has(staged)) {
        const isNew = createdTables.has(table.name);
        const known = isNew ? undefined : target.tables.get(table.name)!.columns;
        count = await insertRows(publication, index, {
          staged,
          offsets,
          types: types.get(staged.name)!,
          known,
          repeats,
        });
        await checkTaken(publication, {
          table: table.name,
          key: table.primaryKey[0],
          offset: offsets.get(table.keysOf) ?? 0n,
          staged: staged.relation,
          stagedRows: staged.rows,
          added: count,
        });
      }
      added.set(index, count);
      return count;
    },
    async finishTables() {
      const publication = publicationOf();
      // keys of cycles are checked at the end: tables whose checks are pending cannot get the keys that follow
      await publication.tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
      await dropStrayReferences(publication);
      if (publication.plan.keys === 'hash' && !repeats) checkKeysDiffer(publication, added);
      await finishTables(publication);
      await addCodeChecks(publication, checkedColumns);
    },
    ...viewTypes,
    viewStatements: (view, comment) => viewStatements(publicationOf(), view, comment),
    viewRefusal,
    publishViews: () => publishViews(publicationOf()),
    async checkTaken() {
      const publication = publicationOf();
      const { plan, staged } = publication;
      const kept = keptTables(publication).flatMap(({ name, primaryKey }) =>
        primaryKey.length > 0 ? [name] : [],
      );
      if (staged.has('documents')) kept.push(sideTableNames.documents);
      await checkNamed(publication, sideTableNames.keys, 'table_name', kept);
      await checkNamed(publication, sideTableNames.loads, 'job_uuid', [plan.jobUuid]);
      await recheckInsertions(publication);
    },
  };
}

/** Checks that no document is there already: any row whose key is taken would be lost. `added`: rows by table of the model. */
function checkKeysDiffer({ tables, staging }: PostgresPublication, added: ReadonlyMap<number, number>): void {
  for (const [index, count] of added)
    if (count !== staging.get(index)!.rows) throw keysMeet(tables[index]!.name);
}

/**
 * Returns, by physical table name, including `_documents`, the number that is added to this job's keys. No key is given twice, even if the
 * rows that had it are gone: the counter outlives rows and tables.
 */
async function keyOffsets(publication: PostgresPublication): Promise<KeyOffsets> {
  const { plan, drawn, tables, countedFrom } = publication;
  if (plan.keys === 'hash') return new Map();
  const filled = tables.filter((_, index) => publication.staging.get(index)!.created);
  const needed = new Set(filled.flatMap((table) => [table.name, ...table.keyOwners.values()]));
  const used = await keysInUse({
    ...publication,
    drawn: { ...drawn, tables: tables.filter(({ name }) => needed.has(name)) },
  });
  return new Map(
    [...used].flatMap(([name, last]) => {
      const offset = last - BigInt(countedFrom.get(name) ?? 0);
      const isUsed = needed.has(name) || name === sideTableNames.documents;
      return isUsed && offset > 0n ? [[name, offset] as const] : [];
    }),
  );
}

/** Widens columns that have a value their type cannot hold: they become text or a wider number, and get the value. */
async function widenStaged(publication: PostgresPublication): Promise<void> {
  const { tx, staging, tables, widened, nullAllowed } = publication;
  if (widened.size === 0) return;
  const source = staging.get(unconvertedValues)!;
  for (const [id, type] of widened) {
    const [index, at] = id.split(':').map(Number) as [number, number];
    const staged = staging.get(index)!;
    const { name } = tables[index]!.columns[at]!;
    const key = tables[index]!.primaryKey[0]!;
    const types = await typesOf(publication, [staged]);
    const column = doubleQuoted(name);
    const wider = postgresql.typeName(type);
    const offset = offsetBehind(publication, index, at, () => true);
    await tx.unsafe(
      `ALTER TABLE ${staged.relation} ALTER COLUMN ${column} TYPE ${wider} USING ${converted(column, types.get(staged.name)!.get(name)!, wider, offset)};
       UPDATE ${staged.relation} s SET ${column} = m.content::${wider} FROM ${source.relation} m
        WHERE m.table_index = ${index} AND m.column_index = ${at} AND m.row_key = s.${doubleQuoted(key)}`,
    );
    // the column was empty so far if its value could not be held
    if (nullAllowed.has(id) && !(await hasNulls(tx, staged.relation, column))) nullAllowed.delete(id);
  }
}

async function hasNulls(tx: PostgresPublication['tx'], relation: string, column: string): Promise<boolean> {
  const [row] = await tx.unsafe<[{ found: boolean }]>(
    `SELECT EXISTS (SELECT 1 FROM ${relation} WHERE ${column} IS NULL) AS found`,
  );
  return row.found;
}

async function stagedTypes(publication: PostgresPublication): Promise<Map<string, Map<string, string>>> {
  const staged = [...publication.staging.entries()]
    .map(([, table]) => table)
    .filter((table) => table.created);
  return typesOf(publication, staged);
}

/** Returns column types by table and column name, as `format_type` writes them. */
async function typesOf(
  publication: PostgresPublication,
  staged: readonly StagedTable[],
): Promise<Map<string, Map<string, string>>> {
  const types = new Map<string, Map<string, string>>(staged.map((table) => [table.name, new Map()]));
  if (staged.length === 0) return types;
  const relations = JSON.stringify(staged.map((table) => table.relation));
  const rows = await publication.tx.unsafe<{ table: string; column: string; type: string }[]>(`
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
      FROM jsonb_array_elements_text(${standardLiteral(relations)}::jsonb) name
      JOIN pg_class c ON c.oid = name::regclass JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attnum > 0 AND NOT a.attisdropped`);
  for (const { table, column, type } of rows) types.get(table)!.set(column, type);
  return types;
}

/** Tests whether a staged table can become the target's own: no key in it may need to be shifted. */
function canMove(
  { tables, target, staging }: PostgresPublication,
  index: number,
  offsets: KeyOffsets,
): boolean {
  const staged = staging.get(index)!;
  if (!staged.created || !staged.form.logged || target.hasDefaultGrants) return false;
  return tables[index]!.keyOwners.values().every((owner) => !offsets.has(owner));
}

async function moveTables(publication: PostgresPublication, indexes: readonly number[]): Promise<void> {
  const { tables, staging } = publication;
  const moves = indexes.map((index) => ({ staged: staging.get(index)!, name: tables[index]!.name }));
  await moveStaged(publication, moves);
  for (const { staged, name } of moves) {
    if (staged.keyed) publication.keyed.add(name);
    publication.createdTables.add(name);
    publication.present.add(name);
  }
}

/**
 * Drops foreign keys of moved tables to staged tables that were not moved. A table may exist now that did not when the job began: it gets
 * the rows, and the staged table that others refer to is dropped.
 */
async function dropStrayReferences(publication: PostgresPublication): Promise<void> {
  const { moved, staging, tables, tx } = publication;
  for (const { table, reference } of strayReferences(moved, (key) => staging.get(key)!)) {
    const { name } = tables[table.key as number]!;
    await tx.unsafe(
      `ALTER TABLE ${relation(publication, name)} DROP CONSTRAINT ${doubleQuoted(reference.name)}`,
    );
    table.references.splice(table.references.indexOf(reference), 1);
  }
}

/** Returns columns and values of `_documents` for documents that are staged in `d`. */
function mergedDocuments({ driver, merging }: PostgresPublication): {
  readonly columns: string;
  readonly values: string;
  readonly sha256: string;
  readonly join: string;
} {
  if (merging === null) return { columns: '', values: '', sha256: 'd.sha256', join: '' };
  const [key, from] = mergeColumns.map(({ name }) => doubleQuoted(name)) as [string, string];
  return {
    columns: `, ${key}, ${from}`,
    values: `, m.${key}, ${driver.instant(merging.moment)}`,
    sha256: 'm.sha256',
    join: ` JOIN ${merging.documents} m ON m.name = d.name AND m.written = d.sha256`,
  };
}

async function addDocuments(publication: PostgresPublication, offsets: KeyOffsets): Promise<number> {
  const { tx, plan, staging } = publication;
  const staged = staging.get('documents')!;
  const offset = offsets.get(sideTableNames.documents) ?? 0n;
  if (offset === 0n && (await moveDocuments(publication, staged))) return staged.rows;
  const conflict = plan.keys === 'hash' ? ' ON CONFLICT DO NOTHING' : '';
  const merged = mergedDocuments(publication);
  const { count } = await tx.unsafe(
    `INSERT INTO ${relation(publication, sideTableNames.documents)} (document_key, name, sha256, bytes, loaded_at, job, job_uuid${merged.columns})
     SELECT d.document_key + ${offset}, d.name, ${merged.sha256}, d.bytes, d.loaded_at, d.job, d.job_uuid${merged.values} FROM ${staged.relation} d${merged.join}${conflict}`,
  );
  await checkTaken(publication, {
    table: sideTableNames.documents,
    key: sideTableDefinitions.documents.primaryKey[0],
    offset,
    staged: staged.relation,
    stagedRows: staged.rows,
    added: count,
  });
  return count;
}

/** Adds rows of `_unmapped` and `_lexical`, which refer to rows of any table, each with its own shift. */
async function addSideRows(
  publication: PostgresPublication,
  side: 'unmapped' | 'lexical',
  offsets: KeyOffsets,
): Promise<number> {
  const { plan, staging } = publication;
  const staged = staging.get(side)!;
  const columns = sideTableDefinitions[side].columns.map((column) => column.name);
  const value = (at: number): string => `s.${columns[at]!}`;
  const { values, join } = shiftedSideRows(publication, side, offsets, { value, text: value });
  const [distinct, isNew] =
    plan.keys === 'hash'
      ? [
          'DISTINCT ',
          ` WHERE NOT EXISTS (SELECT FROM ${relation(publication, sideTableNames.documents)} d WHERE d.document_key = s.document_key)`,
        ]
      : ['', ''];
  const given = `SELECT ${distinct}${values.join(', ')} FROM ${staged.relation} s${join}${isNew}`;
  const list = columns.map(doubleQuoted).join(', ');
  const { count } = await publication.tx.unsafe(
    `INSERT INTO ${relation(publication, sideTableNames[side])} (${list}) ${given}`,
  );
  await checkSideTaken(publication, { table: sideTableNames[side], columns: list, given });
  return count;
}

interface RowInsertion {
  readonly staged: StagedTable;
  /** by physical table name: the number added to keys */
  readonly offsets: KeyOffsets;
  /** types of the staged columns as `format_type` writes them */
  readonly types: ReadonlyMap<string, string>;
  /** columns of a table that existed before */
  readonly known: ReadonlyMap<string, { readonly type: string }> | undefined;
  /** rows may exist already, and are then skipped: a lookup for each costs half as much again as its insertion */
  readonly repeats: boolean;
}

/**
 * Inserts staged rows into a table that existed before; returns their number. Constraints of the schema that the rows violate are dropped.
 */
export async function insertRows(
  publication: PostgresPublication,
  index: number,
  { staged, offsets, types, known, repeats }: RowInsertion,
): Promise<number> {
  const { tx } = publication;
  const table = publication.tables[index]!;
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0n : (offsets.get(owner) ?? 0n);
    const value = offset === 0n ? doubleQuoted(name) : `${doubleQuoted(name)} + ${offset}`;
    const type = types.get(name)!;
    const written = offsetBehind(publication, index, at, () => true);
    return converted(value, type, known?.get(name)?.type ?? type, written);
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const conflict = repeats ? ' ON CONFLICT DO NOTHING' : '';
  const statement = `INSERT INTO ${relation(publication, table.name)} (${columns}) SELECT ${values.join(', ')} FROM ${staged.relation}${conflict}`;
  for (;;) {
    const checks = publication.target.checks.filter((check) => check.table === table.name);
    try {
      const { count } =
        table.uniqueKeys.length === 0 && checks.length === 0
          ? await tx.unsafe(statement)
          : await tx.savepoint((savepoint) => savepoint.unsafe(statement));
      return count;
    } catch (error) {
      const { constraint_name: constraint } = error as { readonly constraint_name?: string };
      if (sqlState(error) === '23514' && checks.some(({ name }) => name === constraint)) {
        // values of documents are loaded even if the schema does not list them
        await dropChecks(publication, ({ name }) => name === constraint, table.name);
        continue;
      }
      const broken = sqlState(error) === '23505' ? constraint : undefined;
      if (!table.uniqueKeys.some((key) => key.name === broken)) throw error;
      // a natural key is optional
      await tx.unsafe(
        `ALTER TABLE ${relation(publication, table.name)} DROP CONSTRAINT ${doubleQuoted(broken!)}`,
      );
      publication.changes.push(`${table.name}: unique key ${broken} dropped because values repeat`);
      const { columns: own } = table.uniqueKeys.find((key) => key.name === broken)!;
      publication.brokenKeys.push({ table: table.name, columns: own });
    }
  }
}

/**
 * Reports that hashed keys of two documents are the same, which the database detects when it makes or maintains a primary key. `table`: its
 * name in the target.
 */
function keysMeet(table: string): AppError {
  return new AppError(
    'conflict',
    `${table}: two documents have the same generated key (--keys hash); load these documents with --keys sequence into another target.`,
  );
}

/**
 * Returns a fault that explains the database's error if it reports a duplicate key, or else the error itself. `nameOf`: maps the name of a
 * staged table to its name in the target.
 */
export function keyFault(error: unknown, nameOf: (table: string) => string): unknown {
  if (sqlState(error) !== '23505') return error;
  const { table_name: table = '' } = error as { readonly table_name?: string };
  return keysMeet(nameOf(table));
}

/** Throws AppError `conflict` if a row is missing; changes that triggers made to its values are the owner's concern. */
export async function checkTaken(publication: PostgresPublication, insertion: Insertion): Promise<void> {
  const { key, stagedRows, added } = insertion;
  // with hashed keys, rows whose keys are already there are skipped
  const isWhole = publication.plan.keys === 'hash' || added === stagedRows;
  if (key === undefined) return;
  publication.insertions.push(insertion);
  if (!isWhole || hasOwnCode(publication, insertion.table)) await checkInsertion(publication, insertion);
}

/** Checks again at the end, because triggers of any table, including deferred ones, may have removed rows. */
export async function recheckInsertions(publication: PostgresPublication): Promise<void> {
  const { target, tx, insertions, moved } = publication;
  if (!target.hasEventTriggers && !target.tables.values().some((table) => table.hasOwnCode)) return;
  // a trigger may have deferred again a check that should run at the end
  await tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
  for (const insertion of insertions) await checkInsertion(publication, insertion);
  if (!target.hasEventTriggers) return;
  for (const { form, rows } of moved) {
    const name = form.tableName!;
    const [{ there }] = (await tx.unsafe(
      `SELECT count(*)::int8 AS there FROM ${relation(publication, name)}`,
    )) as unknown as [{ there: number }];
    if (there !== rows) throw keptOut(name, rows - there, rows);
  }
}

/** Like `checkTaken`, for a table without keys. `columns`: quoted; `given`: the query whose rows were inserted into them. */
export async function checkSideTaken(
  publication: PostgresPublication,
  { table, columns, given }: { readonly table: string; readonly columns: string; readonly given: string },
): Promise<void> {
  if (!hasOwnCode(publication, table)) return;
  const [{ missing, rows }] = (await publication.tx.unsafe(
    `WITH given AS (${given})
     SELECT (SELECT count(*) FROM given)::int8 AS rows, (SELECT count(*) FROM (
       SELECT * FROM given EXCEPT ALL
       SELECT ${columns} FROM ${relation(publication, table)} WHERE document_key IN (SELECT document_key FROM given)) x)::int8 AS missing`,
  )) as unknown as [{ missing: number; rows: number }];
  if (missing > 0) throw keptOut(table, missing, rows);
}

/** Like `checkTaken`, for rows that are identified by a value: each of the values must be in the column. */
export async function checkNamed(
  publication: PostgresPublication,
  table: string,
  column: string,
  values: readonly string[],
): Promise<void> {
  if (!hasOwnCode(publication, table) || values.length === 0) return;
  const [{ missing }] = (await publication.tx.unsafe(
    `SELECT count(*)::int8 AS missing FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(values))}::jsonb) v
      WHERE v NOT IN (SELECT ${doubleQuoted(column)}::text FROM ${relation(publication, table)})`,
  )) as unknown as [{ missing: number }];
  if (missing > 0) throw keptOut(table, missing, values.length);
}

function hasOwnCode({ target }: PostgresPublication, table: string): boolean {
  return target.hasEventTriggers || target.tables.get(table)?.hasOwnCode === true;
}

async function checkInsertion(publication: PostgresPublication, insertion: Insertion): Promise<void> {
  const { table, key, offset, staged, stagedRows } = insertion;
  const name = doubleQuoted(key!);
  const [{ missing }] = (await publication.tx.unsafe(
    `SELECT count(*)::int8 AS missing FROM ${staged} s
      WHERE NOT EXISTS (SELECT FROM ${relation(publication, table)} t WHERE t.${name} = s.${name} + ${offset})`,
  )) as unknown as [{ missing: number }];
  if (missing > 0) throw keptOut(table, missing, stagedRows);
}

function keptOut(table: string, missing: number, rows: number): AppError {
  return new AppError(
    'conflict',
    `${table}: triggers or rules of the target kept out ${missing} of ${rows} rows, or row security hides them, so nothing was loaded; switch that off for the load (ALTER TABLE … DISABLE TRIGGER, DISABLE RULE, DISABLE ROW LEVEL SECURITY), or load into a target of its own.`,
  );
}

/**
 * Clears tables: those that nothing depends on are dropped, to be made again; others (with views, grants, triggers …) are emptied and stay.
 */
export async function clearTables(publication: PostgresPublication): Promise<void> {
  const { tx, target, tables, present } = publication;
  const existing = tables.filter((table) => target.tables.has(table.name));
  if (existing.length === 0) return;
  const { cleared: oldDocuments, areOfOthers } = await noteOverwritten(publication);
  const isEmptied = await emptyHangingTables(
    publication,
    existing.map(({ name }) => name),
    oldDocuments,
  );
  if (areOfOthers && !isEmptied) {
    // rows in the model's tables as well, because they may refer to rows of earlier tables
    await deleteElsewhere(publication, oldDocuments, deleteRows);
    // deferred checks would block the following statements
    await tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
    await tx.unsafe('SET CONSTRAINTS ALL DEFERRED');
  }
  const dropped = new Set<string>();
  for (const { name } of existing) if (target.tables.get(name)!.plain) dropped.add(name);
  const ours = new Set(tables.map((table) => table.name));
  const loosened = target.foreignKeys.filter((key) => !dropped.has(key.table) && ours.has(key.parent));
  await runAll(
    tx,
    loosened.map(
      (key) => `ALTER TABLE ${relation(publication, key.table)} DROP CONSTRAINT ${doubleQuoted(key.name)}`,
    ),
  );
  for (const key of loosened) publication.rekeyed.add(key.table);
  target.foreignKeys = target.foreignKeys.filter((key) => !dropped.has(key.table) && !loosened.includes(key));
  if (dropped.size > 0) {
    await setViewsAside(publication, [...dropped]);
    await tx.unsafe(`DROP TABLE ${[...dropped].map((name) => relation(publication, name)).join(', ')}`);
  }
  target.checks = target.checks.filter(({ table }) => !dropped.has(table));
  for (const name of dropped) {
    present.delete(name);
    target.tables.delete(name);
  }
  const emptied = existing.filter(({ name }) => !dropped.has(name));
  // TRUNCATE refuses a table that others refer to, even if none of their rows does
  await runAll(
    tx,
    emptied.map(({ name }) =>
      target.tables.get(name)!.referredToBy.length === 0
        ? `TRUNCATE ${relation(publication, name)}`
        : `DELETE FROM ${relation(publication, name)}`,
    ),
  );
  if (areOfOthers && isEmptied) await deleteElsewhere(publication, oldDocuments, deleteEarlierRows);
  await removeDocuments(publication, oldDocuments);
}

async function deleteElsewhere(
  publication: PostgresPublication,
  oldDocuments: string,
  deletion: typeof deleteRows,
): Promise<void> {
  const { database, driver } = publication;
  const known = await driver.readTables(database);
  await deleteRowsElsewhere({ ...publication, known }, oldDocuments, deletion);
}

/**
 * Empties tables of an earlier model (other documents had other elements) whose rows depend on rows that are overwritten: without those
 * they have no meaning. Only tables that loads made (`_keys` lists them) are emptied; the foreign keys of other tables stay in force.
 * Returns false, and does nothing, if one of the tables has rows of documents that stay.
 */
async function emptyHangingTables(
  publication: PostgresPublication,
  overwritten: readonly string[],
  oldDocuments: string,
): Promise<boolean> {
  const { tx, sqlSchema, tables } = publication;
  const keys = relation(publication, sideTableNames.keys);
  const [table] = await tx<{ exists: boolean }[]>`select to_regclass(${keys}) is not null as exists`;
  if (table?.exists !== true) return true;
  const filled = new Set(
    (await tx.unsafe<{ readonly name: string }[]>(`SELECT table_name AS name FROM ${keys}`)).map(
      ({ name }) => name,
    ),
  );
  const references = await tx.unsafe<
    { readonly child: string; readonly parent: string; readonly isOwn: boolean }[]
  >(`
    SELECT DISTINCT child.relname AS child, parent.relname AS parent, pg_has_role(child.relowner, 'USAGE') AS "isOwn"
      FROM pg_constraint k
      JOIN pg_class child ON child.oid = k.conrelid
      JOIN pg_class parent ON parent.oid = k.confrelid AND parent.relnamespace = child.relnamespace
      JOIN pg_namespace n ON n.oid = child.relnamespace
     WHERE k.contype = 'f' AND n.nspname = ${standardLiteral(sqlSchema)}`);
  const referring = Map.groupBy(references, ({ parent }) => parent);
  const ours = new Set([...tables.map(({ name }) => name), ...overwritten]);
  const below = await closure(overwritten, referring, async (name) => filled.has(name));
  const hanging = below.filter((name) => !ours.has(name)).toSorted();
  if (hanging.length === 0) return true;
  if (await haveRowsThatStay(publication, hanging, oldDocuments)) return false;
  const owned = new Set(references.flatMap(({ child, isOwn }) => (isOwn ? [child] : [])));
  // TRUNCATE needs all tables that refer to those, including a shared table that is overwritten, and tables without rows
  const emptied = await closure(
    hanging,
    referring,
    async (name) => ours.has(name) || (owned.has(name) && !(await hasRows(publication, name))),
  );
  await tx.unsafe(`TRUNCATE ${emptied.map((name) => relation(publication, name)).join(', ')}`);
  for (const name of hanging) {
    publication.changes.push(`${name}: emptied because its rows referred to overwritten rows`);
  }
  return true;
}

/** Returns whether one of the tables has rows of other documents. */
async function haveRowsThatStay(
  publication: PostgresPublication,
  names: readonly string[],
  oldDocuments: string,
): Promise<boolean> {
  const { tx } = publication;
  for (const name of names) {
    const [row] = await tx.unsafe<{ found: boolean }[]>(
      `SELECT EXISTS (SELECT FROM ${relation(publication, name)} t
         WHERE NOT EXISTS (SELECT FROM ${oldDocuments} o WHERE o.document_key = t.${doubleQuoted(fileKeyName)})) AS found`,
    );
    if (row!.found) return true;
  }
  return false;
}

/** Returns tables, and those that refer to one of them directly or through others, if `takes` accepts them. */
async function closure(
  from: readonly string[],
  referring: ReadonlyMap<string, readonly { readonly child: string }[]>,
  takes: (name: string) => Promise<boolean>,
): Promise<string[]> {
  const found = new Set(from);
  // the loop also visits the tables that it adds
  for (const name of found)
    for (const { child } of referring.get(name) ?? [])
      if (!found.has(child) && (await takes(child))) found.add(child);
  return [...found];
}

async function hasRows(publication: PostgresPublication, name: string): Promise<boolean> {
  const [row] = await publication.tx.unsafe<{ found: boolean }[]>(
    `SELECT EXISTS (SELECT FROM ${relation(publication, name)}) AS found`,
  );
  return row!.found;
}

/** Removes documents. A document stays while rows of other models refer to it. */
async function removeDocuments(publication: PostgresPublication, oldDocuments: string): Promise<void> {
  const { tx, driver } = publication;
  const { documents, unmapped, lexical } = sideTableNames;
  const referring = await referringToDocuments(tx, relationOf(driver));
  await runAll(tx, [
    ...referring.map(
      ({ table, column }) =>
        `DELETE FROM ${oldDocuments} o WHERE EXISTS (SELECT FROM ${table} t WHERE t.${column} = o.document_key)`,
    ),
    ...[lexical, unmapped, documents].map(
      (name) =>
        `DELETE FROM ${relation(publication, name)} WHERE document_key IN (SELECT document_key FROM ${oldDocuments})`,
    ),
  ]);
  await driver.notes.drop(oldDocuments);
}
