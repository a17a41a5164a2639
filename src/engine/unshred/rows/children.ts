/** Finds the child of a row that the next row of another table represents. */
import { cellIs, cellNumber, isNull, utf8Of, type RowBytes } from './values.ts';
import type { RowChild, RowGroup, RowUse } from '../writing-plan.ts';

export interface ChildAtHead {
  readonly group: RowGroup;
  readonly child: RowChild;
}

/** The present positions of tables: their next rows. */
export interface TableHeads {
  head(table: number): RowBytes | null;
}

/** The key of a row, as stored in `bytes`. */
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

/** True if the key of `below`, in column `key`, equals the value that `row` has in `column`. */
function holdsKeyOf({ bytes, cells, at }: RowBytes, column: number, below: RowBytes, key: number): boolean {
  const from = cells[at + column * 2]!;
  return from >= 0 && cellIs(below, key, bytes, from, cells[at + column * 2 + 1]!);
}

/** `row`: the parent's row; null if the parent is a document. Returns null if the table's next row belongs elsewhere. */
export function childAtHead(
  reader: TableHeads,
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
    const child = childOf(use, head);
    if (child !== null) return child;
  }
  return null;
}

/** Returns the child of the parent that the row represents, or null if the row belongs elsewhere. */
export function childOf(
  { children, elementNameColumn, byRole, otherParents }: RowUse,
  row: RowBytes,
): RowChild | null {
  if (otherParents.some((column) => !isNull(row, column))) return null;
  if (elementNameColumn < 0 || (children.length === 1 && !byRole)) return children[0]!;
  const found = children.find(({ label }) => cellIs(row, elementNameColumn, label, 0, label.length));
  return found ?? (byRole ? null : children[0]!);
}

/** Rows without a position come last. */
export function positionOf(row: RowBytes, column: number): number {
  const position = column < 0 ? NaN : cellNumber(row, column);
  return Number.isNaN(position) ? Number.MAX_SAFE_INTEGER : position;
}
