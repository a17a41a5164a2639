/**
 * Chunks of a result as blocks of rows: numbers and moments as they lie in DuckDB's vectors, made text by the kernel that reads pages of Parquet,
 * as which they are given to it; what other columns have comes as one text a row.
 */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { CellsKernel, type Region } from '../../../engine/parquet/reading/kernel/instance.ts';
import * as layout from '../../../engine/parquet/reading/kernel/layout.ts';
import type { StoredForm } from '../../../engine/parquet/reading/stored-column.ts';
import { SpareBuffers } from '../../../engine/spare-buffers.ts';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { placeFields, type FieldPlan } from '../../rows/field-blocks.ts';
import { chunkTexts } from './chunk-texts.ts';

export interface TypedPlan {
  /** the result's first columns: their places in a block's rows, and what their values are */
  readonly typed: readonly { readonly column: number; readonly form: StoredForm }[];
  /** what the text behind them has; null: there is none */
  readonly fields: FieldPlan | null;
  /** columns of a row of the block; those of neither are empty */
  readonly width: number;
}

/** rows of a vector */
const mostRows = 2048;
/** of a page: the length of its levels, and those, a bit for each row behind a header of two bytes */
const levelBytes = 512;
const widestValue = 16;

/** What all tables of a source are read with. */
export class TypedRows {
  readonly #kernel = new CellsKernel(mostRows);
  readonly #buffers = new SpareBuffers();
  readonly #record: Region = this.#kernel.take(layout.COLUMN_INTS * 4);
  readonly #page: Region = this.#kernel.take(levelBytes + mostRows * widestValue);

  /** Null where a text has other than the fields of the plan. */
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

  /** A block that is needed no more. */
  giveBack({ bytes, cells }: RowBlock): void {
    this.#buffers.giveBack(bytes as Uint8Array<ArrayBuffer>);
    this.#buffers.giveBack(cells as Int32Array<ArrayBuffer>);
  }

  /** The values of a vector as a page of the column that the kernel then has. */
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

/** Of a run of levels, always in two bytes. */
function putHeader(bytes: Uint8Array, at: number, header: number): void {
  bytes[at] = (header & 0x7f) | 0x80;
  bytes[at + 1] = header >> 7;
}

/** Puts the values of rows that have one behind each other; answers how many. */
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

/** DuckDB has the lowest byte of a value first, Parquet the highest one. */
function turnBytes(view: DataView, from: number, to: number): void {
  for (let at = from; at < to; at += widestValue)
    for (let low = at, high = at + widestValue - 4; low < high; low += 4, high -= 4) {
      const lowest = view.getUint32(low, true);
      view.setUint32(low, view.getUint32(high, true), false);
      view.setUint32(high, lowest, false);
    }
}
