/** Writes one column of a row group: its pages, each in its smallest encoding, and its bounds. */
import * as layout from './kernel/layout.ts';
import type { ReadKind, ColumnsKernel, Span } from './kernel/instance.ts';
import type { SpareBuffers } from '../spare-buffers.ts';

// Types of Parquet for types by DuckDB's names.

export const PHYSICAL = { boolean: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6, fixed: 7 } as const;

/** How the values of a column are read and stored. */
export interface ParquetType {
  /** READ_… of the kernel */
  readonly read: ReadKind;
  readonly physical: number;
  /** bytes of a value; 0: text, 1: a bit */
  readonly width: number;
  readonly scale: number;
  readonly logical: LogicalType;
}

export type LogicalType =
  | { readonly kind: 'integer'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'timestamp' | 'time'; readonly isUtc: boolean }
  | { readonly kind: 'date' | 'text' | 'none' };

const { boolean, int32, int64, float, double, bytes, fixed } = PHYSICAL;

const named: Readonly<Record<string, ParquetType>> = {
  BOOLEAN: of(layout.READ_BOOLEAN, boolean, 1, { kind: 'none' }),
  SMALLINT: of(layout.READ_INT32, int32, 4, { kind: 'integer', bits: 16 }),
  INTEGER: of(layout.READ_INT32, int32, 4, { kind: 'integer', bits: 32 }),
  BIGINT: of(layout.READ_INT64, int64, 8, { kind: 'integer', bits: 64 }),
  FLOAT: of(layout.READ_FLOAT, float, 4, { kind: 'none' }),
  DOUBLE: of(layout.READ_DOUBLE, double, 8, { kind: 'none' }),
  DATE: of(layout.READ_DATE, int32, 4, { kind: 'date' }),
  TIME: of(layout.READ_TIME, int64, 8, { kind: 'time', isUtc: false }),
  TIMESTAMP: of(layout.READ_TIMESTAMP, int64, 8, { kind: 'timestamp', isUtc: false }),
  'TIMESTAMP WITH TIME ZONE': of(layout.READ_TIMESTAMP, int64, 8, { kind: 'timestamp', isUtc: true }),
  VARCHAR: of(layout.READ_TEXT, bytes, 0, { kind: 'text' }),
};

function of(read: ReadKind, physical: number, width: number, logical: LogicalType): ParquetType {
  return { read, physical, width, logical, scale: logical.kind === 'decimal' ? logical.scale : 0 };
}

/** Returns the Parquet type of a scalar SQL type. Throws RangeError if there is none. */
export function valueTypeOf(sqlType: string): ParquetType {
  const known = named[sqlType];
  if (known !== undefined) return known;
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType) ?? [];
  if (precision === undefined) throw new RangeError(`${sqlType} cannot be the type of a Parquet column`);
  const logical = { kind: 'decimal', precision: Number(precision), scale: Number(scale) } as const;
  if (logical.precision <= 9) return of(layout.READ_INT32, int32, 4, logical);
  if (logical.precision <= 18) return of(layout.READ_INT64, int64, 8, logical);
  return of(layout.READ_INT128, fixed, 16, logical);
}

/** True if values may be written as differences from the previous value. */
function isWholeNumber({ physical }: ParquetType): boolean {
  return physical === int32 || physical === int64;
}

// Pages and their encodings.

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
interface Levels {
  readonly bytes: Uint8Array;
  readonly entries: number;
  readonly rows: number;
}

interface ChunkOptions {
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

const maxEntries = 65_536;
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
    this.#dictionary = this.#kernel.makeDictionary(type.width, maxEntries, dictionaryBytes, entries);
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

// The least and the greatest value of a page or column, in the form of Parquet's statistics. Long text is truncated.

interface Bound {
  readonly bytes: Uint8Array;
  /** false: no value is less (greater), but none may be equal */
  readonly isExact: boolean;
  /** the value for comparing numbers */
  readonly value: bigint | number | null;
}

interface Bounds {
  readonly least: Bound;
  readonly greatest: Bound;
}

const maxTextBytes = 64;

/**
 * Returns the bounds of the values that the kernel has just read, of which there must be at least one. Returns null if some values are
 * not ordered or a text has no bound.
 */
function boundsOf(kernel: ColumnsKernel, type: ParquetType): Bounds | null {
  const { view } = kernel;
  const [leastAt, greatestAt] = [
    layout.CONTROL_AT + layout.LEAST * 4,
    layout.CONTROL_AT + layout.GREATEST * 4,
  ];
  switch (type.physical) {
    case PHYSICAL.bytes:
      return textBounds(kernel);
    case PHYSICAL.float:
    case PHYSICAL.double:
      return floatBounds(
        view.getFloat64(leastAt, true),
        view.getFloat64(greatestAt, true),
        type.physical === PHYSICAL.float,
      );
    case PHYSICAL.fixed:
      return { least: wide(view, leastAt), greatest: wide(view, greatestAt) };
    default:
      return {
        least: whole(view.getBigInt64(leastAt, true), type.width),
        greatest: whole(view.getBigInt64(greatestAt, true), type.width),
      };
  }
}

function widest(a: Bounds | null, b: Bounds): Bounds {
  if (a === null) return b;
  return {
    least: order(a.least, b.least) <= 0 ? tied(a.least, b.least) : b.least,
    greatest: order(a.greatest, b.greatest) >= 0 ? tied(a.greatest, b.greatest) : b.greatest,
  };
}

function order(a: Bound, b: Bound): number {
  if (a.value !== null && b.value !== null) return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  return compareBytes(a.bytes, b.bytes);
}

/** Returns the bound that is not exact if both are equal. */
function tied(kept: Bound, other: Bound): Bound {
  return kept.isExact && !other.isExact && order(kept, other) === 0 ? other : kept;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function whole(value: bigint, width: number): Bound {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return { bytes: bytes.subarray(0, width), isExact: true, value };
}

function wide(view: DataView, at: number): Bound {
  const [low, high] = [view.getBigUint64(at, true), view.getBigInt64(at + 8, true)];
  const bytes = new Uint8Array(16);
  const out = new DataView(bytes.buffer);
  out.setBigInt64(0, high);
  out.setBigUint64(8, low);
  return { bytes, isExact: true, value: (high << 64n) | low };
}

/** Zero has two signs, which some order and some do not. */
function floatBounds(least: number, greatest: number, isSingle: boolean): Bounds | null {
  if (Number.isNaN(least) || Number.isNaN(greatest)) return null;
  const bound = (value: number): Bound => {
    const bytes = new Uint8Array(isSingle ? 4 : 8);
    const view = new DataView(bytes.buffer);
    if (isSingle) view.setFloat32(0, value, true);
    else view.setFloat64(0, value, true);
    return { bytes, isExact: true, value };
  };
  return { least: bound(least === 0 ? -0 : least), greatest: bound(greatest === 0 ? 0 : greatest) };
}

function textBounds(kernel: ColumnsKernel): Bounds | null {
  const text = (atSlot: number, lengthSlot: number): readonly [Uint8Array, isWhole: boolean] => {
    const [at, length] = [kernel.result(atSlot), kernel.result(lengthSlot)];
    const bytes = kernel.bytes([at, at + Math.min(length, maxTextBytes + 4)]);
    return length <= maxTextBytes ? [bytes, true] : [characters(bytes), false];
  };
  const [least, isLeast] = text(layout.LEAST_AT, layout.LEAST_LENGTH);
  const [greatest, isGreatest] = text(layout.GREATEST_AT, layout.GREATEST_LENGTH);
  const above = isGreatest ? greatest : next(greatest);
  if (above === null) return null;
  return {
    least: { bytes: least, isExact: isLeast, value: null },
    greatest: { bytes: above, isExact: isGreatest, value: null },
  };
}

/** Returns as many whole characters as fit. */
function characters(bytes: Uint8Array): Uint8Array {
  let end = maxTextBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

/** Returns the least text greater than all texts with this prefix, or null if there is none. */
function next(bytes: Uint8Array): Uint8Array | null {
  const points = Array.from(new TextDecoder().decode(bytes), (character) => character.codePointAt(0)!);
  while (points.length > 0) {
    const last = points.pop()!;
    if (last === 0x10ffff) continue;
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return new TextEncoder().encode(String.fromCodePoint(...points));
  }
  return null;
}

// Numbers with a fraction that are to be rounded, as IEEE 754 says.

/** `text`: with the words that rows have (`Infinity`, `NaN`). Returns null if it is not a number. */
function readFloat(text: string, isSingle: boolean): number | null {
  const value = Number(text);
  if (text.trim() === '' || (Number.isNaN(value) && text !== 'NaN')) return null;
  return isSingle ? toSingle(text, value) : value;
}

/** Rounded once: a double in the middle between two floats may have been rounded there. */
function toSingle(text: string, double: number): number {
  const single = Math.fround(double);
  if (!Number.isFinite(double) || single === double) return single;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, double);
  if ((view.getUint32(4) & 0x1fffffff) !== 0x10000000) return single;
  const side = compareExactly(text, double);
  if (side === 0) return single;
  // just beside the midpoint: the next double is on the correct side
  const bits = view.getBigInt64(0) + BigInt(double > 0 ? side : -side);
  view.setBigInt64(0, bits);
  return Math.fround(view.getFloat64(0));
}

/** Compares the decimal with the double: returns -1 if it is less, 0 if equal, 1 if greater. */
function compareExactly(text: string, double: number): number {
  const [, sign, whole = '', fraction = '', power = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(
    text,
  )!;
  let decimal = BigInt(`${whole}${fraction}`);
  let exponent = Number(power) - fraction.length;
  // a double is a whole number times a power of two
  let binary = 0;
  let mantissa = Math.abs(double);
  for (; !Number.isInteger(mantissa); binary -= 1) mantissa *= 2;
  let other = BigInt(mantissa) * 10n ** BigInt(Math.max(0, -exponent));
  decimal *= 10n ** BigInt(Math.max(0, exponent));
  decimal <<= BigInt(-binary);
  const order = decimal < other ? -1 : decimal > other ? 1 : 0;
  return sign === '-' ? -order : order;
}
