/** Rows of a query of a DuckDB file, or of a file of Parquet or CSV; nothing else of the machine is seen by it. */
import { dirname } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type { QueryCell, QueryColumn, QueryRows } from '../../../ports/rows/query.ts';
import { findParameter, parameterFault, type ParameterMark } from '../../rows/query-parameters.ts';
import { selectRows, tableOf, textsOf } from '../../rows/query-text.ts';
import { openDuckDbReader, pathLiteral } from './database.ts';
import { checkQuery } from './query-check.ts';
import { chunksOf } from './row-chunks.ts';

const dialect = { quote: doubleQuoted, literal: standardLiteral };

/** what a chunk of 2,048 rows may hold of documents, in the unit that a reader's memory is counted in */
const streams = 64;
/** longest line of a file of CSV, a document in it included */
const longestLineBytes = 64 * 1024 * 1024;

export interface DuckDbQueryOptions {
  readonly label: string;
  /** a folder for what does not fit into memory */
  readonly spill: string;
}

export async function openDuckDbQuery(
  path: string,
  query: string,
  { label, spill }: DuckDbQueryOptions,
): Promise<QueryRows> {
  const reader = await openDuckDbReader(path, spill, { label, streams, isLocked: true });
  return rowsOf(reader, tableOf(query), label, async () => {
    const parameter = findParameter(query, ['?', '$']);
    if (parameter !== null) throw parameterFault(parameter, label);
    await checkQuery(reader.read, query, label).catch((error: unknown): never => {
      const other = error instanceof AppError ? findParameter(query, markIn(error.message)) : null;
      throw other === null ? error : parameterFault(other, label);
    });
  });
}

/** DuckDB has operators that begin as parameters of other databases do: the message tells which mark it did not take. */
function markIn(message: string): readonly ParameterMark[] {
  if (message.includes('error at or near ":"')) return [':'];
  return /the function \S*@/.test(message) ? ['@'] : [];
}

/** All rows of a file; the first line of one of CSV names its columns, which are texts. */
export async function openRowFile(
  path: string,
  format: 'parquet' | 'csv',
  { label, spill }: DuckDbQueryOptions,
): Promise<QueryRows> {
  const reader = await openDuckDbReader(':memory:', spill, {
    label,
    streams,
    data: dirname(path),
    isLocked: true,
  });
  const table =
    format === 'parquet'
      ? `read_parquet(${pathLiteral(path)})`
      : `read_csv(${pathLiteral(path)}, header = true, all_varchar = true, delim = ${/\.tsv(?:\.gz)?$/i.test(label) ? "E'\\t'" : "','"}, quote = '"', escape = '"', parallel = false, max_line_size = ${longestLineBytes}, buffer_size = ${longestLineBytes * 2})`;
  return rowsOf(reader, `${table} AS svc_rows`, label);
}

function rowsOf(
  reader: Awaited<ReturnType<typeof openDuckDbReader>>,
  table: string,
  label: string,
  check: () => Promise<void> = () => Promise.resolve(),
): QueryRows {
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw queryFault(error, label);
    }
  };
  let known: Promise<readonly QueryColumn[]> | null = null;
  const describe = (): Promise<readonly QueryColumn[]> =>
    asked(async () => {
      await check();
      const statement = `DESCRIBE SELECT * FROM ${table}`;
      const connection = await reader.connect();
      try {
        if ((await connection.extractStatements(statement)).count !== 1)
          throw new AppError('invalid_option', `${label}: --query must be one SELECT`);
      } finally {
        connection.closeSync();
      }
      const found = await reader.read<{ column_name: string; column_type: string }>(statement);
      return found.map(({ column_name: name, column_type: type }) => ({ name, ...kindOf(type) }));
    });
  const columns = (): Promise<readonly QueryColumn[]> => (known ??= describe());
  return {
    label,
    columns,
    async *rows(order) {
      const all = await columns();
      const expressions = textsOf(all, doubleQuoted, 'VARCHAR');
      const connection = await reader.connect();
      const result = await asked(() => connection.stream(selectRows(dialect, table, expressions, order)));
      const chunks = chunksOf(connection, result);
      try {
        for (;;) {
          const chunk = await asked(() => chunks.next());
          if (chunk === null) return;
          for (const row of chunk.getRows()) yield row.map(cellOf);
        }
      } finally {
        await chunks.close();
      }
    },
    close: () => Promise.resolve(reader.close()),
  };
}

function kindOf(type: string): Pick<QueryColumn, 'type' | 'holds'> {
  const [name] = /^[A-Z ]+/.exec(type.toUpperCase()) ?? [''];
  const isList = type.endsWith(']');
  return (isList ? undefined : types[name.trim()]) ?? { type: 'text', holds: 'other' };
}

const types: Readonly<Record<string, Pick<QueryColumn, 'type' | 'holds'>>> = {
  VARCHAR: { type: 'text', holds: 'text' },
  BLOB: { type: 'text', holds: 'bytes' },
  BOOLEAN: { type: 'boolean', holds: 'other' },
  TINYINT: { type: 'smallint', holds: 'other' },
  SMALLINT: { type: 'smallint', holds: 'other' },
  UTINYINT: { type: 'smallint', holds: 'other' },
  INTEGER: { type: 'integer', holds: 'other' },
  USMALLINT: { type: 'integer', holds: 'other' },
  BIGINT: { type: 'bigint', holds: 'other' },
  UINTEGER: { type: 'bigint', holds: 'other' },
  UBIGINT: { type: 'numeric', holds: 'other' },
  HUGEINT: { type: 'numeric', holds: 'other' },
  DECIMAL: { type: 'numeric', holds: 'other' },
  FLOAT: { type: 'real', holds: 'other' },
  DOUBLE: { type: 'double', holds: 'other' },
  DATE: { type: 'date', holds: 'other' },
  TIME: { type: 'time', holds: 'other' },
  TIMESTAMP: { type: 'timestamp', holds: 'other' },
  'TIMESTAMP WITH TIME ZONE': { type: 'timestamptz', holds: 'other' },
};

function cellOf(value: unknown): QueryCell {
  if (value === null || typeof value === 'string') return value;
  return (value as { readonly bytes: Uint8Array }).bytes;
}

/** In the words of DuckDB, which says what of the query or the file it does not take. */
function queryFault(error: unknown, label: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const [told = ''] = error.message.split('\n', 1);
  if (/Out of Memory/i.test(told))
    return new AppError(
      'unprocessable_input',
      `${label}: 2,048 rows of it, which are read at once, do not fit into memory: write it with smaller row groups, or the documents as files`,
    );
  return new AppError('unprocessable_input', `${label}: ${told.slice(0, 2000)}`, { cause: error });
}
