/** Encoded rows on their way out: one buffer per table, handed over when full. */
import { sideTableDefinitions } from '../model/side-tables.ts';
import { ByteBuffer } from './byte-buffer.ts';
import {
  isNumber,
  jsonMembers,
  pushJsonValue,
  type JsonMember,
  type NamedType,
} from './json-line-members.ts';

export interface RowChunk {
  /** index of a table of the model, or the name of a side table */
  readonly table: number | 'documents' | 'unmapped' | 'lexical';
  readonly bytes: Uint8Array;
  readonly rowCount: number;
}

/** The facts about a document in `_documents`, except its key and its name. */
export interface DocumentFacts {
  /** hex; null: not recorded */
  readonly sha256: string | null;
  readonly bytes: number;
  /** ISO 8601 */
  readonly loadedAt: string;
}

/** The job that a document is loaded by. */
export interface JobIdentity {
  readonly idJob: number;
  readonly jobUuid: string;
}

type SideName = Exclude<RowChunk['table'], number>;

interface SideRows {
  readonly form: RowForm;
  readonly buffer: ByteBuffer;
  rows: number;
}

const fullAt = 128 * 1024;
/** most bytes of all buffers of a model with thousands of tables */
const allBuffersBytes = 24 * 1024 * 1024;

/** most bytes of all buffers kept for reuse: a sink returns at once all the buffers that it gathered before a write */
const spareBytes = 8 * 1024 * 1024;

const utf8 = new TextEncoder();
/** characters of a text that is encoded in place: names, hashes and times are shorter */
const shortText = 1024;

export class RowOutput {
  /** full buffers, oldest first; the consumer empties it */
  readonly chunks: RowChunk[] = [];
  /** rows in all chunks so far, indexed by table */
  readonly rowCounts: Float64Array;
  readonly #encoding: EncodingName;
  readonly #buffers: (ByteBuffer | undefined)[] = [];
  /** bytes and rows in the buffer of each table */
  #lengths: Int32Array;
  #pendingRows: Int32Array;
  readonly #spare: ArrayBuffer[] = [];
  /** memory of the buffers that have been placed */
  #lent: readonly Uint8Array<ArrayBuffer>[] = [];
  readonly #sides = new Map<SideName, SideRows>();
  readonly #threshold: number;
  readonly #short = new Uint8Array(shortText * 3);

  constructor(tableCount: number, encoding: EncodingName) {
    this.rowCounts = new Float64Array(tableCount);
    this.#lengths = new Int32Array(tableCount);
    this.#pendingRows = new Int32Array(tableCount);
    this.#encoding = encoding;
    this.#threshold = Math.max(
      8 * 1024,
      Math.min(fullAt, Math.floor(allBuffersBytes / Math.max(1, tableCount))),
    );
  }

  /** The number of bytes at which a buffer is passed on, including room for most rows after that. */
  get bufferBytes(): number {
    return this.#threshold + Math.min(32 * 1024, this.#threshold >> 1);
  }

  /** Moves the tables' buffers, their lengths and their row counts to memory that the kernel also writes rows to. */
  moveTo(buffers: readonly Uint8Array<ArrayBuffer>[], lengths: Int32Array, pendingRows: Int32Array): void {
    this.#handAll();
    this.#lent = buffers;
    this.#lengths = lengths;
    this.#pendingRows = pendingRows;
    for (const [table, lent] of buffers.entries()) {
      const buffer = this.#buffers[table];
      if (buffer !== undefined) buffer.bytes = lent;
    }
  }

  /** The buffer that rows of `table` are appended to; `rowWritten` has to follow. */
  buffer(table: number): ByteBuffer {
    let buffer = this.#buffers[table];
    if (buffer === undefined) {
      buffer = new ByteBuffer(this.#lent.length > 0 ? 0 : 4096);
      if (this.#lent.length > 0) buffer.bytes = this.#lent[table]!;
      this.#buffers[table] = buffer;
    }
    buffer.length = this.#lengths[table]!;
    return buffer;
  }

  /** A row of `table` has been written to its buffer. */
  rowWritten(table: number): void {
    const { bytes, length } = this.#buffers[table]!;
    this.#lengths[table] = length;
    this.#pendingRows[table]! += 1;
    const outgrown = this.#lent.length > 0 && bytes !== this.#lent[table];
    if (length >= this.#threshold || outgrown) this.hand(table);
  }

  /** A row of `_documents`, of which there may be as many as rows of data. */
  document(
    key: number | string,
    name: string,
    { sha256, bytes, loadedAt }: DocumentFacts,
    { idJob, jobUuid }: JobIdentity,
  ): void {
    const entry = this.#side('documents');
    const { form, buffer } = entry;
    if (typeof key === 'string') form.ascii(buffer, 0, key);
    else this.#pushInteger(entry, 0, key);
    this.#pushText(entry, 1, name);
    if (sha256 === null) form.nothing(buffer, 2);
    else form.ascii(buffer, 2, sha256);
    this.#pushInteger(entry, 3, bytes);
    form.ascii(buffer, 4, loadedAt);
    this.#pushInteger(entry, 5, idJob);
    form.ascii(buffer, 6, jobUuid);
    this.#endSideRow('documents', entry);
  }

  /** Adds rows of `_documents` that the kernel has written: `length` bytes. */
  documents(rows: Uint8Array, length: number, count: number): void {
    const entry = this.#side('documents');
    entry.buffer.push(rows, 0, length);
    entry.rows += count;
    if (entry.buffer.length >= fullAt) this.#handSide('documents');
  }

  /** A row of a side table: text, whole numbers, or NULL. */
  side(table: SideName, values: readonly (string | number | Uint8Array | null)[]): void {
    const entry = this.#side(table);
    const { form, buffer } = entry;
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] ?? null;
      if (value === null) form.nothing(buffer, index);
      else if (typeof value === 'number') this.#pushInteger(entry, index, value);
      else if (typeof value === 'string') this.#pushText(entry, index, value);
      else form.text(buffer, index, value, 0, value.length);
    }
    this.#endSideRow(table, entry);
  }

  #side(table: SideName): SideRows {
    let entry = this.#sides.get(table);
    if (entry === undefined) {
      const form = rowFormFor(this.#encoding, sideTableDefinitions[table].columns);
      this.#sides.set(table, (entry = { form, buffer: new ByteBuffer(4096), rows: 0 }));
    }
    return entry;
  }

  #pushInteger({ form, buffer }: SideRows, column: number, value: number): void {
    form.begin(buffer, column);
    buffer.pushInteger(value);
  }

  #pushText({ form, buffer }: SideRows, column: number, text: string): void {
    if (text.length <= shortText) {
      form.text(buffer, column, this.#short, 0, utf8.encodeInto(text, this.#short).written);
      return;
    }
    const bytes = utf8.encode(text);
    form.text(buffer, column, bytes, 0, bytes.length);
  }

  #endSideRow(table: SideName, entry: SideRows): void {
    entry.form.end(entry.buffer);
    entry.rows += 1;
    if (entry.buffer.length >= fullAt) this.#handSide(table);
  }

  /** Hands over everything, full or not. */
  flush(): void {
    this.#handAll();
    for (const [table, { buffer }] of this.#sides) if (buffer.length > 0) this.#handSide(table);
  }

  #handAll(): void {
    for (let table = 0; table < this.#lengths.length; table += 1)
      if (this.#lengths[table]! > 0) this.hand(table);
  }

  /** Passes on the content of a table's buffer. */
  hand(table: number): void {
    const buffer = this.buffer(table);
    const rowCount = this.#pendingRows[table]!;
    const lent = this.#lent[table];
    if (lent === undefined) this.chunks.push({ table, bytes: buffer.take(), rowCount });
    else {
      const { bytes, length } = buffer;
      this.chunks.push({
        table,
        bytes: bytes === lent ? this.#copy(bytes, length) : buffer.take(),
        rowCount,
      });
      buffer.bytes = lent;
    }
    this.#lengths[table] = 0;
    this.#pendingRows[table] = 0;
    this.rowCounts[table]! += rowCount;
  }

  /** Reuses the buffer of a chunk that the consumer no longer needs. */
  recycle(bytes: Uint8Array): void {
    const { bufferBytes } = this;
    if (bytes.buffer.byteLength === bufferBytes && (this.#spare.length + 1) * bufferBytes <= spareBytes)
      this.#spare.push(bytes.buffer as ArrayBuffer);
  }

  #copy(bytes: Uint8Array, length: number): Uint8Array {
    // a separate buffer, because it may be transferred to another thread; a table with few rows gets one of their length
    const isFew = length < this.bufferBytes >> 1;
    const spare = isFew ? undefined : this.#spare.pop();
    const copy = new Uint8Array(spare ?? new ArrayBuffer(isFew ? length : this.bufferBytes), 0, length);
    copy.set(bytes.subarray(0, length));
    return copy;
  }

  #handSide(table: SideName): void {
    const entry = this.#sides.get(table)!;
    this.chunks.push({ table, bytes: entry.buffer.take(), rowCount: entry.rows });
    entry.rows = 0;
  }
}

// Encodes values as bytes: PostgreSQL COPY text format (also `-f tsv`), and RFC 4180 CSV.

const TAB = 9;
const LF = 10;
const CR = 13;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

export interface RowEncoder {
  readonly separator: number;
  /** written for NULL */
  pushNull(out: ByteBuffer): void;
  /** character data, escaped; never confused with NULL */
  pushText(out: ByteBuffer, source: Uint8Array, start: number, end: number): void;
  readonly trueText: string;
  readonly falseText: string;
  /** byte that is written before and after a text that contains one; null: texts have no quotes */
  readonly quote: number | null;
}

/** PostgreSQL manual, COPY, "Text Format": backslash escapes, `\N` for NULL. */
export const copyTextEncoder: RowEncoder = {
  separator: TAB,
  trueText: 't',
  falseText: 'f',
  quote: null,
  pushNull(out) {
    out.pushByte(BACKSLASH);
    out.pushByte(78);
  },
  pushText(out, source, start, end) {
    out.ensure((end - start) * 2);
    const { bytes } = out;
    let at = out.length;
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === BACKSLASH || byte === TAB || byte === LF || byte === CR) {
        bytes[at++] = BACKSLASH;
        bytes[at++] = byte === BACKSLASH ? BACKSLASH : byte === TAB ? 116 : byte === LF ? 110 : 114;
      } else bytes[at++] = byte;
    }
    out.length = at;
  },
};

/** COPY text with booleans as words, as in XML Schema, so that they have the same form in a column that became text. */
const wordsEncoder: RowEncoder = { ...copyTextEncoder, trueText: 'true', falseText: 'false' };

/** RFC 4180 with LF line ends: NULL is an empty field, the empty string is `""`. */
export const csvEncoder: RowEncoder = {
  separator: COMMA,
  trueText: 'true',
  falseText: 'false',
  quote: QUOTE,
  pushNull() {},
  pushText(out, source, start, end) {
    let quoted = start === end;
    for (let i = start; i < end && !quoted; i += 1) {
      const byte = source[i]!;
      quoted = byte === COMMA || byte === QUOTE || byte === LF || byte === CR;
    }
    // `\.` alone on a line ends the data for PostgreSQL before 17
    if (!quoted && source[start] === BACKSLASH) quoted = true;
    if (!quoted) {
      out.push(source, start, end);
      return;
    }
    out.ensure((end - start) * 2 + 2);
    const { bytes } = out;
    let at = out.length;
    bytes[at++] = QUOTE;
    for (let i = start; i < end; i += 1) {
      const byte = source[i]!;
      if (byte === QUOTE) bytes[at++] = QUOTE;
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    out.length = at;
  },
};

/** The properties of the row encoding of a target. */
interface RowEncodingTraits {
  readonly values: RowEncoder;
  /** True if rows are lines of JSON, made of values in COPY text. False: values with separators between them. */
  readonly isJson: boolean;
  /** The target extracts the items of lists from array literals. */
  readonly takesListsApart: boolean;
}

/** The registry of encodings; each kernel declares for every one of them how it writes it. */
const encodings = {
  'copy-text': { values: copyTextEncoder, isJson: false, takesListsApart: false },
  csv: { values: csvEncoder, isJson: false, takesListsApart: false },
  tsv: { values: copyTextEncoder, isJson: false, takesListsApart: false },
  words: { values: wordsEncoder, isJson: false, takesListsApart: true },
  'json-lines': { values: copyTextEncoder, isJson: true, takesListsApart: true },
} as const satisfies Readonly<Record<string, RowEncodingTraits>>;

export type EncodingName = keyof typeof encodings;

export function rowEncoderFor(encoding: EncodingName): RowEncoder {
  return encodings[encoding].values;
}

export function isJsonEncoding(encoding: EncodingName): boolean {
  return encodings[encoding].isJson;
}

export function takesListsApart(encoding: EncodingName): boolean {
  return encodings[encoding].takesListsApart;
}

// The layouts of the values of a row: with a separator between them, or as the members of a line of JSON.

/** Writes rows value by value, for one table, or for all tables if their rows look alike. `column` is the next one, from 0. */
export interface RowForm {
  /** Writes the bytes before a value. The caller may push the value's digits after them. */
  begin(out: ByteBuffer, column: number): void;
  /** A value that is encoded: [start, end) of `source`. */
  value(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void;
  /** Writes character data unchanged. */
  text(out: ByteBuffer, column: number, source: Uint8Array, start: number, end: number): void;
  /** Writes ASCII text that no encoding needs to escape, such as digits. */
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
