/** Splits records of CSV or TSV into rows in TypeScript, if there is no kernel or if using it is not worth it. */
import type { SpareBuffers } from '../spare-buffers.ts';
import type { RowBlock } from '../unshred/rows/document-rows.ts';
import { CR, LF, QUOTE, TAB } from '../xml/characters.ts';
import { FORM_PLAIN } from './kernel/layout.ts';

export const [COMMA, BACKSLASH] = [0x2c, 0x5c] as const;
const [LARGE_N, SMALL_N, SMALL_R, SMALL_T] = [0x4e, 0x6e, 0x72, 0x74];

/** The form of the records of a file. */
interface RecordForm {
  /** between the values; null: records are lines of JSON */
  readonly delimiter: number | null;
  /** values may be in quotes and then may have line breaks (RFC 4180 §2) */
  readonly isQuoted: boolean;
  /** the first record names the columns */
  readonly hasHeader: boolean;
}

/** The registry of record formats. */
export const recordForms = {
  csv: { delimiter: COMMA, isQuoted: true, hasHeader: true },
  tsv: { delimiter: TAB, isQuoted: false, hasHeader: true },
  jsonl: { delimiter: null, isQuoted: false, hasHeader: false },
} as const satisfies Readonly<Record<string, RecordForm>>;

export type RecordFormat = keyof typeof recordForms;

/** True if records are lines of JSON. */
export function isJsonFormat(format: RecordFormat): boolean {
  return recordForms[format].delimiter === null;
}

export interface RecordPlan {
  readonly format: RecordFormat;
  /** by field, for JSON Lines: the member's name, and the bytes before its value (`memberHead`) */
  readonly names: readonly string[];
  readonly heads: readonly Uint8Array[];
  /** by field: index of the column that it fills; -1: it is not needed */
  readonly columns: readonly number[];
  /** by field: FORM_… of src/engine/records/kernel/layout.ts */
  readonly forms: readonly number[];
  /** number of columns of a row */
  readonly width: number;
}

/** The complete records of a piece of a file. */
export interface SplitRecords {
  /** values without escapes and quotes */
  readonly block: RowBlock;
  /** offset in the piece of the first incomplete record */
  readonly end: number;
  /** the header among them */
  readonly count: number;
  /** description of the fault in the record after them; null: there is none */
  readonly fault: string | null;
  /** whether some values of a field may differ from their form in XSD, by field */
  readonly hasOthers: (field: number) => boolean;
}

/** The properties of a file of records that its line breaks alone show. */
export interface RecordSurvey {
  /** bytes of the longest record, including its end: a reader that knows it needs no larger buffer */
  readonly longest: number;
  /**
   * keys of the records, without the header, if each begins with a larger number than the previous one; null: they do not ascend, or
   * there are none
   */
  readonly keys: { readonly first: bigint; readonly last: bigint } | null;
}

export interface Piece {
  readonly bytes: Uint8Array;
  /** its first record names the columns */
  readonly hasHeader: boolean;
  /** number of rows that it may have, as far as known */
  readonly rows: number;
}

/** `buffers`: for the block's cells, and for its bytes if the piece is in one of them. */
export function splitInTypeScript(piece: Piece, plan: RecordPlan, buffers: SpareBuffers): SplitRecords {
  const records = new Records(piece, plan, buffers);
  if (piece.hasHeader) records.skipHeader();
  const fault = records.take();
  const { end, count } = records;
  const hasOthers = (field: number): boolean => plan.columns[field]! >= 0 && plan.forms[field] !== FORM_PLAIN;
  return { block: records.block(), end, count, fault, hasOthers };
}

/** Returns the message for a record with a different number of fields. */
export function otherFields(count: number): string {
  return `it has other than ${count} values`;
}

class Records {
  /** offset in the piece of the first incomplete record */
  end = 0;
  /** the header among them */
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #columns: readonly number[];
  readonly #width: number;
  readonly #isQuoted: boolean;
  readonly #delimiter: number;
  #cells: Int32Array;
  #rows = 0;
  /** values that differ from their form in the piece, concatenated */
  #added = new Uint8Array(0);
  #addedBytes = 0;

  constructor({ bytes, rows }: Piece, { format, columns, width }: RecordPlan, buffers: SpareBuffers) {
    this.#bytes = bytes;
    this.#columns = columns;
    this.#width = width;
    const { isQuoted, delimiter } = recordForms[format];
    this.#isQuoted = isQuoted;
    this.#delimiter = delimiter ?? TAB;
    this.#cells = buffers.takeInts(2 * width * rows).fill(-1);
  }

  skipHeader(): void {
    const before = this.#rows;
    if (this.#take(this.#columns.map(() => -1)) !== null) return;
    this.#rows = before;
  }

  /** Returns the fault of the record after those that were split. */
  take(): string | null {
    for (;;) {
      const fault = this.#take(this.#columns);
      if (fault === 'incomplete') return null;
      if (fault !== null) return fault;
    }
  }

  block(): RowBlock {
    const cells = this.#cells.subarray(0, this.#rows * this.#width * 2);
    if (this.#addedBytes === 0) return { bytes: this.#bytes, cells, rows: this.#rows };
    const bytes = new Uint8Array(this.#bytes.length + this.#addedBytes);
    bytes.set(this.#bytes);
    bytes.set(this.#added.subarray(0, this.#addedBytes), this.#bytes.length);
    return { bytes, cells, rows: this.#rows };
  }

  /** One record; null: it is a row now. */
  #take(columns: readonly number[]): string | null {
    const bytes = this.#bytes;
    const row = this.#rows * this.#width * 2;
    if (row + this.#width * 2 > this.#cells.length) this.#grow();
    const last = columns.length - 1;
    for (let field = 0, at = this.end; ; field += 1, at += 1) {
      const column = columns[field]!;
      const cell = column < 0 ? -1 : row + column * 2;
      const end = this.#isQuoted && bytes[at] === QUOTE ? this.#quoted(at, cell) : this.#plain(at, cell);
      if (end < 0) return 'incomplete';
      const isLast = bytes[end] === LF;
      if (isLast !== (field === last) || (!isLast && bytes[end] !== this.#delimiter))
        return otherFields(columns.length);
      at = end;
      if (!isLast) continue;
      this.end = end + 1;
      this.count += 1;
      this.#rows += 1;
      return null;
    }
  }

  /** Returns the end of the value that begins there, or -1 if it is not in this piece. */
  #plain(from: number, cell: number): number {
    const bytes = this.#bytes;
    const delimiter = this.#delimiter;
    let at = from;
    let isEscaped = false;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === delimiter || byte === LF) break;
      if (byte === BACKSLASH) isEscaped = true;
    }
    if (at === bytes.length) return -1;
    if (cell < 0) return at;
    if (isEscaped && !this.#isQuoted) return this.#escaped(from, at, cell);
    this.#cells[cell] = this.#isQuoted && at === from ? -1 : from;
    this.#cells[cell + 1] = at;
    return at;
  }

  /** A value with escapes of PostgreSQL's COPY text, or NULL. */
  #escaped(from: number, to: number, cell: number): number {
    const bytes = this.#bytes;
    if (to - from === 2 && bytes[from + 1] === LARGE_N) {
      this.#cells[cell] = -1;
      return to;
    }
    const added = this.#roomFor(to - from);
    const start = this.#addedBytes;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]!;
      added[this.#addedBytes++] = byte === BACKSLASH && at + 1 < to ? unescaped(bytes[++at]!) : byte;
    }
    this.#fillAdded(cell, start);
    return to;
  }

  /** Does the same as `#plain` for a value in quotes (RFC 4180 §2). */
  #quoted(from: number, cell: number): number {
    const bytes = this.#bytes;
    let doubled = 0;
    let end = bytes.indexOf(QUOTE, from + 1);
    for (; end >= 0 && bytes[end + 1] === QUOTE; end = bytes.indexOf(QUOTE, end + 2)) doubled += 1;
    if (end < 0 || end + 1 >= bytes.length) return -1;
    if (cell < 0) return end + 1;
    if (doubled === 0) {
      this.#cells[cell] = from + 1;
      this.#cells[cell + 1] = end;
      return end + 1;
    }
    const added = this.#roomFor(end - from - 1 - doubled);
    const start = this.#addedBytes;
    for (let at = from + 1; at < end; at += bytes[at] === QUOTE ? 2 : 1)
      added[this.#addedBytes++] = bytes[at]!;
    this.#fillAdded(cell, start);
    return end + 1;
  }

  #roomFor(bytes: number): Uint8Array {
    const needed = this.#addedBytes + bytes;
    if (needed > this.#added.length) {
      const more = new Uint8Array(Math.max(1024, needed * 2));
      more.set(this.#added.subarray(0, this.#addedBytes));
      this.#added = more;
    }
    return this.#added;
  }

  /** Sets the cell to the bytes added from `start` on, which are after the piece. */
  #fillAdded(cell: number, start: number): void {
    this.#cells[cell] = this.#bytes.length + start;
    this.#cells[cell + 1] = this.#bytes.length + this.#addedBytes;
  }

  #grow(): void {
    const cells = new Int32Array(this.#cells.length * 2).fill(-1, this.#cells.length);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}

/**
 * Returns the character that an escape letter after a BACKSLASH represents in PostgreSQL's COPY text (PostgreSQL manual, COPY, Text
 * Format).
 */
function unescaped(letter: number): number {
  if (letter === SMALL_T) return TAB;
  if (letter === SMALL_N) return LF;
  return letter === SMALL_R ? CR : letter;
}
