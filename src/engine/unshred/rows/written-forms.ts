/**
 * Writes values in the form that their XSD type requires (`Column.writtenAs`), whatever form the target prints, so that documents from
 * every target are valid.
 */
import { SpareBuffers } from '../../spare-buffers.ts';
import type { RowBlock, RowBlocks, LexicalRow, RowStream } from './document-rows.ts';
import type { Column, WrittenForm } from '../../model/relational-model.ts';
import type { RowColumn } from '../../model/wide-rows.ts';
import { utf8Text } from '../../xml/utf8.ts';
import { holdsNames } from '../../model/source-model.ts';
import { hasOffsetBehind } from '../../model/zones.ts';

// Rewrites blocks of rows on their way to the consumer.

/** Returns the block itself if it needs no changes, or another one in memory of `buffers`. */
type Rewrite = (block: RowBlock, buffers: SpareBuffers) => RowBlock | Promise<RowBlock>;

class RewrittenBlocks implements RowBlocks {
  readonly #blocks: RowBlocks;
  readonly #rewrite: Rewrite;
  readonly #buffers = new SpareBuffers();
  /** source of the last block, if the block is a copy */
  #copied: RowBlock | null = null;
  /** blocks that were handed on as they are */
  readonly #asTheyAre = new WeakSet<RowBlock>();

  constructor(blocks: RowBlocks, rewrite: Rewrite) {
    this.#blocks = blocks;
    this.#rewrite = rewrite;
  }

  async next(): Promise<RowBlock | null> {
    const before = this.#copied;
    this.#copied = null;
    const block = await this.#blocks.next();
    if (before !== null) this.#blocks.giveBack?.(before);
    if (block === null) return null;
    const rewritten = await this.#rewrite(block, this.#buffers);
    if (rewritten === block) this.#asTheyAre.add(block);
    else this.#copied = block;
    return rewritten;
  }

  giveBack(block: RowBlock): void {
    if (this.#asTheyAre.delete(block)) this.#blocks.giveBack?.(block);
    else {
      this.#buffers.giveBack(block.bytes as Uint8Array<ArrayBuffer>);
      this.#buffers.giveBack(block.cells as Int32Array<ArrayBuffer>);
    }
  }
}

/** Returns a copy of the block with additional room after its bytes. */
function copyWithRoom({ bytes, cells, rows }: RowBlock, room: number, buffers: SpareBuffers): RowBlock {
  const ownBytes = buffers.take(bytes.length + room);
  const ownCells = buffers.takeInts(cells.length);
  ownBytes.set(bytes);
  ownCells.set(cells);
  return { bytes: ownBytes, cells: ownCells, rows };
}

// The form of each value by its XSD type.

/** `columns`: of a row. */
export function withWrittenForms(blocks: RowBlocks, columns: readonly RowColumn[]): RowBlocks {
  const forms = columns.flatMap(({ column }, at): CellForm[] => {
    const form = formOfColumn(column);
    return form === null ? [] : [{ cell: at * 2, form }];
  });
  if (forms.length === 0) return blocks;
  return new RewrittenBlocks(blocks, (block, buffers) => inForms(block, forms, columns.length * 2, buffers));
}

/** A form of values, which are bytes from `from` up to `to`. */
interface ValueForm {
  /** True if the value is already in the form, or cannot be written in it. */
  isKept(bytes: Uint8Array, from: number, to: number): boolean;
  /** Bytes that a value of that length has at most. */
  longest(length: number): number;
  /** Writes another value in the form at `out`, in the same bytes, and returns its end. */
  write(bytes: Uint8Array, from: number, to: number, out: number): number;
}

interface CellForm {
  /** index, within the row's cells, of the start of the value */
  readonly cell: number;
  readonly form: ValueForm;
}

function inForms(
  block: RowBlock,
  forms: readonly CellForm[],
  width: number,
  buffers: SpareBuffers,
): RowBlock {
  const { bytes: own, cells, rows } = block;
  const last = rows * width;
  let room = 0;
  for (const { cell, form } of forms)
    for (let at = cell; at < last; at += width) {
      const [from, to] = [cells[at]!, cells[at + 1]!];
      if (from >= 0 && !form.isKept(own, from, to)) room += form.longest(to - from);
    }
  if (room === 0) return block;
  const written = copyWithRoom(block, room, buffers);
  let end = own.length;
  for (const { cell, form } of forms)
    for (let at = cell; at < last; at += width) {
      const [from, to] = [cells[at]!, cells[at + 1]!];
      if (from < 0 || form.isKept(own, from, to)) continue;
      written.cells[at] = end;
      end = form.write(written.bytes, from, to, end);
      written.cells[at + 1] = end;
    }
  return { ...written, bytes: written.bytes.subarray(0, end) };
}

function formOfColumn(column: Column): ValueForm | null {
  const { type, constraint } = column;
  const ofItem = formOf(column);
  const form = ofItem !== null && type.list === true ? new ListForm(ofItem) : ofItem;
  return constraint?.kind === 'fixed' && type.kind !== 'text' ? new FixedForm(constraint.value, form) : form;
}

function formOf({ type: { kind }, writtenAs }: Column): ValueForm | null {
  if (writtenAs === undefined) return null;
  switch (kind) {
    case 'boolean':
      return writtenAs.digits === true ? flagDigits : null;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return new NumberForm(writtenAs);
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return new SecondForm(writtenAs);
    case 'date':
    case 'text':
      return null;
  }
}

const [blank, minus, point, zero, nine, colon] = [0x20, 0x2d, 0x2e, 0x30, 0x39, 0x3a];
const [letterF, letterT] = [0x66, 0x74];

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

function putZeros(bytes: Uint8Array, out: number, count: number): number {
  for (let at = 0; at < count; at += 1) bytes[out + at] = zero;
  return out + Math.max(0, count);
}

function put(bytes: Uint8Array, from: number, to: number, out: number): number {
  bytes.copyWithin(out, from, to);
  return out + to - from;
}

const flagDigits: ValueForm = {
  isKept: (bytes, from, to) =>
    !(to - from === 4 && bytes[from] === letterT) && !(to - from === 5 && bytes[from] === letterF),
  longest: () => 1,
  write(bytes, from, _to, out) {
    bytes[out] = bytes[from] === letterT ? zero + 1 : zero;
    return out + 1;
  },
};

/** Digits after a point, which may be missing. */
class Fraction {
  readonly least: number;

  constructor({ fraction = 0 }: WrittenForm) {
    this.least = fraction;
  }

  /** `from`: of the point. */
  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const digits = to - from - 1;
    if (from === to) return this.least === 0;
    return digits > 0 && (digits === this.least || (digits > this.least && bytes[to - 1] !== zero));
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    let end = to;
    while (end - from - 1 > this.least && bytes[end - 1] === zero) end -= 1;
    const digits = Math.max(0, end - from - 1);
    if (digits === 0 && this.least === 0) return out;
    bytes[out] = point;
    return putZeros(bytes, put(bytes, from + 1, from + 1 + digits, out + 1), this.least - digits);
  }
}

class NumberForm implements ValueForm {
  readonly #whole: number;
  readonly #fraction: Fraction;

  constructor(form: WrittenForm) {
    this.#whole = form.whole ?? 1;
    this.#fraction = new Fraction(form);
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const first = bytes[from] === minus ? from + 1 : from;
    let at = -1;
    for (let place = first; place < to; place += 1) {
      if (bytes[place] === point && at < 0) at = place;
      // text, or a number with an exponent
      else if (!isDigit(bytes[place])) return true;
    }
    if (first === to || (at === first && to - first === 1)) return true;
    if (at < 0) at = to;
    return at - first >= this.#whole && this.#fraction.isKept(bytes, at, to);
  }

  longest(length: number): number {
    return length + this.#whole + this.#fraction.least + 1;
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    const first = bytes[from] === minus ? from + 1 : from;
    let at = first;
    while (at < to && bytes[at] !== point) at += 1;
    let end = put(bytes, from, first, out);
    end = putZeros(bytes, end, this.#whole - (at - first));
    return this.#fraction.write(bytes, at, to, put(bytes, first, at, end));
  }
}

/** The form of the digits of a second in a time, or in a date with a time. */
class SecondForm implements ValueForm {
  readonly #fraction: Fraction;

  constructor(form: WrittenForm) {
    this.#fraction = new Fraction(form);
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const at = this.#secondEnd(bytes, from, to);
    return at < 0 || this.#fraction.isKept(bytes, at, this.#fractionEnd(bytes, at, to));
  }

  longest(length: number): number {
    return length + this.#fraction.least + 1;
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    const at = this.#secondEnd(bytes, from, to);
    const end = this.#fractionEnd(bytes, at, to);
    const written = this.#fraction.write(bytes, at, end, put(bytes, from, at, out));
    return put(bytes, end, to, written);
  }

  /** -1: the text is no time */
  #secondEnd(bytes: Uint8Array, from: number, to: number): number {
    // years of more than four digits are text
    const at = from + (bytes[from + 2] === colon ? 2 : 13);
    const isTime =
      bytes[at] === colon &&
      at + 6 <= to &&
      bytes[at + 3] === colon &&
      isDigit(bytes[at + 4]) &&
      isDigit(bytes[at + 5]);
    return isTime ? at + 6 : -1;
  }

  #fractionEnd(bytes: Uint8Array, at: number, to: number): number {
    if (bytes[at] !== point || at === to) return at;
    let end = at + 1;
    while (end < to && isDigit(bytes[end])) end += 1;
    return end;
  }
}

/** The one value that the XSD allows, as it is written there: validators compare texts. Another value, of a document that is not valid, keeps its own form. */
class FixedForm implements ValueForm {
  readonly #fixed: Uint8Array;
  readonly #value: string;
  readonly #others: ValueForm | null;

  constructor(fixed: string, others: ValueForm | null) {
    const text = fixed.trim();
    this.#fixed = new TextEncoder().encode(text);
    this.#value = canonicalItems(text);
    this.#others = others;
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.#isFixed(bytes, from, to)) return this.#others?.isKept(bytes, from, to) ?? true;
    return to - from === this.#fixed.length && this.#fixed.every((byte, at) => bytes[from + at] === byte);
  }

  longest(length: number): number {
    return Math.max(this.#fixed.length, this.#others?.longest(length) ?? 0);
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    if (!this.#isFixed(bytes, from, to)) return this.#others!.write(bytes, from, to, out);
    bytes.set(this.#fixed, out);
    return out + this.#fixed.length;
  }

  #isFixed(bytes: Uint8Array, from: number, to: number): boolean {
    return canonicalItems(utf8Text(bytes.subarray(from, to))) === this.#value;
  }
}

/**
 * Returns a canonical text for a value, or for the items of a list, so that equal values have equal texts. Values that are neither
 * numbers nor flags stay unchanged.
 */
function canonicalItems(text: string): string {
  return text.split(/\s+/).map(canonicalItem).join(' ');
}

function canonicalItem(item: string): string {
  if (item === '1' || item === 'true') return '1';
  if (item === '0' || item === 'false') return '0';
  const decimal = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(item);
  if (decimal !== null && item !== '') {
    const [, sign, whole = '', fraction = ''] = decimal;
    const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
    return sign === '-' && digits !== '0' ? `-${digits}` : digits;
  }
  return /^[+-]?[\d.]+[eE][+-]?\d+$/.test(item) ? String(Number(item)) : item;
}

/** A list, with a blank between its items. */
class ListForm implements ValueForm {
  readonly #item: ValueForm;

  constructor(item: ValueForm) {
    this.#item = item;
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to;) {
      const end = this.#itemEnd(bytes, at, to);
      if (!this.#item.isKept(bytes, at, end)) return false;
      at = end + 1;
    }
    return true;
  }

  longest(length: number): number {
    return length * (this.#item.longest(1) + 1);
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    let end = out;
    for (let at = from; at < to;) {
      const itemEnd = this.#itemEnd(bytes, at, to);
      const isKept = this.#item.isKept(bytes, at, itemEnd);
      end = isKept ? put(bytes, at, itemEnd, end) : this.#item.write(bytes, at, itemEnd, end);
      if (itemEnd < to) bytes[end++] = blank;
      at = itemEnd + 1;
    }
    return end;
  }

  #itemEnd(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && bytes[at] !== blank) at += 1;
    return at;
  }
}

// Restores the original forms of values, which are kept beside the rows (`_lexical`): plain values are written into the cells.

interface RowsAsWritten {
  readonly blocks: RowBlocks;
  /**
   * Returns the values that are not in cells, in the order of the rows, once a block has been read: names, which depend on their
   * namespaces, and entries without a row.
   */
  left(): readonly RowStream<LexicalRow>[];
}

interface WrittenOptions {
  /** columns of a row */
  readonly columns: readonly RowColumn[];
  /** index of the row key's column */
  readonly keyColumn: number;
  /** asked for when there is a block */
  readonly entries: () => Promise<readonly RowStream<LexicalRow>[]>;
}

export function rowsAsWritten(blocks: RowBlocks, options: WrittenOptions): RowsAsWritten {
  const { columns, keyColumn, entries } = options;
  const places = new Map<string, number>();
  for (const [at, { column }] of columns.entries())
    if (column.role === 'value' && !holdsNames(column.sourceType)) places.set(column.name, at);
  let streams: WrittenEntries[] | null = null;
  const rewrite = async (block: RowBlock, buffers: SpareBuffers): Promise<RowBlock> => {
    streams ??= (await entries()).map((own) => new WrittenEntries(own));
    const rows = { block, width: columns.length * 2, keyCell: keyColumn * 2 };
    const found: WrittenValue[] = [];
    for (const own of streams) await own.take(rows, places, found);
    return found.length === 0 ? block : withValues(block, found, buffers);
  };
  const rewritten = new RewrittenBlocks(blocks, rewrite);
  return {
    blocks: {
      next: async () => {
        const block = await rewritten.next();
        if (block === null) for (const own of streams ?? []) own.letGo();
        return block;
      },
      giveBack: (block) => rewritten.giveBack(block),
    },
    left: () => (streams ?? []).filter((own) => own.isOpen),
  };
}

interface WrittenValue {
  /** index of the cell */
  readonly cell: number;
  readonly content: string;
}

interface KeyedRows {
  readonly block: RowBlock;
  /** cells of a row, and the index of the key's cell */
  readonly width: number;
  readonly keyCell: number;
}

const utf8 = new TextEncoder();

function withValues(block: RowBlock, values: readonly WrittenValue[], buffers: SpareBuffers): RowBlock {
  let room = 0;
  for (const { content } of values) room += content.length * 3;
  const { bytes, cells, rows } = copyWithRoom(block, room, buffers);
  let end = block.bytes.length;
  for (const { cell, content } of values) {
    cells[cell] = end;
    end += utf8.encodeInto(content, bytes.subarray(end)).written;
    cells[cell + 1] = end;
  }
  return { bytes: bytes.subarray(0, end), cells, rows };
}

/** Entries of a table, of which those are left that no cell took. */
class WrittenEntries implements RowStream<LexicalRow> {
  readonly #entries: RowStream<LexicalRow>;
  /** entries that the previous blocks left over */
  #left: LexicalRow[] = [];
  #next = 0;
  /** no block has rows after those */
  #isLetGo = false;

  constructor(entries: RowStream<LexicalRow>) {
    this.#entries = entries;
  }

  /** True if there are entries, or if more may follow. */
  get isOpen(): boolean {
    return this.#next < this.#left.length || this.#entries.head !== null;
  }

  get head(): LexicalRow | null {
    return this.#left[this.#next] ?? (this.#isLetGo ? this.#entries.head : null);
  }

  advance(): Promise<void> | undefined {
    if (this.#next >= this.#left.length) return this.#entries.advance();
    this.#next += 1;
    if (this.#next === this.#left.length) {
      this.#left = [];
      this.#next = 0;
    }
    return undefined;
  }

  letGo(): void {
    this.#isLetGo = true;
  }

  /** Adds the values for cells of the block, by `places` of columns, to `found`. */
  async take(rows: KeyedRows, places: ReadonlyMap<string, number>, found: WrittenValue[]): Promise<void> {
    if (this.#isLetGo) return;
    const entries = this.#entries;
    const { block, width } = rows;
    const last = block.rows - 1;
    if (!hasWholeKey(rows, last)) return this.letGo();
    let row = 0;
    for (let entry = entries.head; entry !== null; entry = entries.head) {
      const place = places.get(entry.columnName);
      const isKey = wholeKey.test(entry.rowKey);
      if (isKey) {
        if (orderOf(entry.rowKey, rows, last) > 0) return;
        row = rowFrom(entry.rowKey, rows, row);
      }
      if (isKey && place !== undefined && orderOf(entry.rowKey, rows, row) === 0)
        found.push({ cell: row * width + place * 2, content: entry.content });
      else this.#left.push(entry);
      const wait = entries.advance();
      if (wait !== undefined) await wait;
    }
  }
}

const wholeKey = /^[1-9]\d*$/;

function hasWholeKey({ block: { bytes, cells }, width, keyCell }: KeyedRows, row: number): boolean {
  const from = cells[row * width + keyCell]!;
  return from >= 0 && bytes[from]! > 0x30 && bytes[from]! <= 0x39;
}

/** Above 0: the key is greater than that of the row. Digits, without zeros before them. */
function orderOf(key: string, { block: { bytes, cells }, width, keyCell }: KeyedRows, row: number): number {
  const from = cells[row * width + keyCell]!;
  let order = key.length - (cells[row * width + keyCell + 1]! - from);
  for (let at = 0; order === 0 && at < key.length; at += 1) order = key.charCodeAt(at) - bytes[from + at]!;
  return order;
}

/** Returns the first row from `from` on whose key is not less than `key`. It is mostly near. The key of the last row must not be less. */
function rowFrom(key: string, rows: KeyedRows, from: number): number {
  const last = rows.block.rows - 1;
  let low = from;
  let high = from;
  for (let step = 1; high < last && orderOf(key, rows, high) > 0; step *= 2) {
    low = high + 1;
    high = Math.min(last, high + step);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orderOf(key, rows, middle) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Writes dates with times in their original form: the instants with the offsets from UTC that are kept beside them
// (docs/decisions/model/offsets-of-times.md).

/** `columns`: of a row. */
export function withOffsets(blocks: RowBlocks, columns: readonly RowColumn[]): RowBlocks {
  const own = columns.map(({ column }) => column);
  const times = own.flatMap((_, at) => (hasOffsetBehind(own, at) ? [at] : []));
  if (times.length === 0) return blocks;
  return new RewrittenBlocks(blocks, (block, buffers) =>
    atOffsets(block, times, columns.length * 2, buffers),
  );
}

/** the number of bytes that an offset has more than `Z` */
const addedBytes = 5;

/** `times`: columns whose offset is in the next one; `width`: cells of a row. */
function atOffsets(
  block: RowBlock,
  times: readonly number[],
  width: number,
  buffers: SpareBuffers,
): RowBlock {
  const { cells, rows } = block;
  let room = 0;
  const end = rows * width;
  for (const time of times)
    for (let at = time * 2; at < end; at += width)
      if (cells[at]! >= 0 && cells[at + 2]! >= 0) room += cells[at + 1]! - cells[at]! + addedBytes;
  if (room === 0) return block;
  const written = copyWithRoom(block, room, buffers);
  const { bytes } = written;
  let to = block.bytes.length;
  for (const time of times)
    for (let at = time * 2; at < end; at += width) {
      if (cells[at]! < 0 || cells[at + 2]! < 0) continue;
      const minutes = minutesIn(bytes, cells[at + 2]!, cells[at + 3]!);
      const from = to;
      to = writeAtOffset(bytes, cells[at]!, cells[at + 1]!, minutes, from);
      if (to === from) continue;
      written.cells[at] = from;
      written.cells[at + 1] = to;
    }
  return written;
}

/** 14:00, the most that an offset may be */
const maxMinutes = 840;

const MINUS = 45;
const ZERO = 48;

/** NaN: they are no minutes of an offset. */
function minutesIn(bytes: Uint8Array, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  let minutes = 0;
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    minutes = minutes * 10 + digit;
  }
  return minutes > maxMinutes ? NaN : isNegative ? -minutes : minutes;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO;
}

function putTwoDigits(bytes: Uint8Array, at: number, value: number): void {
  const tens = Math.trunc(value / 10);
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + value - tens * 10;
}

const minutesOfDay = 1440;
/** `2024-01-31T10:00:00Z` */
const shortestTime = 20;

/** Writes the instant [start, end), given in UTC, with the offset at `out`. Returns its end, or `out` if it is not such an instant. */
function writeAtOffset(bytes: Uint8Array, start: number, end: number, minutes: number, out: number): number {
  if (
    end - start < shortestTime ||
    bytes[end - 1] !== 90 ||
    bytes[start + 10] !== 84 ||
    Number.isNaN(minutes)
  )
    return out;
  bytes.copyWithin(out, start, end - 1);
  let clock = twoDigits(bytes, start + 11) * 60 + twoDigits(bytes, start + 14) + minutes;
  if (clock < 0) {
    clock += minutesOfDay;
    toDayBefore(bytes, out);
  } else if (clock >= minutesOfDay) {
    clock -= minutesOfDay;
    toDayAfter(bytes, out);
  }
  const hours = Math.trunc(clock / 60);
  putTwoDigits(bytes, out + 11, hours);
  putTwoDigits(bytes, out + 14, clock - hours * 60);
  const zone = out + end - 1 - start;
  const ahead = Math.abs(minutes);
  const hoursAhead = Math.trunc(ahead / 60);
  bytes[zone] = minutes < 0 ? MINUS : 43;
  putTwoDigits(bytes, zone + 1, hoursAhead);
  bytes[zone + 3] = 58;
  putTwoDigits(bytes, zone + 4, ahead - hoursAhead * 60);
  return zone + 6;
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function lastDayOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : daysOfMonth[month - 1]!;
}

function yearAt(bytes: Uint8Array, date: number): number {
  return twoDigits(bytes, date) * 100 + twoDigits(bytes, date + 2);
}

function putDate(bytes: Uint8Array, date: number, year: number, month: number, day: number): void {
  const century = Math.trunc(year / 100);
  putTwoDigits(bytes, date, century);
  putTwoDigits(bytes, date + 2, year - century * 100);
  putTwoDigits(bytes, date + 5, month);
  putTwoDigits(bytes, date + 8, day);
}

function toDayBefore(bytes: Uint8Array, date: number): void {
  const year = yearAt(bytes, date);
  const month = twoDigits(bytes, date + 5);
  const day = twoDigits(bytes, date + 8);
  if (day > 1) putTwoDigits(bytes, date + 8, day - 1);
  else if (month > 1) putDate(bytes, date, year, month - 1, lastDayOf(year, month - 1));
  else putDate(bytes, date, year - 1, 12, 31);
}

function toDayAfter(bytes: Uint8Array, date: number): void {
  const year = yearAt(bytes, date);
  const month = twoDigits(bytes, date + 5);
  const day = twoDigits(bytes, date + 8);
  if (day < lastDayOf(year, month)) putTwoDigits(bytes, date + 8, day + 1);
  else if (month < 12) putDate(bytes, date, year, month + 1, 1);
  else putDate(bytes, date, year + 1, 1, 1);
}
