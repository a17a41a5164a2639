/** Reads rows of a query of a SQLite file, which is opened for reading only. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type { QueryCell, QueryColumn, QueryRows } from '../../../ports/row-source.ts';
import { parameterFault, columnOf, selectRows, tableOf } from '../../rows/query.ts';
import { openSqlite, sqliteFault, type SqliteDb, type SqliteValue } from './database.ts';

const dialect = {
  quote: doubleQuoted,
  literal: standardLiteral,
  // values have types of their own, whatever the declared type of their column
  isFrom: (column: string, text: string) =>
    /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)
      ? `CASE WHEN typeof(${column}) = 'text' THEN ${column} >= ${standardLiteral(text)} ELSE ${column} >= ${text} END`
      : `${column} >= ${standardLiteral(text)}`,
};

/** Returns the kind of a declared type by its affinity (Datatypes In SQLite, 3.1), as far as values show it, too. */
function kindOf(declared: string | null): Pick<QueryColumn, 'type' | 'holds'> {
  const name = declared?.toUpperCase() ?? '';
  if (name.includes('XML')) return { type: 'text', holds: 'xml' };
  if (name.includes('BOOL')) return { type: 'text', holds: 'other' };
  if (name.includes('INT')) return { type: 'bigint', holds: 'other' };
  if (/CHAR|CLOB|TEXT/.test(name)) return { type: 'text', holds: 'text' };
  if (name.includes('BLOB')) return { type: 'text', holds: 'bytes' };
  if (/REAL|FLOA|DOUB/.test(name)) return { type: 'double', holds: 'other' };
  // the type of an expression
  return { type: 'text', holds: declared === null ? 'text' : 'other' };
}

/**
 * Throws AppError `unprocessable_input` for a parameter: SQLite reads one without a value as NULL, so a comparison with it would select no
 * row.
 */
function refuseParameters(database: SqliteDb, sql: string, label: string): void {
  const { expandedSQL: expanded, sourceSQL: source } = database.prepare(sql);
  if (expanded === source) return;
  // the texts first differ at the parameter, which the expanded one has as NULL
  let at = 0;
  while (source[at] === expanded[at]) at += 1;
  const [name] = /^(?:\?\d*|[:@$#][\w$:]+)/.exec(source.slice(at)) ?? ['a parameter'];
  throw parameterFault(name, label);
}

/** `path`: an existing file. */
export async function openSqliteQuery(path: string, label: string, query: string): Promise<QueryRows> {
  const database = await openSqlite(path, { label, readOnly: true });
  const table = tableOf(query);
  try {
    refuseParameters(database, `SELECT * FROM ${table}`, label);
  } catch (error) {
    database.close();
    throw error;
  }
  const columns = async (): Promise<readonly QueryColumn[]> =>
    database
      .prepare(`SELECT * FROM ${table}`)
      .columns()
      .map(({ name, type }) => ({ name, ...kindOf(type) }));
  return {
    label,
    columns,
    async *rows(order) {
      const all = await columns();
      const names = all.map(({ name }) => columnOf(doubleQuoted, name));
      for (const row of rowsOf(database, selectRows(dialect, table, names, order), label)) {
        yield row.map((value, at) => cellOf(value, all[at]!, label));
        // each row is read synchronously: other tasks run between them
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    close: () => Promise.resolve(database.close()),
  };
}

function* rowsOf(database: SqliteDb, sql: string, label: string): Generator<SqliteValue[]> {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  try {
    yield* statement.iterate() as unknown as Iterable<SqliteValue[]>;
  } catch (error) {
    throw sqliteFault(error, label);
  }
}

/** Returns a cell. Throws if a column of numbers holds another kind of value. */
function cellOf(value: SqliteValue, { name, type }: QueryColumn, label: string): QueryCell {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) {
    if (value === null || type === 'text') return value;
    throw new AppError(
      'unprocessable_input',
      `${label}: the column ${name} is declared numeric but holds another type in some row: use CAST(${name} AS TEXT) in the query`,
    );
  }
  return String(value);
}
