/** Collects the common properties of the values of one path into `ValueStatistics`, value by value, mostly without creating strings. */
import { ValueExtremes } from './extremes.ts';
import { emptyValueStatistics, type ValueStatistics } from '../statistics.ts';
import {
  ALL_CLASSES,
  CLASS_DECIMAL,
  CLASS_INTEGER,
  CLASS_SCIENTIFIC,
  classesOf,
  hasOffset,
} from './classes.ts';
import { ValueSketch } from './sketch.ts';

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
