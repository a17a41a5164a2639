/** Restores the original forms of values, which are kept beside the rows (`_lexical`): plain values are written into the cells. */
import type { RowColumn } from '../../model/wide-rows.ts';
import { holdsNames } from '../../model/source-model.ts';
import type { SpareBuffers } from '../../spare-buffers.ts';
import type { LexicalRow, RowBlock, RowBlocks, RowStream } from './document-rows.ts';
import { copyWithRoom, RewrittenBlocks } from './rewritten.ts';

export interface RowsAsWritten {
  readonly blocks: RowBlocks;
  /**
   * Returns the values that are not in cells, in the order of the rows, once a block has been read: names, which depend on their
   * namespaces, and entries without a row.
   */
  left(): readonly RowStream<LexicalRow>[];
}

export interface WrittenOptions {
  /** columns of a row */
  readonly columns: readonly RowColumn[];
  /** index of the row key's column */
  readonly keyColumn: number;
  /** asked for when there is a block */
  readonly entries: () => Promise<readonly RowStream<LexicalRow>[]>;
}

export function rowsAsWritten(blocks: RowBlocks, options: WrittenOptions): RowsAsWritten {
  const { columns, keyColumn, entries } = options;
  const places = new Map<string, number>();
  for (const [at, { column }] of columns.entries())
    if (column.role === 'value' && !holdsNames(column.sourceType)) places.set(column.name, at);
  let streams: WrittenEntries[] | null = null;
  const rewrite = async (block: RowBlock, buffers: SpareBuffers): Promise<RowBlock> => {
    streams ??= (await entries()).map((own) => new WrittenEntries(own));
    const rows = { block, width: columns.length * 2, keyCell: keyColumn * 2 };
    const found: WrittenValue[] = [];
    for (const own of streams) await own.take(rows, places, found);
    return found.length === 0 ? block : withValues(block, found, buffers);
  };
  const rewritten = new RewrittenBlocks(blocks, rewrite);
  return {
    blocks: {
      next: async () => {
        const block = await rewritten.next();
        if (block === null) for (const own of streams ?? []) own.letGo();
        return block;
      },
      giveBack: (block) => rewritten.giveBack(block),
    },
    left: () => (streams ?? []).filter((own) => own.isOpen),
  };
}

interface WrittenValue {
  /** index of the cell */
  readonly cell: number;
  readonly content: string;
}

interface KeyedRows {
  readonly block: RowBlock;
  /** cells of a row, and the index of the key's cell */
  readonly width: number;
  readonly keyCell: number;
}

const utf8 = new TextEncoder();

function withValues(block: RowBlock, values: readonly WrittenValue[], buffers: SpareBuffers): RowBlock {
  let room = 0;
  for (const { content } of values) room += content.length * 3;
  const { bytes, cells, rows } = copyWithRoom(block, room, buffers);
  let end = block.bytes.length;
  for (const { cell, content } of values) {
    cells[cell] = end;
    end += utf8.encodeInto(content, bytes.subarray(end)).written;
    cells[cell + 1] = end;
  }
  return { bytes: bytes.subarray(0, end), cells, rows };
}

/** Entries of a table, of which those are left that no cell took. */
class WrittenEntries implements RowStream<LexicalRow> {
  readonly #entries: RowStream<LexicalRow>;
  /** entries that the previous blocks left over */
  #left: LexicalRow[] = [];
  #next = 0;
  /** no block has rows after those */
  #isLetGo = false;

  constructor(entries: RowStream<LexicalRow>) {
    this.#entries = entries;
  }

  /** True if there are entries, or if more may follow. */
  get isOpen(): boolean {
    return this.#next < this.#left.length || this.#entries.head !== null;
  }

  get head(): LexicalRow | null {
    return this.#left[this.#next] ?? (this.#isLetGo ? this.#entries.head : null);
  }

  advance(): Promise<void> | undefined {
    if (this.#next >= this.#left.length) return this.#entries.advance();
    this.#next += 1;
    if (this.#next === this.#left.length) {
      this.#left = [];
      this.#next = 0;
    }
    return undefined;
  }

  letGo(): void {
    this.#isLetGo = true;
  }

  /** Adds the values for cells of the block, by `places` of columns, to `found`. */
  async take(rows: KeyedRows, places: ReadonlyMap<string, number>, found: WrittenValue[]): Promise<void> {
    if (this.#isLetGo) return;
    const entries = this.#entries;
    const { block, width } = rows;
    const last = block.rows - 1;
    if (!hasWholeKey(rows, last)) return this.letGo();
    let row = 0;
    for (let entry = entries.head; entry !== null; entry = entries.head) {
      const place = places.get(entry.columnName);
      const isKey = wholeKey.test(entry.rowKey);
      if (isKey) {
        if (orderOf(entry.rowKey, rows, last) > 0) return;
        row = rowFrom(entry.rowKey, rows, row);
      }
      if (isKey && place !== undefined && orderOf(entry.rowKey, rows, row) === 0)
        found.push({ cell: row * width + place * 2, content: entry.content });
      else this.#left.push(entry);
      const wait = entries.advance();
      if (wait !== undefined) await wait;
    }
  }
}

const wholeKey = /^[1-9]\d*$/;

function hasWholeKey({ block: { bytes, cells }, width, keyCell }: KeyedRows, row: number): boolean {
  const from = cells[row * width + keyCell]!;
  return from >= 0 && bytes[from]! > 0x30 && bytes[from]! <= 0x39;
}

/** Above 0: the key is greater than that of the row. Digits, without zeros before them. */
function orderOf(key: string, { block: { bytes, cells }, width, keyCell }: KeyedRows, row: number): number {
  const from = cells[row * width + keyCell]!;
  let order = key.length - (cells[row * width + keyCell + 1]! - from);
  for (let at = 0; order === 0 && at < key.length; at += 1) order = key.charCodeAt(at) - bytes[from + at]!;
  return order;
}

/** Returns the first row from `from` on whose key is not less than `key`. It is mostly near. The key of the last row must not be less. */
function rowFrom(key: string, rows: KeyedRows, from: number): number {
  const last = rows.block.rows - 1;
  let low = from;
  let high = from;
  for (let step = 1; high < last && orderOf(key, rows, high) > 0; step *= 2) {
    low = high + 1;
    high = Math.min(last, high + step);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orderOf(key, rows, middle) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
