/** Converts rows of text, whose fields a control character separates, to blocks of rows. */
import type { RowBlock } from '../../engine/unshred/rows/document-rows.ts';

/** Characters that no value of a document contains (XML 1.0 §2.2): U+001F separates fields, and a field that is U+001E is NULL. */
const [fieldEnd, noValue] = [0x1f, 0x1e];

/** Converts a stored value to its XSD form. Returns null if the bytes already are that form. */
export type ValueDecoder = (bytes: Uint8Array, from: number, to: number) => Uint8Array | null;

/** The fields of rows, and how their values are decoded. */
export interface FieldPlan {
  /** by field: index of the column */
  readonly columns: readonly number[];
  /** by field */
  readonly decoders: readonly (ValueDecoder | null)[];
  /** the number of columns in a row of the block; columns that no field fills are empty */
  readonly width: number;
}

/**
 * Makes a block of rows. `ends`: the end of each row in `bytes`; the next row begins there. Returns null if a row has more or fewer fields
 * than the plan.
 */
export function fieldBlock(bytes: Uint8Array, ends: Int32Array, plan: FieldPlan): RowBlock | null {
  const cells = new Int32Array(ends.length * plan.width * 2);
  if (plan.columns.length < plan.width) cells.fill(-1);
  return placeFields(bytes, ends, plan, cells) ? { bytes, cells, rows: ends.length } : null;
}

/**
 * Writes the positions of fields in `bytes` into the cells of their columns. Returns false if a row has more or fewer fields than the plan.
 */
export function placeFields(
  bytes: Uint8Array,
  ends: Int32Array,
  { columns, width }: FieldPlan,
  cells: Int32Array,
): boolean {
  const last = columns.length - 1;
  let at = 0;
  for (let row = 0; row < ends.length; row += 1) {
    const end = ends[row]!;
    const first = row * width;
    let field = 0;
    let from = at;
    for (; at < end; at += 1) {
      if (bytes[at] !== fieldEnd) continue;
      if (field === last) return false;
      placeField(bytes, from, at, cells, (first + columns[field]!) * 2);
      from = at + 1;
      field += 1;
    }
    if (field !== last) return false;
    placeField(bytes, from, at, cells, (first + columns[field]!) * 2);
  }
  return true;
}

/**
 * Makes a block of rows that are separated in the same way as their fields. Returns null if the number of fields does not match the number
 * of rows.
 */
export function fieldRows(bytes: Uint8Array, rows: number, { columns, width }: FieldPlan): RowBlock | null {
  const cells = new Int32Array(rows * width * 2);
  if (columns.length < width) cells.fill(-1);
  const last = columns.length - 1;
  const { length } = bytes;
  let [at, from] = [0, 0];
  for (let first = 0; first < rows * width * 2; first += width * 2)
    for (let field = 0; field <= last; field += 1) {
      while (at < length && bytes[at] !== fieldEnd) at += 1;
      // there are fewer fields than expected
      if (at > length) return null;
      placeField(bytes, from, at, cells, first + columns[field]! * 2);
      at += 1;
      from = at;
    }
  return at === length + 1 ? { bytes, cells, rows } : null;
}

function placeField(bytes: Uint8Array, from: number, to: number, cells: Int32Array, cell: number): void {
  cells[cell] = to - from === 1 && bytes[from] === noValue ? -1 : from;
  cells[cell + 1] = to;
}

/** Returns the block with the values that decoders change replaced. */
export function decoded(block: RowBlock, { columns, decoders, width }: FieldPlan): RowBlock {
  const { cells, rows } = block;
  const added: Uint8Array[] = [];
  let end = block.bytes.length;
  for (const [field, decode] of decoders.entries()) {
    if (decode === null) continue;
    for (let row = 0, cell = columns[field]! * 2; row < rows; row += 1, cell += width * 2) {
      if (cells[cell]! < 0) continue;
      const value = decode(block.bytes, cells[cell]!, cells[cell + 1]!);
      if (value === null) continue;
      added.push(value);
      cells[cell] = end;
      end += value.length;
      cells[cell + 1] = end;
    }
  }
  if (added.length === 0) return block;
  const bytes = new Uint8Array(end);
  bytes.set(block.bytes);
  let at = block.bytes.length;
  for (const value of added) {
    bytes.set(value, at);
    at += value.length;
  }
  return { bytes, cells, rows };
}
