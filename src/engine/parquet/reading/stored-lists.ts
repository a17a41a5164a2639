/**
 * Reads a column of lists: the items of a page are read as a column of their own, whose texts are joined row by row with a blank between
 * them. The levels are those that `addLists` writes: 3 for an item, 1 for an empty list, 0 for NULL.
 */
import type { StoredChunk } from './footer.ts';
import type { CellsKernel, Region } from './kernel/instance.ts';
import {
  damaged,
  StoredColumn,
  type ChunkSource,
  type ColumnRows,
  type StoredForm,
} from './stored-column.ts';

const [noList, item] = [0, 3];
const blank = 0x20;
/** bytes of a cell */
const cellBytes = 8;

export class StoredLists implements ColumnRows {
  readonly #kernel: CellsKernel;
  readonly #items: StoredColumn;
  /** for each row of the page, the number of its items; below 0: NULL */
  #counts = new Int32Array(0);
  #next = 0;
  /** for the items of a call, before they are joined */
  #texts: Region;
  #cells: Region;

  constructor(kernel: CellsKernel, form: StoredForm, source: ChunkSource) {
    this.#kernel = kernel;
    this.#items = new StoredColumn(kernel, form, source, (page, entries) => this.#itemsOf(page, entries));
    this.#texts = kernel.take(0);
    this.#cells = kernel.take(0);
  }

  get rowsLeft(): number {
    return this.#counts.length - this.#next;
  }

  beginChunk(chunk: StoredChunk): void {
    this.#items.beginChunk(chunk);
    this.#counts = new Int32Array(0);
    this.#next = 0;
  }

  nextPage(): Promise<void> {
    return this.#items.nextPage();
  }

  mostBytes(rows: number): number {
    const items = this.#itemCount(rows);
    return this.#items.mostBytes(items) + items;
  }

  usualBytes(rows: number): number {
    const items = this.#itemCount(rows);
    return this.#items.usualBytes(items) + items;
  }

  take(rows: number, cells: number, stride: number, out: number): number {
    const kernel = this.#kernel;
    const { origin } = kernel;
    let left = this.#itemCount(rows);
    let [end, at, taken] = [out, 0, 0];
    for (let row = 0, cell = cells; row < rows; row += 1, cell += stride) {
      const count = this.#counts[this.#next++]!;
      kernel.view.setInt32(cell, count < 0 ? -1 : end - origin, true);
      for (let index = 0; index < count; index += 1, at += 1) {
        if (at === taken) {
          taken = Math.min(left, kernel.rows);
          left -= taken;
          at = 0;
          this.#takeItems(taken);
        }
        const { bytes, view } = kernel;
        const place = this.#cells.at + at * cellBytes;
        const [from, to] = [view.getInt32(place, true) + origin, view.getInt32(place + 4, true) + origin];
        if (index > 0) bytes[end++] = blank;
        bytes.copyWithin(end, from, to);
        end += to - from;
      }
      kernel.view.setInt32(cell + 4, count < 0 ? -1 : end - origin, true);
    }
    return end;
  }

  close(): void {
    this.#items.close();
    this.#kernel.giveBack(this.#texts);
    this.#kernel.giveBack(this.#cells);
  }

  #takeItems(items: number): void {
    const kernel = this.#kernel;
    this.#texts = kernel.grown(this.#texts, this.#items.mostBytes(items));
    this.#cells = kernel.grown(this.#cells, items * cellBytes);
    this.#items.take(items, this.#cells.at, cellBytes, this.#texts.at);
  }

  #itemCount(rows: number): number {
    let items = 0;
    for (let row = this.#next; row < this.#next + rows; row += 1) items += Math.max(0, this.#counts[row]!);
    return items;
  }

  /** The page as one of items, each of which is there. */
  #itemsOf(page: Uint8Array, entries: number): { readonly page: Uint8Array; readonly rows: number } {
    const repetitions = readLevels(page, 0, entries, 1);
    const definitions = readLevels(page, repetitions.end, entries, 2);
    const counts: number[] = [];
    let items = 0;
    for (let entry = 0; entry < entries; entry += 1) {
      const definition = definitions.levels[entry]!;
      if (repetitions.levels[entry] === 1) counts[counts.length - 1]! += 1;
      else counts.push(definition === noList ? -1 : definition === item ? 1 : 0);
      if (definition === item) items += 1;
    }
    // an item continues a row that has none
    if (counts.reduce((sum, count) => sum + Math.max(0, count), 0) !== items) throw damaged();
    this.#counts = Int32Array.from(counts);
    this.#next = 0;
    const levels = presentLevels(items);
    const values = page.subarray(definitions.end);
    const whole = new Uint8Array(levels.length + values.length);
    whole.set(levels);
    whole.set(values, levels.length);
    return { page: whole, rows: items };
  }
}

/** Reads levels of `width` bits, which begin at `at` after the length of their bytes: runs of one level, and of packed ones. */
function readLevels(
  page: Uint8Array,
  at: number,
  count: number,
  width: number,
): { readonly levels: Uint8Array; readonly end: number } {
  if (at + 4 > page.length) throw damaged();
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const end = at + 4 + view.getUint32(at, true);
  if (end > page.length) throw damaged();
  const levels = new Uint8Array(count);
  let next = at + 4;
  for (let filled = 0; filled < count;) {
    let header = 0;
    for (let scale = 1; ; scale *= 0x80) {
      if (next >= end) throw damaged();
      const byte = page[next++]!;
      header += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    const run = Math.floor(header / 2);
    const isPacked = header % 2 === 1;
    const bytes = isPacked ? run * width : 1;
    if (run === 0 || next + bytes > end) throw damaged();
    const last = Math.min(count, filled + (isPacked ? run * 8 : run));
    for (let bit = 0; filled < last; filled += 1, bit += width) {
      const byte = page[next + (isPacked ? bit >> 3 : 0)]!;
      levels[filled] = isPacked ? (byte >> (bit & 7)) & ((1 << width) - 1) : byte;
    }
    next += bytes;
  }
  return { levels, end };
}

/** Levels of a column without NULL, as a page has them. */
function presentLevels(count: number): Uint8Array {
  const run: number[] = [];
  let header = count * 2;
  for (; header >= 0x80; header = Math.floor(header / 0x80)) run.push((header % 0x80) + 0x80);
  run.push(header, 1);
  const levels = new Uint8Array(4 + run.length);
  new DataView(levels.buffer).setUint32(0, run.length, true);
  levels.set(run, 4);
  return levels;
}
