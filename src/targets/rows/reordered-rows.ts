/**
 * Puts rows of a recursive table in the order of their keys while they are read. The row of a part that contains parts is stored after
 * theirs, although its key is lower. If it contains few, their rows wait for it; if it contains many, it is read first.
 */
import { cellText, cellNumber } from '../../engine/unshred/rows/values.ts';
import type { RowBlock } from '../../engine/unshred/rows/document-rows.ts';
import type { ClosableBlocks } from './table-row-source.ts';

// Sorts the rows of a table with few rows by their keys, in memory.

/** the maximum number of rows in a block */
const blockRows = 256;

/** Returns all rows of `blocks` ordered by the integers in the column `key` of `width`, and closes `blocks`. */
export async function sortedRows(
  blocks: ClosableBlocks,
  key: number,
  width: number,
): Promise<ClosableBlocks> {
  const all: RowBlock[] = [];
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) all.push(block);
  } finally {
    await blocks.close();
  }
  const { bytes, cells, rows } = together(all, width);
  const keys = Array.from({ length: rows }, (_, row) =>
    BigInt(cellText({ bytes, cells, at: row * width * 2 }, key) ?? 0),
  );
  const order = [...keys.keys()].toSorted((a, b) => (keys[a]! < keys[b]! ? -1 : Number(keys[a]! > keys[b]!)));
  let next = 0;
  return {
    next: () => {
      const taken = order.slice(next, next + blockRows);
      next += taken.length;
      if (taken.length === 0) return Promise.resolve(null);
      const own = new Int32Array(taken.length * width * 2);
      for (const [at, row] of taken.entries())
        own.set(cells.subarray(row * width * 2, (row + 1) * width * 2), at * width * 2);
      return Promise.resolve({ bytes, cells: own, rows: taken.length });
    },
    close: () => Promise.resolve(),
  };
}

function together(blocks: readonly RowBlock[], width: number): RowBlock {
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.bytes.length, 0));
  const cells = new Int32Array(rows * width * 2);
  let [begin, cell] = [0, 0];
  for (const block of blocks) {
    bytes.set(block.bytes, begin);
    for (let at = 0; at < block.rows * width * 2; at += 2, cell += 2) {
      const from = block.cells[at]!;
      cells[cell] = from < 0 ? -1 : from + begin;
      cells[cell + 1] = block.cells[at + 1]! + begin;
    }
    begin += block.bytes.length;
  }
  return { bytes, cells, rows };
}

// Reorders rows of large tables.

/** The keys of a table, read once and summarized in spans of `spanRows` rows in stored order. */
interface KeySpans {
  readonly rows: number;
  /** by span: the lowest key of a row that is not late */
  readonly least: readonly number[];
  /** indexes from 0 of the late rows: they come so far behind rows with higher keys that those rows cannot be buffered until then */
  readonly late: readonly number[];
}

const spanRows = 512;
/** A row is late if it follows a row with a higher key by more than this number of spans. */
const waitingSpans = 32;
/** the maximum number of rows that are read before all others */
const maxLate = 20_000;

/** Returns the maximum number of rows of the table that are buffered. */
export function bufferedRowsOf({ rows, late }: KeySpans): number {
  return Math.min(rows, (waitingSpans + 1) * spanRows + late.length);
}

/**
 * Surveys `blocks`, which contain only keys, and closes them. Returns null if the rows cannot be reordered: a key is not an integer, keys
 * exceed what doubles can distinguish, or too many rows are late.
 */
export async function keySpans(blocks: ClosableBlocks): Promise<KeySpans | null> {
  const [least, late]: [number[], number[]] = [[], []];
  /** by span: the highest key up to its end */
  const highest: number[] = [];
  let rows = 0;
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      const row = { bytes: block.bytes, cells: block.cells, at: 0 };
      for (; row.at < block.rows * 2; row.at += 2, rows += 1) {
        const key = cellNumber(row, 0);
        if (!Number.isSafeInteger(key)) return null;
        const span = Math.floor(rows / spanRows);
        highest[span] = Math.max(highest[span] ?? highest[span - 1] ?? -Infinity, key);
        least[span] ??= Infinity;
        if (key >= (highest[span - waitingSpans] ?? -Infinity)) least[span] = Math.min(least[span], key);
        else if (late.push(rows) > maxLate) return null;
      }
    }
  } finally {
    await blocks.close();
  }
  return { rows, least, late };
}

/** A table whose rows are read in stored order, and the columns to read. */
interface ReorderedTable {
  /** all rows, from the first on */
  readonly open: () => Promise<ClosableBlocks>;
  readonly spans: KeySpans;
  /** the index of the key column, among `width` columns */
  readonly key: number;
  readonly width: number;
}

/** Returns the rows of a table ordered by the integers in its key. */
export async function reorderedRows(table: ReorderedTable): Promise<ClosableBlocks> {
  const { open, spans, width } = table;
  const late = spans.late.length === 0 ? noRows : await lateRows(await open(), spans, width);
  return new ReorderedRows(await open(), late, table);
}

const noRows: RowBlock = { bytes: new Uint8Array(0), cells: new Int32Array(0), rows: 0 };

/** Copies the late rows of `blocks`, and closes `blocks`. */
async function lateRows(blocks: ClosableBlocks, { late }: KeySpans, width: number): Promise<RowBlock> {
  const copy = new CopiedRows(late.length, width);
  let [read, next] = [0, 0];
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      for (; next < late.length && late[next]! < read + block.rows; next += 1)
        copy.add(block, late[next]! - read);
      read += block.rows;
    }
  } finally {
    await blocks.close();
  }
  return copy.block();
}

/** A block of rows that are copied from other blocks. */
class CopiedRows {
  readonly #width: number;
  readonly #rows: number;
  readonly #cells: Int32Array;
  #bytes: Uint8Array;
  #cell = 0;
  #end = 0;

  constructor(rows: number, width: number, bytes = rows * width) {
    this.#rows = rows;
    this.#width = width;
    this.#cells = new Int32Array(rows * width * 2);
    this.#bytes = new Uint8Array(bytes);
  }

  add({ bytes, cells }: RowBlock, row: number): void {
    const begin = row * this.#width * 2;
    const own = this.#cells;
    let [cell, end] = [this.#cell, this.#end];
    for (let at = begin; at < begin + this.#width * 2; at += 2, cell += 2) {
      const from = cells[at]!;
      const to = cells[at + 1]!;
      own[cell] = from < 0 ? -1 : end;
      if (from >= 0) {
        if (end + to - from > this.#bytes.length) this.#grow(end + to - from);
        const target = this.#bytes;
        for (let next = from; next < to; next += 1) target[end++] = bytes[next]!;
      }
      own[cell + 1] = end;
    }
    this.#cell = cell;
    this.#end = end;
  }

  block(): RowBlock {
    return { bytes: this.#bytes, cells: this.#cells, rows: this.#rows };
  }

  #grow(length: number): void {
    const longer = new Uint8Array(length * 2);
    longer.set(this.#bytes);
    this.#bytes = longer;
  }
}

/** The positions of rows in the table, ordered by key; late rows have negative positions, from -1 down. */
class SortedNumbers {
  keys = new Float64Array(0);
  numbers = new Float64Array(0);
  length = 0;

  room(length: number): void {
    this.length = 0;
    if (this.keys.length >= length) return;
    this.keys = new Float64Array(length * 2);
    this.numbers = new Float64Array(length * 2);
  }

  add(key: number, number: number): void {
    this.keys[this.length] = key;
    this.numbers[this.length] = number;
    this.length += 1;
  }

  sort(): void {
    const { length, keys, numbers } = this;
    let at = 1;
    while (at < length && keys[at - 1]! < keys[at]!) at += 1;
    if (at >= length) return;
    const order = Uint32Array.from({ length }, (_, place) => place);
    order.sort((one, other) => keys[one]! - keys[other]!);
    const [oldKeys, oldNumbers] = [keys.slice(0, length), numbers.slice(0, length)];
    for (let place = 0; place < length; place += 1) {
      keys[place] = oldKeys[order[place]!]!;
      numbers[place] = oldNumbers[order[place]!]!;
    }
  }
}

class ReorderedRows implements ClosableBlocks {
  readonly #blocks: ClosableBlocks;
  readonly #table: ReorderedTable;
  /** by span: the lowest key from its start on; the last entry is the end of the table */
  readonly #lowest: Float64Array;
  readonly #late: RowBlock;
  /** the number of late rows reached at their stored position so far */
  #met = 0;
  #read = 0;
  /** the blocks that contain waiting rows, and the position of the first row of each */
  readonly #held: { readonly block: RowBlock; readonly begin: number }[] = [];
  /** rows that wait, beginning with the first one that was not returned */
  #waiting = new SortedNumbers();
  #answered = 0;
  #merged = new SortedNumbers();
  readonly #own = new SortedNumbers();

  constructor(blocks: ClosableBlocks, late: RowBlock, table: ReorderedTable) {
    this.#blocks = blocks;
    this.#late = late;
    this.#table = table;
    const { least } = table.spans;
    this.#lowest = new Float64Array(least.length + 1).fill(Infinity);
    for (let span = least.length - 1; span >= 0; span -= 1)
      this.#lowest[span] = Math.min(this.#lowest[span + 1]!, least[span]!);
    this.#waiting.room(late.rows);
    for (let row = 0; row < late.rows; row += 1) this.#waiting.add(this.#keyOf(late, row), -1 - row);
    this.#waiting.sort();
  }

  async next(): Promise<RowBlock | null> {
    for (let block = await this.#blocks.next(); block !== null; block = await this.#blocks.next()) {
      this.#take(block);
      const isLast = this.#read === this.#table.spans.rows;
      const ready = this.#ready(isLast ? Infinity : this.#lowest[Math.floor(this.#read / spanRows)]!);
      if (ready !== null) return ready;
    }
    return null;
  }

  close(): Promise<void> {
    return this.#blocks.close();
  }

  #keyOf({ bytes, cells }: RowBlock, row: number): number {
    return cellNumber({ bytes, cells, at: row * this.#table.width * 2 }, this.#table.key);
  }

  /** Merges the rows of a block into the waiting rows. */
  #take(block: RowBlock): void {
    const begin = this.#read;
    this.#read += block.rows;
    const own = this.#own;
    own.room(block.rows);
    const { late } = this.#table.spans;
    for (let row = 0; row < block.rows; row += 1)
      if (late[this.#met] === begin + row) this.#met += 1;
      else own.add(this.#keyOf(block, row), begin + row);
    own.sort();
    const [waiting, merged] = [this.#waiting, this.#merged];
    merged.room(waiting.length - this.#answered + own.length);
    let [first, second] = [this.#answered, 0];
    while (first < waiting.length || second < own.length) {
      const isFirst =
        second >= own.length || (first < waiting.length && waiting.keys[first]! < own.keys[second]!);
      if (isFirst) merged.add(waiting.keys[first]!, waiting.numbers[first++]!);
      else merged.add(own.keys[second]!, own.numbers[second++]!);
    }
    this.#waiting = merged;
    this.#merged = waiting;
    this.#answered = 0;
    this.#held.push({ block, begin });
    // a row that is not late is emitted within this distance
    const since = begin - (waitingSpans + 1) * spanRows;
    while (this.#held[0]!.begin + this.#held[0]!.block.rows <= since) this.#held.shift();
  }

  /** Returns the rows whose keys are below `lowest`; null if there are none. */
  #ready(lowest: number): RowBlock | null {
    const { keys, numbers, length } = this.#waiting;
    let rows = 0;
    while (rows < length && keys[rows]! < lowest) rows += 1;
    if (rows === 0) return null;
    const { block } = this.#held.at(-1)!;
    const copy = new CopiedRows(rows, this.#table.width, Math.ceil((block.bytes.length * rows) / block.rows));
    for (let at = 0; at < rows; at += 1) this.#copy(copy, numbers[at]!);
    this.#answered = rows;
    return copy.block();
  }

  #copy(to: CopiedRows, number: number): void {
    if (number < 0) {
      to.add(this.#late, -1 - number);
      return;
    }
    let at = this.#held.length - 1;
    while (this.#held[at]!.begin > number) at -= 1;
    const { block, begin } = this.#held[at]!;
    to.add(block, number - begin);
  }
}
