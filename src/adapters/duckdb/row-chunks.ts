/** Chunks of a result whose one column is text, as bytes: taking its strings one by one costs more than all else. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { lacksMemory } from './database.ts';

/** Texts one after the other. */
export interface ChunkTexts {
  readonly bytes: Uint8Array;
  /** where each text ends in `bytes`; the next one begins there */
  readonly ends: Int32Array;
}

/** of a text in a vector: its length, then itself, or its first four bytes and where it lies */
const [entryBytes, longestInline] = [16, 12];

/** The texts of the first column, none of which is NULL. */
export function chunkTexts({ chunk, rowCount }: DuckDBDataChunk): ChunkTexts {
  const vector = duckdb.data_chunk_get_vector(chunk, 0);
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

/** The chunks of a query, from a connection that is closed with it. */
export interface Chunks {
  next(): Promise<DuckDBDataChunk | null>;
  close(): Promise<void>;
}

export function chunksOf(connection: DuckDBConnection, result: DuckDBResult): Chunks {
  let fetching: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> =>
    (closing ??= fetching.then(
      // what is being fetched ends before its connection does
      () => connection.closeSync(),
      () => connection.closeSync(),
    ));
  return {
    async next() {
      if (closing !== null) return null;
      const fetch = result.fetchChunk();
      fetching = fetch;
      const chunk = await fetch;
      if (chunk !== null && chunk.rowCount > 0) return chunk;
      await close();
      return null;
    },
    close,
  };
}

/**
 * The chunks of a query that is asked again, by `open`, where memory lacks for its rows and `raiseMemory` can give more; those that were given are
 * passed over. Rows are to come in the same order each time.
 */
export async function chunksWithMemory(
  open: () => Promise<Chunks>,
  raiseMemory: () => Promise<boolean>,
): Promise<Chunks> {
  let given = 0;
  const openAgain = async (error: unknown): Promise<Chunks> => {
    for (let fault = error; lacksMemory(fault) && (await raiseMemory());) {
      let again: Chunks | null = null;
      try {
        again = await open();
        await passOver(again, given, fault);
        return again;
      } catch (anew) {
        // what it has in memory the next one lacks
        await again?.close();
        fault = anew;
      }
    }
    throw error;
  };
  let chunks = await open().catch(openAgain);
  let isClosed = false;
  return {
    async next() {
      for (;;) {
        try {
          const chunk = await chunks.next();
          given += chunk?.rowCount ?? 0;
          return chunk;
        } catch (error) {
          await chunks.close();
          if (isClosed) throw error;
          chunks = await openAgain(error);
          // by whoever waited for no more rows
          if (isClosed) await chunks.close();
        }
      }
    },
    close: () => {
      isClosed = true;
      return chunks.close();
    },
  };
}

/** So many rows. `fault` where a chunk has rows of both sides. */
async function passOver(chunks: Chunks, rows: number, fault: unknown): Promise<void> {
  for (let passed = 0; passed < rows;) {
    const chunk = await chunks.next();
    passed += chunk?.rowCount ?? rows + 1;
    if (passed > rows) throw fault;
  }
}
