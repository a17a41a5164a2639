/** Rows of files of CSV or TSV as they lie, each file a piece at a time, for tables that are read as a whole. */
import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { RowBlock } from '../../engine/unshred/rows/document-rows.ts';
import type { SpareBuffers } from '../../engine/spare-buffers.ts';
import { AppError } from '../../errors.ts';
import { decoded, type ValueDecoder } from '../row-sinks/field-blocks.ts';
import type { ClosableBlocks } from '../row-sinks/table-row-source.ts';

export interface TextFile {
  readonly path: string;
  /** as far as it is known: what small files are read into is no longer than they are */
  readonly size?: { readonly bytes: number; readonly rows: number };
  /** by field: index of the column that it fills; -1: it is not asked for */
  readonly columns: readonly number[];
  /** by field */
  readonly decoders: readonly (ValueDecoder | null)[];
}

export interface TextRowsOptions {
  readonly files: readonly TextFile[];
  readonly format: 'csv' | 'tsv';
  /** how many columns a row of a block has */
  readonly width: number;
  /** bytes that are read at once; more where a record is longer */
  readonly pieceBytes: number;
  /** what messages call the folder */
  readonly label: string;
  /** of blocks */
  readonly buffers: SpareBuffers;
}

const [newline, tab, carriageReturn, comma, quote, backslash] = [0x0a, 0x09, 0x0d, 0x2c, 0x22, 0x5c];
const [letterN, smallN, smallR, smallT] = [0x4e, 0x6e, 0x72, 0x74];
/** rows of the first piece that there is room for at first */
const fewRows = 64;
/** room for what a file has grown by, which there mostly is not */
const fewBytes = 64;
/** of buffers that are made for their piece alone */
const shortBytes = 8 * 1024;

export function openTextRows(options: TextRowsOptions): ClosableBlocks {
  return new TextRows(options);
}

class TextRows implements ClosableBlocks {
  readonly #options: TextRowsOptions;
  #next = 0;
  #file: OpenFile | null = null;
  /** settles when the block that was asked for last is there */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TextRowsOptions) {
    this.#options = options;
  }

  giveBack({ bytes, cells }: RowBlock): void {
    this.#options.buffers.giveBack(bytes as Uint8Array<ArrayBuffer>);
    this.#options.buffers.giveBack(cells as Int32Array<ArrayBuffer>);
  }

  next(): Promise<RowBlock | null> {
    const block = this.#read();
    // whoever asked is told
    this.#last = block.then(nothing, nothing);
    return block;
  }

  async #read(): Promise<RowBlock | null> {
    for (;;) {
      const block = await this.#file?.next();
      if (block != null) return block;
      await this.#closeFile();
      const file = this.#options.files[this.#next];
      if (file === undefined) return null;
      this.#next += 1;
      this.#file = new OpenFile(await open(file.path), file, this.#options);
    }
  }

  /** A block is read ahead: a file that it opens is there to be closed only then. */
  async close(): Promise<void> {
    await this.#last;
    await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

class OpenFile {
  readonly #handle: FileHandle;
  readonly #file: TextFile;
  readonly #options: TextRowsOptions;
  #records = 0;
  #atEnd = false;
  /** not read yet, as far as that is known */
  #left: number;
  /** rows of the piece before */
  #rows: number;
  /** the beginning of a record whose rest is not read yet */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(handle: FileHandle, file: TextFile, options: TextRowsOptions) {
    this.#handle = handle;
    this.#file = file;
    this.#options = options;
    // of a manifest, where anything may stand
    const { bytes, rows } = file.size ?? { bytes: Infinity, rows: Infinity };
    this.#left = bytes >= 0 ? bytes : Infinity;
    // the header is one, too
    this.#rows = rows >= 0 ? Math.min(fewRows, rows + 1) : fewRows;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async next(): Promise<RowBlock | null> {
    while (!this.#atEnd || this.#rest.length > 0) {
      const bytes = await this.#read();
      const records = new Records(bytes, this.#file.columns, this.#options, this.#rows);
      if (this.#records === 0) records.skipHeader();
      const fault = records.take();
      if (fault !== null) throw this.#damaged(this.#records + records.count + 1, fault);
      this.#records += records.count;
      this.#rest = bytes.subarray(records.end);
      if (this.#atEnd && this.#rest.length > 0)
        throw this.#damaged(this.#records + 1, 'a quote is never closed');
      const block = records.block();
      // pieces of a table mostly have as many
      this.#rows = Math.max(this.#left === 0 ? 1 : fewRows, Math.ceil(block.rows * 1.1));
      const { columns, decoders } = this.#file;
      if (block.rows > 0) return decodedFields(block, columns, decoders, this.#options.width);
    }
    return null;
  }

  /** What is left of the piece before it, and the next one; a line break behind the last record. */
  async #read(): Promise<Uint8Array> {
    const rest = this.#rest;
    const most = Math.max(this.#options.pieceBytes, rest.length);
    const more = Math.min(most, Math.max(this.#left, fewBytes));
    const length = rest.length + more + 1;
    // buffers that are used again are long
    const bytes =
      length < shortBytes
        ? Buffer.allocUnsafeSlow(length)
        : Buffer.from(this.#options.buffers.take(length).buffer, 0, length);
    bytes.set(rest);
    const { bytesRead } = await this.#handle.read(bytes, rest.length, more);
    this.#left = bytesRead > this.#left ? Infinity : this.#left - bytesRead;
    let end = rest.length + bytesRead;
    this.#atEnd = bytesRead === 0;
    if (this.#atEnd && end > 0 && bytes[end - 1] !== newline) bytes[end++] = newline;
    return bytes.subarray(0, end);
  }

  #damaged(record: number, what: string): AppError {
    const file = basename(this.#file.path);
    return new AppError(
      'unprocessable_input',
      `${this.#options.label}: ${file} was changed since it was written: record ${record}: ${what}. Load the documents again.`,
    );
  }
}

function decodedFields(
  block: RowBlock,
  columns: readonly number[],
  decoders: readonly (ValueDecoder | null)[],
  width: number,
): RowBlock {
  const asked = decoders.map((decode, field) => (columns[field]! < 0 ? null : decode));
  return decoded(block, { columns, decoders: asked, width });
}

/** The records of a piece that are whole. */
class Records {
  /** of the piece: where the first record begins that is not whole */
  end = 0;
  /** the header among them */
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #columns: readonly number[];
  readonly #width: number;
  readonly #isCsv: boolean;
  readonly #delimiter: number;
  #cells: Int32Array;
  #rows = 0;
  /** values that stand in the piece otherwise than they are, one behind the other */
  #added = new Uint8Array(0);
  #addedBytes = 0;

  /** `rows`: how many there may be. */
  constructor(
    bytes: Uint8Array,
    columns: readonly number[],
    { format, width, buffers }: TextRowsOptions,
    rows: number,
  ) {
    this.#bytes = bytes;
    this.#columns = columns;
    this.#width = width;
    this.#isCsv = format === 'csv';
    this.#delimiter = this.#isCsv ? comma : tab;
    this.#cells = buffers.takeInts(2 * width * rows).fill(-1);
  }

  skipHeader(): void {
    const before = this.#rows;
    if (this.#take(this.#columns.map(() => -1)) !== null) return;
    this.#rows = before;
  }

  /** Answers what is wrong with the record behind those that were taken. */
  take(): string | null {
    for (;;) {
      const fault = this.#take(this.#columns);
      if (fault === 'incomplete') return null;
      if (fault !== null) return fault;
    }
  }

  block(): RowBlock {
    const cells = this.#cells.subarray(0, this.#rows * this.#width * 2);
    if (this.#addedBytes === 0) return { bytes: this.#bytes, cells, rows: this.#rows };
    const bytes = new Uint8Array(this.#bytes.length + this.#addedBytes);
    bytes.set(this.#bytes);
    bytes.set(this.#added.subarray(0, this.#addedBytes), this.#bytes.length);
    return { bytes, cells, rows: this.#rows };
  }

  /** One record; null: it is a row now. */
  #take(columns: readonly number[]): string | null {
    const bytes = this.#bytes;
    const row = this.#rows * this.#width * 2;
    if (row + this.#width * 2 > this.#cells.length) this.#grow();
    const last = columns.length - 1;
    for (let field = 0, at = this.end; ; field += 1, at += 1) {
      const column = columns[field]!;
      const cell = column < 0 ? -1 : row + column * 2;
      const end = this.#isCsv && bytes[at] === quote ? this.#quoted(at, cell) : this.#plain(at, cell);
      if (end < 0) return 'incomplete';
      const isLast = bytes[end] === newline;
      if (isLast !== (field === last) || (!isLast && bytes[end] !== this.#delimiter))
        return `it has other than ${columns.length} values`;
      at = end;
      if (!isLast) continue;
      this.end = end + 1;
      this.count += 1;
      this.#rows += 1;
      return null;
    }
  }

  /** Where the value ends that begins there; -1: not in this piece. */
  #plain(from: number, cell: number): number {
    const bytes = this.#bytes;
    const delimiter = this.#delimiter;
    let at = from;
    let isEscaped = false;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === delimiter || byte === newline) break;
      if (byte === backslash) isEscaped = true;
    }
    if (at === bytes.length) return -1;
    if (cell < 0) return at;
    if (isEscaped && !this.#isCsv) return this.#escaped(from, at, cell);
    this.#cells[cell] = this.#isCsv && at === from ? -1 : from;
    this.#cells[cell + 1] = at;
    return at;
  }

  /** A value with escapes of PostgreSQL's COPY text, or NULL. */
  #escaped(from: number, to: number, cell: number): number {
    const bytes = this.#bytes;
    if (to - from === 2 && bytes[from + 1] === letterN) {
      this.#cells[cell] = -1;
      return to;
    }
    const added = this.#roomFor(to - from);
    const start = this.#addedBytes;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]!;
      added[this.#addedBytes++] = byte === backslash && at + 1 < to ? unescaped(bytes[++at]!) : byte;
    }
    this.#fillAdded(cell, start);
    return to;
  }

  /** As `#plain`, of a value in quotes (RFC 4180 §2). */
  #quoted(from: number, cell: number): number {
    const bytes = this.#bytes as Buffer;
    let doubled = 0;
    let end = bytes.indexOf(quote, from + 1);
    for (; end >= 0 && bytes[end + 1] === quote; end = bytes.indexOf(quote, end + 2)) doubled += 1;
    if (end < 0 || end + 1 >= bytes.length) return -1;
    if (cell < 0) return end + 1;
    if (doubled === 0) {
      this.#cells[cell] = from + 1;
      this.#cells[cell + 1] = end;
      return end + 1;
    }
    const added = this.#roomFor(end - from - 1 - doubled);
    const start = this.#addedBytes;
    for (let at = from + 1; at < end; at += bytes[at] === quote ? 2 : 1)
      added[this.#addedBytes++] = bytes[at]!;
    this.#fillAdded(cell, start);
    return end + 1;
  }

  #roomFor(bytes: number): Uint8Array {
    const needed = this.#addedBytes + bytes;
    if (needed > this.#added.length) {
      const more = new Uint8Array(Math.max(1024, needed * 2));
      more.set(this.#added.subarray(0, this.#addedBytes));
      this.#added = more;
    }
    return this.#added;
  }

  /** The cell has what was added from `start` on, which lies behind the piece. */
  #fillAdded(cell: number, start: number): void {
    this.#cells[cell] = this.#bytes.length + start;
    this.#cells[cell + 1] = this.#bytes.length + this.#addedBytes;
  }

  #grow(): void {
    const cells = new Int32Array(this.#cells.length * 2).fill(-1, this.#cells.length);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}

/** What the letter behind a backslash stands for in PostgreSQL's COPY text (PostgreSQL manual, COPY, Text Format). */
function unescaped(letter: number): number {
  if (letter === smallT) return tab;
  if (letter === smallN) return newline;
  return letter === smallR ? carriageReturn : letter;
}

/** In the place of a block, which would be held. */
function nothing(): undefined {
  return undefined;
}
