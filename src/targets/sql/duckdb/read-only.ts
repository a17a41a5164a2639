/**
 * Reads tables of a DuckDB database for people. Their statements read the tables and views of the database, and compute with values: they
 * reach no file, setting or catalogue.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { fixedLimits } from '../../../config/limits.ts';
import { AppError } from '../../../errors.ts';
import type { AnswerValue, OpenedTarget, ReadRows } from '../../../ports/target-reader.ts';
import {
  floatValue,
  noSuchTable,
  rowKeyOf,
  statementFault,
  tooSlow,
  wholeValue,
} from '../../rows/answers.ts';
import { lacksMemory, openDuckDbReader, type DuckDbReader } from './database.ts';
import { allowedInstead, forbiddenParts } from './query.ts';
import { chunksOf } from './row-chunks.ts';

export interface ReadOnlyDuckDbOptions {
  readonly label: string;
  /** a folder for data that does not fit into memory */
  readonly spill: string;
  /** how long to wait for another process that has the file open */
  readonly busyTimeoutMs: number;
}

/** Opens an existing file. AppErrors as of `openDuckDbReader`; `not_found` if it does not exist. */
export async function openReadOnlyDuckDb(
  file: string,
  options: ReadOnlyDuckDbOptions,
): Promise<OpenedTarget> {
  try {
    const reader = await openDuckDbReader(file, options.spill, {
      label: options.label,
      busyTimeoutMs: options.busyTimeoutMs,
      streams: 1,
      isLocked: true,
      spillBytes: fixedLimits.querySpillBytes,
    });
    return readOnlyTarget(reader);
  } catch (error) {
    if (error instanceof Error && /does not exist|No such file/i.test(error.message))
      throw new AppError('not_found', `${options.label}: there is no such target`);
    throw error;
  }
}

/** A table whose rows are in files. */
export interface FileTable {
  readonly name: string;
  /** its files on this machine */
  readonly files: readonly string[];
  /** Returns the SELECT that reads them. */
  select(reader: DuckDbReader): Promise<string>;
}

export interface FileTablesOptions extends Pick<ReadOnlyDuckDbOptions, 'label' | 'spill'> {
  /** names of all tables */
  readonly names: readonly string[];
  /** Returns the tables that a statement may name; each of them costs time. */
  readonly find: (isNamed: (table: string) => boolean) => Promise<readonly FileTable[]>;
}

/** Reads tables of files as views of an empty database, which can read no other files than those of the tables that a statement names. */
export function openReadOnlyFiles({
  label,
  spill,
  names,
  find,
}: FileTablesOptions): Pick<OpenedTarget, 'page' | 'query' | 'close'> {
  let reader: DuckDbReader | null = null;
  const opened = async (text: string): Promise<OpenedTarget> => {
    const used = text.toLowerCase();
    const tables = await find((name) => used.includes(name.toLowerCase().replaceAll('"', '""')));
    const open = await openDuckDbReader(':memory:', spill, {
      label,
      streams: 1,
      isLocked: true,
      files: tables.flatMap(({ files }) => files),
      spillBytes: fixedLimits.querySpillBytes,
    });
    reader = open;
    const made = new Set<string>();
    const connection = await open.connect();
    try {
      for (const { name, select } of tables) {
        if (made.has(name.toLowerCase())) continue;
        made.add(name.toLowerCase());
        await connection.run(`CREATE VIEW ${doubleQuoted(name)} AS ${await select(open)}`);
      }
    } finally {
      connection.closeSync();
    }
    return readOnlyTarget(open, made, names);
  };
  return {
    page: async (slice) => (await opened(slice.table.replaceAll('"', '""'))).page(slice),
    query: async (sql) => (await opened(sql)).query(sql),
    close: async () => reader?.close(),
  };
}

/** `ownViews`: views that this program made, in lower case. `allTables`: names of tables, if not all of them have views. */
function readOnlyTarget(
  reader: DuckDbReader,
  ownViews: ReadonlySet<string> = new Set(),
  allTables: readonly string[] | null = null,
): OpenedTarget {
  const relations = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const rows = await reader.read<{ name: string; columns: { readonly items: readonly string[] } }>(
      `SELECT table_name AS name, list(column_name ORDER BY column_index) AS columns FROM duckdb_columns()
        WHERE NOT internal AND database_name = current_database() AND schema_name = 'main' GROUP BY ALL`,
    );
    return new Map(rows.map(({ name, columns }) => [name, Array.isArray(columns) ? columns : columns.items]));
  };
  const check = async (sql: string): Promise<void> => {
    const names = new Set([...(await relations()).keys()].map((name) => name.toLowerCase()));
    const found = await forbiddenParts(reader.read, sql, { relations: names, ownViews });
    if ('message' in found)
      throw statementFault(found.message === '' ? 'give one SELECT' : found.message, sql, found);
    const [first] = found.parts;
    if (first !== undefined)
      throw statementFault(`the statement may not use ${first}. ${allowedInstead}`, sql);
  };
  return {
    async page({ table, page, size }) {
      const known = await relations();
      const columns = known.get(table);
      if (columns === undefined) throw noSuchTable(table, allTables ?? [...known.keys()]);
      const from = doubleQuoted(table);
      const sql = `SELECT * FROM ${from}`;
      // a view of the file may call functions, too
      await check(sql);
      return timed(reader, sql, async (connection) => {
        const [count] = (await connection.runAndReadAll(`SELECT count(*)::DOUBLE FROM ${from}`)).getRows();
        // tables have no keys here: other columns decide where there is no row key
        const order = [rowKeyOf(table, columns) ?? columns].flat().map(doubleQuoted).join(', ');
        const slice = `${sql} ORDER BY ${order} LIMIT ${size} OFFSET ${page * size}`;
        return { ...(await rowsOf(connection, slice, sql)), total: Number(count![0]) };
      });
    },
    async query(sql) {
      await check(sql);
      return timed(reader, sql, (connection) => rowsOf(connection, sql, sql));
    },
    close: async () => reader.close(),
  };
}

/** Calls `work` with a connection that is interrupted when its time is over, and closed with the rows. */
async function timed<Rows extends ReadRows>(
  reader: DuckDbReader,
  sql: string,
  work: (connection: DuckDBConnection) => Promise<Rows>,
): Promise<Rows> {
  const connection = await reader.connect();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    connection.interrupt();
  }, fixedLimits.queryMs);
  const faultOf = (error: unknown): unknown => (isLate ? tooSlow() : readFault(error, sql));
  try {
    const found = await work(connection);
    return {
      ...found,
      rows: (async function* () {
        try {
          yield* found.rows;
        } catch (error) {
          throw faultOf(error);
        } finally {
          clearTimeout(timer);
        }
      })(),
    };
  } catch (error) {
    clearTimeout(timer);
    connection.closeSync();
    throw faultOf(error);
  }
}

/** The rows of a statement. The connection is closed after the last one. `asked`: the statement as the caller knows it. */
async function rowsOf(connection: DuckDBConnection, statement: string, asked: string): Promise<ReadRows> {
  const result = await connection.stream(statement);
  const types = result.columnTypes().map(String);
  const names = result.columnNames();
  const valueOf = await valuesOf();
  return {
    columns: names.map((name, at) => ({ name, type: types[at]! })),
    rows: (async function* () {
      const chunks = chunksOf(connection, result);
      try {
        for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next())
          for (const row of chunk.getRows()) yield row.map(valueOf);
      } catch (error) {
        throw readFault(error, asked);
      } finally {
        await chunks.close();
      }
    })(),
  };
}

async function valuesOf(): Promise<(value: unknown) => AnswerValue> {
  const duckDb = await import('@duckdb/node-api');
  const { DuckDBTimestampValue: Timestamp } = duckDb;
  const moment = (micros: bigint): string => new Timestamp(micros).toString().replace(' ', 'T');
  const valueOf = (value: unknown): AnswerValue => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'bigint':
        return wholeValue(value);
      case 'number':
        return floatValue(value);
    }
    if (value === null || value === undefined) return null;
    if (value instanceof duckDb.DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
    if (value instanceof duckDb.DuckDBTimestampTZValue) return zoned(moment(value.micros));
    if (
      value instanceof Timestamp ||
      value instanceof duckDb.DuckDBTimestampNanosecondsValue ||
      value instanceof duckDb.DuckDBTimestampMillisecondsValue ||
      value instanceof duckDb.DuckDBTimestampSecondsValue
    )
      return value.toString().replace(' ', 'T');
    if (value instanceof duckDb.DuckDBListValue || value instanceof duckDb.DuckDBArrayValue)
      return value.items.map((item) => valueOf(item));
    if (value instanceof duckDb.DuckDBStructValue)
      return Object.fromEntries(
        Object.entries(value.entries).map(([name, member]) => [name, valueOf(member)]),
      );
    if (value instanceof duckDb.DuckDBMapValue)
      return value.entries.map(({ key, value: member }) => ({
        key: valueOf(key),
        value: valueOf(member),
      }));
    return String(value);
  };
  return valueOf;
}

/** Infinite moments have no zone. */
function zoned(moment: string): string {
  return moment.includes('infinity') ? moment : `${moment}Z`;
}

/** Returns the error of a statement with DuckDB's message, and the place that the message shows. */
function readFault(error: unknown, sql: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { message } = error;
  if (lacksMemory(error) || /max_temp_directory_size|failed to offload/i.test(message))
    return new AppError(
      'unprocessable_input',
      'the statement needs more memory than it is allowed: read fewer rows or columns, or shorter values',
      { cause: error },
    );
  const [, text = message, line, shown = '', indent = ''] =
    /^([^]*?)\n\nLINE (\d+): (.*)\n(\s*)\^/.exec(message) ?? [];
  // names of files without their folders, which are no concern of the caller
  const told = text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/(["'])\/(?:[^"'/]*\/)*([^"'/]*)\1/g, '$1$2$1')
    .trim();
  if (line === undefined || shown.startsWith('...')) return statementFault(told, sql);
  const start = sql.split('\n').slice(0, Number(line) - 1);
  const column = indent.length - `LINE ${line}: `.length;
  const position = start.reduce((sum, one) => sum + one.length + 1, 0) + column;
  return statementFault(told, sql, { position });
}
