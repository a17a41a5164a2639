/** Values that an open element's rules hold: bytes in one buffer and fields in one array, found by their hashes. */
import type { Place } from './broken-rules.ts';
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { slotOf } from './seeded-hash.ts';

/** An entry: int32 fields. */
const ENTRY_INTS = 8;
const HASH = 0;
/** the rule it is a value of; with INNER added for those of elements inside */
const RULE = 1;
const START = 2;
const LENGTH = 3;
const SLOT = 4;
/** of references */
const COUNT = 5;
/** 0: not known */
const LINE = 6;
const COLUMN = 7;

const fewSlots = 64;
/** of values that were held before, memory for so many is kept */
const keptSlots = 64 * 1024;

/** Added to a rule: keys of elements inside that have ended. */
export const INNER = 0x40000000;

export class RuleValues {
  /** of entries */
  count = 0;
  /** entry + 1, 0: free; twice as many as entries, or more */
  #slots = new Int32Array(fewSlots);
  #entries = new Int32Array((fewSlots / 2) * ENTRY_INTS);
  #bytes = new ByteBuffer(1024);

  /** The entry of a rule's value; -1: there is none. `hash`: that of the bytes. */
  find(rule: number, bytes: Uint8Array, length: number, hash: number): number {
    return this.#slots[this.#search(rule, bytes, 0, length, hash)]! - 1;
  }

  /** Adds a value unless it is there; answers its entry, or -1 - that of the one that is there. */
  add(rule: number, bytes: Uint8Array, length: number, hash: number): number {
    const slot = this.#search(rule, bytes, 0, length, hash);
    const known = this.#slots[slot]!;
    return known === 0 ? this.#insert(slot, rule, bytes, 0, length, hash) : -known;
  }

  /** Adds what `other` has as `entry`, for a rule; false: it is there. */
  addOf(other: RuleValues, entry: number, rule: number): boolean {
    const at = entry * ENTRY_INTS;
    const start = other.#entries[at + START]!;
    const end = start + other.#entries[at + LENGTH]!;
    const hash = other.#entries[at + HASH]!;
    const slot = this.#search(rule, other.#bytes.bytes, start, end, hash);
    if (this.#slots[slot] !== 0) return false;
    this.#insert(slot, rule, other.#bytes.bytes, start, end, hash);
    return true;
  }

  /** Whether the value of `entry` is there for another rule, too. */
  has(entry: number, rule: number): boolean {
    const at = entry * ENTRY_INTS;
    const start = this.#entries[at + START]!;
    const end = start + this.#entries[at + LENGTH]!;
    return this.#slots[this.#search(rule, this.#bytes.bytes, start, end, this.#entries[at + HASH]!)] !== 0;
  }

  rule(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + RULE]!;
  }

  length(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + LENGTH]!;
  }

  bytes(entry: number): Uint8Array {
    const at = entry * ENTRY_INTS;
    const start = this.#entries[at + START]!;
    return this.#bytes.bytes.subarray(start, start + this.#entries[at + LENGTH]!);
  }

  /** How often it was met. */
  times(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + COUNT]!;
  }

  countOneMore(entry: number): void {
    this.#entries[entry * ENTRY_INTS + COUNT]! += 1;
  }

  place(entry: number): Place {
    const at = entry * ENTRY_INTS;
    return { line: this.#entries[at + LINE]!, column: this.#entries[at + COLUMN]! };
  }

  setPlace(entry: number, { line, column }: Place): void {
    const at = entry * ENTRY_INTS;
    this.#entries[at + LINE] = line;
    this.#entries[at + COLUMN] = column;
  }

  clear(): void {
    if (this.#slots.length > keptSlots) {
      this.#slots = new Int32Array(fewSlots);
      this.#entries = new Int32Array((fewSlots / 2) * ENTRY_INTS);
    } else
      for (let entry = 0; entry < this.count; entry += 1)
        this.#slots[this.#entries[entry * ENTRY_INTS + SLOT]!] = 0;
    this.#bytes.clear();
    this.count = 0;
  }

  #insert(slot: number, rule: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const entry = this.count;
    const entries = this.#entries;
    const at = entry * ENTRY_INTS;
    entries[at + HASH] = hash;
    entries[at + RULE] = rule;
    entries[at + START] = this.#bytes.length;
    entries[at + LENGTH] = end - start;
    entries[at + SLOT] = slot;
    entries[at + COUNT] = 1;
    entries[at + LINE] = 0;
    entries[at + COLUMN] = 0;
    this.#slots[slot] = entry + 1;
    this.#bytes.push(bytes, start, end);
    this.count += 1;
    if (this.count * 2 >= this.#slots.length) this.#grow();
    return entry;
  }

  #grow(): void {
    const entries = new Int32Array(this.#entries.length * 2);
    entries.set(this.#entries);
    this.#entries = entries;
    const slots = new Int32Array(this.#slots.length * 2);
    this.#slots = slots;
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.count; entry += 1) {
      const at = entry * ENTRY_INTS;
      let slot = slotOf(entries[at + HASH]!, entries[at + RULE]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
      entries[at + SLOT] = slot;
    }
  }

  /** The slot that has the value, or is free for it. */
  #search(rule: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const entries = this.#entries;
    const mask = slots.length - 1;
    let slot = slotOf(hash, rule) & mask;
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      const at = (entry - 1) * ENTRY_INTS;
      if (
        entries[at + HASH] === hash &&
        entries[at + RULE] === rule &&
        entries[at + LENGTH] === end - start &&
        this.#isAt(entries[at + START]!, bytes, start, end)
      )
        return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isAt(from: number, bytes: Uint8Array, start: number, end: number): boolean {
    const held = this.#bytes.bytes;
    for (let at = start; at < end; at += 1) if (held[from + at - start] !== bytes[at]) return false;
    return true;
  }
}
