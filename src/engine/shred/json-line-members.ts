/**
 * Writes values of rows as members of JSON Lines. It converts values in COPY text, whose escapes are also valid in JSON. Numbers keep
 * every digit (RFC 8259 §6 sets no limit) and lists are arrays. A value that its column's type cannot hold is a string.
 */
import type { ColumnType } from '../model/relational-model.ts';
import type { ByteBuffer } from './byte-buffer.ts';

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const BACKSLASH = 92;

/** the most bytes that one byte of a value becomes */
const maxBytesOfByte = 6;
/** the writer reserves the maximum encoded size for values up to this length, in bytes */
const shortValueBytes = 16 * 1024;

/** Writes the value [start, end) of `source` at `at` in `target`, which has enough room. Returns the end of the output. */
type ValueWriter = (source: Uint8Array, start: number, end: number, target: Uint8Array, at: number) => number;

export interface JsonMember {
  /** `{"name":` or `,"name":` */
  readonly prefix: Uint8Array;
  readonly write: ValueWriter;
}

export interface NamedType {
  readonly name: string;
  readonly type: ColumnType;
}

/** A name as a member's, in quotes. Readers of paths end a name at the first quote, also at one that is escaped by a backslash. */
export function memberName(name: string): string {
  return JSON.stringify(name).replaceAll(/\\(.)/g, (escape, character) =>
    character === '"' ? '\\u0022' : escape,
  );
}

const utf8 = new TextEncoder();
const plainName = /^\w+$/;

/** Returns the bytes before a value: the separator and the member's name. `isFirst`: the value is the first of its row. */
export function memberPrefix(name: string, isFirst: boolean): Uint8Array {
  const begin = isFirst ? '{' : ',';
  return utf8.encode(plainName.test(name) ? `${begin}"${name}":` : `${begin}${memberName(name)}:`);
}

/** The members of a row, in the order of its columns. */
export function jsonMembers(columns: readonly NamedType[]): readonly JsonMember[] {
  return columns.map(({ name, type }, at) => ({
    prefix: memberPrefix(name, at === 0),
    write: type.list === true ? listWriter(type.kind) : scalarWriter(type.kind),
  }));
}

/** The value [start, end) of `source`, in COPY text. */
export function pushJsonValue(
  out: ByteBuffer,
  { write }: JsonMember,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  out.ensure(jsonRoom(source, start, end));
  out.length = write(source, start, end, out.bytes, out.length);
}

/** Returns the most bytes that a value needs. For long values, counts the characters to escape, or to complete in lists of numbers. */
export function jsonRoom(source: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length <= shortValueBytes) return length * maxBytesOfByte + 3;
  let others = 0;
  for (let i = start; i < end; i += 1) {
    const byte = source[i]!;
    if (byte < 32 || byte === QUOTE || byte === COMMA) others += 1;
  }
  return length + others * (maxBytesOfByte - 1) + 3;
}

function writeAscii(text: string, target: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i += 1) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** True if values of the kind can be JSON numbers. */
export function isNumber(kind: ColumnType['kind']): boolean {
  switch (kind) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return true;
    default:
      return false;
  }
}

function scalarWriter(kind: ColumnType['kind']): ValueWriter {
  if (kind === 'boolean') return writeBoolean;
  return isNumber(kind) ? writeNumber : writeString;
}

/** The escapes of COPY (`\\`, `\t`, `\n`, `\r`) mean the same in JSON. */
const writeString: ValueWriter = (source, start, end, target, from) => {
  let at = from;
  target[at++] = QUOTE;
  for (let i = start; i < end; i += 1) {
    const byte = source[i]!;
    if (byte >= 32 && byte !== QUOTE) target[at++] = byte;
    else at = writeEscaped(byte, target, at);
  }
  target[at++] = QUOTE;
  return at;
};

/** A quote, or one of the control characters that XML 1.1 has. */
function writeEscaped(byte: number, target: Uint8Array, at: number): number {
  return byte === QUOTE
    ? writeAscii('\\"', target, at)
    : writeAscii(`\\u${byte.toString(16).padStart(4, '0')}`, target, at);
}

const writeBoolean: ValueWriter = (source, start, end, target, at) => {
  const isTrue = source[start] === 116;
  if (end - start !== 1 || (!isTrue && source[start] !== 102))
    return writeString(source, start, end, target, at);
  return writeAscii(isTrue ? 'true' : 'false', target, at);
};

/** A number of XML Schema in JSON's form: no plus sign, no needless zeros before it, digits on both sides of the point. */
const writeNumber: ValueWriter = (source, start, end, target, from) => {
  const isNegative = source[start] === MINUS;
  let whole = isNegative || source[start] === PLUS ? start + 1 : start;
  const wholeEnd = skipDigits(source, whole, end);
  const fractionEnd =
    wholeEnd < end && source[wholeEnd] === POINT ? skipDigits(source, wholeEnd + 1, end) : wholeEnd;
  const hasFraction = fractionEnd > wholeEnd + 1;
  const exponentEnd = skipExponent(source, fractionEnd, end);
  if (exponentEnd !== end || (whole === wholeEnd && !hasFraction))
    return writeString(source, start, end, target, from);
  let at = from;
  if (isNegative) target[at++] = MINUS;
  while (whole < wholeEnd - 1 && source[whole] === ZERO) whole += 1;
  if (whole === wholeEnd) target[at++] = ZERO;
  for (let i = whole; i < (hasFraction ? fractionEnd : wholeEnd); i += 1) target[at++] = source[i]!;
  for (let i = fractionEnd; i < end; i += 1) target[at++] = source[i]!;
  return at;
};

function skipDigits(source: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && source[at]! >= ZERO && source[at]! <= 57) at += 1;
  return at;
}

/** Returns the position after `E`, sign and digits, or `from` if one of them is missing. */
function skipExponent(source: Uint8Array, from: number, end: number): number {
  if (from === end || (source[from]! | 32) !== 101) return from;
  const digits = source[from + 1] === PLUS || source[from + 1] === MINUS ? from + 2 : from + 1;
  const past = skipDigits(source, digits, end);
  return past > digits ? past : from;
}

/**
 * Returns the writer of array literals, `{1,2}` or `{"a b","c"}` (src/engine/shred/conversion.ts), whose backslashes COPY has
 * doubled.
 */
function listWriter(kind: ColumnType['kind']): ValueWriter {
  const plain = plainItems(scalarWriter(kind));
  return (source, start, end, target, from) => {
    const isList = end - start >= 2 && source[start] === 123 && source[end - 1] === 125;
    if (!isList) return writeString(source, start, end, target, from);
    const items = source[start + 1] === QUOTE ? writeQuotedItems : plain;
    target[from] = 91;
    const at = items(source, start + 1, end - 1, target, from + 1);
    target[at] = 93;
    return at + 1;
  };
}

function plainItems(write: ValueWriter): ValueWriter {
  return (source, start, end, target, from) => {
    let at = from;
    for (let i = start; i < end;) {
      let itemEnd = i;
      while (itemEnd < end && source[itemEnd] !== COMMA) itemEnd += 1;
      if (i > start) target[at++] = COMMA;
      at = write(source, i, itemEnd, target, at);
      i = itemEnd + 1;
    }
    return at;
  };
}

/** Writes quoted items. Quotes and the commas between items are already JSON; `\\\\` is a backslash and `\\"` a quote. */
const writeQuotedItems: ValueWriter = (source, start, end, target, from) => {
  let at = from;
  for (let i = start; i < end; i += 1) {
    const byte = source[i]!;
    if (byte !== BACKSLASH) {
      if (byte >= 32) target[at++] = byte;
      else at = writeEscaped(byte, target, at);
      continue;
    }
    const isQuote = source[i + 2] === QUOTE;
    target[at++] = BACKSLASH;
    target[at++] = isQuote ? QUOTE : BACKSLASH;
    i += isQuote ? 2 : 3;
  }
  return at;
};
