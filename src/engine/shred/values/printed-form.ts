/**
 * Tests if a column reproduces a value in the form it was written in. Based on how targets print numbers, flags and times, and on how
 * that output is converted.
 */
import type { Column } from '../../model/relational-model.ts';
import { readDateTimeValue, readTimeValue, type CalendarValue } from './calendar.ts';

/**
 * The value must have no surrounding white space and fit the column's type; `scalesDecimals`: decimals without a scale are printed
 * without trailing zeros.
 */
export function isPrintedAlike(
  { type, writtenAs }: Pick<Column, 'type' | 'writtenAs'>,
  source: Uint8Array,
  start: number,
  end: number,
  scalesDecimals: boolean,
): boolean {
  const { whole = 1, fraction = 0, digits = false } = writtenAs ?? {};
  switch (type.kind) {
    case 'boolean':
      return end - start > 1 !== digits;
    case 'smallint':
    case 'integer':
    case 'bigint':
      return isPlainNumber(source, start, end, { whole, fraction, isScale: true });
    case 'numeric': {
      if (writtenAs !== undefined)
        return isPlainNumber(source, start, end, { whole, fraction, isScale: false });
      const { precision, scale = 0 } = type;
      const isOpen = precision === undefined && !scalesDecimals;
      return isPlainNumber(source, start, end, {
        whole,
        fraction: isOpen ? null : scale,
        isScale: precision !== undefined,
      });
    }
    case 'real':
    case 'double':
      return (
        isPlainNumber(source, start, end, { whole, fraction, isScale: false }) &&
        hasNoExponent(source, start, end)
      );
    case 'time':
      return givesBackSecond(readTimeValue(source, start, end), fraction);
    case 'timestamp':
    case 'timestamptz':
      return givesBackSecond(readDateTimeValue(source, start, end), fraction);
    default:
      return true;
  }
}

/** True if the digits of a second are printed as they were written, at least `least` of them. */
export function givesBackSecond(value: CalendarValue | null, least: number): boolean {
  if (value === null || value.fractionDigits < least) return false;
  return value.fractionDigits === least || !value.trailingZero;
}

interface PrintedDigits {
  /** digits before the point, at least */
  readonly whole: number;
  /** digits after the point, at least; null: as many as were written */
  readonly fraction: number | null;
  /** `fraction` is the number of digits of every value */
  readonly isScale: boolean;
}

/** No plus sign, no negative zero, digits on both sides of a point, no zeros beyond those that are printed. */
function isPlainNumber(
  source: Uint8Array,
  start: number,
  end: number,
  { whole: leastWhole, fraction: leastFraction, isScale }: PrintedDigits,
): boolean {
  const negative = source[start] === 45;
  const first = negative ? start + 1 : start;
  let point = end;
  let isZero = true;
  for (let i = first; i < end; i += 1) {
    const byte = source[i]!;
    if (byte === 46) point = i;
    else if (byte < 48 || byte > 57) return false;
    else if (byte !== 48) isZero = false;
  }
  const whole = point - first;
  const fraction = point === end ? 0 : end - point - 1;
  if (point < end && fraction === 0) return false;
  if (whole < leastWhole || (whole > leastWhole && source[first] === 48)) return false;
  if (negative && isZero) return false;
  if (leastFraction === null || fraction === leastFraction) return true;
  return !isScale && fraction > leastFraction && source[end - 1] !== 48;
}

/** digits of a double that every database prints as they are */
const exactDigits = 15;

/** True if every database prints the plain number as a double with all its digits and without an exponent. */
function hasNoExponent(source: Uint8Array, start: number, end: number): boolean {
  let digits = 0;
  let zeros = 0;
  for (let i = start; i < end; i += 1) {
    if (source[i] === 48 && digits === zeros) zeros += 1;
    if (source[i]! >= 48) digits += 1;
  }
  return digits <= exactDigits && (zeros <= 3 || zeros === digits);
}
