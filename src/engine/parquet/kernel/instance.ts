/** The kernel for columns in WebAssembly, and the memory in which rows become columns (layout: src/engine/parquet/kernel/layout.ts). */
import { compileModule } from '../../compile-module.ts';
import { readColumnsWasm } from './columns-wasm.ts';
import * as layout from './layout.ts';

interface Exports {
  prepare(): void;
  split(from: number, to: number, out: number, most: number): number;
  readInt32(): void;
  readInt64(): void;
  readInt128(): void;
  readBooleans(): void;
  readDates(): void;
  readTimes(): void;
  readTimestamps(): void;
  readFloats32(): void;
  readFloats64(): void;
  readWholeTexts(): void;
  readTextsApart(): void;
  readNumberedTexts(): void;
  makeDictionary(width: number, limit: number, bytesLimit: number, expected: number): number;
  lookUp32: LookUp;
  lookUp64: LookUp;
  lookUp128: LookUp;
  expandTexts(numbers: number, count: number, dictionary: number, lengths: number, out: number): number;
  packBits(from: number, count: number, width: number, out: number): number;
  encodeRuns(from: number, count: number, width: number, out: number): number;
  encodeDeltas32: EncodeDeltas;
  encodeDeltas64: EncodeDeltas;
}

type LookUp = (values: number, count: number, out: number, dictionary: number) => number;
type EncodeDeltas = (from: number, count: number, scratch: number, out: number) => number;

/** The read functions by READ_…; for texts, those that keep texts whole, after their lengths or with separate lengths. */
const readers = {
  [layout.READ_INT32]: 'readInt32',
  [layout.READ_INT64]: 'readInt64',
  [layout.READ_INT128]: 'readInt128',
  [layout.READ_BOOLEAN]: 'readBooleans',
  [layout.READ_DATE]: 'readDates',
  [layout.READ_TIME]: 'readTimes',
  [layout.READ_TIMESTAMP]: 'readTimestamps',
  [layout.READ_FLOAT]: 'readFloats32',
  [layout.READ_DOUBLE]: 'readFloats64',
  [layout.READ_TEXT]: 'readWholeTexts',
  [layout.READ_TEXT_APART]: 'readTextsApart',
} as const satisfies Readonly<Record<number, keyof Exports>>;

export type ReadKind = keyof typeof readers;

/** The capacity of the kernel's memory for one call. */
export interface Capacity {
  readonly columns: number;
  readonly rows: number;
  readonly textBytes: number;
}

/** A byte range in the memory, valid until the memory is reused. */
export type Span = readonly [from: number, to: number];

/** for 128 differences before they are packed */
const deltasScratchBytes = 1024;

let module: WebAssembly.Module | null = null;

/** The memory of a kernel. Another kernel may take it over; the first one must not be used afterwards. */
export class ColumnsMemory {
  readonly memory: WebAssembly.Memory = new WebAssembly.Memory({ initial: 1 });
  readonly exports: Exports;

  constructor() {
    module ??= compileModule(readColumnsWasm);
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory } });
    this.exports = instance.exports as unknown as Exports;
    this.exports.prepare();
  }

  /** Grows the memory to at least this number of bytes. */
  grow(bytes: number): void {
    const pages = Math.ceil(bytes / layout.PAGE_BYTES) - this.memory.buffer.byteLength / layout.PAGE_BYTES;
    if (pages > 0) this.memory.grow(pages);
  }
}

export class ColumnsKernel {
  readonly room: Capacity;
  readonly #memory: WebAssembly.Memory;
  readonly #exports: Exports;
  readonly #text: number;
  readonly #delimiters: number;
  readonly #heap: number;
  /** addresses: the values read, numbers of a dictionary, a level for each row, the encoded form of each, and text without escapes */
  readonly values: number;
  readonly levels: number;
  readonly #numbers: number;
  readonly #encodedLevels: number;
  readonly #encodedNumbers: number;
  readonly #encodedDeltas: number;
  readonly #plainText: number;
  readonly #left: number;
  #bytes!: Uint8Array<ArrayBuffer>;
  #control!: Int32Array;
  #view!: DataView;

  constructor(room: Capacity, within: ColumnsMemory) {
    this.room = room;
    let used = layout.HEAP_AT;
    const place = (bytes: number): number => {
      const at = used + layout.MARGIN_BYTES;
      used = Math.ceil((at + bytes + layout.MARGIN_BYTES) / 16) * 16;
      return at;
    };
    const { columns, rows, textBytes } = room;
    this.#text = place(textBytes);
    this.#delimiters = place((columns * rows + 1) * 4) + 4;
    this.values = place(Math.max(rows * 16, textBytes + rows * 4));
    this.levels = place(rows * 4);
    this.#numbers = place(rows * 4);
    this.#encodedLevels = place(rows / 2);
    this.#encodedNumbers = place(rows * 4);
    this.#encodedDeltas = place(deltasScratchBytes + rows * 12 + 4096);
    this.#plainText = place(textBytes);
    this.#left = place(rows * 12);
    this.#heap = used;
    within.grow(used + layout.PAGE_BYTES);
    this.#memory = within.memory;
    this.#exports = within.exports;
    this.#look();
    this.forgetDictionaries();
  }

  /** The memory moves when it grows. */
  #look(): void {
    const { buffer } = this.#memory;
    if (this.#bytes?.buffer === buffer) return;
    this.#bytes = new Uint8Array(buffer as ArrayBuffer);
    this.#control = new Int32Array(buffer, layout.CONTROL_AT, layout.CONTROL_SLOTS);
    this.#view = new DataView(buffer);
  }

  /** Returns the value of a slot of the control block. */
  result(slot: number): number {
    return this.#control[slot]!;
  }

  /** Copies. */
  bytes([from, to]: Span): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(from, to);
  }

  /** Copies to `at` of the target. Returns the end in the target. */
  copy([from, to]: Span, target: Uint8Array, at: number): number {
    target.set(this.#bytes.subarray(from, to), at);
    return at + to - from;
  }

  get view(): DataView {
    return this.#view;
  }

  get dictionaryBytes(): number {
    return this.#control[layout.FREE]! - this.#heap;
  }

  forgetDictionaries(): void {
    this.#control[layout.FREE] = this.#heap;
  }

  /** The text, to be written into; a row's delimiter may be at its end. */
  get text(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#text, this.#text + this.room.textBytes);
  }

  /** Finds delimiters of the text from `from` to `to`, of which `found` are already known. Returns their number. */
  split(from: number, to: number, found: number): number {
    const most = this.room.columns * this.room.rows - found;
    this.#view.setUint32(this.#delimiters - 4, this.#text - 1, true);
    const at = this.#delimiters + found * 4;
    return found + this.#exports.split(this.#text + from, this.#text + to, at, most);
  }

  /** Returns the start and end of a row's field in the text. */
  field(row: number, column: number): readonly [start: number, end: number] {
    const at = this.#delimiters + (row * this.room.columns + column) * 4;
    const before = this.#view.getUint32(at - 4, true) + 1 - this.#text;
    return [before, this.#view.getUint32(at, true) - this.#text];
  }

  /** Returns the end of the text of the first `rows` rows. */
  endOf(rows: number): number {
    return rows === 0 ? 0 : this.field(rows - 1, this.room.columns - 1)[1] + 1;
  }

  /** Reads a column of the first rows; results are in the control block. Returns false if a value does not fit. */
  read(column: number, rows: number, kind: ReadKind, scale: number, dictionary: number): boolean {
    const control = this.#control;
    control[layout.FIRST] = this.#delimiters + column * 4;
    control[layout.STRIDE] = this.room.columns * 4;
    control[layout.ROWS] = rows;
    control[layout.VALUES] = dictionary > 0 ? this.#numbers : this.values;
    control[layout.LEVELS] = this.levels;
    control[layout.PLAIN_TEXT] = this.#plainText;
    control[layout.DICTIONARY] = dictionary;
    control[layout.SCALE] = scale;
    control[layout.LEFT] = this.#left;
    control[layout.MISFIT] = 0;
    control[layout.LEFT_COUNT] = 0;
    this.#exports[dictionary > 0 ? 'readNumberedTexts' : readers[kind]]();
    this.#look();
    return this.#control[layout.MISFIT] === 0;
  }

  /** Yields the values that the kernel did not convert: their number and their text. */
  *leftValues(): Generator<readonly [number: number, text: string]> {
    const decoder = new TextDecoder();
    for (let index = 0; index < this.#control[layout.LEFT_COUNT]!; index += 1) {
      const at = this.#left + index * 12;
      const [start, end] = [this.#view.getUint32(at + 4, true), this.#view.getUint32(at + 8, true)];
      yield [this.#view.getUint32(at, true), decoder.decode(this.#bytes.subarray(start, end))];
    }
  }

  /** `width`: bytes of a value; 0: text. `expected`: entries that there may be. */
  makeDictionary(width: number, limit: number, bytesLimit: number, expected: number): number {
    const dictionary = this.#exports.makeDictionary(width, limit, bytesLimit, expected);
    this.#look();
    return dictionary;
  }

  /** Entries, and their bytes as a dictionary page has them. */
  dictionary(at: number): { readonly count: number; readonly from: number; readonly length: number } {
    const field = (index: number): number => this.#view.getInt32(at + index * 4, true);
    return {
      count: field(layout.DICTIONARY_COUNT),
      from: field(layout.DICTIONARY_VALUES),
      length: field(layout.DICTIONARY_USED),
    };
  }

  /** Looks up the numbers of the values read in the dictionary. Returns false if it has no room for all of them. */
  lookUp(count: number, width: number, dictionary: number): boolean {
    const { lookUp32, lookUp64, lookUp128 } = this.#exports;
    const lookUp = width === 4 ? lookUp32 : width === 8 ? lookUp64 : lookUp128;
    const isWhole = lookUp(this.values, count, this.#numbers, dictionary);
    this.#look();
    return isWhole !== 0;
  }

  /** Writes the texts for the numbers, with their lengths apart or before each. Returns the end. */
  expandTexts(count: number, dictionary: number, areApart: boolean): number {
    return this.#exports.expandTexts(
      this.#numbers,
      count,
      dictionary,
      areApart ? this.#left : 0,
      this.values,
    );
  }

  // the results of these methods do not overlap those of the other methods

  /** Encodes the levels of `count` rows. */
  encodeLevels(count: number, width: number): Span {
    const at = this.#encodedLevels;
    return [at, this.#exports.encodeRuns(this.levels, count, width, at)];
  }

  /** Encodes the numbers of a dictionary with `entries` entries, after the number of bits of each. */
  encodeNumbers(count: number, entries: number): Span {
    const width = Math.max(1, 32 - Math.clz32(Math.max(0, entries - 1)));
    const at = this.#encodedNumbers;
    this.#bytes[at] = width;
    return [at, this.#exports.encodeRuns(this.#numbers, count, width, at + 1)];
  }

  /** Values of 0 or 1. */
  encodeBooleans(count: number): Span {
    return [this.#encodedNumbers, this.#exports.packBits(this.values, count, 1, this.#encodedNumbers)];
  }

  /** Encodes the lengths of texts that are stored apart from them. */
  encodeLengths(count: number): Span {
    return this.#encodeDeltas(this.#left, count, 4);
  }

  encodeDeltas(count: number, width: number): Span {
    return this.#encodeDeltas(this.values, count, width);
  }

  #encodeDeltas(from: number, count: number, width: number): Span {
    const scratch = this.#encodedDeltas;
    const out = scratch + deltasScratchBytes;
    const { encodeDeltas32, encodeDeltas64 } = this.#exports;
    const encode = width === 4 ? encodeDeltas32 : encodeDeltas64;
    return [out, encode(from, count, scratch, out)];
  }
}
