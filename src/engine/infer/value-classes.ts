/**
 * Determines the types that a value could have and still reproduce its text: "1" may be an integer; "01", "+1" and "1." would lose their
 * form. A column's type is one that all its values allow.
 */
import { readDateTimeValue, readDateValue, readTimeValue } from '../shred/calendar.ts';

export const CLASS_BOOLEAN = 1;
export const CLASS_INTEGER = 2;
export const CLASS_DECIMAL = 4;
export const CLASS_DATE = 8;
export const CLASS_TIME = 16;
export const CLASS_DATETIME_LOCAL = 32;
export const CLASS_DATETIME_ZONED = 64;
/** a decimal, or a number with an exponent in a form that names and codes do not have: `1.5e3`, `2E-7` */
export const CLASS_SCIENTIFIC = 128;
export const ALL_CLASSES = 255;

/** `2024-01-31T10:00:00+02:00` */
const offsetLength = 25;
/** bytes; digits of an exponent */
const longestScientific = 64;
const maxExponentDigits = 3;
/** few databases can hold a number with a larger exponent */
const largestExponent = 38;
/** bytes; fractions of a second may have any number of digits */
const longestTime = 64;
/** nanoseconds; a column truncates the digits after the sixth, and the value is also kept as written */
const maxFractionDigits = 9;
/** including white space around it */
const longestWithSpace = 512;

/** Classes of bytes [start, end), among those still `possible`; 0 = text alone. */
export function classesOf(bytes: Uint8Array, start: number, end: number, possible: number): number {
  if (possible === 0) return 0;
  const first = bytes[start]!;
  if (first === 116 || first === 102) return isBoolean(bytes, start, end) ? possible & CLASS_BOOLEAN : 0;
  if ((first < 48 || first > 57) && first !== 45 && first !== 46) return 0;
  let result = 0;
  if ((possible & (CLASS_INTEGER | CLASS_DECIMAL | CLASS_SCIENTIFIC)) !== 0)
    result = numberClasses(bytes, start, end);
  const size = end - start;
  if (
    result === 0 &&
    size >= 8 &&
    (possible & (CLASS_DATE | CLASS_TIME | CLASS_DATETIME_LOCAL | CLASS_DATETIME_ZONED)) !== 0
  ) {
    result = calendarClasses(bytes, start, end, size);
  }
  return result & possible;
}

function isBoolean(bytes: Uint8Array, start: number, end: number): boolean {
  const word = end - start === 4 ? 'true' : end - start === 5 ? 'false' : '';
  if (word === '') return false;
  for (let i = 0; i < word.length; i += 1) if (bytes[start + i] !== word.charCodeAt(i)) return false;
  return true;
}

/** A date with a time and an offset from UTC, by the places of its separators, white space around it aside. */
export function hasOffset(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < offsetLength || end - start > longestWithSpace) return false;
  let [from, to] = [start, end];
  while (from < to && bytes[from]! <= 32) from += 1;
  while (to > from && bytes[to - 1]! <= 32) to -= 1;
  const length = to - from;
  if (length < offsetLength || length > longestTime) return false;
  if (bytes[to - 3] !== 58 || bytes[from + 10] !== 84) return false;
  return bytes[to - 6] === 43 || bytes[to - 6] === 45;
}

/**
 * Reads decimal digits: no plus sign, no leading zero, no negative zero, digits after a point; a number below one may have none before
 * it.
 */
function numberClasses(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === 45;
  const first = negative ? start + 1 : start;
  let point = -1;
  let significant = false;
  for (let i = first; i < end; i += 1) {
    const byte = bytes[i]!;
    if (byte === 46) {
      if (point >= 0 || i === end - 1) return 0;
      point = i;
    } else if (byte === 69 || byte === 101) {
      return isScientific(bytes, first, end, point, i) ? CLASS_SCIENTIFIC : 0;
    } else if (byte < 48 || byte > 57) return 0;
    else if (byte !== 48) significant = true;
  }
  const wholeEnd = point < 0 ? end : point;
  if (first >= end || (bytes[first] === 48 && wholeEnd - first > 1) || (negative && !significant)) return 0;
  if (end - first > 1000) return 0;
  return (point < 0 ? CLASS_INTEGER | CLASS_DECIMAL : CLASS_DECIMAL) | CLASS_SCIENTIFIC;
}

/**
 * True if a number is in scientific notation. Its digits begin at `first`, its point is at `point` (-1: none) and its `e` or `E` at
 * `letter`. Without a point and a sign, as in 12E4, it may be a code.
 */
function isScientific(bytes: Uint8Array, first: number, end: number, point: number, letter: number): boolean {
  const wholeEnd = point < 0 ? letter : point;
  if (wholeEnd === first || letter === point + 1 || end - first > longestScientific) return false;
  if (bytes[first] === 48 && wholeEnd - first > 1) return false;
  const sign = bytes[letter + 1];
  const isSigned = letter + 1 < end && (sign === 43 || sign === 45);
  if (point < 0 && !isSigned) return false;
  const from = isSigned ? letter + 2 : letter + 1;
  if (from === end || end - from > maxExponentDigits) return false;
  let exponent = 0;
  for (let i = from; i < end; i += 1) {
    if (bytes[i]! < 48 || bytes[i]! > 57) return false;
    exponent = exponent * 10 + bytes[i]! - 48;
  }
  return exponent <= largestExponent;
}

function calendarClasses(bytes: Uint8Array, start: number, end: number, size: number): number {
  if (bytes[start + 2] === 58) {
    const time = readTimeValue(bytes, start, end);
    return time === null || time.zone !== 'none' || time.endOfDay || time.fractionDigits > maxFractionDigits
      ? 0
      : CLASS_TIME;
  }
  if (size === 10) return readDateValue(bytes, start, end) === null ? 0 : CLASS_DATE;
  const dateTime = readDateTimeValue(bytes, start, end);
  if (dateTime === null || dateTime.endOfDay || dateTime.fractionDigits > maxFractionDigits) return 0;
  return dateTime.zone === 'none' ? CLASS_DATETIME_LOCAL : CLASS_DATETIME_ZONED;
}
