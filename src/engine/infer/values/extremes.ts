/** The least and the greatest of the values of one path, kept as bytes, and decoded when they are read. */
import { compareBytes } from './compare-bytes.ts';
import { isLess } from '../statistics.ts';
import { utf8Text } from '../../xml/utf8.ts';

/** characters that are kept of a value */
const keptCharacters = 200;
/** most digits of a number that double precision distinguishes from all others */
const exactLength = 15;

const encoder = new TextEncoder();

export class ValueExtremes {
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
