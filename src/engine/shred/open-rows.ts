/** The rows of the open elements. Their encoded values are in one arena, which works as a stack because inner rows close first. */
import type { Column } from '../model/relational-model.ts';
import type { CompiledPart, CompiledPlan, CompiledTable } from './compiled-plan.ts';
import {
  rowEncoderFor,
  type EncodingName,
  type RowEncoder,
  type RowOutput,
  rowFormFor,
  type RowForm,
} from './row-output.ts';
import {
  ROW_FLOATS,
  ROW_INTS,
  ROW_MARK,
  ROW_NUMBER,
  ROW_SLOTS,
  ROW_TABLE,
  SLOT_FREE,
  SLOT_TAKEN,
  type ShredState,
} from './open-elements.ts';
import { offsetMinutes } from './calendar.ts';
import { EMPTY, UNCONVERTED } from './conversion.ts';
import type { ByteBuffer } from './byte-buffer.ts';

const utf8 = new TextEncoder();

const largeRowBytes = 1024 * 1024;

export class OpenRows {
  readonly #state: ShredState;
  readonly #plan: CompiledPlan;
  readonly #output: RowOutput;
  readonly #encoder: RowEncoder;
  readonly #encoding: EncodingName;
  /** indexed by table */
  readonly #forms: RowForm[] = [];
  readonly #rowKeys: RowKeys;
  /** number of the document that rows are of */
  documentNumber = 0;

  constructor(
    state: ShredState,
    plan: CompiledPlan,
    output: RowOutput,
    encoding: EncodingName,
    rowKeys: RowKeys,
  ) {
    this.#state = state;
    this.#plan = plan;
    this.#output = output;
    this.#encoder = rowEncoderFor(encoding);
    this.#encoding = encoding;
    this.#rowKeys = rowKeys;
  }

  top(): number {
    return this.#state.rowTop;
  }

  table(row: number): CompiledTable {
    return this.#plan.tables[this.#state.rows[row * ROW_INTS + ROW_TABLE]!]!;
  }

  /** Returns the number of the row in its table. `RowKeys` determines the key that is written. */
  number(row: number): number {
    return this.#state.rowNumbers[row * ROW_FLOATS + ROW_NUMBER]!;
  }

  /** Its key as it is written. */
  key(row: number): number | string {
    return this.#rowKeys.key(this.number(row));
  }

  /** Number that the next row in `table` is going to have. */
  nextNumber(table: CompiledTable): number {
    return this.#state.lastNumbers[table.index]! + 1;
  }

  /** A row in `table`, with the next number there. */
  open(table: CompiledTable): number {
    const state = this.#state;
    state.reserveRow(table.slotCount);
    const row = ++state.rowTop;
    const number = ++state.lastNumbers[table.index]!;
    const { rows, slotTop } = state;
    rows[row * ROW_INTS + ROW_TABLE] = table.index;
    rows[row * ROW_INTS + ROW_SLOTS] = slotTop;
    rows[row * ROW_INTS + ROW_MARK] = state.arena.length;
    state.rowNumbers[row * ROW_FLOATS + ROW_NUMBER] = number;
    state.slotTop = slotTop + table.slotCount * 2;
    state.slots.fill(SLOT_FREE, slotTop, state.slotTop);
    this.setKey(row, table.rowKeyColumn, number);
    for (const column of table.repeatedKeys) this.setKey(row, column, number);
    return row;
  }

  isSet(row: number, column: number): boolean {
    return this.#state.slots[this.#slotOf(row, column)]! >= 0;
  }

  /** Marks a slot as used without a value. Returns false if it was already used. */
  mark(row: number, slot: number): boolean {
    const at = this.#slotOf(row, slot);
    if (this.#state.slots[at] !== SLOT_FREE) return false;
    this.#state.slots[at] = SLOT_TAKEN;
    return true;
  }

  /** A key by its number: the row's own, its parent's, the document's. */
  setKey(row: number, column: number, number: number): void {
    const start = this.#state.arena.length;
    this.#rowKeys.push(this.#state.arena, number);
    this.#set(row, column, start);
  }

  setInteger(row: number, column: number, value: number): void {
    const start = this.#state.arena.length;
    this.#state.arena.pushInteger(value);
    this.#set(row, column, start);
  }

  setBoolean(row: number, column: number, value: boolean): void {
    const start = this.#state.arena.length;
    this.#state.arena.pushAscii(value ? this.#encoder.trueText : this.#encoder.falseText);
    this.#set(row, column, start);
  }

  /** Structure text: names of elements and types. */
  setAscii(row: number, column: number, text: string): void {
    const bytes = utf8.encode(text);
    this.setRaw(row, column, bytes, 0, bytes.length);
  }

  /** Text as it is, escaped. */
  setRaw(row: number, column: number, source: Uint8Array, from: number, to: number): void {
    const start = this.#state.arena.length;
    this.#encoder.pushText(this.#state.arena, source, from, to);
    this.#set(row, column, start);
  }

  /** Converts a source value for its column and sets it. Returns the conversion's result (src/engine/shred/conversion.ts). */
  setValue(row: number, column: number, source: Uint8Array, from: number, to: number): number {
    const start = this.#state.arena.length;
    const result = this.table(row).conversions[column]!(source, from, to, this.#state.arena);
    if (result === EMPTY || result === UNCONVERTED) this.#state.arena.length = start;
    else {
      this.#set(row, column, start);
      if (this.table(row).keepsOffset[column] === 1) {
        const offset = offsetMinutes(source, from, to);
        if (offset !== null) this.setInteger(row, column + 1, offset);
      }
    }
    return result;
  }

  /** Attributes that only a wildcard allows, kept in one column as a line each: `name="value"`. */
  appendAnyAttribute(row: number, column: number, name: string, value: string): void {
    const escaped = value
      .replaceAll('&', '&amp;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
      .replaceAll('\r', '&#13;');
    const goesOn = this.isSet(row, column);
    const line = utf8.encode(`${goesOn ? '\n' : ''}${name}="${escaped}"`);
    const at = this.#slotOf(row, column);
    const { arena, slots } = this.#state;
    const before = goesOn ? arena.bytes.slice(slots[at]!, slots[at + 1]!) : new Uint8Array(0);
    const start = arena.length;
    arena.push(before, 0, before.length);
    // each line has a quote, so both parts may be quoted: the text has one quote before it and one after it
    const inner = goesOn && this.#encoder.quote !== null ? arena.length - 1 : null;
    this.#encoder.pushText(arena, line, 0, line.length);
    if (inner !== null) {
      arena.bytes.copyWithin(inner, inner + 2, arena.length);
      arena.length -= 2;
    }
    this.#set(row, column, start);
  }

  /** Writes the innermost row to its tables' output and forgets it. */
  close(extra: readonly (string | null)[]): void {
    const state = this.#state;
    const { arena, slots } = state;
    const row = state.rowTop;
    const { columns, parts } = this.table(row);
    const base = this.#slotOf(row, 0);
    const mark = state.rows[row * ROW_INTS + ROW_MARK]!;
    for (let part = 0; part < parts.length; part += 1) {
      const { index, start: first, end } = parts[part]!;
      const form = this.#forms[index] ?? this.#formOf(parts[part]!, columns);
      const out = this.#output.buffer(index);
      // a value so large that doubling the buffer would be costly
      if (arena.length - mark > largeRowBytes) out.ensure(arena.length - mark + (end - first) * 3 + 1);
      let extraAt = 0;
      for (let column = first; column < end; column += 1) {
        const at = column - first;
        const start = slots[base + column * 2]!;
        if (start >= 0) form.value(out, at, arena.bytes, start, slots[base + column * 2 + 1]!);
        else if (columns[column]!.role === 'extra') {
          const value = extra[extraAt++] ?? null;
          if (value === null) form.nothing(out, at);
          else {
            const bytes = utf8.encode(value);
            form.text(out, at, bytes, 0, bytes.length);
          }
        } else if (columns[column]!.role === 'document') {
          form.begin(out, at);
          this.#rowKeys.push(out, this.documentNumber);
        } else form.nothing(out, at);
      }
      form.end(out);
      this.#output.rowWritten(index);
    }
    if (mark === 0) arena.clear();
    else arena.length = mark;
    state.slotTop = base;
    state.rowTop = row - 1;
  }

  #formOf({ index, start, end }: CompiledPart, columns: readonly Column[]): RowForm {
    return (this.#forms[index] = rowFormFor(this.#encoding, columns.slice(start, end)));
  }

  #slotOf(row: number, slot: number): number {
    return this.#state.rows[row * ROW_INTS + ROW_SLOTS]! + slot * 2;
  }

  #set(row: number, column: number, start: number): void {
    const at = this.#slotOf(row, column);
    this.#state.slots[at] = start;
    this.#state.slots[at + 1] = this.#state.arena.length;
  }
}

// The form of row keys in the output. Inside the engine a row key is the row's number in its table: counted over the job (`sequence`), or
// over its document (`hash`). The output has that number, or the number added to a base that follows from the document's content.
//
// With `hash` the keys of a document are the same wherever and whenever it is loaded, without communication between installations. They
// still ascend in document order, which hashes of rows' paths would not do, and this order allows writing documents back in one pass.
// Bases are 63-bit values spread evenly, so in a table with d documents of n rows each, two collide with a probability of about d² n /
// 2^63: for a million documents of a thousand rows, 1 in 10,000.

const low = 1_000_000_000;
/** the high part's bound: with 2^40 rows of one document a key is still below 2^63 */
const high = 9_223_371_000;

export class RowKeys {
  /** base of the present document in units of 10^9, and the rest; -1: no base */
  #high = -1;
  #low = 0;

  /** The keys of the document with this SHA-256 (hex); null: plain numbers. */
  begin(sha256: string | null): void {
    if (sha256 === null) {
      this.#high = -1;
      return;
    }
    this.#high = Math.floor((Number.parseInt(sha256.slice(0, 12), 16) / 2 ** 48) * high);
    this.#low = Math.floor((Number.parseInt(sha256.slice(12, 20), 16) / 2 ** 32) * low);
  }

  /** The keys of the document with this base. */
  resume(base: bigint): void {
    this.#high = Number(base / BigInt(low));
    this.#low = Number(base % BigInt(low));
  }

  /** The offset that is added to a row's number. */
  get base(): bigint {
    return this.#high < 0 ? 0n : BigInt(this.#high) * BigInt(low) + BigInt(this.#low);
  }

  /** The key of row `number` as it is written: a number, or decimal digits. */
  key(number: number): number | string {
    if (this.#high < 0) return number;
    const rest = this.#low + number;
    const carry = Math.floor(rest / low);
    const whole = this.#high + carry;
    return whole === 0 ? String(rest) : `${whole}${String(rest - carry * low).padStart(9, '0')}`;
  }

  push(out: ByteBuffer, number: number): void {
    if (this.#high < 0) out.pushInteger(number);
    else out.pushAscii(this.key(number) as string);
  }
}
