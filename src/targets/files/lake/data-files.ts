/** Reads the data files of a table with DuckDB, and makes new files from them. */
import {
  dataFileName,
  type LakeFile,
  type FieldIds,
  type NewFile,
  type SharedValue,
} from './table-format.ts';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LakePlace } from './place.ts';
import { fileKeyName } from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import { exactDigits } from '../../sql/duckdb/csv-import.ts';
import { openDuckDb, pathLiteral, type DuckDb } from '../../sql/duckdb/database.ts';
import { converted, type DecimalDigits } from '../../sql/duckdb/types.ts';
import { makeFolder } from '../../../storage/staging/folders.ts';
import { fieldIdsOption } from '../parquet/writing.ts';
import type { ColumnFacts } from '../../../engine/parquet/file-writer.ts';

/** Types whose minimum and maximum are given to readers, because JSON holds them exactly. */
const compared = new Set(['SMALLINT', 'INTEGER', 'BIGINT', 'DATE']);
/** the number of columns whose statistics readers use */
const maxStatistics = 32;

export interface TypedName {
  readonly name: string;
  readonly sqlType: string;
}

/**
 * Returns the columns with statistics in a file: the first ones, and at any position the document key, by which jobs find files again, and
 * times without a zone, which can get a zone as long as they have no value.
 */
function toldColumns<T extends TypedName>(columns: readonly T[]): readonly T[] {
  const isAlwaysTold = ({ name, sqlType }: T): boolean => name === fileKeyName || sqlType === 'TIMESTAMP';
  return columns.filter(
    (column, at) => !column.sqlType.endsWith('[]') && (at < maxStatistics || isAlwaysTold(column)),
  );
}

/** A file on this machine: its path, with the values that its table gives for all of its rows, if any. */
export type LocalRows = string | { readonly path: string; readonly told: readonly SharedValue[] };

/** A file of the table, with its path in the place, and its name below the table's folder. */
export interface PresentFile {
  readonly path: string;
  readonly name: string;
  /** the entry of the table for the file */
  readonly of: LakeFile;
}

/** Returns the files in the form that statements read. */
export async function rowFiles(
  place: LakePlace,
  present: readonly Pick<PresentFile, 'path' | 'of'>[],
): Promise<readonly LocalRows[]> {
  const found: LocalRows[] = [];
  for (const { path, of } of present) found.push({ path: await place.localFile(path), told: of.told });
  return found;
}

/** The change of a column in a rewrite. */
export interface TypeChange {
  readonly from: string;
  readonly to: string;
  /** for an instant that becomes text: the column with its offset */
  readonly offset?: string | undefined;
  /** an expression of the value as its document has it, over the table `t`; NULL keeps the value of the column */
  readonly written?: string;
}

export interface Rewriting {
  /** the columns whose type changes, by name */
  readonly conversions: ReadonlyMap<string, TypeChange>;
  /** all columns of the new version of the table */
  readonly columns: readonly TypedName[];
  /** the condition that selects the rows to keep */
  readonly where: string | null;
  /** field ids of the columns in the new file, if they have any */
  readonly fieldIds: FieldIds | null;
  /** keyed by column, the expression that replaces its values, over all columns of the table; absent: none */
  readonly values?: ReadonlyMap<string, string>;
}

export interface DataFiles {
  /** returns `stats` of an `add`: number of rows; NULLs, minimum and maximum of the first columns */
  statistics(path: string, rows: number, columns: readonly TypedName[]): Promise<string>;
  /** copies the rows of a file into a new one, in `scratch`; returns null if no row remains */
  rewrite(file: LocalRows, mark: string, rewriting: Rewriting): Promise<NewFile | null>;
  /**
   * copies the rows of all files into a new one, as `rewrite` does, with all of the columns; AppError `conflict` if the number of rows
   * differs
   */
  merge(
    paths: readonly string[],
    mark: string,
    rows: number,
    merging: Pick<Rewriting, 'columns' | 'fieldIds'>,
  ): Promise<NewFile>;
  /** returns the digits of a column's decimals in all of the files */
  digits(files: readonly LocalRows[], column: string): Promise<DecimalDigits>;
  read<T>(sql: string): Promise<T[]>;
  /** Runs a statement, and returns the number of rows that it wrote. */
  run(sql: string): Promise<number>;
  close(): Promise<void>;
}

const memoryBytes = 256 * 1024 * 1024;

/** Opens the files of all tables of a folder. DuckDB starts when it is first needed. `scratch`: a folder inside that is removed later. */
export function openDataFiles(directory: string, scratch: string): DataFiles {
  let opened: Promise<DuckDb> | null = null;
  const database = (): Promise<DuckDb> =>
    (opened ??= openDuckDb(':memory:', { directory, spill: join(scratch, 'spill'), memoryBytes }).then(
      (duckdb) => inTurn(duckdb, (error) => dataFileFault(error, directory)),
    ));
  /** Finds the first file that cannot be read on its own, among files that could not be read together. */
  const broken = async (error: unknown, paths: readonly string[]): Promise<unknown> => {
    const { read } = await database();
    for (const path of paths) {
      try {
        await read(`SELECT bit_xor(hash(rows)) FROM ${parquet([path])} AS rows`);
      } catch (one) {
        return one instanceof AppError ? dataFileFault(one.cause, directory, path) : error;
      }
    }
    return error;
  };

  const statistics = async (path: string, rows: number, columns: readonly TypedName[]): Promise<string> => {
    const scalar = toldColumns(columns);
    const values = scalar.flatMap(({ name, sqlType }, at) => {
      const column = doubleQuoted(name);
      const nulls = `(count(*) - count(${column}))::VARCHAR AS n${at}`;
      if (!compared.has(sqlType)) return [nulls];
      return [nulls, `min(${column})::VARCHAR AS l${at}`, `max(${column})::VARCHAR AS g${at}`];
    });
    const [found = {}] =
      values.length === 0
        ? []
        : await (
            await database()
          ).read<Record<string, string | null>>(`SELECT ${values.join(', ')} FROM ${parquet([path])}`);
    const members = (letter: string): string =>
      scalar
        .flatMap(({ name, sqlType }, at) => {
          const text = found[`${letter}${at}`] ?? null;
          if (text === null || !isPlain(text)) return [];
          const value = sqlType === 'DATE' && letter !== 'n' ? JSON.stringify(text) : text;
          return [`${JSON.stringify(name)}:${value}`];
        })
        .join(',');
    return `{"numRecords":${rows},"minValues":{${members('l')}},"maxValues":{${members('g')}},"nullCount":{${members('n')}}}`;
  };

  return {
    statistics,
    rewrite: async (file, mark, { conversions, columns, where, fieldIds, values: settled = new Map() }) => {
      const { read, run } = await database();
      const from = settled.size === 0 ? parquet([file]) : wholeRows([file], columns);
      const described = await read<{ column_name: string }>(`DESCRIBE SELECT * FROM ${from}`);
      const present = new Set(described.map(({ column_name: name }) => name));
      const values = described.map(({ column_name: name }) => {
        const column = doubleQuoted(name);
        if (settled.has(name)) return `${settled.get(name)} AS ${column}`;
        const change = conversions.get(name);
        if (change === undefined) return column;
        const { from, to, offset, written } = change;
        const isTold = offset !== undefined && present.has(offset);
        const value = converted(
          `t.${column}::${from}`,
          from,
          to,
          isTold ? `t.${doubleQuoted(offset)}` : null,
        );
        return `${written === undefined ? value : `coalesce(${written}, ${value})`} AS ${column}`;
      });
      const name = dataFileName(mark);
      const ids = fieldIds === null ? null : picked(fieldIds, present);
      const draft = join(scratch, name);
      await makeFolder(scratch);
      const rows = await run(
        `COPY (SELECT ${values.join(', ')} FROM ${from} AS t${where === null ? '' : ` WHERE ${where}`}) TO ${standardLiteral(draft)} (FORMAT parquet, COMPRESSION zstd${fieldIdsOption(ids)})`,
      );
      if (rows === 0) {
        await rm(draft, { force: true });
        return null;
      }
      const stats = await statistics(
        draft,
        rows,
        columns.filter((column) => present.has(column.name)),
      );
      const { size: bytes } = await stat(draft);
      return { name, bytes, stats, ...(ids === null ? {} : { fieldIds: ids }) };
    },
    merge: async (paths, mark, rows, { columns, fieldIds }) => {
      const { read, run } = await database();
      const described = await read<{ column_name: string }>(`DESCRIBE SELECT * FROM ${parquet(paths)}`).catch(
        async (error: unknown): Promise<never> => {
          throw await broken(error, paths);
        },
      );
      const present = new Set(described.map(({ column_name: name }) => name));
      const values = columns.map(({ name, sqlType }) => {
        const column = doubleQuoted(name);
        return `${present.has(name) ? column : 'NULL'}::${sqlType} AS ${column}`;
      });
      const name = dataFileName(mark);
      const draft = join(scratch, name);
      await makeFolder(scratch);
      const written = await run(
        `COPY (SELECT ${values.join(', ')} FROM ${parquet(paths)}) TO ${standardLiteral(draft)} (FORMAT parquet, COMPRESSION zstd${fieldIdsOption(fieldIds)})`,
      ).catch(async (error: unknown): Promise<never> => {
        throw await broken(error, paths);
      });
      if (written !== rows)
        throw new AppError(
          'conflict',
          `the files to compact have ${written} rows, but the table records ${rows}; nothing was changed.`,
        );
      const stats = await statistics(draft, rows, columns);
      const { size: bytes } = await stat(draft);
      return { name, bytes, stats, ...(fieldIds === null ? {} : { fieldIds }) };
    },
    digits: async (rowFiles, column) => {
      const { read } = await database();
      let digits: DecimalDigits = { whole: 0, fraction: 0 };
      for (const file of rowFiles) {
        const described = await read<{ column_name: string; column_type: string }>(
          `DESCRIBE SELECT * FROM ${parquet([file])}`,
        );
        const type = described.find(({ column_name: name }) => name === column)?.column_type;
        if (type === undefined) continue;
        const value = type.endsWith('[]') ? `unnest(${doubleQuoted(column)})` : doubleQuoted(column);
        const [whole, fraction] = exactDigits('value::VARCHAR');
        const [row] = await read<{ whole: number | null; fraction: number | null }>(
          `SELECT max(${whole})::INTEGER AS whole, max(${fraction})::INTEGER AS fraction FROM (SELECT ${value} AS value FROM ${parquet([file])})`,
        );
        digits = {
          whole: Math.max(digits.whole, row?.whole ?? 0),
          fraction: Math.max(digits.fraction, row?.fraction ?? 0),
        };
      }
      return digits;
    },
    read: async <T>(sql: string) => (await database()).read<T>(sql),
    run: async (sql) => (await database()).run(sql),
    close: async () => {
      if (opened !== null) (await opened).close();
    },
  };
}

/** Returns `TypeChange.written` from files of `_lexical`; `key`: the column with the keys of the rows. */
export function writtenText(
  lexical: readonly LocalRows[],
  { table, column, key }: { readonly table: string; readonly column: string; readonly key: string },
): string {
  return `(SELECT any_value(l.content) FROM ${parquet(lexical)} AS l WHERE l.table_name = ${standardLiteral(table)}
    AND l.column_name = ${standardLiteral(column)} AND trim(l.content) <> '' AND l.row_key = t.${doubleQuoted(key)})`;
}

/** DuckDB's messages for errors in a Parquet file, as opposed to errors of the machine */
const unreadable =
  /^(?:Invalid (?:Input )?Error|Serialization Error|IO Error: (?:No files found|Cannot open file)|TProtocol)|parquet|thrift|zstd|snappy/i;

/** AppError `conflict` if a file cannot be read as Parquet. `path`: that file, if the message does not name it. */
function dataFileFault(error: unknown, directory: string, path?: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const [told = ''] = error.message.split('\n', 1);
  if (!unreadable.test(told)) return error;
  const named = path ?? /["']([^"']+\.parquet)["']/.exec(told)?.[1];
  const file = named === undefined ? 'a file of its tables' : named.replace(`${directory}/`, '');
  const why = told
    .replace(/^(?:[A-Z]\w* )+Error: /, '')
    .replace(/(?: of file)? ["'][^"']+\.parquet["']/, '')
    .replaceAll(/\p{Cc}/gu, '')
    .replace(/[:.\s]+$/, '');
  return new AppError(
    'conflict',
    `${file} cannot be read as Parquet (${why}). Restore it from a backup, or load its documents into a new target.`,
    { cause: error },
  );
}

/** Runs one statement at a time. Tables are committed several at a time, and a waiting statement would block a thread. */
function inTurn({ run, read, close }: DuckDb, faultOf: (error: unknown) => unknown): DuckDb {
  let last: Promise<unknown> = Promise.resolve();
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work).catch((error: unknown): never => {
      throw faultOf(error);
    });
    // the caller gets the error
    last = done.catch(() => undefined);
    return done;
  };
  return { run: (sql) => next(() => run(sql)), read: <T>(sql: string) => next(() => read<T>(sql)), close };
}

function picked(fieldIds: FieldIds, present: ReadonlySet<string>): FieldIds {
  return Object.fromEntries(Object.entries(fieldIds).filter(([name]) => present.has(name)));
}

/** Returns whether the text is a number, or a day with a four-digit year. */
function isPlain(text: string): boolean {
  return /^-?\d+$|^\d{4}-\d\d-\d\d$/.test(text);
}

/** Returns the relation that follows FROM. A column that a file does not have is NULL, unless the table gives its value. */
export function parquet(files: readonly LocalRows[]): string {
  const plain: string[] = [];
  const parts: string[] = [];
  for (const file of files)
    if (typeof file === 'string') plain.push(file);
    else if (file.told.length === 0) plain.push(file.path);
    else parts.push(withTold(file));
  if (parts.length === 0) return readParquet(plain);
  if (plain.length > 0) parts.unshift(`SELECT * FROM ${readParquet(plain)}`);
  return `(${parts.join(' UNION ALL BY NAME ')})`;
}

function withTold({ path, told }: Exclude<LocalRows, string>): string {
  const names = told.map(({ name }) => standardLiteral(name));
  const values = told.map(
    ({ name, sqlType, value }) =>
      `${value === null ? 'NULL' : standardLiteral(value)}::${sqlType} AS ${doubleQuoted(name)}`,
  );
  return `SELECT COLUMNS(c -> c NOT IN (${names.join(', ')})), ${values.join(', ')} FROM ${readParquet([path])}`;
}

function readParquet(paths: readonly string[]): string {
  return `read_parquet([${paths.map(pathLiteral).join(', ')}], union_by_name = true, hive_partitioning = false)`;
}

/** Like `parquet`, but with all of the columns, even if no file has them. */
export function wholeRows(files: readonly LocalRows[], columns: readonly TypedName[]): string {
  const typed = columns.map(({ name, sqlType }) => `NULL::${sqlType} AS ${doubleQuoted(name)}`);
  const none = `SELECT ${typed.join(', ')} WHERE false`;
  return files.length === 0 ? `(${none})` : `(SELECT * FROM ${parquet(files)} UNION ALL BY NAME ${none})`;
}

const dayMs = 86_400_000;

/** Returns `DataFiles.statistics` from the facts that were noted when the file was written. `facts`: by column. */
export function fileStatistics(
  rows: number,
  columns: readonly TypedName[],
  facts: readonly ColumnFacts[],
): string {
  const scalar = toldColumns(columns.map((column, at) => ({ ...column, facts: facts[at]! })));
  const members = (valueOf: (facts: ColumnFacts) => bigint | null): string =>
    scalar
      .flatMap(({ name, sqlType, facts: told }) => {
        const value = compared.has(sqlType) ? valueOf(told) : null;
        if (value === null) return [];
        const text = sqlType === 'DATE' ? dayOf(value) : String(value);
        return isPlain(text) ? [`${JSON.stringify(name)}:${sqlType === 'DATE' ? `"${text}"` : text}`] : [];
      })
      .join(',');
  const nulls = scalar.map(({ name, facts: told }) => `${JSON.stringify(name)}:${told.nulls}`).join(',');
  return `{"numRecords":${rows},"minValues":{${members(({ least }) => least)}},"maxValues":{${members(({ greatest }) => greatest)}},"nullCount":{${nulls}}}`;
}

/** Returns the number of rows in a file's statistics. */
export function recordedRows(stats: string): number {
  return (JSON.parse(stats) as { readonly numRecords: number }).numRecords;
}

/** Returns days since 1970 as a date if its year has four digits; otherwise another text. */
function dayOf(days: bigint): string {
  const date = new Date(Number(days) * dayMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/T.*/, '');
}
