/** Rows of a table beside the data that has few of them, held: each table of the data asks for its own. */
import type { RowBlocks, RowStream } from '../../engine/unshred/rows/document-rows.ts';
import { decodedRows, type TextRow } from '../../engine/unshred/rows/values.ts';

/** by the name in their first column */
export type HeldRows = ReadonlyMap<string, readonly TextRow[]>;

/** Rows of `blocks`, which are closed, of so many columns. */
export async function heldRows(
  blocks: RowBlocks & { close(): Promise<void> },
  columns: number,
): Promise<HeldRows> {
  const rows = new Map<string, TextRow[]>();
  try {
    const stream = await decodedRows(blocks, columns, (row) => row);
    for (let row = stream.head; row !== null; row = stream.head) {
      const [name] = row;
      const others = rows.get(name!);
      if (others === undefined) rows.set(name!, [row]);
      else others.push(row);
      const wait = stream.advance();
      if (wait !== undefined) await wait;
    }
  } finally {
    await blocks.close();
  }
  return rows;
}

/** In the order of the whole numbers in these columns. */
export function inOrderOf(rows: readonly TextRow[], columns: readonly number[]): readonly TextRow[] {
  return rows.toSorted((a, b) => {
    for (const column of columns) {
      const [one, other] = [BigInt(a[column] ?? 0), BigInt(b[column] ?? 0)];
      if (one !== other) return one < other ? -1 : 1;
    }
    return 0;
  });
}

/** Standing at the first. */
export function listedRows<Row>(rows: readonly TextRow[], toRow: (row: TextRow) => Row): RowStream<Row> {
  let next = 0;
  const stream = {
    head: null as Row | null,
    advance(): undefined {
      const row = rows[next++];
      stream.head = row === undefined ? null : toRow(row);
    },
  };
  stream.advance();
  return stream;
}
