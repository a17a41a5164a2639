/** Chunks of a result, of a query that is asked again where it lacks memory. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { lacksMemory } from './database.ts';

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
