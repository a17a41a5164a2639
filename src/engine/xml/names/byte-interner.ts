/** Maps byte strings to ids with a hash table. */
import { plainMemory } from '../tokenizer/memory.ts';
import type { TokenizerMemory } from '../tokenizer/memory.ts';
import { utf8Text } from '../utf8.ts';

/**
 * The number of slots that are searched for a byte string. A document may have names that were made to collide: names that do not fit are
 * in a `Map`, whose hash no outsider knows. The kernel (src/engine/xml/kernel/scan.as) has the same number and leaves such names to
 * TypeScript.
 */
const MOST_PROBES = 32;

/**
 * In bytes; in characters for names stored as strings. JavaScript engines use the length of a long string (V8: of more than 16,383
 * characters) as its hash, so many such names of one length would take quadratic time.
 */
export const longNameLength = 16_000;

/** Gives equal byte strings equal ids, dense from 0, without making a string of them. Id 0 is the empty byte string. */
export class ByteInterner {
  /** all interned byte strings, concatenated */
  arena: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  size = 1;
  /** number of long ones */
  longNames = 0;
  /** ids by hash, open addressing; 0 is free */
  slots: Int32Array;
  hashes: Int32Array;
  /** ids of the names that found no slot, by their text after a sign: JavaScript hashes texts that look like numbers predictably */
  private readonly crowded = new Map<string, number>();
  private arenaEnd = 0;

  constructor(memory: TokenizerMemory = plainMemory) {
    this.arena = memory.anyBytes(memory.nameBytes);
    this.starts = memory.ints(memory.names);
    this.ends = memory.ints(memory.names);
    this.slots = memory.ints(memory.names * 4);
    this.hashes = memory.ints(memory.names);
  }

  /** Id of `bytes[from, to)`; -1 - newId when it was not known before. `hash` must be `hashBytes` of the range. */
  intern(bytes: Uint8Array, from: number, to: number, hash: number): number {
    if (from === to) return 0;
    const mask = this.slots.length - 1;
    let slot = firstSlot(hash, mask);
    for (let probe = 0; probe < MOST_PROBES; probe++) {
      const id = this.slots[slot]!;
      if (id === 0) return -1 - this.add(bytes, from, to, hash, slot);
      if (this.hashes[id] === hash && this.equals(id, bytes, from, to)) return id;
      slot = (slot + 1) & mask;
    }
    return this.crowded.get(crowdedKey(bytes, from, to)) ?? -1 - this.add(bytes, from, to, hash, -1);
  }

  equals(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.starts[id]!;
    if (this.ends[id]! - start !== to - from) return false;
    for (let i = from, j = start; i < to; i++, j++) if (this.arena[j] !== bytes[i]) return false;
    return true;
  }

  text(id: number): string {
    return utf8Text(this.arena.subarray(this.starts[id]!, this.ends[id]!));
  }

  /** `slot`: -1 if all slots that are searched are occupied */
  private add(bytes: Uint8Array, from: number, to: number, hash: number, slot: number): number {
    const id = this.size++;
    if (id === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
      this.hashes = grown(this.hashes);
    }
    const length = to - from;
    if (length > longNameLength) this.longNames += 1;
    if (this.arenaEnd + length > this.arena.length) {
      const arena = new Uint8Array(Math.max(this.arena.length * 2, this.arenaEnd + length));
      arena.set(this.arena);
      this.arena = arena;
    }
    this.arena.set(bytes.subarray(from, to), this.arenaEnd);
    this.starts[id] = this.arenaEnd;
    this.arenaEnd += length;
    this.ends[id] = this.arenaEnd;
    this.hashes[id] = hash;
    if (slot >= 0) this.slots[slot] = id;
    else this.crowded.set(crowdedKey(bytes, from, to), id);
    if (this.size * 2 > this.slots.length) this.rehash();
    return id;
  }

  private rehash(): void {
    const slots = new Int32Array(this.slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 1; id < this.size; id++) {
      let slot = firstSlot(this.hashes[id]!, mask);
      let probe = 1;
      for (; slots[slot] !== 0 && probe < MOST_PROBES; probe++) slot = (slot + 1) & mask;
      if (slots[slot] === 0) slots[slot] = id;
      else this.crowded.set(crowdedKey(this.arena, this.starts[id]!, this.ends[id]!), id);
    }
    this.slots = slots;
  }
}

/** The bits of the hash are mixed: those of names that count up (`n0001`, `n0002`) differ little. */
function firstSlot(hash: number, mask: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & mask;
}

function crowdedKey(bytes: Uint8Array, from: number, to: number): string {
  return `=${utf8Text(bytes.subarray(from, to))}`;
}

/** One step of the hash: `hash` starts at 0. */
export function hashStep(hash: number, byte: number): number {
  return (Math.imul(hash, 0x01000193) ^ byte) | 0;
}

export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let i = from; i < to; i++) hash = hashStep(hash, bytes[i]!);
  return hash;
}

/** Returns a copy of twice the length, filled with 0. */
export function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
