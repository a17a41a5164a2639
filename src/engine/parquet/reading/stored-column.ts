/** Reads a column of a file page by page. Each page is in the kernel's memory until its rows have been read. */
import * as layout from './kernel/layout.ts';
import { ENCODING, PHYSICAL, valueTypeOf } from '../column-chunk.ts';
import { countOf, readThrift, structOf, type ThriftFields, type StoredChunk } from './footer.ts';
import type { CellsKernel, Region } from './kernel/instance.ts';

export interface ChunkSource {
  readonly read: (at: number, length: number) => Promise<Uint8Array<ArrayBuffer>>;
  /** frees bytes that were read, so that their memory can be reused */
  readonly release: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** decompresses zstd; RangeError if the bytes are not zstd or not of this length */
  readonly decompress: (bytes: Uint8Array, length: number) => Uint8Array;
}

/** How the values of a column are converted to text. */
export interface StoredForm {
  /** FORM_… */
  readonly form: number;
  /** PHYSICAL */
  readonly physical: number;
  readonly width: number;
  /** digits after the point, and the number of these that are kept even if they are zeros */
  readonly scale: number;
  readonly kept: number;
  /** true for lists of such values */
  readonly isList: boolean;
}

/** A column from which blocks of rows are read. */
export interface ColumnRows {
  /** rows of the page that have not been read */
  readonly rowsLeft: number;
  beginChunk(chunk: StoredChunk): void;
  /** Reads the next page with rows. Throws RangeError if the file is damaged. */
  nextPage(): Promise<void>;
  /** Returns the most bytes that the texts of the page's next rows may have. */
  maxBytes(rows: number): number;
  /** Returns an estimate of the bytes of `rows` rows. */
  usualBytes(rows: number): number;
  /** Writes the texts of the next rows of the page at `out`, and their cells. Returns the end of the texts. */
  take(rows: number, cells: number, stride: number, out: number): number;
  close(): void;
}

/** Converts a page of other values into one of `rows` readable values. */
type PageOf = (page: Uint8Array, entries: number) => { readonly page: Uint8Array; readonly rows: number };

const forms: Readonly<Record<string, number>> = {
  BOOLEAN: layout.FORM_BOOLEAN,
  DATE: layout.FORM_DATE,
  TIME: layout.FORM_TIME,
  TIMESTAMP: layout.FORM_TIMESTAMP,
  'TIMESTAMP WITH TIME ZONE': layout.FORM_TIMESTAMP_UTC,
  FLOAT: layout.FORM_FLOAT,
  DOUBLE: layout.FORM_DOUBLE,
  VARCHAR: layout.FORM_TEXT,
};

/** `sqlType`: of DuckDB. `fraction`: digits after the point that the model gives the column; null: it does not say. */
export function storedForm(sqlType: string, fraction: number | null): StoredForm {
  const isList = sqlType.endsWith('[]');
  if (isList) return { ...storedForm(sqlType.slice(0, -2), fraction), isList };
  const { physical, width, scale } = valueTypeOf(sqlType);
  const decimal = physical === PHYSICAL.fixed ? layout.FORM_WIDE_DECIMAL : layout.FORM_DECIMAL;
  const form = forms[sqlType] ?? (sqlType.startsWith('DECIMAL') ? decimal : layout.FORM_INTEGER);
  return { form, physical, width, scale, kept: Math.min(scale, fraction ?? scale), isList };
}

const encodings: Readonly<Record<number, number>> = {
  [ENCODING.plain]: layout.IN_PLAIN,
  [ENCODING.dictionary]: layout.IN_DICTIONARY,
  [ENCODING.deltas]: layout.IN_DELTAS,
  [ENCODING.lengths]: layout.IN_LENGTHS,
};

/** bytes to read at once while a page's length is unknown */
const usualPageBytes = 16 * 1024;
const maxHeaderBytes = 256;

export class StoredColumn implements ColumnRows {
  rowsLeft = 0;
  readonly #pageOf: PageOf | null;
  readonly #kernel: CellsKernel;
  readonly #form: StoredForm;
  readonly #source: ChunkSource;
  readonly #record: Region;
  #page: Region | null = null;
  #pageBytes = 0;
  #encoding: number = layout.IN_PLAIN;
  #dictionary: readonly Region[] = [];
  #chunk: StoredChunk | null = null;
  #at = 0;

  constructor(kernel: CellsKernel, form: StoredForm, source: ChunkSource, pageOf: PageOf | null = null) {
    this.#kernel = kernel;
    this.#pageOf = pageOf;
    this.#form = form;
    this.#source = source;
    this.#record = kernel.take(layout.COLUMN_INTS * 4);
    this.#set(layout.COLUMN_FORM, form.form);
    this.#set(layout.COLUMN_SCALE, form.scale);
    this.#set(layout.COLUMN_KEPT, form.kept);
    this.#set(layout.COLUMN_WIDTH, form.width);
  }

  beginChunk(chunk: StoredChunk): void {
    this.#chunk = chunk;
    this.#at = chunk.at;
    this.rowsLeft = 0;
  }

  async nextPage(): Promise<void> {
    for (;;) {
      const { header, body, read } = await this.#read();
      const data = structOf(header.get(5));
      const facts = data ?? structOf(header.get(7));
      if (facts === null) throw damaged();
      const count = countOf(facts, 1);
      const bytes = this.#plain(body, countOf(header, 2));
      if (data === null) this.#beginDictionary(bytes, count);
      else {
        const { page, rows } = this.#pageOf?.(bytes, count) ?? { page: bytes, rows: count };
        this.#beginPage(page, encodings[countOf(facts, 2)]);
        this.rowsLeft = rows;
      }
      this.#source.release(read);
      if (data !== null && count > 0) return;
    }
  }

  maxBytes(rows: number): number {
    if (this.#encoding === layout.IN_DICTIONARY) return rows * this.#get(layout.COLUMN_LONGEST);
    return this.#form.form === layout.FORM_TEXT ? this.#plainLeft() : rows * layout.LONGEST_VALUE;
  }

  usualBytes(rows: number): number {
    if (this.#encoding === layout.IN_DICTIONARY || this.#form.form !== layout.FORM_TEXT)
      return this.maxBytes(rows);
    return this.#plainLeft() * (rows / Math.max(1, this.rowsLeft));
  }

  take(rows: number, cells: number, stride: number, out: number): number {
    const end = this.#kernel.exports.takeRows(this.#record.at, rows, cells, stride, out);
    if (end === 0) throw damaged();
    this.rowsLeft -= rows;
    const { form } = this.#form;
    const isLeft = form === layout.FORM_FLOAT || form === layout.FORM_DOUBLE;
    if (isLeft && this.#encoding !== layout.IN_DICTIONARY) this.#floats(rows, cells, stride);
    return end;
  }

  /** Reads the next rows of the page, one whole number each. Returns the last number if all strictly ascend from `last`, or null. */
  ascend(rows: number, last: bigint): bigint | null {
    this.rowsLeft -= rows;
    return this.#kernel.exports.ascends(this.#record.at, rows, last) === 0 ? null : this.#kernel.lastNumber();
  }

  close(): void {
    this.#kernel.giveBack(this.#record);
    for (const region of this.#dictionary) this.#kernel.giveBack(region);
    if (this.#page !== null) this.#kernel.giveBack(this.#page);
    this.#dictionary = [];
    this.#page = null;
  }

  #set(field: number, value: number): void {
    this.#kernel.view.setInt32(this.#record.at + field * 4, value, true);
  }

  #get(field: number): number {
    return this.#kernel.view.getUint32(this.#record.at + field * 4, true);
  }

  #plainLeft(): number {
    return this.#get(layout.COLUMN_END) - this.#get(layout.COLUMN_AT);
  }

  async #read(): Promise<{
    readonly header: ThriftFields;
    readonly body: Uint8Array;
    /** the bytes that contain both */
    readonly read: Uint8Array<ArrayBuffer>;
  }> {
    const { end } = this.#chunk!;
    if (this.#at >= end) throw damaged();
    const expected = Math.max(usualPageBytes, this.#pageBytes + maxHeaderBytes);
    let bytes = await this.#source.read(this.#at, Math.min(expected, end - this.#at));
    const { fields: header, end: from } = readThrift(bytes);
    const to = from + countOf(header, 3);
    if (this.#at + to > end) throw damaged();
    if (to > bytes.length) {
      this.#source.release(bytes);
      bytes = await this.#source.read(this.#at, to);
    }
    this.#pageBytes = to;
    this.#at += to;
    return { header, body: bytes.subarray(from, to), read: bytes };
  }

  #plain(body: Uint8Array, length: number): Uint8Array {
    return this.#chunk!.isCompressed ? this.#source.decompress(body, length) : body;
  }

  #beginPage(bytes: Uint8Array, encoding: number | undefined): void {
    const kernel = this.#kernel;
    if (encoding === undefined) throw damaged();
    this.#encoding = encoding;
    if (this.#page === null || this.#page.bytes < bytes.length + layout.MARGIN_BYTES) {
      if (this.#page !== null) kernel.giveBack(this.#page);
      this.#page = kernel.take(bytes.length);
    }
    const { at } = this.#page;
    kernel.bytes.set(bytes, at);
    if (kernel.exports.beginPage(this.#record.at, at, at + bytes.length, encoding) === 0) throw damaged();
  }

  #beginDictionary(bytes: Uint8Array, count: number): void {
    const kernel = this.#kernel;
    // none of them is shorter
    if (count * 4 > bytes.length) throw damaged();
    for (const region of this.#dictionary) kernel.giveBack(region);
    const page = kernel.take(bytes.length);
    const starts = kernel.take(count * 4);
    const isText = this.#form.form === layout.FORM_TEXT;
    const texts = isText ? page : kernel.take(count * (4 + layout.LONGEST_VALUE));
    this.#dictionary = isText ? [page, starts] : [starts, texts];
    kernel.bytes.set(bytes, page.at);
    this.#set(layout.COLUMN_STARTS, starts.at);
    const { at } = page;
    const isWhole = kernel.exports.beginDictionary(this.#record.at, at, at + bytes.length, count, texts.at);
    if (isWhole === 0) throw damaged();
    if (isText) return;
    kernel.giveBack(page);
    const { form } = this.#form;
    if (form === layout.FORM_FLOAT || form === layout.FORM_DOUBLE)
      for (let entry = 0; entry < count; entry += 1) {
        const text = texts.at + entry * (4 + layout.LONGEST_VALUE);
        kernel.view.setUint32(text, this.#floatAt(text + 4), true);
      }
  }

  #floats(rows: number, cells: number, stride: number): void {
    const { view, origin } = this.#kernel;
    for (let row = 0, cell = cells; row < rows; row += 1, cell += stride) {
      const from = view.getInt32(cell, true);
      // items of lists may be before the texts of the block
      if (from === noValue) continue;
      view.setInt32(cell + 4, from + this.#floatAt(origin + from), true);
    }
  }

  /** Replaces the double there with its text. Returns the text's length. */
  #floatAt(at: number): number {
    const value = this.#kernel.view.getFloat64(at, true);
    const text = floatText(value, this.#form.form === layout.FORM_FLOAT);
    for (let index = 0; index < text.length; index += 1)
      this.#kernel.bytes[at + index] = text.charCodeAt(index);
    return text.length;
  }
}

/** Value of a cell without a value, in place of the start of a text. */
const noValue = -1;

function damaged(): RangeError {
  return new RangeError('a page is damaged');
}

// Reads a column of lists: the items of a page are read as a column of their own, whose texts are joined row by row with a blank between
// them. The levels are those that `addLists` writes: 3 for an item, 1 for an empty list, 0 for NULL.

const [noList, item] = [0, 3];
const blank = 0x20;
/** bytes of a cell */
const cellBytes = 8;

export class StoredLists implements ColumnRows {
  readonly #kernel: CellsKernel;
  readonly #items: StoredColumn;
  /** for each row of the page, the number of its items; below 0: NULL */
  #counts = new Int32Array(0);
  #next = 0;
  /** for the items of a call, before they are joined */
  #texts: Region;
  #cells: Region;

  constructor(kernel: CellsKernel, form: StoredForm, source: ChunkSource) {
    this.#kernel = kernel;
    this.#items = new StoredColumn(kernel, form, source, (page, entries) => this.#itemsOf(page, entries));
    this.#texts = kernel.take(0);
    this.#cells = kernel.take(0);
  }

  get rowsLeft(): number {
    return this.#counts.length - this.#next;
  }

  beginChunk(chunk: StoredChunk): void {
    this.#items.beginChunk(chunk);
    this.#counts = new Int32Array(0);
    this.#next = 0;
  }

  nextPage(): Promise<void> {
    return this.#items.nextPage();
  }

  maxBytes(rows: number): number {
    const items = this.#itemCount(rows);
    return this.#items.maxBytes(items) + items;
  }

  usualBytes(rows: number): number {
    const items = this.#itemCount(rows);
    return this.#items.usualBytes(items) + items;
  }

  take(rows: number, cells: number, stride: number, out: number): number {
    const kernel = this.#kernel;
    const { origin } = kernel;
    let left = this.#itemCount(rows);
    let [end, at, taken] = [out, 0, 0];
    for (let row = 0, cell = cells; row < rows; row += 1, cell += stride) {
      const count = this.#counts[this.#next++]!;
      kernel.view.setInt32(cell, count < 0 ? -1 : end - origin, true);
      for (let index = 0; index < count; index += 1, at += 1) {
        if (at === taken) {
          taken = Math.min(left, kernel.rows);
          left -= taken;
          at = 0;
          this.#takeItems(taken);
        }
        const { bytes, view } = kernel;
        const place = this.#cells.at + at * cellBytes;
        const [from, to] = [view.getInt32(place, true) + origin, view.getInt32(place + 4, true) + origin];
        if (index > 0) bytes[end++] = blank;
        bytes.copyWithin(end, from, to);
        end += to - from;
      }
      kernel.view.setInt32(cell + 4, count < 0 ? -1 : end - origin, true);
    }
    return end;
  }

  close(): void {
    this.#items.close();
    this.#kernel.giveBack(this.#texts);
    this.#kernel.giveBack(this.#cells);
  }

  #takeItems(items: number): void {
    const kernel = this.#kernel;
    this.#texts = kernel.grown(this.#texts, this.#items.maxBytes(items));
    this.#cells = kernel.grown(this.#cells, items * cellBytes);
    this.#items.take(items, this.#cells.at, cellBytes, this.#texts.at);
  }

  #itemCount(rows: number): number {
    let items = 0;
    for (let row = this.#next; row < this.#next + rows; row += 1) items += Math.max(0, this.#counts[row]!);
    return items;
  }

  /** Converts a page of lists to a page of their items, none of which is NULL. */
  #itemsOf(page: Uint8Array, entries: number): { readonly page: Uint8Array; readonly rows: number } {
    const repetitions = readLevels(page, 0, entries, 1);
    const definitions = readLevels(page, repetitions.end, entries, 2);
    const counts: number[] = [];
    let items = 0;
    for (let entry = 0; entry < entries; entry += 1) {
      const definition = definitions.levels[entry]!;
      if (repetitions.levels[entry] === 1) counts[counts.length - 1]! += 1;
      else counts.push(definition === noList ? -1 : definition === item ? 1 : 0);
      if (definition === item) items += 1;
    }
    // an item continues a row that has none
    if (counts.reduce((sum, count) => sum + Math.max(0, count), 0) !== items) throw damaged();
    this.#counts = Int32Array.from(counts);
    this.#next = 0;
    const levels = presentLevels(items);
    const values = page.subarray(definitions.end);
    const whole = new Uint8Array(levels.length + values.length);
    whole.set(levels);
    whole.set(values, levels.length);
    return { page: whole, rows: items };
  }
}

/** Reads levels of `width` bits, which begin at `at` after the length of their bytes: runs of one level, and of packed ones. */
function readLevels(
  page: Uint8Array,
  at: number,
  count: number,
  width: number,
): { readonly levels: Uint8Array; readonly end: number } {
  if (at + 4 > page.length) throw damaged();
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const end = at + 4 + view.getUint32(at, true);
  if (end > page.length) throw damaged();
  const levels = new Uint8Array(count);
  let next = at + 4;
  for (let filled = 0; filled < count;) {
    let header = 0;
    for (let scale = 1; ; scale *= 0x80) {
      if (next >= end) throw damaged();
      const byte = page[next++]!;
      header += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    const run = Math.floor(header / 2);
    const isPacked = header % 2 === 1;
    const bytes = isPacked ? run * width : 1;
    if (run === 0 || next + bytes > end) throw damaged();
    const last = Math.min(count, filled + (isPacked ? run * 8 : run));
    for (let bit = 0; filled < last; filled += 1, bit += width) {
      const byte = page[next + (isPacked ? bit >> 3 : 0)]!;
      levels[filled] = isPacked ? (byte >> (bit & 7)) & ((1 << width) - 1) : byte;
    }
    next += bytes;
  }
  return { levels, end };
}

/** Levels of a column without NULL, as a page has them. */
function presentLevels(count: number): Uint8Array {
  const run: number[] = [];
  let header = count * 2;
  for (; header >= 0x80; header = Math.floor(header / 0x80)) run.push((header % 0x80) + 0x80);
  run.push(header, 1);
  const levels = new Uint8Array(4 + run.length);
  new DataView(levels.buffer).setUint32(0, run.length, true);
  levels.set(run, 4);
  return levels;
}

// Floating-point numbers in the shortest form of XML Schema that gives the same number back.

/** `isSingle`: of 32 bits. */
function floatText(value: number, isSingle: boolean): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF';
  if (Object.is(value, -0)) return '-0';
  return String(isSingle ? shortest(value) : value);
}

/** The number of the fewest digits that a single-precision number is the nearest one of. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}
