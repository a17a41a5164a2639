/** The rows of the open elements: values lie encoded in one arena that works as a stack, as rows close inside out. */
import { ByteBuffer } from './byte-buffer.ts';
import type { CompiledTable } from './compiled-plan.ts';
import type { RowEncoder } from './row-encoding.ts';
import type { RowKeys } from './row-keys.ts';
import type { RowOutput } from './row-output.ts';
import { EMPTY, MISFIT } from './value-conversion.ts';

const utf8 = new TextEncoder();

export class OpenRows {
  readonly #output: RowOutput;
  readonly #encoder: RowEncoder;
  readonly #rowKeys: RowKeys;
  readonly #arena = new ByteBuffer(64 * 1024);
  readonly #tables: CompiledTable[] = [];
  #keys = new Float64Array(64);
  #bases = new Int32Array(64);
  #marks = new Int32Array(64);
  /** per row and slot: start and end in the arena; start -1 for no value, -2 for a slot taken without one */
  #slots = new Int32Array(1024);
  #slotTop = 0;
  #top = -1;

  constructor(output: RowOutput, encoder: RowEncoder, rowKeys: RowKeys) {
    this.#output = output;
    this.#encoder = encoder;
    this.#rowKeys = rowKeys;
  }

  reset(): void {
    this.#top = -1;
    this.#slotTop = 0;
    this.#arena.length = 0;
  }

  top(): number {
    return this.#top;
  }

  table(row: number): CompiledTable {
    return this.#tables[row]!;
  }

  /** Number of the row in its table; what is written is up to `RowKeys`. */
  number(row: number): number {
    return this.#keys[row]!;
  }

  /** Its key as it is written. */
  key(row: number): number | string {
    return this.#rowKeys.key(this.#keys[row]!);
  }

  open(table: CompiledTable, key: number): number {
    const row = ++this.#top;
    if (row === this.#keys.length) this.#growRows();
    this.#tables[row] = table;
    this.#keys[row] = key;
    this.#bases[row] = this.#slotTop;
    this.#marks[row] = this.#arena.length;
    const end = this.#slotTop + table.slotCount * 2;
    if (end > this.#slots.length) this.#growSlots(end);
    this.#slots.fill(-1, this.#slotTop, end);
    this.#slotTop = end;
    this.setKey(row, table.rowKeyColumn, key);
    for (const column of table.repeatedKeys) this.setKey(row, column, key);
    return row;
  }

  isSet(row: number, column: number): boolean {
    return this.#slots[this.#bases[row]! + column * 2]! >= 0;
  }

  /** Takes a slot without a value; false when it was taken already. */
  mark(row: number, slot: number): boolean {
    const at = this.#bases[row]! + slot * 2;
    if (this.#slots[at] !== -1) return false;
    this.#slots[at] = -2;
    return true;
  }

  /** A key by its number: the row's own, its parent's, the document's. */
  setKey(row: number, column: number, number: number): void {
    const start = this.#arena.length;
    this.#rowKeys.push(this.#arena, number);
    this.#set(row, column, start);
  }

  setInteger(row: number, column: number, value: number): void {
    const start = this.#arena.length;
    this.#arena.pushInteger(value);
    this.#set(row, column, start);
  }

  setBoolean(row: number, column: number, value: boolean): void {
    const start = this.#arena.length;
    this.#arena.pushAscii(value ? this.#encoder.trueText : this.#encoder.falseText);
    this.#set(row, column, start);
  }

  /** Structure text: names of elements and types. */
  setAscii(row: number, column: number, text: string): void {
    const bytes = utf8.encode(text);
    this.setRaw(row, column, bytes, 0, bytes.length);
  }

  /** Text as it is, escaped. */
  setRaw(row: number, column: number, source: Uint8Array, from: number, to: number): void {
    const start = this.#arena.length;
    this.#encoder.pushText(this.#arena, source, from, to);
    this.#set(row, column, start);
  }

  /** A source value through its column's conversion; answers the conversion's result (value-conversion.ts). */
  setValue(row: number, column: number, source: Uint8Array, from: number, to: number): number {
    const start = this.#arena.length;
    const result = this.#tables[row]!.conversions[column]!(source, from, to, this.#arena);
    if (result === EMPTY || result === MISFIT) this.#arena.length = start;
    else this.#set(row, column, start);
    return result;
  }

  /** Attributes that only a wildcard allows, kept in one column as a line each: `name="value"`. */
  appendAnyAttribute(row: number, column: number, name: string, value: string): void {
    const escaped = value
      .replaceAll('&', '&amp;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
      .replaceAll('\r', '&#13;');
    const line = utf8.encode(`${this.isSet(row, column) ? '\n' : ''}${name}="${escaped}"`);
    const at = this.#bases[row]! + column * 2;
    const before = this.isSet(row, column)
      ? this.#arena.bytes.slice(this.#slots[at]!, this.#slots[at + 1]!)
      : new Uint8Array(0);
    const start = this.#arena.length;
    this.#arena.push(before, 0, before.length);
    this.#encoder.pushText(this.#arena, line, 0, line.length);
    this.#set(row, column, start);
  }

  /** Writes the innermost row to its tables' output and forgets it. */
  close(extra: readonly (string | null)[]): void {
    const row = this.#top;
    const { columns, parts } = this.#tables[row]!;
    const base = this.#bases[row]!;
    const { separator } = this.#encoder;
    for (let part = 0; part < parts.length; part += 1) {
      const { index, start: first, end } = parts[part]!;
      const out = this.#output.buffer(index);
      let extraAt = 0;
      for (let column = first; column < end; column += 1) {
        if (column > first) out.pushByte(separator);
        const start = this.#slots[base + column * 2]!;
        if (start >= 0) out.push(this.#arena.bytes, start, this.#slots[base + column * 2 + 1]!);
        else if (columns[column]!.role === 'extra') {
          const value = extra[extraAt++] ?? null;
          if (value === null) this.#encoder.pushNull(out);
          else {
            const bytes = utf8.encode(value);
            this.#encoder.pushText(out, bytes, 0, bytes.length);
          }
        } else this.#encoder.pushNull(out);
      }
      out.pushByte(10);
      this.#output.rowWritten(index);
    }
    this.#arena.length = this.#marks[row]!;
    this.#slotTop = base;
    this.#top = row - 1;
  }

  #set(row: number, column: number, start: number): void {
    const at = this.#bases[row]! + column * 2;
    this.#slots[at] = start;
    this.#slots[at + 1] = this.#arena.length;
  }

  #growRows(): void {
    const size = this.#keys.length * 2;
    const keys = new Float64Array(size);
    keys.set(this.#keys);
    this.#keys = keys;
    for (const name of ['bases', 'marks'] as const) {
      const grown = new Int32Array(size);
      grown.set(name === 'bases' ? this.#bases : this.#marks);
      if (name === 'bases') this.#bases = grown;
      else this.#marks = grown;
    }
  }

  #growSlots(needed: number): void {
    const grown = new Int32Array(Math.max(needed, this.#slots.length * 2));
    grown.set(this.#slots);
    this.#slots = grown;
  }
}
