/** The kernel for records in WebAssembly, and the memory that pieces of files are split in (layout: src/engine/records/kernel/layout.ts). */
import { compileModule } from '../../compile-module.ts';
import type { SpareBuffers } from '../../spare-buffers.ts';
import {
  isJsonFormat,
  otherFields,
  recordForms,
  type Piece,
  type RecordFormat,
  type RecordPlan,
  type RecordSurvey,
  type SplitRecords,
} from '../split.ts';
import { TAB } from '../../xml/characters.ts';
import * as layout from './layout.ts';
import { splitRecordsWasm } from './records-wasm.ts';

interface Exports {
  splitRecords(): number;
  splitJsonLines(): number;
  surveyRecords(isLast: number): void;
}

const literals = Uint8Array.from('truefalse', (character) => character.charCodeAt(0));
/** The room that must follow a piece, in bytes: for values that the piece does not contain literally. */
export const literalBytes: number = literals.length;

/** Returns null if WebAssembly is not available. */
export function createRecordsKernel(): RecordsKernel | null {
  try {
    const module = compileModule(splitRecordsWasm);
    return new RecordsKernel(module);
  } catch {
    // records are split in TypeScript then
    return null;
  }
}

/** The kernel for all files that are read at the same time. */
export class RecordsKernel {
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #exports: Exports;
  #survey: { isQuoted: number; hasHeader: number; keyHead: Uint8Array } = {
    isQuoted: 0,
    hasHeader: 1,
    keyHead: new Uint8Array(0),
  };
  #bytes!: Uint8Array<ArrayBuffer>;
  #ints!: Int32Array<ArrayBuffer>;

  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, { env: { memory: this.#memory } });
    this.#exports = instance.exports as unknown as Exports;
    this.#look();
  }

  /**
   * Does the same as `splitInTypeScript`. If there is no fault, it changes the bytes of the piece and `literalBytes` after them. It
   * reports a fault for records of JSON Lines that are not in the form that the tools write.
   */
  split({ bytes, hasHeader, rows }: Piece, plan: RecordPlan, buffers: SpareBuffers): SplitRecords {
    const { format, heads, columns, forms, width } = plan;
    const { delimiter, isQuoted } = recordForms[format];
    const headsAt = aligned(layout.FIELDS_AT + columns.length * layout.FIELD_INTS * 4);
    const bytesAt = heads.reduce((at, head) => aligned(at + head.length), headsAt);
    const end = bytesAt + bytes.length;
    const rowsAt = aligned(end + layout.MARGIN_BYTES);
    this.#grow(rowsAt + rows * width * 8);
    this.#bytes.set(bytes, bytesAt);
    for (let field = 0, headAt = headsAt; field < heads.length; field += 1) {
      const head = heads[field]!;
      this.#bytes.set(head, headAt);
      this.#setField(field, layout.FIELD_NAME, headAt);
      this.#setField(field, layout.FIELD_NAME_BYTES, head.length);
      headAt = aligned(headAt + head.length);
    }
    for (let field = 0; field < columns.length; field += 1) {
      const column = columns[field]!;
      this.#setField(field, layout.FIELD_CELL, column < 0 ? -1 : column * 8);
      this.#setField(field, layout.FIELD_FORM, column < 0 ? layout.FORM_PLAIN : forms[field]!);
      this.#setField(field, layout.FIELD_IS_OTHER, 0);
    }
    const slots: readonly (readonly [slot: number, value: number])[] = [
      [layout.BYTES, bytesAt],
      [layout.END, end],
      [layout.NEXT, bytesAt],
      [layout.ROW, rowsAt],
      [layout.STRIDE, width * 8],
      [layout.IS_SPARSE, columns.reduce((count, column) => count - (column < 0 ? 0 : 1), width)],
      [layout.FIELD_COUNT, columns.length],
      [layout.DELIMITER, delimiter ?? TAB],
      [layout.IS_QUOTED, isQuoted ? 1 : 0],
      [layout.HAS_HEADER, hasHeader ? 1 : 0],
      [layout.RECORDS, 0],
      [layout.IS_CHANGED, 0],
      [layout.YES, bytes.length],
    ];
    for (const [slot, value] of slots) this.#set(slot, value);
    const { splitJsonLines, splitRecords } = this.#exports;
    const exit = this.#splitAll(isJsonFormat(format) ? splitJsonLines : splitRecords);
    const splitEnd = this.#get(layout.NEXT) - bytesAt;
    const count = this.#get(layout.RECORDS);
    const headers = hasHeader && this.#get(layout.HAS_HEADER) === 0 ? 1 : 0;
    const cells = this.#ints.subarray(rowsAt / 4, this.#get(layout.ROW) / 4);
    const ownCells = buffers.takeInts(cells.length);
    ownCells.set(cells);
    const isFault = exit === layout.EXIT_FAULT;
    // if JSON Lines have a fault, TypeScript splits the unchanged piece
    if (this.#get(layout.IS_CHANGED) !== 0 && !isFault)
      bytes.set(this.#bytes.subarray(bytesAt, bytesAt + splitEnd));
    const others = columns.map((_, field) => this.#ints[fieldAt(field) + layout.FIELD_IS_OTHER] !== 0);
    return {
      block: {
        bytes: forms.includes(layout.FORM_BOOLEAN) ? withLiterals(bytes) : bytes,
        cells: ownCells,
        rows: count - headers,
      },
      end: splitEnd,
      count,
      fault: isFault ? otherFields(columns.length) : null,
      hasOthers: (field) => others[field]!,
    };
  }

  /**
   * Begins the survey of a file, whose pieces follow. Only one file can be surveyed at a time. `keyHead`: the bytes before a record's
   * key.
   */
  beginSurvey(format: RecordFormat, keyHead: Uint8Array): void {
    const slots: readonly (readonly [slot: number, value: number])[] = [
      [layout.RECORDS, 0],
      [layout.SURVEY_CARRIED, 0],
      [layout.SURVEY_HAS_KEY, 0],
      [layout.SURVEY_IN_QUOTES, 0],
      [layout.SURVEY_LONGEST, 0],
      [layout.SURVEY_ASCENDS, 1],
    ];
    for (const [slot, value] of slots) this.#set(slot, value);
    const { isQuoted, hasHeader } = recordForms[format];
    this.#survey = { isQuoted: isQuoted ? 1 : 0, hasHeader: hasHeader ? 1 : 0, keyHead };
    this.#bytes.fill(0, layout.SURVEY_FIRST_AT, layout.SURVEY_LAST_AT + 8);
  }

  /** Returns the number of bytes of the piece that have been processed. The next piece begins with the remaining ones, which are few. */
  survey(bytes: Uint8Array, isLast: boolean): number {
    const { isQuoted, hasHeader, keyHead } = this.#survey;
    const bytesAt = aligned(layout.FIELDS_AT + keyHead.length);
    const end = bytesAt + bytes.length;
    this.#grow(end + layout.MARGIN_BYTES);
    this.#bytes.set(keyHead, layout.FIELDS_AT);
    this.#bytes.set(bytes, bytesAt);
    this.#set(layout.SURVEY_PREFIX, keyHead.length);
    this.#set(layout.HAS_HEADER, hasHeader);
    this.#set(layout.NEXT, bytesAt);
    this.#set(layout.END, end);
    this.#set(layout.IS_QUOTED, isQuoted);
    this.#exports.surveyRecords(isLast ? 1 : 0);
    return this.#get(layout.NEXT) - bytesAt;
  }

  surveyed(): RecordSurvey {
    const view = new DataView(this.#bytes.buffer);
    const first = view.getBigUint64(layout.SURVEY_FIRST_AT, true);
    const last = view.getBigUint64(layout.SURVEY_LAST_AT, true);
    const ascends = this.#get(layout.SURVEY_ASCENDS) !== 0 && first > 0n;
    return { longest: this.#get(layout.SURVEY_LONGEST), keys: ascends ? { first, last } : null };
  }

  /** Returns the reason why it ended. */
  #splitAll(split: () => number): number {
    for (;;) {
      this.#set(layout.ROW_LIMIT, this.#bytes.length);
      const exit = split();
      if (exit !== layout.EXIT_FULL) return exit;
      this.#grow(this.#bytes.length + Math.max(layout.PAGE_BYTES, this.#get(layout.STRIDE)));
    }
  }

  #grow(bytes: number): void {
    const pages = Math.ceil((bytes - this.#bytes.length) / layout.PAGE_BYTES);
    if (pages <= 0) return;
    this.#memory.grow(pages);
    this.#look();
  }

  /** The memory moves when it grows. */
  #look(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#ints = new Int32Array(this.#memory.buffer);
  }

  #set(slot: number, value: number): void {
    this.#ints[layout.CONTROL_AT / 4 + slot] = value;
  }

  #get(slot: number): number {
    return this.#ints[layout.CONTROL_AT / 4 + slot]!;
  }

  #setField(field: number, int: number, value: number): void {
    this.#ints[fieldAt(field) + int] = value;
  }
}

/** Returns the index of a field's int32 values. */
function fieldAt(field: number): number {
  return layout.FIELDS_AT / 4 + field * layout.FIELD_INTS;
}

function aligned(address: number): number {
  return Math.ceil(address / 16) * 16;
}

/** Returns the bytes before a member's value in a record of JSON Lines, without the separator from the previous member. */
export function memberHead(name: string): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(name)}:`);
}

function withLiterals({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(buffer, byteOffset, length + literalBytes);
  bytes.set(literals, length);
  return bytes;
}
