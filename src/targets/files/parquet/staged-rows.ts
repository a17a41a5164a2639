/** The staged rows of one table in COPY text, on disk or in memory. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { FinishedFile } from '../../../storage/staging/staged-files.ts';

export interface StagedRows {
  /** Opens the rows from the first one on. */
  open(): RowsReader;
  /** Returns all rows, in pieces with arbitrary boundaries. */
  pieces(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Removes the rows when they are no longer needed. */
  remove(): Promise<void>;
}

export interface RowsReader {
  /** Fills the target from its start; returns the number of bytes, 0 at the end. */
  readonly read: (target: Uint8Array) => number;
  /** For rows that are still being written: waits at their end. Returns false if there are no more. */
  grown?(): Promise<boolean>;
  close(): void;
}

/** `path`: the path of the staged file, if it is on disk; the finished file gets the same path. */
export async function stagedRows(path: string, { held }: FinishedFile): Promise<StagedRows> {
  if (held !== undefined)
    return { open: () => heldReader(held), pieces: () => held, remove: () => Promise.resolve() };
  const staged = `${path}.rows`;
  await rename(path, staged);
  return {
    open: () => fileReader(staged),
    pieces: () => createReadStream(staged, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>,
    remove: () => rm(staged),
  };
}

/** Reads synchronously, because the file was just written and no other work waits. */
function fileReader(path: string): RowsReader {
  const file = openSync(path, 'r');
  return { read: (target) => readSync(file, target), close: () => closeSync(file) };
}

function heldReader(pieces: readonly Uint8Array[]): RowsReader {
  let next = 0;
  let left: Uint8Array = new Uint8Array(0);
  return {
    read: (target) => {
      while (left.length === 0) {
        const piece = pieces[next];
        if (piece === undefined) return 0;
        next += 1;
        left = piece;
      }
      const taken = left.subarray(0, target.length);
      target.set(taken);
      left = left.subarray(taken.length);
      return taken.length;
    },
    close: () => undefined,
  };
}
