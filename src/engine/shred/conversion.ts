/**
 * Converts the lexical form in the document to the form of the column's type, byte for byte if possible. Value spaces: XSD 1.0 Part 2. No
 * value is converted to a floating-point number.
 */
import type { Column, ColumnType } from '../model/relational-model.ts';
import { isCollapsed } from '../model/white-space.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import {
  isRestoredByMinutes,
  readDateTimeValue,
  readDateValue,
  readTimeValue,
  type CalendarValue,
} from './calendar.ts';
import { type RowEncoder, takesListsApart, type EncodingName } from './row-output.ts';
import { isNumber } from './json-line-members.ts';

/**
 * FITS: the column holds the whole value. INEXACT: it does, but not the value's form; keep the text in `_lexical` too. EMPTY: an empty
 * value of a type that has none. UNCONVERTED: the column cannot hold the value.
 */
export const FITS = 0;
export const INEXACT = 1;
export const EMPTY = 2;
export const UNCONVERTED = 3;

/** Converts bytes [start, end) and pushes the encoded field to `out`; on EMPTY and UNCONVERTED nothing has been pushed. */
export type ValueConversion = (source: Uint8Array, start: number, end: number, out: ByteBuffer) => number;

/** `scalesDecimals`: see the settings of a walk; `keepsOffset`: the offset of a value is written to the next column */
export function conversionFor(
  column: Column,
  encoder: RowEncoder,
  scalesDecimals = false,
  keepsOffset = false,
): ValueConversion {
  const { type } = column;
  if (type.list) return listConversion(column, encoder, scalesDecimals);
  if (type.kind !== 'text') {
    const scalar = scalarConversion(column, encoder, keepsOffset);
    const { keepsForm = false } = column;
    return (source, start, end, out) => {
      const from = skipSpace(source, start, end);
      const to = trimSpace(source, from, end);
      if (from === to) return EMPTY;
      const before = out.length;
      const result = scalar(source, from, to, out);
      if (result === UNCONVERTED) out.length = before;
      if (result !== FITS || !keepsForm) return result;
      const isAlike =
        from === start && to === end && isPrintedAlike(column, source, start, end, scalesDecimals);
      return isAlike ? FITS : INEXACT;
    };
  }
  const collapse = isCollapsed(column);
  const limit = type.length ?? Infinity;
  const least = type.fixed === true ? limit : 0;
  const push: ValueConversion = (source, start, end, out) => {
    if (end - start > limit && characters(source, start, end) > limit) return UNCONVERTED;
    if (least > 0 && (characters(source, start, end) < least || source[end - 1] === 32))
      return start === end ? EMPTY : UNCONVERTED;
    encoder.pushText(out, source, start, end);
    return FITS;
  };
  return (source, start, end, out) => {
    if (!collapse || !needsCollapse(source, start, end)) return push(source, start, end, out);
    const value = collapseSpace(source, start, end);
    return push(value, 0, value.length, out);
  };
}

/** Conversions of one atomic value without surrounding white space, never empty. */
function scalarConversion(column: Column, encoder: RowEncoder, keepsOffset = false): ValueConversion {
  const { type } = column;
  switch (type.kind) {
    case 'boolean':
      return (source, start, end, out) => {
        const value = readBoolean(source, start, end);
        if (value === null) return UNCONVERTED;
        out.pushAscii(value ? encoder.trueText : encoder.falseText);
        return FITS;
      };
    case 'smallint':
    case 'integer':
    case 'bigint': {
      const conversion = integerConversion(lowest[type.kind]);
      return takesFractions(column) ? wholeDecimalConversion(conversion) : conversion;
    }
    case 'numeric': {
      const conversion = decimalConversion(type.precision, type.scale);
      return mayHaveExponent(column) ? scientificConversion(conversion) : conversion;
    }
    case 'real':
      return floatConversion(3.4028235677973366e38);
    case 'double':
      return floatConversion(Infinity);
    case 'date':
      return calendarConversion(readDateValue, 'never');
    case 'time':
      return calendarConversion(readTimeValue, 'never');
    case 'timestamp':
      return calendarConversion(readDateTimeValue, 'never');
    case 'timestamptz':
      return calendarConversion(
        readDateTimeValue,
        keepsOffset ? 'offset' : 'utc',
        column.writtenAs?.fraction,
      );
    case 'text':
      return (source, start, end, out) => {
        out.push(source, start, end);
        return FITS;
      };
  }
}

function takesFractions({ sourceType }: Column): boolean {
  return sourceType === 'decimal' || sourceType === 'double' || sourceType === 'float';
}

/**
 * True if a decimal column may have values with an exponent: a union of decimals and floats, or floats that patterns restrict to
 * decimals.
 */
function mayHaveExponent({ sourceType }: Column): boolean {
  return sourceType === 'anySimpleType' || sourceType === 'double' || sourceType === 'float';
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13;
}

function skipSpace(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(source[at])) at += 1;
  return at;
}

function trimSpace(source: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(source[at - 1])) at -= 1;
  return at;
}

function needsCollapse(source: Uint8Array, start: number, end: number): boolean {
  let before = true;
  for (let i = start; i < end; i += 1) {
    const byte = source[i];
    const space = isSpace(byte);
    if (space && (before || byte !== 32)) return true;
    before = space;
  }
  return before && end > start;
}

function collapseSpace(source: Uint8Array, start: number, end: number): Uint8Array {
  const result = new Uint8Array(end - start);
  let length = 0;
  for (let i = start; i < end; i += 1) {
    if (!isSpace(source[i])) result[length++] = source[i]!;
    else if (length > 0 && result[length - 1] !== 32) result[length++] = 32;
  }
  return result.subarray(0, length > 0 && result[length - 1] === 32 ? length - 1 : length);
}

/** Characters, not bytes, of UTF-8 text: continuation bytes do not count. */
function characters(source: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let i = start; i < end; i += 1) if ((source[i]! & 0xc0) !== 0x80) count += 1;
  return count;
}

function readBoolean(source: Uint8Array, start: number, end: number): boolean | null {
  const size = end - start;
  if (size === 1) return source[start] === 49 ? true : source[start] === 48 ? false : null;
  if (size === 4 && asciiEquals(source, start, 'true')) return true;
  return size === 5 && asciiEquals(source, start, 'false') ? false : null;
}

function asciiEquals(source: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (source[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** magnitude of the lowest value */
const lowest = { smallint: '32768', integer: '2147483648', bigint: '9223372036854775808' } as const;

/** Decimals without fraction digits: 5.00 is one, and 5. too. */
function wholeDecimalConversion(convert: ValueConversion): ValueConversion {
  return (source, start, end, out) => {
    let point = end;
    while (point > start && source[point - 1] === 48) point -= 1;
    if (point === start || source[point - 1] !== 46) return convert(source, start, end, out);
    point -= 1;
    const isZero = point === start || (point === start + 1 && (source[start] === 43 || source[start] === 45));
    if (!isZero) return convert(source, start, point, out);
    if (point + 1 === end) return UNCONVERTED;
    out.pushByte(48);
    return FITS;
  };
}

/** `limit` is the magnitude of the lowest value, in digits; the highest is one less. */
function integerConversion(limit: string): ValueConversion {
  return (source, start, end, out) => {
    const sign = source[start];
    const signed = sign === 43 || sign === 45;
    let first = signed ? start + 1 : start;
    if (first === end) return UNCONVERTED;
    for (let i = first; i < end; i += 1) if (source[i]! < 48 || source[i]! > 57) return UNCONVERTED;
    while (first < end - 1 && source[first] === 48) first += 1;
    const digits = end - first;
    if (digits > limit.length) return UNCONVERTED;
    if (digits === limit.length) {
      let order = 0;
      for (let i = 0; i < digits && order === 0; i += 1) order = source[first + i]! - limit.charCodeAt(i);
      if (order > 0 || (order === 0 && sign !== 45)) return UNCONVERTED;
    }
    if (sign === 45) out.pushByte(45);
    out.push(source, first, end);
    return FITS;
  };
}

/** `[+-]? digits ('.' digits?)?` or `'.' digits`; equal values have equal precision once zeros at the ends are dropped. */
function decimalConversion(precision: number | undefined, scale: number | undefined): ValueConversion {
  return (source, start, end, out) => {
    const first = source[start] === 43 || source[start] === 45 ? start + 1 : start;
    let point = -1;
    let lastNonZeroFraction = -1;
    let firstNonZero = -1;
    let digits = 0;
    for (let i = first; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === 46 && point < 0) point = i;
      else if (byte >= 48 && byte <= 57) {
        digits += 1;
        if (byte !== 48) {
          if (firstNonZero < 0) firstNonZero = i;
          if (point >= 0) lastNonZeroFraction = i;
        }
      } else return UNCONVERTED;
    }
    if (digits === 0) return UNCONVERTED;
    const pointAt = point < 0 ? end : point;
    const whole = firstNonZero >= 0 && firstNonZero < pointAt ? pointAt - firstNonZero : 0;
    const fraction = lastNonZeroFraction < 0 ? 0 : lastNonZeroFraction - pointAt;
    if (precision !== undefined) {
      if (fraction > (scale ?? 0) || whole > precision - (scale ?? 0)) return UNCONVERTED;
    } else if (whole > 131_072 || fraction > 16_383) return UNCONVERTED;
    out.push(source, source[start] === 43 ? first : start, end);
    return FITS;
  };
}

/** digits that an exponent may add */
const maxAddedDigits = 400;

/** Writes numbers with an exponent without it. Their form is kept beside the row. */
function scientificConversion(convert: ValueConversion): ValueConversion {
  return (source, start, end, out) => {
    const before = out.length;
    const result = convert(source, start, end, out);
    if (result !== UNCONVERTED || end - start > 1000) return result;
    out.length = before;
    const text = String.fromCharCode(...source.subarray(start, end));
    const parts = /^([+-]?)(\d*)\.?(\d*)[eE]([+-]?\d{1,4})$/.exec(text);
    const [, sign = '', whole = '', fraction = '', power = ''] = parts ?? [];
    const exponent = Number(power);
    if (whole + fraction === '' || Math.abs(exponent) > maxAddedDigits) return UNCONVERTED;
    const zeros = '0'.repeat(Math.abs(exponent));
    const digits = exponent < 0 ? zeros + whole + fraction : whole + fraction + zeros;
    const point = exponent < 0 ? whole.length : whole.length + exponent;
    const integer = digits.slice(0, point).replace(/^0+/, '') || '0';
    const plain = `${sign}${integer}.${digits.slice(point) || '0'}`;
    const bytes = Uint8Array.from(plain, (character) => character.charCodeAt(0));
    return convert(bytes, 0, bytes.length, out) === UNCONVERTED ? UNCONVERTED : INEXACT;
  };
}

/** float and double: the lexical form goes to the database, which rounds as IEEE 754 says; only range and form are checked here. */
function floatConversion(largest: number): ValueConversion {
  return (source, start, end, out) => {
    let text = '';
    for (let i = start; i < end; i += 1) text += String.fromCharCode(source[i]!);
    if (text === 'NaN') out.pushAscii('NaN');
    else if (text === 'INF' || text === '+INF') out.pushAscii('Infinity');
    else if (text === '-INF') out.pushAscii('-Infinity');
    else {
      if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return UNCONVERTED;
      const magnitude = Math.abs(Number(text));
      const isZero = !/[1-9]/.test(text.replace(/[eE].*$/, ''));
      const smallest = largest === Infinity ? 2.2250738585072014e-308 : 1.1754943508222875e-38;
      if (magnitude > largest || magnitude === Infinity || (!isZero && magnitude < smallest))
        return UNCONVERTED;
      out.push(source, start, end);
    }
    return FITS;
  };
}

/** microseconds */
const columnFractionDigits = 6;

/**
 * `keeps`: the zones with which values of the column are printed, including that of its offset. Other zones, and forms that a database
 * prints differently, are INEXACT. `leastFraction`: digits of a second that are written back.
 */
function calendarConversion(
  read: (source: Uint8Array, start: number, end: number) => CalendarValue | null,
  keeps: 'never' | 'utc' | 'offset',
  leastFraction = 0,
): ValueConversion {
  return (source, start, end, out) => {
    const value = read(source, start, end);
    if (value === null) return UNCONVERTED;
    // truncated, because rounding might lead to another day, or beyond the last year of databases
    out.push(source, start, value.zoneStart - Math.max(0, value.fractionDigits - columnFractionDigits));
    // a column without a zone has the local value; the zone is kept beside the row
    if (keeps !== 'never') out.push(source, value.zoneStart, end);
    if (keeps !== 'never' && value.zone === 'none') out.pushByte(90);
    const zoneKept =
      value.zone === (keeps === 'never' ? 'none' : 'utc') ||
      (keeps === 'offset' &&
        value.zone === 'offset' &&
        givesBackSecond(value, leastFraction) &&
        isRestoredByMinutes(source, start, value.zoneStart));
    return zoneKept && value.fractionDigits <= columnFractionDigits && !value.endOfDay ? FITS : INEXACT;
  };
}

/** An array literal, `{1,2}` or `{"a b","c"}` (PostgreSQL manual §8.15.2), then escaped as text. */
function listConversion(column: Column, encoder: RowEncoder, scalesDecimals: boolean): ValueConversion {
  const isText = column.type.kind === 'text';
  const limit = column.type.length ?? Infinity;
  const ofItems = { ...column, type: { ...column.type, list: false } };
  const item = scalarConversion(ofItems, { ...encoder, trueText: 't', falseText: 'f' });
  const { keepsForm = false } = column;
  return (source, start, end, out) => {
    const literal: number[] = [123];
    let inexact = false;
    for (let at = skipSpace(source, start, end); at < end; at = skipSpace(source, at, end)) {
      let itemEnd = at;
      while (itemEnd < end && !isSpace(source[itemEnd])) itemEnd += 1;
      if (itemEnd - at > limit && characters(source, at, itemEnd) > limit) return UNCONVERTED;
      if (literal.length > 1) literal.push(44);
      if (isText) {
        literal.push(34);
        for (let i = at; i < itemEnd; i += 1) {
          if (source[i] === 34 || source[i] === 92) literal.push(92);
          literal.push(source[i]!);
        }
        literal.push(34);
      } else {
        const before = out.length;
        const result = item(source, at, itemEnd, out);
        for (let i = before; i < out.length; i += 1) literal.push(out.bytes[i]!);
        out.length = before;
        if (result === UNCONVERTED) return UNCONVERTED;
        if (result === INEXACT) inexact = true;
        else if (keepsForm && !isPrintedAlike(ofItems, source, at, itemEnd, scalesDecimals)) inexact = true;
      }
      at = itemEnd;
    }
    literal.push(125);
    const bytes = Uint8Array.from(literal);
    encoder.pushText(out, bytes, 0, bytes.length);
    return inexact ? INEXACT : FITS;
  };
}

// Tests if a column reproduces a value in the form it was written in. Based on how targets print numbers, flags and times, and on how
// that output is converted.

/**
 * The value must have no surrounding white space and fit the column's type; `scalesDecimals`: decimals without a scale are printed
 * without trailing zeros.
 */
function isPrintedAlike(
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
function givesBackSecond(value: CalendarValue | null, least: number): boolean {
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

// Texts that a column's type cannot hold but that look like the encoded form of one of its values: a reader of the rows would take `t`
// for true and `{a,b}` for a list of two.

const [openBrace, closeBrace, quote, backslash] = [0x7b, 0x7d, 0x22, 0x5c];

function isInBraces(text: Uint8Array): boolean {
  return text.length >= 2 && text[0] === openBrace && text.at(-1) === closeBrace;
}

/**
 * Returns the content of the cell for a text that does not fit: if the text would be read as a list, a list with the text as its only
 * item; otherwise the text.
 */
export function cellOfMisfit(text: Uint8Array, type: ColumnType, encoding: EncodingName): Uint8Array {
  if (type.list !== true || !takesListsApart(encoding) || !isInBraces(text)) return text;
  const literal = [openBrace, quote];
  for (const byte of text) {
    if (byte === quote || byte === backslash) literal.push(backslash);
    literal.push(byte);
  }
  return Uint8Array.of(...literal, quote, closeBrace);
}

/** A number of XML Schema, and one that JSON has in the same form. */
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const numberOfJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** True if the text must be kept beside the row, because in some encoding the row does not distinguish it from a value of the type. */
export function isMistakable(text: string, { kind, list }: ColumnType): boolean {
  if (list === true) return text.startsWith('{') && text.endsWith('}');
  if (isNumber(kind) && number.test(text) && !numberOfJson.test(text)) return true;
  switch (kind) {
    case 'boolean':
      return text === 't' || text === 'f';
    case 'real':
    case 'double':
      return text === 'Infinity' || text === '-Infinity';
    default:
      return false;
  }
}
