/** A column of text of a result's chunks, as bytes: taking its strings one by one costs more than all else. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** Texts one after the other. */
export interface ChunkTexts {
  readonly bytes: Uint8Array;
  /** where each text ends in `bytes`; the next one begins there */
  readonly ends: Int32Array;
}

/** of a text in a vector: its length, then itself, or its first four bytes and where it lies */
const [entryBytes, longestInline] = [16, 12];

/** Bytes of the texts of a column, none of which is NULL. */
export function textBytes({ chunk, rowCount }: DuckDBDataChunk, column: number): number {
  const entries = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, column), rowCount * entryBytes);
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  let length = 0;
  for (let row = 0; row < rowCount; row += 1) length += view.getUint32(row * entryBytes, true);
  return length;
}

/** The texts of a column, none of which is NULL. */
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
    // texts that DuckDB has put one right behind the other are taken at once
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
