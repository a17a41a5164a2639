/** The values that the rules of open elements hold: bytes in one buffer and fields in arrays, found by their hashes. */
import type { Place } from './compiled-rules.ts';
import type { TextLocation } from '../xml/tokens.ts';

/**
 * Hashes of bytes that cannot be predicted without the seed, so that no document can be made whose values collide: HalfSipHash
 * (https://github.com/veorq/SipHash) with one round per word and three at the end.
 */
export class SeededHash {
  readonly #low: number;
  readonly #high: number;

  constructor() {
    const [low, high] = crypto.getRandomValues(new Int32Array(2));
    this.#low = low!;
    this.#high = high!;
  }

  /** 32 bits. */
  of(bytes: Uint8Array, length: number): number {
    let a = this.#low;
    let b = this.#high;
    let c = this.#low ^ 0x6c796765;
    let d = this.#high ^ 0x74656462;
    const whole = length & ~3;
    // a round for each word and for the rest, and three at the end
    for (let at = 0; at <= whole + 12; at += 4) {
      const word = at < whole ? wordAt(bytes, at) : at === whole ? restAt(bytes, at, length) : 0;
      d ^= word;
      a = (a + b) | 0;
      b = ((b << 5) | (b >>> 27)) ^ a;
      a = (a << 16) | (a >>> 16);
      c = (c + d) | 0;
      d = ((d << 8) | (d >>> 24)) ^ c;
      a = (a + d) | 0;
      d = ((d << 7) | (d >>> 25)) ^ a;
      c = (c + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ c;
      c = (c << 16) | (c >>> 16);
      a ^= word;
      if (at === whole) c ^= 0xff;
    }
    return b ^ d;
  }
}

/** Returns the slot to search for a value of a rule first: mixed from the hash of the value's bytes and the rule. */
function slotOf(hash: number, rule: number): number {
  const mixed = Math.imul(hash ^ Math.imul(rule, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Returns the bytes after the last whole word, and the length. */
function restAt(bytes: Uint8Array, at: number, length: number): number {
  let word = length << 24;
  for (let i = length - 1; i >= at; i -= 1) word |= bytes[i]! << (8 * (i - at));
  return word;
}

// The values of all rules.

/** An entry: int32 fields. */
const ENTRY_INTS = 4;
const HASH = 0;
/** the rule it is a value of; with INNER added for those of elements inside */
const RULE = 1;
/** index of the value */
const VALUE = 2;
/** index of the facts about a reference, from 1; 0: the reference has occurred once, and nothing else is known */
const MEETING = 3;

/** A value, which several entries may have: int32 fields. */
const VALUE_INTS = 2;
const START = 0;
const LENGTH = 1;

/** The facts about a reference: int32 fields. */
const MEETING_INTS = 3;
const COUNT = 0;
/** 0: not known */
const LINE = 1;
const COLUMN = 2;

const fewSlots = 64;
const fewInts = 64;
const fewBytes = 1024;
/** entries that are looked at for a value's bytes */
const maxSharing = 8;
/** most slots and bytes of memory that are kept after their values have been released */
const keptSlots = 64 * 1024;
const keptBytes = 4 * 1024 * 1024;

/** Added to a rule: keys of elements inside that have ended. */
export const INNER = 0x40000000;

export class RuleValues {
  /** number of entries */
  count = 0;
  /** entry + 1, 0: free; twice as many as entries, or more */
  #slots = new Int32Array(fewSlots);
  #entries = new Int32Array(fewInts);
  #values = new Int32Array(fewInts);
  #valueCount = 0;
  #bytes = new Uint8Array(fewBytes);
  #byteCount = 0;
  #meetings = new Int32Array(fewInts);
  #meetingCount = 0;

  /** The entry of a rule's value; -1: there is none. `hash`: that of the bytes. */
  find(rule: number, bytes: Uint8Array, length: number, hash: number): number {
    return this.#slots[this.#search(rule, bytes, 0, length, hash)]! - 1;
  }

  /** Adds a value unless it exists. Returns its entry, or -1 - ENTRY with the entry of the existing one. */
  add(rule: number, bytes: Uint8Array, length: number, hash: number): number {
    const slot = this.#search(rule, bytes, 0, length, hash);
    const known = this.#slots[slot]!;
    return known === 0 ? this.#insert(slot, rule, bytes, 0, length, hash) : -known;
  }

  /** Adds the value of the entry `entry` of `other` for a rule. Returns false if it exists. */
  addOf(other: RuleValues, entry: number, rule: number): boolean {
    const start = other.#start(entry);
    const end = start + other.length(entry);
    const hash = other.#entries[entry * ENTRY_INTS + HASH]!;
    const slot = this.#search(rule, other.#bytes, start, end, hash);
    if (this.#slots[slot] !== 0) return false;
    this.#insert(slot, rule, other.#bytes, start, end, hash);
    return true;
  }

  /** True if the value of `entry` also exists for another rule. */
  has(entry: number, rule: number): boolean {
    const start = this.#start(entry);
    const end = start + this.length(entry);
    const hash = this.#entries[entry * ENTRY_INTS + HASH]!;
    return this.#slots[this.#search(rule, this.#bytes, start, end, hash)] !== 0;
  }

  rule(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + RULE]!;
  }

  length(entry: number): number {
    return this.#values[this.#entries[entry * ENTRY_INTS + VALUE]! * VALUE_INTS + LENGTH]!;
  }

  /** A copy. */
  bytes(entry: number): Uint8Array {
    const start = this.#start(entry);
    return this.#bytes.slice(start, start + this.length(entry));
  }

  /** Returns how often the value has occurred. */
  times(entry: number): number {
    const meeting = this.#entries[entry * ENTRY_INTS + MEETING]!;
    return meeting === 0 ? 1 : this.#meetings[(meeting - 1) * MEETING_INTS + COUNT]!;
  }

  countOneMore(entry: number): void {
    this.#meetings[this.#meetingOf(entry) + COUNT]! += 1;
  }

  place(entry: number): Place {
    const meeting = this.#entries[entry * ENTRY_INTS + MEETING]!;
    if (meeting === 0) return { line: 0, column: 0 };
    const at = (meeting - 1) * MEETING_INTS;
    return { line: this.#meetings[at + LINE]!, column: this.#meetings[at + COLUMN]! };
  }

  setPlace(entry: number, { line, column }: Place): void {
    const at = this.#meetingOf(entry);
    this.#meetings[at + LINE] = line;
    this.#meetings[at + COLUMN] = column;
  }

  clear(): void {
    if (this.#slots.length > keptSlots) {
      for (const large of [this.#slots, this.#entries, this.#values, this.#meetings]) giveUp(large);
      this.#slots = new Int32Array(fewSlots);
      this.#entries = new Int32Array(fewInts);
      this.#values = new Int32Array(fewInts);
      this.#meetings = new Int32Array(fewInts);
    } else this.#freeSlots();
    if (this.#bytes.length > keptBytes) {
      giveUp(this.#bytes);
      this.#bytes = new Uint8Array(fewBytes);
    }
    this.#byteCount = 0;
    this.#valueCount = 0;
    this.#meetingCount = 0;
    this.count = 0;
  }

  #freeSlots(): void {
    const slots = this.#slots;
    if (this.count * 8 > slots.length) slots.fill(0);
    else for (let entry = 0; entry < this.count; entry += 1) slots[this.#slotOf(entry)] = 0;
  }

  #slotOf(entry: number): number {
    const mask = this.#slots.length - 1;
    const at = entry * ENTRY_INTS;
    let slot = slotOf(this.#entries[at + HASH]!, this.#entries[at + RULE]!) & mask;
    while (this.#slots[slot] !== entry + 1) slot = (slot + 1) & mask;
    return slot;
  }

  #start(entry: number): number {
    return this.#values[this.#entries[entry * ENTRY_INTS + VALUE]! * VALUE_INTS + START]!;
  }

  /** Returns the address of the facts about a reference. */
  #meetingOf(entry: number): number {
    const at = entry * ENTRY_INTS + MEETING;
    if (this.#entries[at] === 0) {
      const from = this.#meetingCount * MEETING_INTS;
      if (from + MEETING_INTS > this.#meetings.length)
        this.#meetings = grownInts(this.#meetings, from + MEETING_INTS);
      this.#meetings[from + COUNT] = 1;
      this.#meetings[from + LINE] = 0;
      this.#meetings[from + COLUMN] = 0;
      this.#meetingCount += 1;
      this.#entries[at] = this.#meetingCount;
    }
    return (this.#entries[at]! - 1) * MEETING_INTS;
  }

  #insert(slot: number, rule: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const entry = this.count;
    const at = entry * ENTRY_INTS;
    if (at + ENTRY_INTS > this.#entries.length) this.#entries = grownInts(this.#entries, at + ENTRY_INTS);
    const value = this.#valueOf(bytes, start, end, hash);
    const entries = this.#entries;
    entries[at + HASH] = hash;
    entries[at + RULE] = rule;
    entries[at + VALUE] = value;
    entries[at + MEETING] = 0;
    this.#slots[slot] = entry + 1;
    this.count += 1;
    if (this.count * 2 >= this.#slots.length) this.#addSlots();
    return entry;
  }

  /**
   * Returns the index of a value and stores its bytes if they are new. Values of one element mostly belong to several rules and are added
   * one after the other, so they share their bytes.
   */
  #valueOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    for (let entry = this.count - 1; entry >= 0 && entry >= this.count - maxSharing; entry -= 1) {
      const at = entry * ENTRY_INTS;
      if (this.#entries[at + HASH] === hash && this.#isValue(this.#entries[at + VALUE]!, bytes, start, end))
        return this.#entries[at + VALUE]!;
    }
    const value = this.#valueCount;
    const at = value * VALUE_INTS;
    if (at + VALUE_INTS > this.#values.length) this.#values = grownInts(this.#values, at + VALUE_INTS);
    const from = this.#byteCount;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = grownBytes(this.#bytes, to);
    const held = this.#bytes;
    for (let i = from; i < to; i += 1) held[i] = bytes[start + i - from]!;
    this.#values[at + START] = from;
    this.#values[at + LENGTH] = end - start;
    this.#valueCount += 1;
    this.#byteCount = to;
    return value;
  }

  #addSlots(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const entries = this.#entries;
    this.#slots = slots;
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.count; entry += 1) {
      const at = entry * ENTRY_INTS;
      let slot = slotOf(entries[at + HASH]!, entries[at + RULE]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
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
        this.#isValue(entries[at + VALUE]!, bytes, start, end)
      )
        return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isValue(value: number, bytes: Uint8Array, start: number, end: number): boolean {
    const at = value * VALUE_INTS;
    if (this.#values[at + LENGTH] !== end - start) return false;
    const held = this.#bytes;
    const from = this.#values[at + START]! - start;
    for (let i = start; i < end; i += 1) if (held[from + i] !== bytes[i]) return false;
    return true;
  }
}

// Arrays that grow without copying once they are large: their address space is reserved, and they are freed at once. A copy would briefly
// need twice the memory, and allocators keep much of the memory that they have had.

/** bytes from which on an array grows in place */
const largeBytes = 1024 * 1024;
/** address space reserved for such an array, in bytes; unused space costs nothing */
const reservedBytes = 512 * 1024 * 1024;

/** Returns an array with the content of `array` and room for at least `length` bytes. */
function grownBytes(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const buffer = grownBuffer(array, length);
  const grown = new Uint8Array(buffer, 0, buffer.byteLength);
  if (buffer !== array.buffer) grown.set(array);
  return grown;
}

/** Does the same as `grownBytes` for numbers. */
function grownInts(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const buffer = grownBuffer(array, length * 4);
  const grown = new Int32Array(buffer, 0, buffer.byteLength / 4);
  if (buffer !== array.buffer) grown.set(array);
  return grown;
}

/** Frees an array that is no longer needed. */
function giveUp({ buffer }: Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>): void {
  if (buffer.resizable) buffer.resize(0);
}

/** Returns the array's own buffer if it can grow, otherwise a new one. */
function grownBuffer(
  { buffer }: Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>,
  bytes: number,
): ArrayBuffer {
  const { byteLength } = buffer;
  if (Math.max(bytes, byteLength) < largeBytes)
    return new ArrayBuffer(wholeInts(Math.max(bytes, byteLength * 2)));
  const wanted = wholeInts(Math.max(bytes, byteLength * 1.25));
  try {
    if (!buffer.resizable) return new ArrayBuffer(wanted, { maxByteLength: reservedBytes });
    buffer.resize(wanted);
    return buffer;
  } catch {
    // there is no room to reserve, or the array is larger than that
    return new ArrayBuffer(wanted);
  }
}

function wholeInts(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** The values of the rules that one open element declares. */
export class RuleScope {
  rules: readonly number[] = [];
  /** memory of its values, more or less */
  held = 0;
  /** by rule: values of keys, of references that have not occurred as keys, and of keys of elements inside */
  readonly values = new RuleValues();
  /** keyrefs that have references, in the order of their first one */
  readonly referring: number[] = [];
  /** keyed by entry: the start of references' values that are stored in a short form */
  readonly longTexts = new Map<number, string>();
  /** entries of references whose place is not known yet, each with its record of the present batch */
  readonly unplaced: number[] = [];

  begin(rules: readonly number[]): void {
    this.rules = rules;
    this.held = 0;
    this.clear();
  }

  clear(): void {
    // most elements that declare rules have few values or none, and clearing an empty table has a cost
    if (this.values.count === 0) return;
    this.values.clear();
    if (this.longTexts.size > 0) this.longTexts.clear();
    if (this.referring.length > 0) this.referring.length = 0;
    if (this.unplaced.length > 0) this.unplaced.length = 0;
  }

  /** True if a reference's value has occurred as a key, here or in elements inside. */
  isFound(entry: number, refers: number): boolean {
    return this.values.has(entry, refers) || this.values.has(entry, refers + INNER);
  }

  /**
   * Stores the places of references that are not keys yet, because their records are about to be discarded. `refers`: returns the key of
   * a keyref, or -1.
   */
  placeAll(locate: (recordIndex: number) => TextLocation, refers: (rule: number) => number): void {
    const { unplaced, values } = this;
    for (let at = 0; at < unplaced.length; at += 2) {
      const entry = unplaced[at]!;
      if (!this.isFound(entry, refers(values.rule(entry)))) values.setPlace(entry, locate(unplaced[at + 1]!));
    }
    if (unplaced.length > 0) unplaced.length = 0;
  }

  /** References that lead nowhere, by keyref in the order of their first reference. */
  dangling(refers: (rule: number) => number): number[] {
    const { values, referring } = this;
    if (referring.length === 0) return [];
    const found: number[] = [];
    for (let entry = 0; entry < values.count; entry += 1) {
      const key = refers(values.rule(entry));
      if (key >= 0 && !this.isFound(entry, key)) found.push(entry);
    }
    return found.toSorted(
      (a, b) => referring.indexOf(values.rule(a)) - referring.indexOf(values.rule(b)) || a - b,
    );
  }
}
