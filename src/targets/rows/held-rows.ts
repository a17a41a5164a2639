/** Buffers the rows of a small table beside the data, so that each table of the data can select its own from memory. */
import type { RowBlocks, RowStream } from '../../engine/unshred/rows/document-rows.ts';
import {
  cellIs,
  cellNumber,
  cellText,
  type RowBytes,
  type TextRow,
} from '../../engine/unshred/rows/values.ts';

/** by the name in their first column */
export type HeldRows = ReadonlyMap<string, readonly RowBytes[]>;

/** Buffers the rows of `blocks`, which have that many columns, and closes `blocks`. */
export async function heldRows(
  blocks: RowBlocks & { close(): Promise<void> },
  columns: number,
): Promise<HeldRows> {
  const rows = new Map<string, RowBytes[]>();
  const nameOf = textsOf(0);
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next())
      for (let row = 0; row < block.rows; row += 1) {
        const held = { bytes: block.bytes, cells: block.cells, at: row * columns * 2 };
        const name = nameOf(held)!;
        const others = rows.get(name);
        if (others === undefined) rows.set(name, [held]);
        else others.push(held);
      }
  } finally {
    await blocks.close();
  }
  return rows;
}

/** Returns a function that reads the text of a column. It caches the last text, because consecutive rows mostly have the same one. */
export function textsOf(column: number): (row: RowBytes) => string | null {
  let last: RowBytes | null = null;
  let text: string | null = null;
  return (row) => {
    if (last !== null && text !== null) {
      const from = last.cells[last.at + column * 2]!;
      if (cellIs(row, column, last.bytes, from, last.cells[last.at + column * 2 + 1]!)) return text;
    }
    last = row;
    text = cellText(row, column);
    return text;
  };
}

/** Sorts rows by the integers in these columns; most are sorted already. */
export function inOrderOf(rows: readonly RowBytes[], columns: readonly number[]): readonly RowBytes[] {
  if (rows.every((row, at) => at === 0 || isBefore(rows[at - 1]!, row, columns))) return rows;
  const keys = rows.map((row) => columns.map((column) => BigInt(cellText(row, column) ?? 0)));
  const order = (one: number, other: number): number => {
    for (const [at, own] of keys[one]!.entries()) {
      const another = keys[other]![at]!;
      if (own !== another) return own < another ? -1 : 1;
    }
    return 0;
  };
  return [...keys.keys()].toSorted(order).map((at) => rows[at]!);
}

/** Returns whether the row is before the other, as far as doubles show; false means that it may be. */
function isBefore(row: RowBytes, other: RowBytes, columns: readonly number[]): boolean {
  for (const column of columns) {
    const [own, another] = [cellNumber(row, column), cellNumber(other, column)];
    if (own < another) return true;
    if (own !== another || !Number.isSafeInteger(own)) return false;
  }
  return true;
}

/** Returns a stream of the values of these rows in `columns`, positioned at the first row. */
export function listedRows<Row>(
  rows: readonly RowBytes[],
  columns: readonly number[],
  toRow: (row: TextRow) => Row,
): RowStream<Row> {
  let next = 0;
  const stream = {
    head: null as Row | null,
    advance(): undefined {
      const row = rows[next++];
      stream.head = row === undefined ? null : toRow(columns.map((column) => cellText(row, column)));
    },
  };
  stream.advance();
  return stream;
}
