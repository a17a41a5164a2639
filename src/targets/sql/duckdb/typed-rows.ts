/**
 * Converts chunks of a result to blocks of rows. Numbers and moments are passed to the kernel that reads pages of Parquet as they are in
 * DuckDB's vectors, and it makes text of them; values of other columns come as one text for each row.
 */
import duckdb from '@duckdb/node-bindings';
import * as layout from '../../../engine/parquet/reading/kernel/layout.ts';
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { CellsKernel, type Region } from '../../../engine/parquet/reading/kernel/instance.ts';
import type { StoredForm } from '../../../engine/parquet/reading/stored-column.ts';
import { SpareBuffers } from '../../../engine/spare-buffers.ts';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { placeFields, type FieldPlan } from '../../rows/field-blocks.ts';

export interface TypedPlan {
  /** the result's first columns: their positions in a block's rows, and the form of their values */
  readonly typed: readonly { readonly column: number; readonly form: StoredForm }[];
  /** the plan for the texts after the typed columns; null: there are none */
  readonly fields: FieldPlan | null;
  /** columns of a row of the block; columns that are in neither are empty */
  readonly width: number;
}

/** rows of a vector */
const maxRows = 2048;
/** the bytes that the levels of a page take: their length, then a header of two bytes and one bit for each row */
const levelBytes = 512;
const widestValue = 16;

/** The resources that all tables of a source share for reading. */
export class TypedRows {
  readonly #kernel = new CellsKernel(maxRows);
  readonly #buffers = new SpareBuffers();
  readonly #record: Region = this.#kernel.take(layout.COLUMN_INTS * 4);
  readonly #page: Region = this.#kernel.take(levelBytes + maxRows * widestValue);

  /** Returns null if a text has other fields than those of the plan. */
  block(chunk: DuckDBDataChunk, { typed, fields, width }: TypedPlan): RowBlock | null {
    const { rowCount: rows } = chunk;
    const kernel = this.#kernel;
    const texts = fields === null ? null : chunkTexts(chunk, typed.length);
    const textBytes = texts?.bytes.length ?? 0;
    const room = kernel.blockRoom(textBytes + typed.length * rows * layout.LONGEST_VALUE, rows * width);
    const cellsEnd = room.cells + rows * width * 8;
    if (typed.length + (fields?.columns.length ?? 0) < width) kernel.bytes.fill(0xff, room.cells, cellsEnd);
    if (texts !== null) {
      kernel.bytes.set(texts.bytes, room.texts);
      const cells = new Int32Array(kernel.bytes.buffer, room.cells, rows * width * 2);
      if (!placeFields(texts.bytes, texts.ends, fields!, cells)) return null;
    }
    let end = room.texts + textBytes;
    for (const [at, { column, form }] of typed.entries()) {
      this.#putPage(duckdb.data_chunk_get_vector(chunk.chunk, at), rows, form);
      end = kernel.exports.takeRows(this.#record.at, rows, room.cells + column * 8, width * 8, end);
    }
    const bytes = this.#buffers.take(end - room.texts);
    bytes.set(kernel.bytes.subarray(room.texts, end));
    const cells = this.#buffers.takeInts(rows * width * 2);
    cells.set(new Int32Array(kernel.bytes.buffer, room.cells, rows * width * 2));
    return { bytes, cells, rows };
  }

  /** Takes back a block that is no longer needed. */
  giveBack({ bytes, cells }: RowBlock): void {
    this.#buffers.giveBack(bytes as Uint8Array<ArrayBuffer>);
    this.#buffers.giveBack(cells as Int32Array<ArrayBuffer>);
  }

  /** Passes the values of a vector to the kernel as a page of its current column. */
  #putPage(vector: duckdb.Vector, rows: number, { form, scale, kept, width }: StoredForm): void {
    const { bytes, view, exports } = this.#kernel;
    const record = this.#record.at;
    const page = this.#page.at;
    view.setInt32(record + layout.COLUMN_FORM * 4, form, true);
    view.setInt32(record + layout.COLUMN_SCALE * 4, scale, true);
    view.setInt32(record + layout.COLUMN_KEPT * 4, kept, true);
    view.setInt32(record + layout.COLUMN_WIDTH * 4, width, true);
    view.setUint32(page, levelBytes - 4, true);
    const valid = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null;
    const values = duckdb.vector_get_data(vector, rows * width);
    const at = page + levelBytes;
    let count = rows;
    if (valid === null) {
      putHeader(bytes, page + 4, rows << 1);
      bytes[page + 6] = 1;
      bytes.set(values, at);
    } else {
      const groups = Math.ceil(rows / 8);
      putHeader(bytes, page + 4, (groups << 1) | 1);
      bytes.set(valid.subarray(0, groups), page + 6);
      count = keepValid(values, valid, rows, width, new Int32Array(bytes.buffer, at, (rows * width) / 4));
    }
    if (form === layout.FORM_WIDE_DECIMAL) turnBytes(view, at, at + count * width);
    exports.beginPage(record, page, at + count * width, layout.IN_PLAIN);
  }
}

/** Writes the header of a run of levels, always in two bytes. */
function putHeader(bytes: Uint8Array, at: number, header: number): void {
  bytes[at] = (header & 0x7f) | 0x80;
  bytes[at + 1] = header >> 7;
}

/** Moves the values of rows that have one next to each other; returns their number. */
function keepValid(
  values: Uint8Array,
  valid: Uint8Array,
  rows: number,
  width: number,
  out: Int32Array,
): number {
  const from = new Int32Array(values.buffer, values.byteOffset, (rows * width) / 4);
  const each = width / 4;
  let to = 0;
  for (let row = 0; row < rows; row += 1) {
    if ((valid[row >> 3]! & (1 << (row & 7))) === 0) continue;
    for (let part = row * each; part < (row + 1) * each; part += 1) out[to++] = from[part]!;
  }
  return to / each;
}

/** Reverses bytes: DuckDB stores the lowest byte of a value first, Parquet the highest. */
function turnBytes(view: DataView, from: number, to: number): void {
  for (let at = from; at < to; at += widestValue)
    for (let low = at, high = at + widestValue - 4; low < high; low += 4, high -= 4) {
      const lowest = view.getUint32(low, true);
      view.setUint32(low, view.getUint32(high, true), false);
      view.setUint32(high, lowest, false);
    }
}

/** Texts one after the other. */
export interface ChunkTexts {
  readonly bytes: Uint8Array;
  /** the end of each text in `bytes`; the next one begins there */
  readonly ends: Int32Array;
}

/**
 * the size of a text's entry in a vector, and the longest text stored in it. The entry holds the length, then the text, or its first four
 * bytes and its address
 */
const [entryBytes, longestInline] = [16, 12];

/** Counts the bytes of the texts of a column, none of which is NULL. */
export function textBytes({ chunk, rowCount }: DuckDBDataChunk, column: number): number {
  const entries = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, column), rowCount * entryBytes);
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  let length = 0;
  for (let row = 0; row < rowCount; row += 1) length += view.getUint32(row * entryBytes, true);
  return length;
}

/** Returns the texts of a column, none of which is NULL. */
export function chunkTexts({ chunk, rowCount }: DuckDBDataChunk, column = 0): ChunkTexts {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const entries = duckdb.vector_get_data(vector, rowCount * entryBytes);
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  const ends = new Int32Array(rowCount);
  let length = 0;
  for (let row = 0; row < rowCount; row += 1) {
    length += view.getUint32(row * entryBytes, true);
    ends[row] = length;
  }
  const bytes = new Uint8Array(length);
  for (let row = 0, at = 0; row < rowCount;) {
    const own = view.getUint32(row * entryBytes, true);
    if (own <= longestInline) {
      const from = row * entryBytes + 4;
      for (let index = 0; index < own; index += 1) bytes[at + index] = entries[from + index]!;
      at += own;
      row += 1;
      continue;
    }
    // texts that DuckDB has stored next to each other are copied at once
    const first = row * entryBytes + 8;
    let end = view.getBigUint64(first, true) + BigInt(own);
    let run = own;
    for (row += 1; row < rowCount; row += 1) {
      const next = view.getUint32(row * entryBytes, true);
      if (next <= longestInline || view.getBigUint64(row * entryBytes + 8, true) !== end) break;
      end += BigInt(next);
      run += next;
    }
    bytes.set(
      duckdb.get_data_from_pointer(entries.buffer as ArrayBuffer, entries.byteOffset + first, run),
      at,
    );
    at += run;
  }
  return { bytes, ends };
}
