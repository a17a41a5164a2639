/** Rows of files of CSV, TSV or JSON Lines as they lie, each file a piece at a time, for tables that are read as a whole. */
import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ColumnType } from '../../../../engine/model/relational-model.ts';
import { literalBytes, memberHead } from '../../../../engine/records/kernel/instance.ts';
import {
  isJsonFormat,
  recordForms,
  type RecordFormat,
  type RecordPlan,
} from '../../../../engine/records/split.ts';
import type { RecordSplitter } from '../../../../engine/records/splitter.ts';
import type { RowBlock } from '../../../../engine/unshred/rows/document-rows.ts';
import type { SpareBuffers } from '../../../../engine/spare-buffers.ts';
import { AppError } from '../../../../errors.ts';
import { decoded, type ValueDecoder } from '../../../rows/field-blocks.ts';
import type { ClosableBlocks } from '../../../rows/table-row-source.ts';
import { jsonForm, typeDecoder, typeForm } from './value-decoders.ts';

export interface TextFile {
  readonly path: string;
  /** as far as it is known: what small files are read into is no longer than they are */
  readonly size?: { readonly bytes: number; readonly rows: number };
  /** by field */
  readonly names: readonly string[];
  /** by field: index of the column that it fills; -1: it is not asked for */
  readonly columns: readonly number[];
  /** by field; undefined: of no known column */
  readonly types: readonly (ColumnType | undefined)[];
}

export interface TextRowsOptions {
  readonly files: readonly TextFile[];
  readonly format: RecordFormat;
  /** how many columns a row of a block has */
  readonly width: number;
  /** bytes that are read at once; more where a record is longer */
  readonly pieceBytes: number;
  /** what messages call the folder */
  readonly label: string;
  readonly splitter: RecordSplitter;
  /** of blocks */
  readonly buffers: SpareBuffers;
}

const newline = 0x0a;
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
  readonly #plan: RecordPlan;
  readonly #decoders: readonly (ValueDecoder | null)[];
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
    const { names, columns, types } = file;
    const { format, width } = options;
    const isJson = isJsonFormat(format);
    const heads = isJson ? names.map(memberHead) : [];
    this.#plan = { format, names, heads, columns, forms: types.map(isJson ? jsonForm : typeForm), width };
    this.#decoders = types.map((type) => (isJson ? null : typeDecoder(type)));
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
      const { format, splitter, buffers, width } = this.#options;
      const hasHeader = this.#records === 0 && recordForms[format].hasHeader;
      const piece = { bytes, hasHeader, rows: this.#rows };
      const { block, end, count, fault, hasOthers } = splitter.split(piece, this.#plan, buffers);
      if (fault !== null) throw this.#damaged(this.#records + count + 1, fault);
      this.#records += count;
      this.#rest = bytes.subarray(end);
      if (this.#atEnd && this.#rest.length > 0)
        throw this.#damaged(this.#records + 1, 'a quote is never closed');
      // pieces of a table mostly have as many
      this.#rows = Math.max(this.#left === 0 ? 1 : fewRows, Math.ceil(block.rows * 1.1));
      const decoders = this.#decoders.map((decode, field) => (hasOthers(field) ? decode : null));
      if (block.rows > 0) return decoded(block, { columns: this.#plan.columns, decoders, width });
    }
    return null;
  }

  /** What is left of the piece before it, and the next one; a line break behind the last record, and room for literals. */
  async #read(): Promise<Uint8Array> {
    const rest = this.#rest;
    const most = Math.max(this.#options.pieceBytes, rest.length);
    const more = Math.min(most, Math.max(this.#left, fewBytes));
    const length = rest.length + more + 1 + literalBytes;
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

/** In the place of a block, which would be held. */
function nothing(): undefined {
  return undefined;
}
