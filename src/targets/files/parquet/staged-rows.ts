/** Rows of one table in COPY text, as they were staged: on the disk, or held in memory. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { FinishedFile } from '../../../adapters/file-staging/staged-files.ts';

export interface StagedRows {
  /** From the first row on. */
  open(): RowsReader;
  /** All of them, in pieces that begin anywhere. */
  pieces(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** They are needed no more. */
  remove(): Promise<void>;
}

export interface RowsReader {
  /** Fills the target from its start on; answers by how many bytes, 0 at the end. */
  readonly read: (target: Uint8Array) => number;
  /** For rows that are still being written: waits at their end. Returns false if there are no more. */
  grown?(): Promise<boolean>;
  close(): void;
}

/** `path`: where the file was staged, if it is on the disk, and another file is to be. */
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

/** Just written, and nothing else is to be done while it is read. */
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
