/** Collects the properties of the values of one path into `ValueStatistics`, value by value, mostly without creating strings. */
import { isLess, sketchSize, emptyValueStatistics, type ValueStatistics } from './statistics.ts';
import { utf8Text } from '../xml/utf8.ts';
import {
  ALL_CLASSES,
  CLASS_DECIMAL,
  CLASS_INTEGER,
  CLASS_SCIENTIFIC,
  classesOf,
  hasOffset,
} from './value-classes.ts';

/**
 * Compares the bytes [start, end) with the first `length` of another array: returns a negative number, 0 or a positive number, as their
 * code points sort.
 */
function compareBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  other: Uint8Array,
  length: number,
): number {
  const shared = Math.min(end - start, length);
  for (let i = 0; i < shared; i += 1) {
    const difference = bytes[start + i]! - other[i]!;
    if (difference !== 0) return difference;
  }
  return end - start - length;
}

// The least and the greatest value, kept as bytes and decoded when they are read.

/** characters that are kept of a value */
const keptCharacters = 200;
/** most digits of a number that double precision distinguishes from all others */
const exactLength = 15;

const encoder = new TextEncoder();

class ValueExtremes {
  readonly #least = new KeptValue();
  readonly #greatest = new KeptValue();

  get min(): string {
    return this.#least.text;
  }

  get max(): string {
    return this.#greatest.text;
  }

  /** Continues from the results of `min` and `max`. */
  restore(min: string, max: string): void {
    this.#addText(min);
    this.#addText(max);
  }

  /** `number`: the value as a number if it is known and exact; NaN otherwise. */
  add(bytes: Uint8Array, start: number, end: number, number: number): void {
    const least = this.#least;
    const greatest = this.#greatest;
    if (number > least.number && number < greatest.number) return;
    if (least.length < 0) return this.#addText(startOf(bytes, start, end));
    if (end - start > keptCharacters) {
      // only the start of the value is kept; for a number, that may be a different number
      const isText = bytes[start]! > 57 || (bytes[start]! < 48 && bytes[start] !== 45 && bytes[start] !== 46);
      const isWithin =
        isText &&
        !least.isAfter(bytes, start, end, false, NaN) &&
        !greatest.isBefore(bytes, start, end, false, NaN);
      return isWithin ? undefined : this.#addText(startOf(bytes, start, end));
    }
    const isNumber = !Number.isNaN(number) || isPlainNumber(bytes, start, end);
    if (least.isAfter(bytes, start, end, isNumber, number)) least.keep(bytes, start, end, isNumber, number);
    if (greatest.isBefore(bytes, start, end, isNumber, number))
      greatest.keep(bytes, start, end, isNumber, number);
  }

  #addText(text: string): void {
    const bytes = encoder.encode(text);
    const isNumber = isPlainNumber(bytes, 0, bytes.length);
    const number = isNumber && text.length <= exactLength ? Number(text) : NaN;
    for (const kept of [this.#least, this.#greatest]) {
      const takes =
        kept.length < 0 || (kept === this.#least ? isLess(text, kept.text) : isLess(kept.text, text));
      if (takes) kept.keep(bytes, 0, bytes.length, isNumber, number);
    }
  }
}

class KeptValue {
  #bytes = new Uint8Array(24);
  /** -1: none yet */
  length = -1;
  #isNumber = false;
  /** NaN if it is not a number, or has more digits than double precision distinguishes */
  number = NaN;

  get text(): string {
    return utf8Text(this.#bytes.subarray(0, this.length));
  }

  keep(bytes: Uint8Array, start: number, end: number, isNumber: boolean, number: number): void {
    const length = end - start;
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(length * 2);
    for (let i = 0; i < length; i += 1) this.#bytes[i] = bytes[start + i]!;
    this.length = length;
    this.#isNumber = isNumber;
    this.number = number;
  }

  /** True if the value precedes this one: numbers before texts. */
  isAfter(bytes: Uint8Array, start: number, end: number, isNumber: boolean, number: number): boolean {
    if (isNumber !== this.#isNumber) return isNumber;
    if (!isNumber) return compareBytes(bytes, start, end, this.#bytes, this.length) < 0;
    const apart = number - this.number;
    if (apart !== 0 && !Number.isNaN(apart)) return apart < 0;
    return !this.#isSame(bytes, start, end) && isLess(startOf(bytes, start, end), this.text);
  }

  /** True if the value follows this one. */
  isBefore(bytes: Uint8Array, start: number, end: number, isNumber: boolean, number: number): boolean {
    if (isNumber !== this.#isNumber) return this.#isNumber;
    if (!isNumber) return compareBytes(bytes, start, end, this.#bytes, this.length) > 0;
    const apart = number - this.number;
    if (apart !== 0 && !Number.isNaN(apart)) return apart > 0;
    return !this.#isSame(bytes, start, end) && isLess(this.text, startOf(bytes, start, end));
  }

  #isSame(bytes: Uint8Array, start: number, end: number): boolean {
    return end - start === this.length && compareBytes(bytes, start, end, this.#bytes, this.length) === 0;
  }
}

/** `-?(\d+(\.\d+)?|\.\d+)`, as `isLess` has it. */
export function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let point = -1;
  const first = bytes[start] === 45 ? start + 1 : start;
  for (let i = first; i < end; i += 1) {
    const byte = bytes[i]!;
    if (byte === 46 && point < 0 && i < end - 1) point = i;
    else if (byte < 48 || byte > 57) return false;
  }
  return first < end;
}

/** Returns the part of a value that is kept: its start, as text. */
export function startOf(bytes: Uint8Array, start: number, end: number): string {
  return utf8Text(bytes.subarray(start, Math.min(end, start + keptCharacters * 4)))
    .slice(0, keptCharacters)
    .toWellFormed();
}

// An estimate of the number of distinct values, from the least of their hashes (k minimum values).

class ValueSketch {
  /** ascending */
  readonly #hashes = new Uint32Array(sketchSize);
  #size = 0;
  /** recent hashes, by their last bits: these need no search */
  readonly #recent = Uint32Array.from({ length: 64 }, (_, slot) => slot + 1);

  /** The FNV-1a hash of a value. */
  add(fnv: number): void {
    // FNV's low bits are its best; a final mix spreads them over the whole range
    let mixed = fnv ^ (fnv >>> 15);
    mixed = Math.imul(mixed, 0x2c1b3c6d);
    mixed ^= mixed >>> 12;
    const hash = mixed >>> 0;
    if (this.#recent[hash & 63] === hash) return;
    this.#recent[hash & 63] = hash;
    const hashes = this.#hashes;
    const size = this.#size;
    if (size === sketchSize && hash >= hashes[size - 1]!) return;
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    if (low < size && hashes[low] === hash) return;
    hashes.copyWithin(low + 1, low, Math.min(size, sketchSize - 1));
    hashes[low] = hash;
    if (size < sketchSize) this.#size = size + 1;
  }

  /** Continues from the result of `hashes`. */
  restore(hashes: readonly number[]): void {
    this.#hashes.set(hashes);
    this.#size = hashes.length;
  }

  get hashes(): number[] {
    return Array.from(this.#hashes.subarray(0, this.#size));
  }
}

// All properties of the values of a path.

/** Double precision distinguishes all numbers of up to this many digits. */
const exactDigits = 15;
const powersOfTen = Float64Array.from({ length: exactDigits + 1 }, (_, power) => 10 ** power);

export class ValueCollector {
  #count = 0;
  #empty = 0;
  #classes = ALL_CLASSES;
  #minLength = 0;
  #maxLength = 0;
  #wholeDigits = 0;
  #minFraction = 0;
  #maxFraction = 0;
  #withOffset = 0;
  /** made with the first value: most elements of a document have children, and no value */
  #sketch: ValueSketch | null = null;
  #extremes: ValueExtremes | null = null;
  readonly #samples: boolean;

  constructor(samples: boolean) {
    this.#samples = samples;
  }

  /** The value in bytes [start, end). */
  add(bytes: Uint8Array, start: number, end: number): void {
    this.#count += 1;
    if (start === end) {
      this.#empty += 1;
      return;
    }
    let length = 0;
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i += 1) {
      const byte = bytes[i]!;
      if ((byte & 0xc0) !== 0x80) length += 1;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    const isFirst = this.#sketch === null;
    if (isFirst || length < this.#minLength) this.#minLength = length;
    if (length > this.#maxLength) this.#maxLength = length;
    (this.#sketch ??= new ValueSketch()).add(hash);
    if (hasOffset(bytes, start, end)) this.#withOffset += 1;
    let number = NaN;
    if ((this.#classes & CLASS_DECIMAL) !== 0) number = this.#number(bytes, start, end, isFirst);
    else if (this.#classes !== 0) this.#classes = classesOf(bytes, start, end, this.#classes);
    if (this.#samples) (this.#extremes ??= new ValueExtremes()).add(bytes, start, end, number);
  }

  /** Continues from the result of `statistics`. */
  restore(from: ValueStatistics): void {
    this.#count = from.count;
    this.#empty = from.empty;
    this.#classes = from.classes;
    this.#minLength = from.minLength;
    this.#maxLength = from.maxLength;
    this.#wholeDigits = from.wholeDigits;
    this.#minFraction = from.minFraction;
    this.#maxFraction = from.maxFraction;
    this.#withOffset = from.withOffset ?? 0;
    if (from.sketch.length > 0) (this.#sketch = new ValueSketch()).restore(from.sketch);
    if (from.min !== null) (this.#extremes = new ValueExtremes()).restore(from.min, from.max!);
  }

  get statistics(): ValueStatistics {
    return {
      ...emptyValueStatistics(),
      count: this.#count,
      empty: this.#empty,
      classes: this.#classes,
      minLength: this.#minLength,
      maxLength: this.#maxLength,
      wholeDigits: this.#wholeDigits,
      minFraction: this.#minFraction,
      maxFraction: this.#maxFraction,
      min: this.#extremes?.min ?? null,
      max: this.#extremes?.max ?? null,
      sketch: this.#sketch?.hashes ?? [],
      ...(this.#withOffset > 0 ? { withOffset: this.#withOffset } : {}),
    };
  }

  /**
   * Reads decimal digits (as defined by `classesOf`) in one pass. Returns the number, or NaN if it has more digits than double precision
   * distinguishes, or if it is not a number. In the latter case, discards the statistics of numbers.
   */
  #number(bytes: Uint8Array, start: number, end: number, isFirst: boolean): number {
    const negative = bytes[start] === 45;
    const first = negative ? start + 1 : start;
    let point = -1;
    let digits = 0;
    let size = 0;
    for (let i = first; i < end; i += 1) {
      const digit = bytes[i]! - 48;
      if (digit >= 0 && digit <= 9) {
        size = size * 10 + digit;
        digits += 1;
      } else if (digit === -2 && point < 0 && i < end - 1) point = i;
      else return this.#noNumber(bytes, start, end);
    }
    const whole = (point < 0 ? end : point) - first;
    const startsWithZero = bytes[first] === 48 && whole > 1;
    if (digits === 0 || startsWithZero || (negative && size === 0) || end - first > 1000)
      return this.#noNumber(bytes, start, end);
    this.#classes &= (point < 0 ? CLASS_INTEGER | CLASS_DECIMAL : CLASS_DECIMAL) | CLASS_SCIENTIFIC;
    const fraction = digits - whole;
    if (whole > this.#wholeDigits) this.#wholeDigits = whole;
    if (isFirst || fraction < this.#minFraction) this.#minFraction = fraction;
    if (fraction > this.#maxFraction) this.#maxFraction = fraction;
    return digits > exactDigits ? NaN : (negative ? -size : size) / powersOfTen[fraction]!;
  }

  #noNumber(bytes: Uint8Array, start: number, end: number): number {
    this.#classes = classesOf(bytes, start, end, this.#classes);
    this.#wholeDigits = 0;
    this.#minFraction = 0;
    this.#maxFraction = 0;
    return NaN;
  }
}
