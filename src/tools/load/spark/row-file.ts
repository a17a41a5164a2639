/**
 * Stores rows of a unit in a file of its folder, if the target does not accept them from executors: written by a task, read by the
 * tool.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowSink } from '../../../ports/rows/sink.ts';
import type { RowFile } from './work.ts';

/** The destination of a unit's rows. */
export type RowWriter = Pick<RowSink, 'write' | 'writeSide' | 'unconverted' | 'allowNull'>;

export interface RowFileWriter extends RowWriter {
  /** All rows are on the disk. */
  finish(): Promise<RowFile>;
  close(): Promise<void>;
}

/** `folder`: of the attempt. */
export async function openRowFile(folder: string): Promise<RowFileWriter> {
  const file = await open(join(folder, 'rows'), 'wx', 0o600);
  const unconvertedValues: RowFile['unconvertedValues'][number][] = [];
  const nullAllowed: RowFile['nullAllowed'][number][] = [];
  const chunks: RowFile['chunks'][number][] = [];
  return {
    write: async (table, rows, rowCount, release) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
      release?.(rows);
    },
    writeSide: async (table, rows, rowCount) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
    },
    unconverted: async (value) => void unconvertedValues.push(value),
    allowNull: (table, column) => void nullAllowed.push([table, column]),
    async finish() {
      await file.sync();
      return { unconvertedValues, nullAllowed, chunks };
    },
    close: () => file.close(),
  };
}

/** `folder`: of the unit. */
export async function copyRowFile(
  folder: string,
  { unconvertedValues, nullAllowed, chunks }: RowFile,
  to: RowWriter,
): Promise<void> {
  const path = join(folder, 'rows');
  for (const unconverted of unconvertedValues) await to.unconverted(unconverted);
  for (const [table, column] of nullAllowed) to.allowNull(table, column);
  const file = await open(path, 'r');
  try {
    for (const [table, size, rowCount] of chunks) {
      const rows = new Uint8Array(size);
      let read = 0;
      while (read < size) {
        const { bytesRead } = await file.read(rows, read, size - read);
        if (bytesRead === 0) throw new Error(`${path}: staged rows are cut short`);
        read += bytesRead;
      }
      if (typeof table === 'number') await to.write(table, rows, rowCount);
      else await to.writeSide(table, rows, rowCount);
    }
  } finally {
    await file.close();
  }
}
