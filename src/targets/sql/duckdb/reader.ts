/**
 * Reads rows from a DuckDB file or a folder of tables, to write documents back, in the order of their row keys, which is document order.
 * Most tables are stored in that order, as one pass over their keys shows, and are read as stored. DuckDB sorts only the others; data that
 * does not fit into memory is spilled to disk.
 */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { fileFault } from '../../../storage/staging/durable-file.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { StoredForm } from '../../../engine/parquet/reading/stored-column.ts';
import { textBlock } from '../../../engine/unshred/rows/values.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource } from '../../../ports/row-source.ts';
import type { TargetLoad } from '../../../ports/row-sink.ts';
import { decoded, fieldBlock, type FieldPlan, type ValueDecoder } from '../../rows/field-blocks.ts';
import {
  createTableRowSource,
  type ClosableBlocks,
  type DocumentRowsOnly,
  type ReadTable,
  type ReadTables,
  type RowOrder,
  type RowQuery,
} from '../../rows/table-row-source.ts';
import type { ChunkTexts, TypedRows } from './typed-rows.ts';
import type { DuckDbReader } from './database.ts';
import { chunksOf, chunksOfPieces, chunksWithMemory, type Chunks } from './row-chunks.ts';

/** Keys and positions are BIGINTs. */
export interface SourceTable extends ReadTable {
  /** Returns the column's values, or null if there is no such column. */
  text(column: string): SourceText | null;
  /** for a table whose rows are lines that this program reads itself; `text` is not called then */
  readonly lines?: SourceLines;
  /**
   * Returns all rows in the order of a column's whole numbers, or those of one document, read without DuckDB; null if they are not stored
   * in that order, or if those of one document cannot be read without all others.
   */
  readonly inOrder?: (
    key: string,
    columns: readonly string[],
    only: DocumentRowsOnly | null,
  ) => Promise<ClosableBlocks | null>;
  /** Returns all rows in stored order, read without DuckDB; null if there are too many to hold in memory. */
  readonly fewAsTheyLie?: (columns: readonly string[]) => Promise<ClosableBlocks | null>;
  /** for a table that has row ids, from its statistics, without reading rows: the bytes of its longest text, and its last row id plus 1 */
  readonly longTexts?: () => Promise<{ readonly longest: number; readonly end: number } | null>;
}

export interface SourceText {
  /** an expression of text, without characters that no document can hold */
  readonly expression: string;
  /** null: the values are already in the lexical forms of XSD */
  readonly decode: ValueDecoder | null;
  /** an expression of the values as they are in DuckDB's vectors, and their form; absent: they can only be read as text */
  readonly stored?: { readonly expression: string; readonly form: StoredForm };
}

export interface SourceLines {
  readonly expression: string;
  /** the line's values by name: the lexical forms of XSD, null for a missing column */
  values(line: string): (column: string) => string | null;
}

/** The tables of one source, open for reading. */
export interface SourceTables {
  /** Returns the table of that name, or null if there is none. */
  table(name: string): SourceTable | null;
  /** each stream needs a connection of its own */
  connect(): Promise<DuckDBConnection>;
  /** see `raiseMemory` of a reader */
  raiseMemory(): Promise<boolean>;
  /** see `lowerMemory` of a reader; for tables that may have long texts */
  lowerMemory?(): Promise<void>;
  /** see `ReadTables` */
  modelHashOf(jobUuid: string): Promise<string | null>;
  close(): Promise<void>;
}

export interface FileRowSourceOptions {
  readonly label: string;
  /** throws AppError `not_found` if there are no tables */
  readonly openTables: (model: RelationalModel) => Promise<SourceTables>;
  readonly loads: () => Promise<readonly TargetLoad[]>;
}

export function createFileRowSource({ label, openTables, loads }: FileRowSourceOptions): RowSource {
  return createTableRowSource({
    label,
    loads,
    openTables: async (model) => new FileTables(label, await openTables(model)),
    faultOf: (error) => fileFault(error, label, 'read'),
  });
}

/** A text that is read, and its place in a row. */
interface SourceField extends SourceText {
  readonly column: number;
}

class FileTables implements ReadTables<SourceTable> {
  readonly #label: string;
  readonly #tables: SourceTables;
  /** result of the last check, by the name of the order; `rest`: the condition that selected the checked rows */
  readonly #ordered = new Map<string, { readonly rest: string; readonly isOrdered: boolean }>();

  #typedRows: Promise<TypedRows> | null = null;

  constructor(label: string, tables: SourceTables) {
    this.#label = label;
    this.#tables = tables;
  }

  table(name: string): SourceTable | null {
    return this.#tables.table(name);
  }

  modelHashOf(jobUuid: string): Promise<string | null> {
    return this.#tables.modelHashOf(jobUuid);
  }

  close(): Promise<void> {
    return this.#tables.close();
  }

  async blocks(
    table: SourceTable,
    { rest, order, only = null }: RowQuery,
    columns: readonly string[],
  ): Promise<ClosableBlocks> {
    const inOrder =
      (rest === '' || only !== null) && order?.key !== undefined
        ? await table.inOrder?.(order.key, columns, only)
        : null;
    if (inOrder != null) return inOrder;
    const sorting =
      order === undefined || (await this.#isInOrder(table, rest, order))
        ? ''
        : ` ORDER BY ${order.by.join(', ')}`;
    const query = (selection: string): string => `SELECT ${selection} FROM ${table.from}${rest}${sorting}`;
    const long = rest === '' && sorting === '' ? ((await table.longTexts?.()) ?? null) : null;
    if (long !== null) await this.#tables.lowerMemory?.();
    // loads DuckDB itself, which most folders do not need
    const bytesOf = long === null ? null : (await import('./typed-rows.ts')).textBytes;
    const chunksFor = (selection: string, textColumn: number | null): Promise<Chunks> =>
      chunksWithMemory(
        async () => {
          const connection = await this.#tables.connect();
          if (long === null || bytesOf === null || textColumn === null)
            return chunksOf(connection, await connection.stream(query(selection)));
          return chunksOfPieces(connection, {
            ...long,
            query: (condition) => `${query(selection)} WHERE ${condition}`,
            bytesOf: (chunk) => bytesOf(chunk, textColumn),
          });
        },
        () => this.#tables.raiseMemory(),
      );
    if (table.lines !== undefined)
      return lineBlocks(await chunksFor(table.lines.expression, null), table.lines, columns);
    const fields = columns.flatMap((name, column) => {
      const text = table.text(name);
      return text === null ? [] : [{ ...text, column }];
    });
    if (fields.some(({ stored }) => stored !== undefined))
      return this.#typedBlocks(fields, columns.length, chunksFor);
    const plan = planOf(fields, columns.length);
    const chunks = await chunksFor(oneText(fields), 0);
    // loads DuckDB itself, which most folders do not need
    const { chunkTexts } = await import('./typed-rows.ts');
    return this.#fieldBlocks(chunks, plan, chunkTexts);
  }

  async #typedBlocks(
    fields: readonly SourceField[],
    width: number,
    chunksFor: (selection: string, textColumn: number | null) => Promise<Chunks>,
  ): Promise<ClosableBlocks> {
    const typed = fields.flatMap(({ stored, column }) =>
      stored === undefined ? [] : [{ ...stored, column }],
    );
    const others = fields.filter(({ stored }) => stored === undefined);
    const plan = { typed, fields: others.length === 0 ? null : planOf(others, width), width };
    const expressions = typed.map(({ expression }) => expression);
    if (others.length > 0) expressions.push(oneText(others));
    // loads DuckDB itself, which most folders do not need
    this.#typedRows ??= import('./typed-rows.ts').then(({ TypedRows }) => new TypedRows());
    const rows = await this.#typedRows;
    const chunks = await chunksFor(expressions.join(', '), others.length === 0 ? null : typed.length);
    return {
      next: async () => {
        const chunk = await chunks.next();
        if (chunk === null) return null;
        const block = rows.block(chunk, plan);
        if (block === null) throw this.#controlFault();
        return block;
      },
      giveBack: (block) => rows.giveBack(block),
      close: () => chunks.close(),
    };
  }

  #controlFault(): AppError {
    return new AppError(
      'unprocessable_input',
      `${this.#label}: a value has a control character (U+001F), which no document can hold`,
    );
  }

  #fieldBlocks(
    chunks: Chunks,
    plan: FieldPlan,
    textsOf: (chunk: DuckDBDataChunk) => ChunkTexts,
  ): ClosableBlocks {
    return {
      next: async () => {
        const chunk = await chunks.next();
        if (chunk === null) return null;
        const { bytes, ends } = textsOf(chunk);
        const block = fieldBlock(bytes, ends, plan);
        if (block === null) throw this.#controlFault();
        return decoded(block, plan);
      },
      close: () => chunks.close(),
    };
  }

  async fewRows(table: SourceTable, columns: readonly string[]): Promise<ClosableBlocks | null> {
    return (await table.fewAsTheyLie?.(columns)) ?? null;
  }

  /** Checks the order in one pass over the keys, in no more memory than a piece of them takes. */
  async #isInOrder({ from }: SourceTable, rest: string, { name, by }: RowOrder): Promise<boolean> {
    const known = this.#ordered.get(name);
    // if the whole table is in order, so is a part of it
    if (known !== undefined && (known.rest === rest || (known.rest === '' && known.isOrdered)))
      return known.isOrdered;
    const keys = by.map((key, at) => `${key} AS k${at}`);
    const lasts = by.map((_, at) => `lag(k${at}) OVER () AS l${at}`);
    const before = by.map((_, at) =>
      [...by.slice(0, at).map((__, earlier) => `k${earlier} = l${earlier}`), `k${at} < l${at}`].join(' AND '),
    );
    const connection = await this.#tables.connect();
    try {
      const result = await connection.runAndReadAll(
        `SELECT 1 FROM (SELECT *, ${lasts.join(', ')} FROM (SELECT ${keys.join(', ')} FROM ${from}${rest})) WHERE (${before.join(') OR (')}) LIMIT 1`,
      );
      const isOrdered = result.currentRowCount === 0;
      this.#ordered.set(name, { rest, isOrdered });
      return isOrdered;
    } finally {
      connection.closeSync();
    }
  }
}

/** Returns a row as one text: reading one value from DuckDB costs as much as reading the whole row. */
function oneText(fields: readonly SourceField[]): string {
  return `concat_ws(chr(31), ${fields.map(({ expression }) => `COALESCE(${expression}, chr(30))`).join(', ')})`;
}

function planOf(fields: readonly SourceField[], width: number): FieldPlan {
  return {
    columns: fields.map(({ column }) => column),
    decoders: fields.map(({ decode }) => decode),
    width,
  };
}

function lineBlocks(chunks: Chunks, { values }: SourceLines, columns: readonly string[]): ClosableBlocks {
  return {
    async next() {
      const chunk = await chunks.next();
      if (chunk === null) return null;
      const lines = chunk.getColumnValues(0) as string[];
      return textBlock(
        lines.map((line) => columns.map(values(line))),
        columns.length,
      );
    },
    close: () => chunks.close(),
  };
}

export class LazyReader {
  readonly #open: () => Promise<DuckDbReader>;
  #reader: Promise<DuckDbReader> | null = null;

  constructor(open: () => Promise<DuckDbReader>) {
    this.#open = open;
  }

  opened(): Promise<DuckDbReader> {
    return (this.#reader ??= this.#open());
  }

  async close(): Promise<void> {
    // the caller that asked for the reader has already received the error
    (await this.#reader?.catch(() => null))?.close();
  }
}
