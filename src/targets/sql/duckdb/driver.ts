/** DuckDB as a target: rows are staged as CSV, which DuckDB reads into its tables. */
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { commentStatements } from '../../../engine/sql/ddl.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import {
  exactDigits,
  measuredDigits,
  type StagedCsv,
  stagedColumn,
  stagedRows,
  stagedValue,
  looksStaged,
} from './csv-import.ts';
import {
  foldedName,
  type DuckDb,
  lacksMemory,
  memoryFor,
  maxMemory,
  openDuckDb,
  openDuckDbReader,
} from './database.ts';
import { columnId, usualRoom } from '../../rows/unfit-columns.ts';
import { findAlterations, runAll } from '../database.ts';
import type { FoundTable } from '../found-tables.ts';
import {
  type Publication,
  type KeyOffsets,
  foundTable,
  keepCodeTexts,
  keepHigherKey,
  type StagedTables,
} from '../publication.ts';
import {
  hasValues,
  addsZone,
  columnSqlType,
  converted,
  larger,
  settledType,
  typeForDigits,
  type DecimalDigits,
  commentOnView,
  readTables,
  tableStatements,
  readZones,
} from './types.ts';
import { sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { shiftedSideRows } from '../keys.ts';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowRemover, RowSink } from '../../../ports/row-sink.ts';
import { fileFault } from '../../../storage/staging/durable-file.ts';
import {
  createDatabaseFileRemover,
  DatabaseFileSink,
  type DatabaseFileRemoverOptions,
  type DatabaseFileOptions,
  type FileDriver,
} from '../database-files.ts';

// The types that the columns of incoming rows need, and the changes of existing tables that follow.

/** A column of the incoming rows. */
interface Incoming {
  readonly sqlType: string;
  readonly nullable: boolean;
  /** digits of the column's values, if the model sets no other limit */
  readonly digits?: DecimalDigits;
}

async function incomingTypes(
  { database, plan, drawn, nullAllowed, widened }: Publication<DuckDb>,
  index: number,
  csv: StagedCsv,
): Promise<Incoming[]> {
  const columns = plan.model.tables[index]!.columns.map(({ type }, at) => ({ at, type }));
  const digits = await measuredDigits(
    database,
    csv,
    columns.filter(({ at }) => !widened.has(columnId(index, at))),
  );
  return columns.map(({ at, type }) => {
    const nullable = drawn.tables[index]!.columns[at]!.nullable || nullAllowed.has(columnId(index, at));
    const found = digits.get(at);
    if (found === undefined)
      return { sqlType: columnSqlType(widened.get(columnId(index, at)) ?? type), nullable };
    return { sqlType: `${typeForDigits(found)}${type.list ? '[]' : ''}`, nullable, digits: found };
  });
}

/**
 * Adds missing columns, widens types, and drops NOT NULL if a row may leave the column empty. Returns the types that the table's columns
 * have afterwards, in the model's order.
 */
async function adaptTable(
  publication: Publication<DuckDb>,
  index: number,
  known: FoundTable,
  incoming: readonly Incoming[],
): Promise<string[]> {
  const { database, plan } = publication;
  const table = publication.drawn.tables[index]!;
  const alterTable = `ALTER TABLE ${doubleQuoted(known.name)}`;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({ type: incoming[at]!.sqlType, nullable: incoming[at]!.nullable }),
    async settle(there, at) {
      const { sqlType, digits = { whole: 38, fraction: 0 } } = incoming[at]!;
      const showsInstants =
        addsZone(there.type, sqlType) && !(await hasValues(database, known.name, there.name));
      if (showsInstants) return sqlType;
      const column = doubleQuoted(table.columns[at]!.name);
      return settledType(there.type, sqlType, async () =>
        larger(await existingDigits(database, known.name, column, there.type), digits),
      );
    },
  });
  const statements = alterations.map((alteration) => {
    if (alteration.kind === 'loosen')
      return `${alterTable} ALTER COLUMN ${doubleQuoted(alteration.there.name)} DROP NOT NULL`;
    const { at, type } = alteration;
    const name = doubleQuoted(table.columns[at]!.name);
    if (alteration.kind === 'add') return `${alterTable} ADD COLUMN ${name} ${type}`;
    const offset = hasOffsetBehind(plan.model.tables[index]!.columns, at)
      ? known.columns.get(foldedName(table.columns[at + 1]!.name))
      : undefined;
    const value = converted(name, alteration.there.type, type, offset ? doubleQuoted(offset.name) : null);
    return `${alterTable} ALTER COLUMN ${name} TYPE ${type} USING ${value}`;
  });
  const added = new Set(alterations.flatMap((one) => (one.kind === 'add' ? [one.at] : [])));
  const comments = { ...table, columns: table.columns.filter((_, at) => added.has(at)) };
  statements.push(...commentStatements(duckdb, null, comments).slice(1));
  await runAll(database, statements);
  return types;
}

async function existingDigits(
  database: DuckDb,
  table: string,
  column: string,
  sqlType: string,
): Promise<DecimalDigits> {
  const values = sqlType.endsWith('[]') ? `SELECT unnest(${column}) AS value` : `SELECT ${column} AS value`;
  const [whole, fraction] = exactDigits('value::VARCHAR');
  const [row] = await database.read<{ whole: number | null; fraction: number | null }>(
    `SELECT max(${whole})::INTEGER AS whole, max(${fraction})::INTEGER AS fraction FROM (${values} FROM ${doubleQuoted(table)})`,
  );
  return { whole: row?.whole ?? 0, fraction: row?.fraction ?? 0 };
}

// Loads staged CSV into tables, each by one statement.

/** Adds the staged rows of a table of the model. `incoming`: the needs of its columns. */
async function insertRows(
  publication: Publication<DuckDb>,
  index: number,
  incoming: readonly Incoming[],
  offsets: KeyOffsets,
): Promise<number> {
  const { database, plan } = publication;
  const csv = publication.staged.get(index)!;
  const types = publication.types.get(index)!;
  const table = publication.drawn.tables[index]!;
  const keyAt = table.columns.findIndex(({ name }) => table.primaryKey.includes(name));
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0n : (offsets.get(foldedName(owner)) ?? 0n);
    const { type } = plan.model.tables[index]!.columns[at]!;
    const isText = publication.textRows.get(columnId(index, at));
    const texts = isText === undefined ? undefined : { keys: isText, key: stagedColumn(keyAt) };
    const value = stagedValue(stagedColumn(at), type, types[at]!, incoming[at]!.digits, texts);
    return offset === 0n ? value : `${value} + ${offset}`;
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const into = `INSERT INTO ${doubleQuoted(table.name)} (${columns})`;
  if (plan.keys === 'hash' && keyAt >= 0) {
    return database.run(
      `${into} SELECT ${values.join(', ')} FROM (${newRows(csv, keyAt, table.name, table.primaryKey[0]!)})`,
    );
  }
  return database.run(`${into} SELECT ${values.join(', ')} FROM ${stagedRows(csv)}`);
}

/** Returns the staged rows whose key is not in the table yet, each key once. */
function newRows(csv: StagedCsv, keyAt: number, table: string, key: string): string {
  const staged = stagedColumn(keyAt);
  return `SELECT DISTINCT ON (${staged}) s.* FROM ${stagedRows(csv)} s
    WHERE NOT EXISTS (SELECT 1 FROM ${doubleQuoted(table)} t WHERE t.${doubleQuoted(key)} = s.${staged}::BIGINT)`;
}

/** Adds the staged rows of `_documents`, with their keys if documents are merged. */
async function addDocuments(publication: Publication<DuckDb>, offsets: KeyOffsets): Promise<number> {
  const { database, driver, plan, staged } = publication;
  const csv = staged.get('documents')!;
  const { columns, primaryKey } = sideTableDefinitions.documents;
  const documents = sideTableNames.documents;
  const offset = offsets.get(documents) ?? 0n;
  const values = columns.map(({ type }, at) => stagedValue(stagedColumn(at), type, columnSqlType(type)));
  if (offset > 0n) values[0] += ` + ${offset}`;
  const source = plan.keys === 'hash' ? `(${newRows(csv, 0, documents, primaryKey[0]!)})` : stagedRows(csv);
  const names = columns.map(({ name }) => doubleQuoted(name));
  const { merging } = publication;
  if (merging === null)
    return database.run(
      `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${source}`,
    );
  const [name, sha256] = ['name', 'sha256'].map((wanted) =>
    columns.findIndex((column) => column.name === wanted),
  ) as [number, number];
  values[sha256] = 'm.sha256';
  return database.run(
    `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}, key, valid_from) SELECT ${values.join(', ')}, m.key, ${driver.instant(merging.moment)}
       FROM ${source} s JOIN ${merging.documents} m ON m.name = s.${stagedColumn(name)} AND m.written = s.${stagedColumn(sha256)}`,
  );
}

/** Adds rows of `_unmapped` or `_lexical`. They belong to rows of any table, whose keys have offsets of their own. */
async function addSideRows(
  publication: Publication<DuckDb>,
  side: 'unmapped' | 'lexical',
  offsets: KeyOffsets,
): Promise<number> {
  const { database, plan, staged } = publication;
  const csv = staged.get(side)!;
  const { columns } = sideTableDefinitions[side];
  const { values, join } = shiftedSideRows(publication, side, offsets, {
    value: (at) => stagedValue(`s.${stagedColumn(at)}`, columns[at]!.type, columnSqlType(columns[at]!.type)),
    text: (at) => `s.${stagedColumn(at)}`,
  });
  const isNew =
    plan.keys === 'hash'
      ? ` WHERE s.${stagedColumn(0)}::BIGINT NOT IN (SELECT document_key FROM ${doubleQuoted(sideTableNames.documents)})`
      : '';
  return database.run(
    `INSERT INTO ${doubleQuoted(sideTableNames[side])}
     SELECT ${plan.keys === 'hash' ? 'DISTINCT ' : ''}${values.join(', ')} FROM ${stagedRows(csv)} s${join}${isNew}`,
  );
}

/** rows in a row group of DuckDB, and the bytes of their text up to which little memory is enough to fill tables */
const [rowGroupRows, smallGroupBytes] = [122_880, 32 * 1024 * 1024];

// The driver.

/** number of columns filled by one job beyond which all of them together would take too much memory */
const manyColumns = 3000;

/** how long to wait for another program that has the file open */
const usualBusyTimeoutMs = 30_000;

/** errors by which DuckDB refuses the definition of a view, and after which the transaction continues */
const viewRefusals =
  /^(?:Binder|Catalog|Parser|Conversion|Invalid Input|Not implemented|IO|Permission) Error:/;

export function createDuckDbRowSink(options: DatabaseFileOptions): RowSink {
  return new DatabaseFileSink(createDuckDbDriver(), options);
}

export function createDuckDbRowRemover(options: DatabaseFileRemoverOptions): RowRemover {
  return createDatabaseFileRemover(createDuckDbDriver(), options);
}

export function createDuckDbDriver(): FileDriver<DuckDb> {
  const memory = createMemoryPlan();
  /** keyed by index of the table: the needs of the columns of its staged rows */
  const incoming = new Map<number, readonly Incoming[]>();
  return {
    title: 'DuckDB',
    scheme: 'duckdb',
    dialect: duckdb,
    encoding: 'csv',
    scalesDecimals: true,
    decimalRoom: usualRoom,
    sidecars: ['.wal'],
    begin: 'BEGIN',
    keepHigherKey: keepHigherKey('greatest'),
    keepCodeTexts,
    // for each table that it fills, a transaction holds up to 122,880 rows in memory, outside the limit that DuckDB is given
    uncommittedBytes: 16 * 1024 * 1024,
    foldedName,
    readTables,
    zones: readZones,
    now: () => 'now()',
    instant: (iso) => `${standardLiteral(iso)}::TIMESTAMPTZ`,
    async latestChange(database) {
      const [row] = await database.read<{ latest: bigint | null }>(
        `SELECT epoch_ms(max(greatest(valid_from, valid_to))) AS latest FROM ${sideTableNames.documents}`,
      );
      const { latest } = row!;
      return latest === null ? null : new Date(Number(latest)).toISOString();
    },
    open(path, { label, staged, isNew, directory, busyTimeoutMs = usualBusyTimeoutMs, signal }) {
      const { memoryBytes, smallBlocks } = memory.next(staged, isNew);
      const options = { directory, memoryBytes, smallBlocks, skipsLog: isNew, label, busyTimeoutMs };
      return openDuckDb(path, { ...options, ...(signal === undefined ? {} : { signal }) });
    },
    async readOnly(path, { label, busyTimeoutMs = usualBusyTimeoutMs }, read) {
      await access(path);
      const spill = await mkdtemp(join(tmpdir(), 'target-loads-'));
      try {
        const database = await openDuckDbReader(path, spill, { label, busyTimeoutMs, streams: 1 });
        try {
          return await read(database);
        } finally {
          database.close();
        }
      } finally {
        await rm(spill, { recursive: true, force: true });
      }
    },
    looksStaged,
    // when DuckDB looks for its log, it ends the name at the question mark
    nameRefusal: (file) =>
      file.includes('?') ? 'DuckDB does not accept a file name that contains "?".' : null,
    mayTryAgain: memory.mayTryAgain,
    async readyTable(publication, index) {
      const staged = publication.staged.get(index);
      const needed =
        staged === undefined
          ? modelledTypes(publication, index)
          : await incomingTypes(publication, index, staged);
      incoming.set(index, needed);
      const there = foundTable(publication, index);
      if (there !== undefined) return adaptTable(publication, index, there, needed);
      await runAll(publication.database, tableStatements(publication.drawn.tables[index]!, needed));
      return needed.map(({ sqlType }) => sqlType);
    },
    addRows: (publication, index, offsets) => insertRows(publication, index, incoming.get(index)!, offsets),
    addSideRows: (publication, side, offsets) =>
      side === 'documents' ? addDocuments(publication, offsets) : addSideRows(publication, side, offsets),
    isText: (type) => type === 'VARCHAR',
    isAsModelled: ({ type }, column) =>
      type !== 'VARCHAR' &&
      (type === columnSqlType(column.type) || (column.type.kind === 'numeric' && type.startsWith('DECIMAL'))),
    viewStatements: ({ name, statements }, comment) => [statements[0]!, commentOnView(name, comment)],
    viewRefusal(error) {
      const [line] = (error as Error).message.split('\n');
      return viewRefusals.test(line!) ? line! : null;
    },
    async settle(database) {
      await database.run('CHECKPOINT');
    },
    faultOf: fileFault,
  };
}

function modelledTypes({ plan, drawn, nullAllowed }: Publication<DuckDb>, index: number): Incoming[] {
  return drawn.tables[index]!.columns.map((column, at) => ({
    sqlType: columnSqlType(plan.model.tables[index]!.columns[at]!.type),
    nullable: column.nullable || nullAllowed.has(columnId(index, at)),
  }));
}

/** Plans DuckDB's memory for the staged rows, and more of it after each attempt that had too little. */
function createMemoryPlan() {
  // about the database that was opened last: whether it is a new file that nobody else knows, its memory, and the multiple of the usual
  // memory that this is (0: the memory for filling tables)
  let isNewFile = false;
  let memoryBytes = 0;
  let factor = 0;
  return {
    next(
      staged: StagedTables,
      isNew: boolean,
    ): { readonly memoryBytes: number; readonly smallBlocks: boolean } {
      const files = [...staged.values()];
      const longest = Math.max(0, ...files.map((csv) => csv.longestRowBytes));
      const columns = files.reduce((sum, csv) => sum + csv.columnCount, 0);
      const smallBlocks = isNew && columns > manyColumns;
      const widest = smallBlocks ? 0 : Math.max(0, ...files.map((csv) => csv.columnCount));
      const filled = Math.min(columns, smallBlocks ? manyColumns : columns);
      const group = Math.max(0, ...files.map(({ bytes, rows }) => bytes * Math.min(1, rowGroupRows / rows)));
      const onlyFills = isNew && group <= smallGroupBytes && factor === 0;
      memoryBytes = memoryFor(longest, filled, widest, onlyFills) * Math.max(1, factor);
      isNewFile = isNew;
      return { memoryBytes, smallBlocks };
    },
    mayTryAgain(error: unknown): boolean {
      if (!lacksMemory(error) || memoryBytes * 2 > maxMemory()) return false;
      factor = factor === 0 && isNewFile ? 1 : Math.max(1, factor) * 2;
      return true;
    },
  };
}
