/** Values out of rows that are bytes, and rows that were text as bytes. */
import type { RowBlock, RowBlocks, RowStream } from './document-rows.ts';

/** Values of a row by column index; null for NULL. */
export type TextRow = readonly (string | null)[];

/** Rows of a block from its first on; `at`: index of the present row's first cell. */
export interface RowBytes {
  readonly bytes: Uint8Array;
  readonly cells: Int32Array;
  readonly at: number;
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export function utf8Of(text: string): Uint8Array {
  return utf8.encode(text);
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  return fromUtf8.decode(bytes.subarray(from, to));
}

/** Returns null for NULL, and if there is no such column (-1). */
export function cellText({ bytes, cells, at }: RowBytes, column: number): string | null {
  if (column < 0) return null;
  const from = cells[at + column * 2]!;
  return from < 0 ? null : textOf(bytes, from, cells[at + column * 2 + 1]!);
}

export function isNull({ cells, at }: RowBytes, column: number): boolean {
  return column < 0 || cells[at + column * 2]! < 0;
}

/** True if the cell has exactly these bytes. Compares from the end, because keys differ there. */
export function cellIs(
  { bytes, cells, at }: RowBytes,
  column: number,
  wanted: Uint8Array,
  from: number,
  to: number,
): boolean {
  const start = cells[at + column * 2]!;
  let end = cells[at + column * 2 + 1]!;
  if (start < 0 || end - start !== to - from) return false;
  for (let other = to; end > start;) if (bytes[--end] !== wanted[--other]) return false;
  return true;
}

/** Returns a whole number, or NaN if the cell is NULL. */
export function cellNumber({ bytes, cells, at }: RowBytes, column: number): number {
  const from = cells[at + column * 2]!;
  return from < 0 ? NaN : numberIn(bytes, from, cells[at + column * 2 + 1]!);
}

export function numberIn(bytes: Uint8Array, from: number, to: number): number {
  // up to this number of digits, the number is exact
  if (to - from > 15) return Number(textOf(bytes, from, to));
  let value = 0;
  for (let index = from; index < to; index += 1) {
    const digit = bytes[index]! - 0x30;
    if (digit < 0 || digit > 9) return Number(textOf(bytes, from, to));
    value = value * 10 + digit;
  }
  return value;
}

/** Returns a block of rows with `columns` columns each. */
export function textBlock(rows: readonly TextRow[], columns: number): RowBlock {
  let characters = 0;
  for (const row of rows) for (let at = 0; at < columns; at += 1) characters += row[at]?.length ?? 0;
  const bytes = new Uint8Array(characters * 3);
  const cells = new Int32Array(rows.length * columns * 2);
  let [end, cell] = [0, 0];
  for (const row of rows)
    for (let at = 0; at < columns; at += 1, cell += 2) {
      const value = row[at] ?? null;
      cells[cell] = value === null ? -1 : end;
      if (value !== null) end += utf8.encodeInto(value, bytes.subarray(end)).written;
      cells[cell + 1] = end;
    }
  return { bytes: bytes.length > end * 2 ? bytes.slice(0, end) : bytes, cells, rows: rows.length };
}

/** Opens a cursor at the first of the blocks' rows, each converted by `toRow`. */
export async function decodedRows<Row>(
  blocks: RowBlocks,
  columns: number,
  toRow: (values: TextRow) => Row,
): Promise<RowStream<Row>> {
  const stream = new DecodedRows(blocks, columns, toRow);
  await stream.advance();
  return stream;
}

class DecodedRows<Row> implements RowStream<Row> {
  head: Row | null = null;
  readonly #blocks: RowBlocks;
  readonly #columns: number;
  readonly #toRow: (values: TextRow) => Row;
  #block: RowBlock | null = null;
  #next = 0;

  constructor(blocks: RowBlocks, columns: number, toRow: (values: TextRow) => Row) {
    this.#blocks = blocks;
    this.#columns = columns;
    this.#toRow = toRow;
  }

  advance(): Promise<void> | undefined {
    const block = this.#block;
    if (block === null || this.#next >= block.rows) return this.#fetch();
    this.#take(block);
    return undefined;
  }

  async #fetch(): Promise<void> {
    this.head = null;
    const block = await this.#blocks.next();
    this.#block = block ?? { bytes: new Uint8Array(0), cells: new Int32Array(0), rows: 0 };
    this.#next = 0;
    if (block !== null) this.#take(block);
  }

  #take({ bytes, cells }: RowBlock): void {
    const row = { bytes, cells, at: this.#next * this.#columns * 2 };
    this.#next += 1;
    this.head = this.#toRow(Array.from({ length: this.#columns }, (_, column) => cellText(row, column)));
  }
}
