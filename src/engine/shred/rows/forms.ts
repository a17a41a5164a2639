/** The layouts of the values of a row: with a separator between them, or as the members of a line of JSON. */
import { ByteBuffer } from './byte-buffer.ts';
import {
  copyTextEncoder,
  isJsonEncoding,
  rowEncoderFor,
  type EncodingName,
  type RowEncoder,
} from './encoding.ts';
import {
  isNumber,
  jsonMembers,
  pushJsonValue,
  type JsonMember,
  type NamedType,
} from '../json-lines/members.ts';

const QUOTE = 34;
const LF = 10;

/** Writes rows value by value, for one table, or for all tables if their rows look alike. `column` is the next one, from 0. */
export interface RowForm {
  /** Writes the bytes before a value. The caller may push the value's digits after them. */
  begin(out: ByteBuffer, column: number): void;
  /** A value that is encoded: [start, end) of `source`. */
  value(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void;
  /** Character data as it is. */
  text(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void;
  /** Text in which no encoding escapes anything, or digits. */
  ascii(out: ByteBuffer, column: number, text: string): void;
  /** Writes NULL. */
  nothing(out: ByteBuffer, column: number): void;
  end(out: ByteBuffer): void;
}

/** `columns`: all of the table. */
export function rowFormFor(encoding: EncodingName, columns: readonly NamedType[]): RowForm {
  return isJsonEncoding(encoding) ? new JsonLine(columns) : new SeparatedValues(rowEncoderFor(encoding));
}

class SeparatedValues implements RowForm {
  readonly #encoder: RowEncoder;
  readonly #separator: number;

  constructor(encoder: RowEncoder) {
    this.#encoder = encoder;
    this.#separator = encoder.separator;
  }

  begin(out: ByteBuffer, column: number): void {
    if (column > 0) out.pushByte(this.#separator);
  }

  value(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void {
    if (column > 0) out.pushByte(this.#separator);
    out.push(source, start, end);
  }

  text(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void {
    this.begin(out, column);
    this.#encoder.pushText(out, source, start, end);
  }

  ascii(out: ByteBuffer, column: number, text: string): void {
    this.begin(out, column);
    out.pushAscii(text);
  }

  nothing(out: ByteBuffer, column: number): void {
    this.begin(out, column);
    this.#encoder.pushNull(out);
  }

  end(out: ByteBuffer): void {
    out.pushByte(LF);
  }
}

class JsonLine implements RowForm {
  readonly #columns: readonly NamedType[];
  readonly #members: readonly JsonMember[];
  readonly #copied = new ByteBuffer();

  constructor(columns: readonly NamedType[]) {
    this.#columns = columns;
    this.#members = jsonMembers(columns);
  }

  begin(out: ByteBuffer, column: number): void {
    const { prefix } = this.#members[column]!;
    out.push(prefix, 0, prefix.length);
  }

  value(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void {
    this.begin(out, column);
    pushJsonValue(out, this.#members[column]!, source, start, end);
  }

  text(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void {
    const copied = this.#copied;
    copyTextEncoder.pushText(copied, source, start, end);
    this.value(out, column, copied.bytes, 0, copied.length);
    copied.clear();
  }

  ascii(out: ByteBuffer, column: number, text: string): void {
    this.begin(out, column);
    const isQuoted = !isNumber(this.#columns[column]!.type.kind);
    if (isQuoted) out.pushByte(QUOTE);
    out.pushAscii(text);
    if (isQuoted) out.pushByte(QUOTE);
  }

  nothing(out: ByteBuffer, column: number): void {
    this.begin(out, column);
    out.pushAscii('null');
  }

  end(out: ByteBuffer): void {
    out.pushAscii('}\n');
  }
}
