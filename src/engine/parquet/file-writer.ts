/**
 * Writes rows in COPY text to a Parquet file, column by column: a batch of rows is a page of each column, and many pages are a row group.
 * At most one row group is in memory, compressed (docs/decisions/loading/columns.md).
 */
import { SpareBuffers } from '../spare-buffers.ts';
import { ColumnsMemory, ColumnsKernel } from './kernel/instance.ts';
import { ColumnChunk, type Compress, type ColumnPage, valueTypeOf } from './column-chunk.ts';
import { addLists, xmlBooleanGrowth, type JoinedItems } from './lists.ts';
import {
  footer,
  pageHeader,
  placedColumn,
  type FileColumn,
  type PlacedColumn,
  type PlacedGroup,
  type PlacedIndex,
  type PlacedPage,
} from './footer.ts';

/** The memory that consecutive file writers share. New memory for each file would burden the garbage collector. */
export class WriterMemory {
  readonly buffers = new SpareBuffers();
  #rows: ColumnsMemory | null = null;
  #items: ColumnsMemory | null = null;

  get rows(): ColumnsMemory {
    return (this.#rows ??= new ColumnsMemory());
  }

  /** the memory for list items */
  get items(): ColumnsMemory {
    return (this.#items ??= new ColumnsMemory());
  }
}

export interface ParquetColumn {
  readonly name: string;
  /** DuckDB type of the column */
  readonly sqlType: string;
  /** type of the list items in the rows, also if the column is text; absent: no list */
  readonly items?: JoinedItems;
  /** numbers of the column, and of the items of a list */
  readonly ids?: readonly [column: number, item?: number];
}

export interface ParquetOptions {
  readonly columns: readonly ParquetColumn[];
  readonly keyValues: Readonly<Record<string, string>>;
  /** bytes of all rows: a small file gets little memory */
  readonly rowsBytes: number;
  /** no row is longer */
  readonly longestRowBytes: number;
  /** whether whole numbers may be written as differences, which some readers of tables do not support */
  readonly deltas: boolean;
  /** compresses with zstd, into a buffer of `memory` or one of its own */
  readonly compress: Compress;
  /** `release`: to be called when the bytes are no longer needed, so that their memory can be reused */
  readonly write: (bytes: Uint8Array, release?: () => void) => Promise<void>;
  /** no other writer uses it before this one has finished */
  readonly memory: WriterMemory;
}

/** Statistics of a column for the whole file. */
export interface ColumnFacts {
  readonly nulls: number;
  /** bounds of whole numbers, dates (days since 1970) and instants (microseconds); null: unknown */
  readonly least: bigint | null;
  readonly greatest: bigint | null;
}

/** A value that its column's type does not hold. */
export class MisfitError extends Error {
  readonly column: number;

  constructor(column: number) {
    super(`column ${column} has a value that its type does not hold`);
    this.column = column;
  }
}

const maxRowsOfPage = 20_480;
const maxRowsOfGroup = 6 * maxRowsOfPage;
const maxCells = 2 * 1024 * 1024;
const usualTextBytes = 4 * 1024 * 1024;
/** bytes to read at once; bytes beyond the end of a batch are moved */
const readBytes = 128 * 1024;
/** compressed, and in dictionaries */
const maxGroupBytes = 16 * 1024 * 1024;
const maxDictionaryBytes = 48 * 1024 * 1024;
/** In smaller files, columns whose pages have few bytes stay uncompressed: compression would save little, and costs time for each. */
const smallFileBytes = 256 * 1024;
const maxPlainBytes = 256;
/** In larger files, only pages of hardly more than one run stay uncompressed. */
const fewPlainBytes = 64;
const utf8 = new TextEncoder();

export class ParquetWriter {
  readonly #options: ParquetOptions;
  readonly #columns: readonly (FileColumn & { readonly items: ParquetColumn['items'] })[];
  readonly #kernel: ColumnsKernel;
  /** kernel for list items; created with the first list */
  #items: ColumnsKernel | null = null;
  #chunks: ColumnChunk[];
  /** the encodings of the columns in the last row group */
  readonly #habits: Pick<ColumnChunk, 'habit' | 'entries'>[];
  readonly #facts: { nulls: number; least: bigint | null; greatest: bigint | null; isTold: boolean }[];
  #textLength = 0;
  /** bytes of the text whose delimiters are known, and the number of these */
  #scanned = 0;
  #found = 0;
  #groupRows = 0;
  #groupBytes = 0;
  readonly #groups: PlacedGroup[] = [];
  #at = 0;
  #fault: unknown = null;
  readonly #zstd: Compress;

  constructor(options: ParquetOptions) {
    this.#options = options;
    this.#columns = options.columns.map(({ name, sqlType, items, ids }) => ({
      name,
      type: valueTypeOf(sqlType.replace(/\[\]$/, '')),
      isList: sqlType.endsWith('[]'),
      items,
      ids: ids ?? null,
    }));
    const count = this.#columns.length;
    const textBytes = Math.max(Math.min(usualTextBytes, options.rowsBytes), options.longestRowBytes) + 1;
    // a row has a byte for each column
    const fitting = Math.min(maxRowsOfPage, Math.floor(maxCells / count), Math.ceil(textBytes / count));
    const room = { columns: count, rows: Math.max(256, fitting), textBytes };
    this.#kernel = new ColumnsKernel(room, options.memory.rows);
    this.#zstd = async (bytes) => {
      try {
        return await options.compress(bytes);
      } catch (error) {
        // reported when the row group is written, because nothing awaits the promise yet
        this.#fault ??= error;
        return bytes;
      } finally {
        options.memory.buffers.giveBack(bytes);
      }
    };
    this.#habits = this.#columns.map(() => ({ habit: null, entries: 0 }));
    this.#facts = this.#columns.map(() => ({ nulls: 0, least: null, greatest: null, isTold: true }));
    this.#chunks = this.#newChunks();
  }

  /**
   * Adds rows in order until `read` returns 0. `read` fills its argument from the start and returns the number of bytes, 0 at the end.
   * Throws MisfitError if the file must be written again with another type.
   */
  async rows(read: (target: Uint8Array<ArrayBuffer>) => number): Promise<void> {
    const kernel = this.#kernel;
    const { rows, columns, textBytes } = kernel.room;
    for (;;) {
      const end = Math.min(this.#textLength + readBytes, textBytes);
      // the memory may have moved
      const length = read(kernel.text.subarray(this.#textLength, end));
      if (length === 0) break;
      this.#textLength += length;
      for (;;) {
        this.#found = kernel.split(this.#scanned, this.#textLength, this.#found);
        this.#scanned = this.#textLength;
        if (this.#found < rows * columns && this.#textLength < textBytes) break;
        await this.#takeBatch();
      }
    }
  }

  /** Writes the remaining rows and the footer. */
  async finish(): Promise<readonly ColumnFacts[]> {
    while (this.#textLength > 0) {
      this.#found = this.#kernel.split(0, this.#textLength, 0);
      await this.#takeBatch();
    }
    if (this.#groupRows > 0) await this.#writeGroup();
    if (this.#at === 0) await this.#write(utf8.encode('PAR1'));
    const indexes: PlacedIndex[][] = [];
    for (const { columns } of this.#groups) {
      const placed: PlacedIndex[] = [];
      for (const { bounds, offsets } of columns.map(({ index }) => index)) {
        const boundsAt = bounds === null ? null : ([this.#at, bounds.length] as const);
        if (bounds !== null) await this.#write(bounds);
        placed.push({ bounds: boundsAt, offsets: [this.#at, offsets.length] });
        await this.#write(offsets);
      }
      indexes.push(placed);
    }
    const end = footer(this.#columns, this.#groups, indexes, this.#options.keyValues);
    await this.#write(end);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, end.length, true);
    await this.#write(length);
    await this.#write(utf8.encode('PAR1'));
    return this.#facts.map(({ nulls, least, greatest, isTold }) => ({
      nulls,
      least: isTold ? least : null,
      greatest: isTold ? greatest : null,
    }));
  }

  #newChunks(): ColumnChunk[] {
    const { deltas, memory, rowsBytes } = this.#options;
    const dictionaryBytes = Math.max(
      16 * 1024,
      Math.min(1024 * 1024, Math.floor((maxDictionaryBytes * 2) / this.#columns.length)),
    );
    return this.#columns.map(({ type, isList: isOfItems, items }, at) => {
      const kernel = isOfItems || items !== undefined ? this.#itemsKernel() : this.#kernel;
      return new ColumnChunk(kernel, {
        type,
        compress: this.#zstd,
        buffers: memory.buffers,
        plainBytes: rowsBytes <= smallFileBytes ? maxPlainBytes : fewPlainBytes,
        deltas,
        dictionaryBytes,
        ...this.#habits[at]!,
      });
    });
  }

  #itemsKernel(): ColumnsKernel {
    // a list of items of one byte each is the longest
    const { rows, textBytes: most } = this.#kernel.room;
    const joinsTruths = this.#columns.some(({ items, isList }) => items === 'truth' && !isList);
    this.#items ??= new ColumnsKernel(
      {
        columns: 1,
        rows: rows + Math.ceil(most / 2),
        textBytes: joinsTruths ? most * xmlBooleanGrowth : most,
      },
      this.#options.memory.items,
    );
    return this.#items;
  }

  async #takeBatch(): Promise<void> {
    const kernel = this.#kernel;
    const rows = Math.floor(this.#found / this.#columns.length);
    if (rows === 0) throw new RangeError('a row is longer than its declared length, or incomplete');
    for (const [at, { items, isList }] of this.#columns.entries()) {
      const chunk = this.#chunks[at]!;
      const fits =
        items === undefined
          ? chunk.add(at, rows)
          : addLists({ chunk, rows: kernel, items: this.#itemsKernel(), of: items }, at, rows, isList);
      if (!fits) throw new MisfitError(at);
    }
    this.#groupRows += rows;
    const end = kernel.endOf(rows);
    kernel.text.copyWithin(0, end, this.#textLength);
    this.#textLength -= end;
    this.#scanned = 0;
    this.#found = 0;
    const dictionaryBytes = kernel.dictionaryBytes + (this.#items?.dictionaryBytes ?? 0);
    // pages of a few rows are compressed while the next ones are read
    for (const chunk of this.#chunks) this.#groupBytes += await chunk.toldBytes();
    if (this.#fault !== null) throw this.#fault;
    if (
      this.#groupRows + kernel.room.rows > maxRowsOfGroup ||
      this.#groupBytes > maxGroupBytes ||
      dictionaryBytes > maxDictionaryBytes
    )
      await this.#writeGroup();
  }

  async #writeGroup(): Promise<void> {
    if (this.#at === 0) await this.#write(utf8.encode('PAR1'));
    const { memory } = this.#options;
    const columns: PlacedColumn[] = [];
    for (const [at, chunk] of this.#chunks.entries()) {
      const dictionaryPage = chunk.dictionaryPage();
      chunk.finish();
      let plainBytes = 0;
      const start = this.#at;
      const place = async (page: ColumnPage, isDictionary: boolean): Promise<PlacedPage> => {
        const compressed = await page.compressed;
        if (this.#fault !== null) throw this.#fault;
        const header = pageHeader(page, isDictionary, compressed.length);
        const placed = { page, at: this.#at, bytes: header.length + compressed.length };
        await this.#write(header);
        await this.#write(compressed, () => memory.buffers.giveBack(compressed));
        plainBytes += header.length + page.bytes;
        return placed;
      };
      const dictionary = dictionaryPage === null ? null : await place(dictionaryPage, true);
      const pages: PlacedPage[] = [];
      for (const page of chunk.pages) pages.push(await place(page, false));
      const { nulls, bounds, isCompressed } = chunk;
      const bytes = this.#at - start;
      columns.push(placedColumn({ dictionary, pages }, { plainBytes, bytes, isCompressed, nulls, bounds }));
      this.#noteFacts(at, chunk);
      this.#habits[at] = { habit: chunk.habit, entries: chunk.entries };
    }
    this.#groups.push({ rows: this.#groupRows, columns });
    this.#groupRows = 0;
    this.#groupBytes = 0;
    this.#kernel.forgetDictionaries();
    this.#items?.forgetDictionaries();
    this.#chunks = this.#newChunks();
  }

  #noteFacts(at: number, { nulls, bounds, pages }: ColumnChunk): void {
    const facts = this.#facts[at]!;
    facts.nulls += nulls;
    if (bounds === null && pages.every((page) => page.nulls === page.entries)) return;
    const [least, greatest] = [bounds?.least.value ?? null, bounds?.greatest.value ?? null];
    if (typeof least !== 'bigint' || typeof greatest !== 'bigint') {
      facts.isTold = false;
      return;
    }
    if (facts.least === null || least < facts.least) facts.least = least;
    if (facts.greatest === null || greatest > facts.greatest) facts.greatest = greatest;
  }

  async #write(bytes: Uint8Array, release?: () => void): Promise<void> {
    this.#at += bytes.length;
    await this.#options.write(bytes, release);
  }
}
