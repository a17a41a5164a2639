/** Which child of a row the next row of another table makes. */
import { cellIs, cellNumber, isNull, utf8Of, type RowBytes } from './values.ts';
import type { RowReader } from './reader.ts';
import type { RowChild, RowGroup } from '../writing-plan.ts';

export interface ChildAtHead {
  readonly group: RowGroup;
  readonly child: RowChild;
}

/** The key of a row, as it lies in `bytes`. */
export interface RowKey {
  readonly bytes: Uint8Array;
  readonly keyFrom: number;
  readonly keyTo: number;
}

export function keyOf(text: string): RowKey {
  const bytes = utf8Of(text);
  return { bytes, keyFrom: 0, keyTo: bytes.length };
}

export function hangsFrom(row: RowBytes, column: number, { bytes, keyFrom, keyTo }: RowKey): boolean {
  return cellIs(row, column, bytes, keyFrom, keyTo);
}

/** Whether the key of `below`, in column `key`, is what `row` has in `column`. */
function holdsKeyOf({ bytes, cells, at }: RowBytes, column: number, below: RowBytes, key: number): boolean {
  const from = cells[at + column * 2]!;
  return from >= 0 && cellIs(below, key, bytes, from, cells[at + column * 2 + 1]!);
}

/** `row`: the parent's; null where that is a document. Answers null where the table's next row belongs elsewhere. */
export function childAtHead(
  reader: RowReader,
  { table, keyColumn, uses }: RowGroup,
  parent: RowKey,
  row: RowBytes | null,
): RowChild | null {
  const head = reader.head(table);
  if (head === null) return null;
  for (const use of uses) {
    const belongs =
      use.childKeyColumn < 0
        ? hangsFrom(head, use.parentKeyColumn, parent)
        : row !== null && holdsKeyOf(row, use.childKeyColumn, head, keyColumn);
    if (!belongs) continue;
    if (use.otherParents.some((column) => !isNull(head, column))) continue;
    const { children, elementNameColumn, byRole } = use;
    if (elementNameColumn < 0 || (children.length === 1 && !byRole)) return children[0]!;
    const found = children.find(({ label }) => cellIs(head, elementNameColumn, label, 0, label.length));
    if (found !== undefined || !byRole) return found ?? children[0]!;
  }
  return null;
}

/** Rows that say nothing of their place come last. */
export function positionOf(row: RowBytes, column: number): number {
  const position = column < 0 ? NaN : cellNumber(row, column);
  return Number.isNaN(position) ? Number.MAX_SAFE_INTEGER : position;
}
