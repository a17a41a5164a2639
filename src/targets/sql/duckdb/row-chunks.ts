/** Chunks of a result. A query that lacks memory is run again; a query with long rows is run for few rows at a time. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { lacksMemory } from './database.ts';

/** The chunks of a query, from a connection that is closed with it. */
export interface Chunks {
  next(): Promise<DuckDBDataChunk | null>;
  close(): Promise<void>;
}

export function chunksOf(connection: DuckDBConnection, result: Pick<DuckDBResult, 'fetchChunk'>): Chunks {
  let fetching: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> =>
    (closing ??= fetching.then(
      // the fetch in progress ends before its connection does
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

/** The intended bytes of text of one piece, and the most rows of one. */
const [pieceBytes, maxPieceRows] = [2 * 1024 * 1024, 32_768];

export interface RowIdPieces {
  /** returns the query for the rows that satisfy a condition on their row ids, in the order of these */
  readonly query: (condition: string) => string;
  /** the last row id plus 1 */
  readonly end: number;
  /** bytes of the longest text */
  readonly longest: number;
  readonly bytesOf: (chunk: DuckDBDataChunk) => number;
}

/**
 * Returns the rows of a table with long texts, piece by piece: whatever memory DuckDB has, a result holds the texts of 2,048 rows, and of
 * as many more as it reads ahead. A piece has fewer rows than the previous one if that had too many bytes, and more if that had few.
 */
export function chunksOfPieces(
  connection: DuckDBConnection,
  { query, end, longest, bytesOf }: RowIdPieces,
): Chunks {
  let from = 0;
  let rows = Math.min(maxPieceRows, Math.max(1, Math.floor(pieceBytes / Math.max(1, longest))));
  let taken = 0;
  let result: DuckDBResult | null = null;
  const fetchChunk = async (): Promise<DuckDBDataChunk | null> => {
    for (;;) {
      if (result === null) {
        if (from >= end) return null;
        result = await connection.stream(query(`rowid >= ${from} AND rowid < ${from + rows}`));
        from += rows;
        taken = 0;
      }
      const chunk = await result.fetchChunk();
      if (chunk !== null && chunk.rowCount > 0) {
        taken += bytesOf(chunk);
        return chunk;
      }
      result = null;
      if (taken > pieceBytes) rows = Math.max(1, rows >> 1);
      else if (taken < pieceBytes / 2) rows = Math.min(maxPieceRows, rows * 2);
    }
  };
  return chunksOf(connection, { fetchChunk });
}

/**
 * Returns the chunks of a query. If memory does not suffice and `raiseMemory` can give more, `open` runs the query again, and rows that
 * were already returned are skipped. Rows must come in the same order each time.
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
        // the next attempt needs the memory that this one holds
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
          // closed by a caller that needed no more rows
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

/** Skips that number of rows. Throws `fault` if a chunk has rows of both sides. */
async function passOver(chunks: Chunks, rows: number, fault: unknown): Promise<void> {
  for (let passed = 0; passed < rows;) {
    const chunk = await chunks.next();
    passed += chunk?.rowCount ?? rows + 1;
    if (passed > rows) throw fault;
  }
}
