/**
 * Reads tables of a SQLite file for people. An authorizer lets their statements read the tables and views of the file and call functions
 * that compute with values; SQLite asks it while it compiles a statement. A statement runs synchronously, so only the end of the process
 * stops it.
 */
import { access } from 'node:fs/promises';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { fixedLimits } from '../../../config/limits.ts';
import { AppError } from '../../../errors.ts';
import type { AnswerValue, OpenedTarget, ReadRows } from '../../../ports/target-reader.ts';
import { floatValue, noSuchTable, rowKeyOf, statementFault, wholeValue } from '../../rows/answers.ts';
import { isSqlFault, sqliteFault, whenFree, type SqliteValue } from './database.ts';

export interface ReadOnlySqliteOptions {
  readonly label: string;
  /** how long to wait for another program that writes into the file */
  readonly busyTimeoutMs: number;
}

/** memory of SQLite itself, past which a statement fails; the limit of the process is above it */
const heapBytes = 192 * 1024 * 1024;
/** longest value */
const valueBytes = 32 * 1024 * 1024;

/** Opens an existing file. AppErrors as of `sqliteFault`; `not_found` if it does not exist. */
export async function openReadOnlySqlite(
  file: string,
  { label, busyTimeoutMs }: ReadOnlySqliteOptions,
): Promise<OpenedTarget> {
  await access(file).catch(() => {
    throw new AppError('not_found', `${label}: there is no such target`);
  });
  const sqlite = await import('node:sqlite');
  const { constants } = sqlite;
  let database: DatabaseSync | null = null;
  const relations = new Map<string, { readonly name: string; readonly isView: boolean }>();
  try {
    const opened = new sqlite.DatabaseSync(file, {
      readOnly: true,
      enableForeignKeyConstraints: false,
      allowExtension: false,
      // this program waits itself
      timeout: 0,
    });
    database = opened;
    opened.exec(
      `PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA hard_heap_limit = ${heapBytes}`,
    );
    const rows = await whenFree(
      () =>
        opened
          .prepare(
            `SELECT name, type = 'view' AS is_view FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
          )
          .all(),
      Date.now() + busyTimeoutMs,
    );
    for (const row of rows) {
      const name = String(row['name']);
      relations.set(name.toLowerCase(), { name, isView: row['is_view'] === 1 });
    }
    Object.assign(opened.limits, {
      length: valueBytes,
      sqlLength: fixedLimits.querySqlLength * 4 + 200,
      exprDepth: 500,
      compoundSelect: 100,
      attach: 0,
      variableNumber: 0,
      likePatternLength: 1000,
    });
    const isReadable = (table: string, column: string): boolean =>
      relations.has(table.toLowerCase()) ||
      rowFunctions.has(table.toLowerCase()) ||
      // the rows of a subquery or common table expression, of which no column is read
      (column === '' && !ownNames.test(table));
    opened.setAuthorizer((action, first, second) => {
      switch (action) {
        case constants.SQLITE_SELECT:
        case constants.SQLITE_RECURSIVE:
          return constants.SQLITE_OK;
        case constants.SQLITE_READ:
          return isReadable(first ?? '', second ?? '') ? constants.SQLITE_OK : constants.SQLITE_DENY;
        case constants.SQLITE_FUNCTION:
          return functions.has((second ?? '').toLowerCase()) ? constants.SQLITE_OK : constants.SQLITE_DENY;
        default:
          return constants.SQLITE_DENY;
      }
    });
    return readOnlyTarget(opened, relations, label);
  } catch (error) {
    database?.close();
    throw sqliteFault(error, label);
  }
}

/** Names of SQLite's own tables, and of tables that are functions. */
const ownNames = /^(?:sqlite_|pragma_|dbstat$|bytecode$|tables_used$|sqlite$|fts|rtree|geopoly)/i;

/** Functions that make rows of their arguments. */
const rowFunctions: ReadonlySet<string> = new Set(['json_each', 'json_tree']);

/** Functions that compute with the values of a row, or of several rows. */
const functions: ReadonlySet<string> = new Set(
  `-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh
count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value
floor format glob group_concat hex if ifnull iif instr json json_array json_array_insert json_array_length
json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch
json_pretty json_quote json_remove json_replace json_set json_type json_valid julianday lag last_value lead
length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif
octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random
rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr substring sum tan tanh time
timediff total trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper`.split(/\s+/),
);

function readOnlyTarget(
  database: DatabaseSync,
  relations: ReadonlyMap<string, { readonly name: string; readonly isView: boolean }>,
  label: string,
): OpenedTarget {
  const prepared = (statement: string, asked: string): StatementSync => {
    try {
      const made = database.prepare(statement);
      made.setReadBigInts(true);
      made.setReturnArrays(true);
      return made;
    } catch (error) {
      throw readFault(error, asked, label);
    }
  };
  const rowsOf = (statement: string, asked: string): ReadRows => {
    const made = prepared(statement, asked);
    return {
      columns: made.columns().map(({ name, type }) => ({ name, type: type ?? 'ANY' })),
      rows: (async function* () {
        try {
          for (const row of made.iterate() as unknown as Iterable<SqliteValue[]>) yield row.map(valueOf);
        } catch (error) {
          throw readFault(error, asked, label);
        }
      })(),
    };
  };
  return {
    async page({ table, page, size }) {
      const known = relations.get(table.toLowerCase());
      if (known === undefined || known.name !== table)
        throw noSuchTable(
          table,
          [...relations.values()].map(({ name }) => name),
        );
      const from = doubleQuoted(table);
      const [total] = prepared(`SELECT count(*) FROM ${from}`, '').get() as unknown as [bigint];
      const { columns } = rowsOf(`SELECT * FROM ${from} LIMIT 0`, '');
      const order = orderOf(
        table,
        columns.map(({ name }) => name),
        known.isView,
      );
      const slice = `SELECT * FROM ${from} ORDER BY ${order} LIMIT ${size} OFFSET ${page * size}`;
      return { ...rowsOf(slice, ''), total: Number(total) };
    },
    async query(sql) {
      const statement = sql.trim().replace(/;+$/, '');
      // its own message is clearer than that of the statement in parentheses
      prepared(statement, sql);
      // Only one query can stand in parentheses. SQLite ignores the rest of a text after its first statement.
      prepared(`SELECT 1 FROM (${statement}\n)`, sql);
      return rowsOf(statement, sql);
    },
    close: async () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Returns the columns that put rows into a definite order: the row key, the row id, or all columns. */
function orderOf(table: string, columns: readonly string[], isView: boolean): string {
  const key = rowKeyOf(table, columns);
  if (key !== null) return doubleQuoted(key);
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  const rowId = isView ? undefined : ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name));
  return rowId ?? columns.map(doubleQuoted).join(', ');
}

function valueOf(value: SqliteValue): AnswerValue {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'bigint') return wholeValue(value);
  return typeof value === 'number' ? floatValue(value) : Buffer.from(value).toString('base64');
}

/** Returns the error of a statement: with SQLite's message if the statement is at fault, otherwise as `sqliteFault`. */
function readFault(error: unknown, sql: string, label: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const message = error.message.split('\n', 1)[0]!;
  if (/contains no statements/.test(message)) return statementFault('give one SELECT', sql);
  if (/out of memory|string or blob too big/i.test(message))
    return new AppError(
      'unprocessable_input',
      'the statement needs more memory than it is allowed: read fewer rows or columns, or shorter values',
      { cause: error },
    );
  if (/^(?:not authorized|access to .* is prohibited|unsafe use of)/i.test(message))
    return statementFault(
      `the statement may not do that (${message}): one SELECT reads the tables and views of the target and computes with their values`,
      sql,
    );
  if (!isSqlFault(error)) return sqliteFault(error, label);
  const [, near] = /^near "(.*)": syntax error$/.exec(message) ?? [];
  const at = near === undefined ? -1 : sql.lastIndexOf(near);
  const isOnce = at >= 0 && sql.indexOf(near!) === at;
  return statementFault(message, sql, isOnce ? { position: at } : {});
}
