/** Limits the memory for tables while a folder is read, and orders rows by their keys within that limit. */
import type { ManifestFile } from './manifest.ts';
import { keySpans, bufferedRowsOf, reorderedRows, sortedRows } from '../../rows/reordered-rows.ts';
import type { ClosableBlocks } from '../../rows/table-row-source.ts';

/** the approximate memory for the buffered rows of all tables */
const maxHeldBytes = 32 * 1024 * 1024;
/** the limit in stored bytes of Parquet files, which may expand a hundredfold when they are read */
const maxStoredBytes = 4 * 1024 * 1024;

/** The approximate bytes of a value in memory. `cell`: bytes with their cell; `named`: also with a row whose values are found by name. */
export const bufferedValueBytes = { cell: 16, named: 64 } as const;

/** The remaining memory for tables that are read as a whole. */
export class BufferRoom {
  #held = maxHeldBytes;
  #stored = maxStoredBytes;

  /** True for text, whose values need no more memory than in the files; false for Parquet. */
  readonly #isText: boolean;

  constructor(isText: boolean) {
    this.#isText = isText;
  }

  /** Reserves memory for the rows of the files; returns false if there is too little. `valueBytes`: see `bufferedValueBytes`. */
  take(files: readonly Pick<ManifestFile, 'rows' | 'bytes'>[], columns: number, valueBytes: number): boolean {
    // the values are from a manifest, which is untrusted
    const bytes = files.reduce((sum, file) => sum + (file.bytes > 0 ? file.bytes : 0), 0);
    const values = files.reduce((sum, { rows }) => sum + rows * columns * valueBytes, 0);
    const held = this.#isText ? values + bytes : values;
    const stored = this.#isText ? 0 : bytes;
    if (held > this.#held || stored > this.#stored) return false;
    this.#held -= held;
    this.#stored -= stored;
    return true;
  }

  /** Reserves memory as `take` does, for `rows` arbitrary rows of the files. */
  takeRows(files: readonly Pick<ManifestFile, 'rows' | 'bytes'>[], rows: number, columns: number): boolean {
    const all = files.reduce((sum, file) => sum + file.rows, 0);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const share = all === 0 ? 0 : rows / all;
    return this.take([{ rows, bytes: Math.ceil(bytes * share) }], columns, bufferedValueBytes.cell);
  }
}

/** Returns the bytes of the files according to the manifest, which is untrusted. */
export function bytesOf(files: readonly Pick<ManifestFile, 'bytes'>[]): number {
  return files.reduce((sum, { bytes }) => sum + (Number.isFinite(bytes) ? Math.max(0, bytes) : 0), 0);
}

/** the maximum bytes of the pieces of all tables that are read at the same time; each table may have two pieces */
const bytesOfAll = 8 * 1024 * 1024;

/**
 * Returns the bytes of one read of a table. They are proportional to its share of all bytes, so that all tables except small ones need
 * equally many reads.
 */
export function pieceBytesOf(tableBytes: number, allBytes: number): number {
  const share = Math.floor((bytesOfAll / 2) * (tableBytes / Math.max(1, allBytes)));
  return Math.max(8 * 1024, Math.min(256 * 1024, share));
}

export interface UnorderedRows {
  /** the sizes of the files of the table */
  readonly files: readonly { readonly rows: number; readonly bytes: number }[];
  readonly room: BufferRoom;
  /** opens all rows with these columns in stored order; null if they cannot be read in that way */
  readonly asTheyLie: (wanted: readonly string[]) => Promise<ClosableBlocks | null>;
}

/** Returns the rows in the order of their keys; null if too many rows would be buffered, or too many are far from their position. */
export async function rowsInOrder(
  { files, room, asTheyLie }: UnorderedRows,
  key: string,
  wanted: readonly string[],
): Promise<ClosableBlocks | null> {
  const at = wanted.indexOf(key);
  if (at < 0) return null;
  if (room.take(files, wanted.length, bufferedValueBytes.cell)) {
    const few = await asTheyLie(wanted);
    if (few !== null) return sortedRows(few, at, wanted.length);
  }
  const keys = await asTheyLie([key]);
  const spans = keys === null ? null : await keySpans(keys);
  if (spans === null || !room.takeRows(files, bufferedRowsOf(spans), wanted.length)) return null;
  const open = async (): Promise<ClosableBlocks> => (await asTheyLie(wanted))!;
  return reorderedRows({ open, spans, key: at, width: wanted.length });
}
