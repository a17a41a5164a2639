/** Staged CSV to Parquet, by DuckDB: columns typed as in its dialect, decimals exact or text. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../engine/sql/dialect.ts';
import { measuredDigits, stagedColumn, stagedRows, stagedValue } from '../duckdb/csv-import.ts';
import { memoryFor, openDuckDb, type DuckDb } from '../duckdb/database.ts';
import { columnSqlType, typeForDigits } from '../duckdb/types.ts';
import type { FinishedFile } from '../file-staging/staged-files.ts';
import type { NamedColumn } from './contents/formats.ts';
import { syncPath } from './contents/manifest.ts';

/** By column: its number, and that of the items of a list. */
export type ColumnNumbers = Readonly<Record<string, readonly [column: number, item?: number]>>;

export interface ParquetTable {
  readonly columns: readonly NamedColumn[];
  /** columns with a value that their type cannot hold */
  readonly widened: ReadonlySet<string>;
  /** the type that a column has in the file, where that is not the one that its values need */
  readonly typeOf?: (column: NamedColumn, sqlType: string) => Promise<string>;
  /** numbers of the columns, by the types that they have in the file; null: none */
  readonly fieldIdsOf?: (types: readonly string[]) => Promise<ColumnNumbers | null>;
  /** rows as CSV, under the name that the Parquet file is to have */
  readonly file: FinishedFile;
}

/** Turns each file into Parquet, in place and durably. */
export async function writeParquet(
  directory: string,
  tables: readonly ParquetTable[],
): Promise<FinishedFile[]> {
  const longest = Math.max(0, ...tables.map(({ file }) => file.longestWriteBytes));
  const database = await openDuckDb(':memory:', { directory, memoryBytes: memoryFor(longest, 0) });
  try {
    const written: FinishedFile[] = [];
    for (const table of tables) written.push(await writeTable(database, directory, table));
    if (written.length > 0) await syncPath(directory);
    return written;
  } finally {
    database.close();
    await rm(join(directory, 'spill'), { recursive: true, force: true });
  }
}

/** pandas' types of columns that it reads as floats, or as objects, where a row has none. */
const pandasTypes: Readonly<Record<string, { readonly pandas: string; readonly numpy: string }>> = {
  SMALLINT: { pandas: 'int16', numpy: 'Int16' },
  INTEGER: { pandas: 'int32', numpy: 'Int32' },
  BIGINT: { pandas: 'int64', numpy: 'Int64' },
  BOOLEAN: { pandas: 'bool', numpy: 'boolean' },
};

/** What pandas writes beside its own files, of the columns above alone: integers that stand with gaps keep all their digits. */
function pandasMetadata(columns: readonly NamedColumn[], types: readonly string[]): string {
  return JSON.stringify({
    index_columns: [],
    column_indexes: [],
    columns: columns.flatMap(({ name }, at) => {
      const known = pandasTypes[types[at]!];
      if (known === undefined) return [];
      return [{ name, field_name: name, pandas_type: known.pandas, numpy_type: known.numpy, metadata: null }];
    }),
    creator: { library: 'conversion-job-service', version: '1' },
    pandas_version: '1.0.0',
  });
}

/** Of `COPY … TO` of DuckDB; empty where columns have no numbers. */
export function fieldIdsOption(numbers: ColumnNumbers | null): string {
  const entries = Object.entries(numbers ?? {}).map(([name, [column, item]]) => {
    const value = item === undefined ? String(column) : `{__duckdb_field_id: ${column}, element: ${item}}`;
    return `${standardLiteral(name)}: ${value}`;
  });
  return entries.length === 0 ? '' : `, FIELD_IDS {${entries.join(', ')}}`;
}

async function writeTable(database: DuckDb, directory: string, table: ParquetTable): Promise<FinishedFile> {
  const { columns, widened, file } = table;
  const path = join(directory, file.name);
  const csv = {
    path: `${path}.csv`,
    columnCount: columns.length,
    longestRowBytes: file.longestWriteBytes,
  };
  await rename(path, csv.path);
  const typed = columns.map(({ name, type }, at) => ({ at, name, type, isText: widened.has(name) }));
  const digits = await measuredDigits(
    database,
    csv,
    typed.filter(({ isText }) => !isText),
  );
  const types: string[] = [];
  for (const { at, type, isText } of typed) {
    const found = digits.get(at);
    const needed = isText
      ? 'VARCHAR'
      : found === undefined
        ? columnSqlType(type)
        : `${typeForDigits(found)}${type.list ? '[]' : ''}`;
    types.push((await table.typeOf?.(columns[at]!, needed)) ?? needed);
  }
  const values = typed.map(({ at, name, type }) => {
    const value = stagedValue(stagedColumn(at), type, types[at]!, digits.get(at));
    return `${value} AS ${doubleQuoted(name)}`;
  });
  const numbers = (await table.fieldIdsOf?.(types)) ?? null;
  await database.run(
    `COPY (SELECT ${values.join(', ')} FROM ${stagedRows(csv)}) TO ${standardLiteral(path)} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {pandas: ${standardLiteral(pandasMetadata(columns, types))}}${fieldIdsOption(numbers)})`,
  );
  await rm(csv.path);
  await syncPath(path);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { ...file, bytes, sha256: hash.digest('hex'), types };
}
