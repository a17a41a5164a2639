/** Writes staged rows as Parquet: columns have the types of DuckDB's dialect, and decimals are exact or text. */
import { closeSync, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { type FileTask, type WrittenFile, FileMaker } from './file-maker.ts';
import { join } from 'node:path';
import { MisfitError, type ColumnFacts, type ParquetColumn } from '../../../engine/parquet/file-writer.ts';
import type { ListItems } from '../../../engine/parquet/lists.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { columnSqlType, larger, typeForDigits, type DecimalDigits } from '../../sql/duckdb/types.ts';
import type { FinishedFile } from '../../../storage/staging/staged-files.ts';
import type { NamedColumn } from '../folder/table-columns.ts';
import { syncPath } from '../../../storage/staging/durable-file.ts';
import { stagedRows } from './staged-rows.ts';

/** The field ids by column: its own, and that of the items of a list. */
export type ColumnNumbers = Readonly<Record<string, readonly [column: number, item?: number]>>;

/** The digits by index of the column. */
export type ColumnDigits = ReadonlyMap<number, DecimalDigits>;

/** The facts that the types of a table's columns follow from. */
export interface ColumnTyping {
  readonly columns: readonly NamedColumn[];
  /** types of columns with a value that their own cannot hold */
  readonly widened: ReadonlyMap<string, ColumnType>;
  /** the type that a column has in the file, if it differs from the type that its values need */
  readonly typeOf?: (column: NamedColumn, sqlType: string) => Promise<string>;
}

export interface ParquetTable extends ColumnTyping {
  /** the digits of unbounded decimals in other files of the table, for which this one needs room */
  readonly digits?: ColumnDigits;
  /** returns the field ids of the columns, from their types in the file; null if they have none */
  readonly fieldIdsOf?: (types: readonly string[]) => Promise<ColumnNumbers | null>;
  /** rows of the encoding `words`, under the name of the Parquet file to make */
  readonly file: FinishedFile;
}

export interface ParquetFile {
  readonly file: FinishedFile & Required<Pick<FinishedFile, 'types'>>;
  /** the facts of its columns */
  readonly facts: readonly ColumnFacts[];
  /** the digits of its unbounded decimals; empty if they were not counted */
  readonly digits: ColumnDigits;
  /** the field ids of its columns; null if they have none */
  readonly fieldIds: ColumnNumbers | null;
}

export interface ParquetSettings {
  /** whether readers support delta encodings of integers and of text lengths, which are encodings of version 2 */
  readonly deltas: boolean;
}

/**
 * Turns each file into Parquet, in place and durably. `thread`: makes the file that it has begun, concurrently with the others, and ends.
 */
export async function writeParquet(
  directory: string,
  tables: readonly ParquetTable[],
  { deltas, thread = null }: ParquetSettings & { readonly thread?: ColumnsThread | null },
): Promise<ParquetFile[]> {
  const written: ParquetFile[] = [];
  const maker = new FileMaker();
  const make = async (at: number): Promise<void> => {
    written[at] = await writeTable(directory, tables[at]!, deltas, maker);
  };
  const begun = tables.findIndex(({ file }) => join(directory, file.name) === thread?.followed);
  const beside = begun < 0 ? null : writeBeside(directory, tables[begun]!, deltas, thread!);
  try {
    for (const at of tables.keys()) if (at !== begun) await make(at);
    const file = (await beside) ?? null;
    if (file !== null) written[begun] = file;
    else if (begun >= 0) await make(begun);
    await maker.settle();
  } finally {
    // waits, so that the thread writes nothing after the caller gets the error
    await beside?.catch(() => undefined);
    maker.close();
  }
  if (written.length > 0) await syncPath(directory);
  return written;
}

/**
 * Returns null if the thread did not make the file, or made it with other types. An error of the thread occurs again when the file is made
 * here.
 */
async function writeBeside(
  directory: string,
  table: ParquetTable,
  deltas: boolean,
  thread: ColumnsThread,
): Promise<ParquetFile | null> {
  try {
    if (table.fieldIdsOf !== undefined) return null;
    const digits = table.digits ?? new Map();
    const types = await typesOf(table, digits);
    const made = await thread.write(fileTask(join(directory, table.file.name), table, types, null, deltas));
    if (made === null) return null;
    const { facts, ...written } = made;
    const { name, rows, longestWriteBytes } = table.file;
    return { file: { name, rows, longestWriteBytes, ...written, types }, facts, digits, fieldIds: null };
  } finally {
    // ends the thread, so that its memory is free before the other files need as much
    await thread.end();
  }
}

/** Returns the task of writing a table's file with those types. */
export function fileTask(
  path: string,
  {
    columns,
    file,
  }: Pick<ParquetTable, 'columns'> & { readonly file: Pick<FinishedFile, 'bytes' | 'longestWriteBytes'> },
  types: readonly string[],
  numbers: ColumnNumbers | null,
  deltas: boolean,
): FileTask {
  return {
    path,
    columns: columns.map(({ name, type }, at): ParquetColumn => {
      const ids = numbers?.[name];
      return {
        name,
        sqlType: types[at]!,
        ...joinedItems(type, types[at]!),
        ...(ids === undefined ? {} : { ids }),
      };
    }),
    keyValues: { pandas: pandasMetadata(columns, types) },
    rowsBytes: file.bytes,
    longestRowBytes: file.longestWriteBytes,
    deltas,
  };
}

function joinedItems({ kind, list }: ColumnType, sqlType: string): Pick<ParquetColumn, 'items'> {
  if (list === true) return { items: listItems(kind) };
  return sqlType === 'VARCHAR' && listItems(kind) === 'float' ? { items: 'no list' } : {};
}

function listItems(kind: ColumnType['kind']): ListItems {
  switch (kind) {
    case 'text':
      return 'text';
    case 'boolean':
      return 'truth';
    case 'real':
    case 'double':
      return 'float';
    default:
      return 'others';
  }
}

/** pandas' types for columns that it would read as floats or objects if a row has no value. */
const pandasTypes: Readonly<Record<string, { readonly pandas: string; readonly numpy: string }>> = {
  SMALLINT: { pandas: 'int16', numpy: 'Int16' },
  INTEGER: { pandas: 'int32', numpy: 'Int32' },
  BIGINT: { pandas: 'int64', numpy: 'Int64' },
  BOOLEAN: { pandas: 'bool', numpy: 'boolean' },
};

/** Returns the metadata that pandas writes into its own files, for the columns above alone: integers with gaps keep all of their digits. */
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

/** Returns the option of DuckDB's `COPY … TO` for field ids; empty if the columns have none. */
export function fieldIdsOption(numbers: ColumnNumbers | null): string {
  const entries = Object.entries(numbers ?? {}).map(([name, [column, item]]) => {
    const value = item === undefined ? String(column) : `{__duckdb_field_id: ${column}, element: ${item}}`;
    return `${standardLiteral(name)}: ${value}`;
  });
  return entries.length === 0 ? '' : `, FIELD_IDS {${entries.join(', ')}}`;
}

async function writeTable(
  directory: string,
  table: ParquetTable,
  deltas: boolean,
  maker: FileMaker,
): Promise<ParquetFile> {
  const path = join(directory, table.file.name);
  const staged = await stagedRows(path, table.file);
  const open = unboundedDecimals(table);
  const { digits: ofOthers = new Map() } = table;
  // unbounded decimals nearly always fit the usual decimal type
  let digits: ColumnDigits = new Map();
  const measured = (): Promise<ColumnDigits> => measureDigits(staged.pieces(), table.columns, open);
  if (ofOthers.size > 0) digits = await measured();
  for (;;) {
    const types = await typesOf(table, maxDigits(digits, ofOthers));
    try {
      const fieldIds = (await table.fieldIdsOf?.(types)) ?? null;
      const { facts, ...written } = await maker.write(
        staged.open(),
        fileTask(path, table, types, fieldIds, deltas),
      );
      await staged.remove();
      const { name, rows, longestWriteBytes } = table.file;
      return { file: { name, rows, longestWriteBytes, ...written, types }, facts, digits, fieldIds };
    } catch (error) {
      await rm(path, { force: true });
      if (!(error instanceof MisfitError) || digits.size > 0 || !open.includes(error.column)) throw error;
      digits = await measured();
    }
  }
}

/** Returns, by column, the greater number of digits of both. */
export function maxDigits(a: ColumnDigits, b: ColumnDigits): ColumnDigits {
  const most = new Map(a);
  for (const [column, digits] of b) most.set(column, larger(digits, most.get(column) ?? digits));
  return most;
}

/** Returns the decimal columns for which the model has no precision. */
function unboundedDecimals({ columns, widened }: ColumnTyping): number[] {
  return columns.flatMap(({ name, type }, at) =>
    type.kind === 'numeric' && type.precision === undefined && !widened.has(name) ? [at] : [],
  );
}

/** Returns the DuckDB type of each column. `digits`: those of unbounded decimals, as far as they were counted. */
export async function typesOf(
  { columns, widened, typeOf }: ColumnTyping,
  digits: ColumnDigits,
): Promise<string[]> {
  const types: string[] = [];
  for (const [at, column] of columns.entries()) {
    const found = digits.get(at);
    const wider = widened.get(column.name);
    const needed =
      wider !== undefined || found === undefined
        ? columnSqlType(wider ?? column.type)
        : `${typeForDigits(found)}${column.type.list === true ? '[]' : ''}`;
    types.push((await typeOf?.(column, needed)) ?? needed);
  }
  return types;
}

const TAB = 0x09;
const LF = 0x0a;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Counts the significant digits before and after the point in the wanted columns, lists included. `rows`: COPY text, in pieces with
 * arbitrary boundaries.
 */
export async function measureDigits(
  rows: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  columns: readonly NamedColumn[],
  wanted: readonly number[],
): Promise<Map<number, DecimalDigits>> {
  const measures = new Map(wanted.map((at) => [at, new NumberMeasure()]));
  const byColumn = columns.map((_, at) => measures.get(at) ?? null);
  let column = 0;
  for await (const piece of rows) {
    for (let at = 0; at < piece.length; at += 1) {
      const measure = byColumn[column]!;
      at = measure === null ? endOfField(piece, at) : measure.take(piece, at);
      if (at < piece.length) column = (column + 1) % columns.length;
    }
  }
  return new Map([...measures].map(([at, { whole, fraction }]) => [at, { whole, fraction }]));
}

/** Returns the end of the field, or of the piece. */
function endOfField(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== TAB && bytes[at] !== LF) at += 1;
  return at;
}

/** Measures the digits of the numbers of one column, byte by byte. */
class NumberMeasure implements DecimalDigits {
  whole = 0;
  fraction = 0;
  /** the significant digits of the number so far, and the digits after its point */
  #whole = 0;
  #behind = -1;
  #fraction = 0;

  /** Reads bytes of a field from `from` on. Returns the end of the field or of the piece. */
  take(bytes: Uint8Array, from: number): number {
    let [whole, behind, fraction] = [this.#whole, this.#behind, this.#fraction];
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte >= ZERO && byte <= NINE) {
        if (behind >= 0) {
          behind += 1;
          if (byte !== ZERO) fraction = behind;
        } else if (whole > 0 || byte !== ZERO) whole += 1;
        continue;
      }
      if (byte === POINT) {
        behind = 0;
        continue;
      }
      this.whole = Math.max(this.whole, whole);
      this.fraction = Math.max(this.fraction, fraction);
      [whole, behind, fraction] = [0, -1, 0];
      if (byte === TAB || byte === LF) break;
    }
    [this.#whole, this.#behind, this.#fraction] = [whole, behind, fraction];
    return at;
  }
}

export type ToColumnsThread =
  /** `rows`: the descriptor of a file that is open in this process */
  | { readonly kind: 'begin'; readonly task: FileTask; readonly rows: number }
  /** the file has grown to this number of bytes */
  | { readonly kind: 'grown'; readonly bytes: number }
  /** the file is complete */
  | { readonly kind: 'whole' };

export type FromColumnsThread =
  | { readonly kind: 'written'; readonly file: WrittenFile }
  | { readonly kind: 'failed' };

export type StartThread = (options: WorkerOptions) => Worker;

interface Begun {
  /** the path of its rows */
  readonly path: string;
  readonly task: FileTask;
  readonly rows: number;
}

export class ColumnsThread {
  readonly #worker: Worker;
  readonly #answer = Promise.withResolvers<FromColumnsThread>();
  #begun: Begun | null = null;

  /** `startThread`: starts a thread that receives and posts the messages above. */
  constructor(startThread: StartThread) {
    // the thread keeps most of its new objects, so a small young generation is enough
    this.#worker = startThread({ env: {}, resourceLimits: { maxYoungGenerationSizeMb: 8 } });
    // if the thread fails, the file is made without it
    const lose = (): void => this.#answer.resolve({ kind: 'failed' });
    this.#worker.on('error', lose);
    this.#worker.on('exit', lose);
    this.#worker.on('message', (message: FromColumnsThread) => this.#answer.resolve(message));
  }

  /** Returns the path of the rows whose file was begun; null if none was begun, or the file was already requested. */
  get followed(): string | null {
    return this.#begun?.path ?? null;
  }

  /**
   * Begins the Parquet file of rows that are still written to `path`. May be called once: `grown` reports new rows, and `write` requests
   * the result.
   */
  follow(path: string, task: FileTask): void {
    const rows = openSync(path, 'r');
    this.#begun = { path, rows, task: { ...task, path: `${path}.columns` } };
    this.#send({ kind: 'begin', task: this.#begun.task, rows });
  }

  grown(path: string, bytes: number): void {
    if (this.#begun?.path === path) this.#send({ kind: 'grown', bytes });
  }

  /**
   * Finishes the file after all rows were written, and replaces the rows with it. Returns null, and keeps the rows, if the file must now be
   * different, or could not be made for any reason.
   */
  async write(task: FileTask): Promise<WrittenFile | null> {
    const begun = this.#begun;
    if (begun === null || !areSame(begun, task)) return null;
    this.#send({ kind: 'grown', bytes: task.rowsBytes });
    this.#send({ kind: 'whole' });
    const answer = await this.#answer.promise;
    if (answer.kind === 'failed') return null;
    await rename(begun.task.path, task.path);
    return answer.file;
  }

  /** Ends the thread, and removes a file that was begun but not requested. */
  async end(): Promise<void> {
    const begun = this.#begun;
    this.#begun = null;
    await this.#worker.terminate();
    if (begun === null) return;
    closeSync(begun.rows);
    await rm(begun.task.path, { force: true });
  }

  #send(message: ToColumnsThread): void {
    this.#worker.postMessage(message, []);
  }
}

/** Returns whether the file that was begun is the one that the final types require. */
function areSame({ path, task }: Begun, now: FileTask): boolean {
  return (
    path === now.path && essenceOf(task) === essenceOf(now) && now.longestRowBytes <= task.longestRowBytes
  );
}

function essenceOf({ columns, keyValues, deltas }: FileTask): string {
  return JSON.stringify([columns, keyValues, deltas]);
}
