/** One column of a row group: its pages, each in its smallest encoding, and its bounds. */
import type { SpareBuffers } from '../spare-buffers.ts';
import * as layout from './kernel/layout.ts';
import type { ColumnsKernel, Span } from './kernel/instance.ts';
import { boundsOf, widest, type Bounds } from './values/bounds.ts';
import { isWholeNumber, PHYSICAL, type ParquetType } from './values/column-types.ts';
import { readFloat } from './values/floats.ts';

/** Numbers of the format. */
export const ENCODING = { plain: 0, runs: 3, deltas: 5, lengths: 6, dictionary: 8 } as const;

/**
 * The least uses per entry of a dictionary of whole numbers. Ascending keys with fewer uses compress better when written whole, if they
 * may not be written as differences.
 */
const leastUses = 5;

export type Compress = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>;

export interface ColumnPage {
  readonly encoding: number;
  /** values and NULLs; of a dictionary its entries */
  readonly entries: number;
  readonly rows: number;
  readonly nulls: number;
  /** null: unknown, or there is no value */
  readonly bounds: Bounds | null;
  readonly bytes: number;
  /** bytes as written */
  compressed: Promise<Uint8Array<ArrayBuffer>>;
}

/** Levels of a page if its entries are not simply its rows. */
export interface Levels {
  readonly bytes: Uint8Array;
  readonly entries: number;
  readonly rows: number;
}

export interface ChunkOptions {
  readonly type: ParquetType;
  /** returns what it compressed to `buffers` */
  readonly compress: Compress;
  readonly buffers: SpareBuffers;
  /** bytes of a page: a column is not compressed if none of its pages, including its dictionary, is longer */
  readonly plainBytes: number;
  /** whether whole numbers, including the lengths of texts, may be written as differences */
  readonly deltas: boolean;
  /** most bytes of a dictionary */
  readonly dictionaryBytes: number;
  /** encoding of the column's last row group, if one was decided */
  readonly habit: number | null;
  /** entries of the dictionary that it had there */
  readonly entries: number;
}

const mostEntries = 65_536;
/** The number of values that decide how the rest is encoded. */
const enough = 1024;
/** The largest useful size of a dictionary, as a fraction of the texts written whole. A larger one is not worth the time to read it. */
const worthwhile = 0.8;

export class ColumnChunk {
  readonly pages: ColumnPage[] = [];
  nulls = 0;
  /** decided when all pages are there */
  isCompressed = false;
  #hasLong = false;
  /** short pages, which are only compressed if others are */
  readonly #short: { readonly page: ColumnPage; readonly bytes: Uint8Array<ArrayBuffer> }[] = [];
  /** bounds of all pages; null if one page has none */
  bounds: Bounds | null = null;
  #isBounded = true;
  #told = 0;
  readonly #kernel: ColumnsKernel;
  readonly #options: ChunkOptions;
  /** ENCODING of further pages; null: not decided */
  habit: number | null;
  #dictionary = 0;
  #usesDictionary = false;
  #kept: { readonly bytes: Uint8Array<ArrayBuffer>; readonly entries: number } | null = null;

  constructor(kernel: ColumnsKernel, options: ChunkOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.habit = options.habit;
  }

  /**
   * Adds a page of the kernel's rows; `levels`: present if its rows are items. Returns false, without adding anything, if a value does
   * not fit the type.
   */
  add(column: number, rows: number, levels: Levels | null = null): boolean {
    const { type } = this.#options;
    const encoded = type.width === 0 ? this.#texts(column, rows) : this.#values(column, rows);
    if (encoded === null) return false;
    const { encoding, body, count, bounds } = encoded;
    const entries = levels?.entries ?? rows;
    const bytes = this.#pageOf(levels?.bytes ?? encoded.presence ?? sameLevels(rows, count), ...body);
    this.nulls += entries - count;
    if (count > 0) this.#note(bounds);
    const page = this.#placed(bytes, {
      encoding,
      entries,
      rows: levels?.rows ?? rows,
      nulls: entries - count,
      bounds: count > 0 ? bounds : null,
    });
    this.pages.push(page);
    return true;
  }

  /** Called after the last page, when it is known whether the pages are compressed. */
  finish(): void {
    const { compress, plainBytes } = this.#options;
    const shortBytes = this.#short.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.isCompressed = this.#hasLong || shortBytes > plainBytes * this.pages.length;
    if (!this.isCompressed) return;
    for (const { page, bytes } of this.#short) page.compressed = compress(bytes);
  }

  /**
   * Returns the bytes of the pages before the last one that have not been reported yet, after compression of the long ones. The result
   * does not depend on how long the compression takes.
   */
  async toldBytes(): Promise<number> {
    let bytes = 0;
    for (; this.#told < this.pages.length - 1; this.#told += 1)
      bytes += (await this.pages[this.#told]!.compressed).length;
    return bytes;
  }

  #placed(bytes: Uint8Array<ArrayBuffer>, page: Omit<ColumnPage, 'bytes' | 'compressed'>): ColumnPage {
    const { compress, buffers, plainBytes } = this.#options;
    const { length } = bytes;
    if (length > plainBytes) {
      this.#hasLong = true;
      return { ...page, bytes: length, compressed: compress(bytes) };
    }
    const own = bytes.slice();
    buffers.giveBack(bytes);
    const placed = { ...page, bytes: length, compressed: Promise.resolve(own) };
    this.#short.push({ page: placed, bytes: own });
    return placed;
  }

  /** `levels`: as bytes with their length before them, or without. */
  #pageOf(levels: Span | Uint8Array, ...body: Span[]): Uint8Array<ArrayBuffer> {
    const kernel = this.#kernel;
    const isWhole = levels instanceof Uint8Array;
    const levelBytes = isWhole ? levels.length : 4 + lengthOf(levels);
    const page = this.#options.buffers.take(body.reduce((sum, part) => sum + lengthOf(part), levelBytes));
    if (isWhole) page.set(levels);
    else {
      writeLength(page, lengthOf(levels));
      kernel.copy(levels, page, 4);
    }
    let at = levelBytes;
    for (const part of body) at = kernel.copy(part, page, at);
    return page;
  }

  /** Returns the dictionary page, which precedes all others, or null if no page uses it. */
  dictionaryPage(): ColumnPage | null {
    this.keepDictionary();
    if (this.#kept === null) return null;
    const { bytes, entries } = this.#kept;
    return this.#placed(bytes, { encoding: ENCODING.plain, entries, rows: 0, nulls: 0, bounds: null });
  }

  /** Copies the dictionary out of the kernel's memory. No further page uses it. */
  keepDictionary(): void {
    if (this.#usesDictionary && this.#kept === null) {
      const { count, from, length } = this.#kernel.dictionary(this.#dictionary);
      this.#kept = { bytes: this.#kernel.bytes([from, from + length]), entries: count };
    }
    this.#dictionary = 0;
  }

  #note(bounds: Bounds | null): void {
    if (bounds === null) this.#isBounded = false;
    this.bounds = this.#isBounded && bounds !== null ? widest(this.bounds, bounds) : null;
  }

  #makeDictionary(): void {
    if (this.#dictionary > 0) return;
    const { type, dictionaryBytes, entries } = this.#options;
    this.#dictionary = this.#kernel.makeDictionary(type.width, mostEntries, dictionaryBytes, entries);
  }

  /** The number of entries of the dictionary, or 0 if there is none. */
  get entries(): number {
    return this.#kept?.entries ?? 0;
  }

  /** True if a dictionary may be used. At most one dictionary serves all pages. */
  get #mayLookUp(): boolean {
    return this.#kept === null && (this.habit === null || this.habit === ENCODING.dictionary);
  }

  #texts(column: number, rows: number): Encoded | null {
    const kernel = this.#kernel;
    const { type, deltas } = this.#options;
    const { read } = type;
    if (this.#mayLookUp) {
      this.#makeDictionary();
      if (kernel.read(column, rows, read, 0, this.#dictionary)) {
        const count = kernel.result(layout.COUNT);
        const bounds = count === 0 ? null : boundsOf(kernel, type);
        const { length } = kernel.dictionary(this.#dictionary);
        const levels = levelsOf(kernel, rows, count);
        if (this.habit === null && !this.#usesDictionary) {
          const end = kernel.expandTexts(count, this.#dictionary, deltas);
          const size = lengthOf(this.#numbers(count)) + length;
          const whole = end - kernel.values + (deltas ? count * 4 : 0);
          if (size > whole * worthwhile) return this.#wholeTexts(count, bounds, levels, end);
        }
        return this.#decided(ENCODING.dictionary, count, bounds, levels, this.#numbers(count));
      }
      this.keepDictionary();
    }
    if (!kernel.read(column, rows, deltas ? layout.READ_TEXT_APART : read, 0, 0)) return null;
    const count = kernel.result(layout.COUNT);
    const bounds = count === 0 ? null : boundsOf(kernel, type);
    return this.#wholeTexts(count, bounds, levelsOf(kernel, rows, count), kernel.result(layout.VALUES_END));
  }

  /** Writes all lengths before the texts. This is shorter than a length before each text, and zstd compresses the texts faster. */
  #wholeTexts(count: number, bounds: Bounds | null, presence: Span | null, end: number): Encoded {
    const texts = this.#wholeValues(end);
    if (!this.#options.deltas) return this.#decided(ENCODING.plain, count, bounds, presence, texts);
    const lengths = this.#kernel.encodeLengths(count);
    return this.#decided(ENCODING.lengths, count, bounds, presence, lengths, texts);
  }

  #values(column: number, rows: number): Encoded | null {
    const kernel = this.#kernel;
    const { type, deltas } = this.#options;
    if (!kernel.read(column, rows, type.read, type.scale, 0)) return null;
    const count = kernel.result(layout.COUNT);
    if (!this.#readLeftFloats()) return null;
    const bounds = count === 0 ? null : this.#hasNaN ? null : boundsOf(kernel, type);
    const end = kernel.result(layout.VALUES_END);
    const levels = levelsOf(kernel, rows, count);
    if (type.physical === PHYSICAL.boolean)
      return {
        encoding: ENCODING.plain,
        body: [kernel.encodeBooleans(count)],
        count,
        bounds,
        presence: levels,
      };
    const mayDelta = deltas && isWholeNumber(type) && this.habit !== ENCODING.plain && count > 0;
    const candidates: [encoding: number, size: number, body: Span][] = [
      [ENCODING.plain, count * type.width, this.#wholeValues(end)],
    ];
    if (this.#mayLookUp && count > 0) {
      this.#makeDictionary();
      if (kernel.lookUp(count, type.width, this.#dictionary)) {
        const numbers = this.#numbers(count);
        if (this.#usesDictionary) return this.#decided(ENCODING.dictionary, count, bounds, levels, numbers);
        const { count: entries, length } = kernel.dictionary(this.#dictionary);
        const size = lengthOf(numbers) + length;
        if (deltas || !isWholeNumber(type) || entries * leastUses <= count || !this.#doesRise(count, size))
          candidates.push([ENCODING.dictionary, size, numbers]);
      } else this.keepDictionary();
    }
    if (mayDelta) {
      const differences = kernel.encodeDeltas(count, type.width);
      candidates.push([ENCODING.deltas, lengthOf(differences), differences]);
    }
    const [encoding, , body] = candidates.reduce((best, other) => (other[1] < best[1] ? other : best));
    return this.#decided(encoding, count, bounds, levels, body);
  }

  /** True if differences of the values would take far less room than a dictionary with its numbers. */
  #doesRise(count: number, dictionarySize: number): boolean {
    return lengthOf(this.#kernel.encodeDeltas(count, this.#options.type.width)) * 4 < dictionarySize;
  }

  #decided(
    encoding: number,
    count: number,
    bounds: Bounds | null,
    presence: Span | null,
    ...body: Span[]
  ): Encoded {
    // a page without values does not use the dictionary, which may not exist
    if (count === 0) return { encoding: ENCODING.plain, body: [], count, bounds, presence };
    if (encoding === ENCODING.dictionary) this.#usesDictionary = true;
    if (count >= enough) {
      this.habit = encoding;
      if (encoding !== ENCODING.dictionary) this.keepDictionary();
    }
    return { encoding, body, count, bounds, presence };
  }

  #wholeValues(end: number): Span {
    return [this.#kernel.values, end];
  }

  #numbers(count: number): Span {
    const kernel = this.#kernel;
    return kernel.encodeNumbers(count, kernel.dictionary(this.#dictionary).count);
  }

  #hasNaN = false;

  /** Reads the numbers that the kernel does not round. Returns false if one is not a number. */
  #readLeftFloats(): boolean {
    this.#hasNaN = false;
    const kernel = this.#kernel;
    const { type } = this.#options;
    if (kernel.result(layout.LEFT_COUNT) === 0) return true;
    const isSingle = type.physical === PHYSICAL.float;
    const { view } = kernel;
    const least = layout.CONTROL_AT + layout.LEAST * 4;
    const greatest = layout.CONTROL_AT + layout.GREATEST * 4;
    for (const [number, text] of kernel.leftValues()) {
      const value = readFloat(text, isSingle);
      if (value === null) return false;
      if (Number.isNaN(value)) this.#hasNaN = true;
      if (isSingle) view.setFloat32(kernel.values + number * 4, value, true);
      else view.setFloat64(kernel.values + number * 8, value, true);
      if (value < view.getFloat64(least, true)) view.setFloat64(least, value, true);
      if (value > view.getFloat64(greatest, true)) view.setFloat64(greatest, value, true);
    }
    return true;
  }
}

interface Encoded {
  readonly encoding: number;
  /** parts of the page in order */
  readonly body: readonly Span[];
  readonly count: number;
  readonly bounds: Bounds | null;
  /** levels of rows with and without a value; null if all are the same */
  readonly presence: Span | null;
}

function levelsOf(kernel: ColumnsKernel, rows: number, count: number): Span | null {
  return count === 0 || count === rows ? null : kernel.encodeLevels(rows, 1);
}

function lengthOf([from, to]: Span): number {
  return to - from;
}

/** Returns the levels of rows that all have a value or are all NULL: one run, after its length. */
function sameLevels(rows: number, count: number): Uint8Array {
  const run: number[] = [];
  let rest = rows * 2;
  for (; rest >= 128; rest = Math.floor(rest / 128)) run.push((rest & 127) | 128);
  return withLength(Uint8Array.of(...run, rest, count === 0 ? 0 : 1));
}

/** Returns the levels after their length. */
export function withLength(levels: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(levels.length + 4);
  writeLength(bytes, levels.length);
  bytes.set(levels, 4);
  return bytes;
}

function writeLength(bytes: Uint8Array, length: number): void {
  for (let at = 0; at < 4; at += 1) bytes[at] = length >>> (8 * at);
}
