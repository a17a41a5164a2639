/** The members of JSON Lines that the kernel knows. For each learned column: the bytes before its values, and the values' form. */
import type { Column, ColumnRole } from '../../model/relational-model.ts';
import { isNumber, memberPrefix } from '../json-lines/members.ts';
import * as layout from './layout.ts';
import type { KernelMemory } from './layout.ts';

/** Names of all columns with the bytes around them. */
const PREFIX_BYTES = 4 * 1024 * 1024;
/** The most bytes that a value needs beyond its own: quotes, or a zero before a point. */
const AROUND_BYTES = 3;
/** Keys and places, which are counted here. */
const counted: ReadonlySet<ColumnRole> = new Set([
  'row_key',
  'parent_key',
  'child_key',
  'position',
  'folded_position',
  'document',
]);
/** the end of a line */
const END_BYTES = 2;

export class LearnedMembers {
  readonly #members: Int32Array;
  readonly #prefixes: Uint8Array;
  #prefixesUsed = 0;
  /** indexed by table */
  readonly #rowBytes: number[] = [];

  /** Returns the most bytes that this number of columns needs. */
  static bytesFor(columnCount: number): number {
    return columnCount * layout.MEMBER_INTS * 4 + PREFIX_BYTES + 2 * layout.MARGIN_BYTES;
  }

  constructor(columnCount: number, memory: KernelMemory) {
    this.#members = memory.ints(columnCount * layout.MEMBER_INTS);
    this.#prefixes = memory.bytes(PREFIX_BYTES);
    memory.control[layout.MEMBERS] = this.#members.byteOffset;
  }

  /** The columns of a row of `table`, `first` being the number of the first among all; false: there is no room for them. */
  learn(table: number, first: number, columns: readonly Column[]): boolean {
    let used = this.#prefixesUsed;
    for (const [at, column] of columns.entries()) {
      const prefix = memberPrefix(column.name, at === 0);
      if (used + prefix.length > this.#prefixes.length) return false;
      this.#prefixes.set(prefix, used);
      const member = (first + at) * layout.MEMBER_INTS;
      this.#members[member] = this.#prefixes.byteOffset + used;
      this.#members[member + 1] = prefix.length;
      this.#members[member + 2] = memberForm(column);
      used += prefix.length;
    }
    this.#rowBytes[table] = used - this.#prefixesUsed + columns.length * AROUND_BYTES + END_BYTES;
    this.#prefixesUsed = used;
    return true;
  }

  /** Returns the bytes of a row of the table without its values. */
  rowBytes(table: number): number {
    return this.#rowBytes[table]!;
  }
}

function memberForm({ role, type }: Column): number {
  if (type.list === true) return layout.MEMBER_LIST + formOf(type.kind);
  return counted.has(role) && isNumber(type.kind) ? layout.MEMBER_DIGITS : formOf(type.kind);
}

function formOf(kind: Column['type']['kind']): number {
  if (kind === 'boolean') return layout.MEMBER_BOOLEAN;
  return isNumber(kind) ? layout.MEMBER_NUMBER : layout.MEMBER_TEXT;
}
