/** Rows of a table in the order of its key, without DuckDB, where they do not lie so. */
import { keySpans, heldRowsOf, reorderedRows } from '../../../rows/reordered-rows.ts';
import { sortedRows } from '../../../rows/sorted-rows.ts';
import type { ClosableBlocks } from '../../../rows/table-row-source.ts';
import { heldValueBytes, type HeldRoom } from './held-room.ts';

export interface UnorderedRows {
  /** what there is of the table */
  readonly files: readonly { readonly rows: number; readonly bytes: number }[];
  readonly room: HeldRoom;
  /** all rows with these columns; null: they cannot be read so */
  readonly asTheyLie: (wanted: readonly string[]) => Promise<ClosableBlocks | null>;
}

/** Null where there are too many to be held, or too many that lie far from their place. */
export async function rowsInOrder(
  { files, room, asTheyLie }: UnorderedRows,
  key: string,
  wanted: readonly string[],
): Promise<ClosableBlocks | null> {
  const at = wanted.indexOf(key);
  if (at < 0) return null;
  if (room.take(files, wanted.length, heldValueBytes.cell)) {
    const few = await asTheyLie(wanted);
    if (few !== null) return sortedRows(few, at, wanted.length);
  }
  const keys = await asTheyLie([key]);
  const spans = keys === null ? null : await keySpans(keys);
  if (spans === null || !room.takeRows(files, heldRowsOf(spans), wanted.length)) return null;
  const open = async (): Promise<ClosableBlocks> => (await asTheyLie(wanted))!;
  return reorderedRows({ open, spans, key: at, width: wanted.length });
}
