/**
 * Rows as JSON Lines: made of rows in COPY text, whose escapes are JSON's own. Numbers keep every digit (RFC 8259 §6 sets no limit),
 * lists are arrays, NULL is null; a value that its column's type cannot hold is a string.
 */
import type { ColumnType } from '../../model/relational-model.ts';
import { SpareBuffers } from '../../spare-buffers.ts';
import { WRITE_BOOLEAN, WRITE_NUMBER, WRITE_TEXT, type LinesEncoder, type LinesKernel } from './kernel.ts';

const TAB = 9;
const LF = 10;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const BACKSLASH = 92;

/** Writes the field [start, end) of `source` at `at` in `target`, which has room for six bytes a byte; answers where it ends. */
type FieldWriter = (source: Uint8Array, start: number, end: number, target: Uint8Array, at: number) => number;

interface Member {
  /** `{"name":` or `,"name":` */
  readonly prefix: Uint8Array;
  readonly write: FieldWriter;
}

/** A name as a member's, in quotes. Readers of paths end a name at the first quote, also at one that is escaped by a backslash. */
export function memberName(name: string): string {
  return JSON.stringify(name).replaceAll(/\\(.)/g, (escape, character) =>
    character === '"' ? '\\u0022' : escape,
  );
}

interface LineColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/**
 * Takes whole rows in COPY text, `columns` in their order; answers the same rows as JSON Lines, in a buffer that is taken of `buffers`.
 * `kernel`: does it for tables without lists.
 */
export function createJsonLinesEncoder(
  columns: readonly LineColumn[],
  kernel: LinesKernel | null = null,
  buffers: SpareBuffers = new SpareBuffers(),
): LinesEncoder {
  const prefixes = columns.map(({ name }, index) =>
    new TextEncoder().encode(`${index === 0 ? '{' : ','}${memberName(name)}:`),
  );
  if (kernel !== null && columns.every(({ type }) => type.list !== true))
    return kernel.encoder(
      columns.map(({ type }, at) => ({ prefix: prefixes[at]!, write: kernelWriter(type.kind) })),
      buffers,
    );
  const members = columns.map(({ type }, at): Member => ({
    prefix: prefixes[at]!,
    write: type.list === true ? listWriter(type.kind) : scalarWriter(type.kind),
  }));
  let buffer = new Uint8Array(256 * 1024);
  return (rows) => {
    let target = buffer;
    let length = 0;
    for (let from = 0; from < rows.length;) {
      for (let column = 0; column < members.length; column += 1) {
        const { prefix, write } = members[column]!;
        let end = from;
        while (end < rows.length && rows[end] !== TAB && rows[end] !== LF) end += 1;
        const needed = length + prefix.length + (end - from) * 6 + 8;
        if (needed > target.length) target = grown(target, needed);
        for (let i = 0; i < prefix.length; i += 1) target[length++] = prefix[i]!;
        const isNull = end - from === 2 && rows[from] === BACKSLASH && rows[from + 1] === 78;
        length = isNull ? writeAscii('null', target, length) : write(rows, from, end, target, length);
        from = end + 1;
      }
      length = writeAscii('}\n', target, length);
    }
    buffer = target;
    const lines = buffers.take(length);
    lines.set(target.subarray(0, length));
    return lines;
  };
}

function grown(bytes: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(needed, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

function writeAscii(text: string, target: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i += 1) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function kernelWriter(kind: ColumnType['kind']): number {
  const write = scalarWriter(kind);
  return write === writeNumber ? WRITE_NUMBER : write === writeBoolean ? WRITE_BOOLEAN : WRITE_TEXT;
}

function scalarWriter(kind: ColumnType['kind']): FieldWriter {
  switch (kind) {
    case 'boolean':
      return writeBoolean;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return writeNumber;
    default:
      return writeString;
  }
}

/** The escapes of COPY (`\\`, `\t`, `\n`, `\r`) mean the same in JSON. */
const writeString: FieldWriter = (source, start, end, target, from) => {
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

const writeBoolean: FieldWriter = (source, start, end, target, at) => {
  const isTrue = source[start] === 116;
  if (end - start !== 1 || (!isTrue && source[start] !== 102))
    return writeString(source, start, end, target, at);
  return writeAscii(isTrue ? 'true' : 'false', target, at);
};

/** A number of XML Schema in JSON's form: no plus sign, no needless zeros before it, digits on both sides of the point. */
const writeNumber: FieldWriter = (source, start, end, target, from) => {
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

/** Past `E`, sign and digits; where one of them is missing, `from`. */
function skipExponent(source: Uint8Array, from: number, end: number): number {
  if (from === end || (source[from]! | 32) !== 101) return from;
  const digits = source[from + 1] === PLUS || source[from + 1] === MINUS ? from + 2 : from + 1;
  const past = skipDigits(source, digits, end);
  return past > digits ? past : from;
}

/** An array literal, `{1,2}` or `{"a b","c"}` (src/engine/shred/values/conversion.ts), whose backslashes COPY has doubled. */
function listWriter(kind: ColumnType['kind']): FieldWriter {
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

function plainItems(write: FieldWriter): FieldWriter {
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

/** Quotes and the commas between items are JSON's already; `\\\\` stands for a backslash, `\\"` for a quote. */
const writeQuotedItems: FieldWriter = (source, start, end, target, from) => {
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
