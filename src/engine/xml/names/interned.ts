/** Names of documents as numbers: bytes, raw names with their prefixes, and expanded names. */
import { plainMemory, type TokenizerMemory } from '../tokenizer/memory.ts';
import { utf8Text } from '../utf8.ts';
import { COLON, NAME_START, isWideNameStart, nameClass } from '../characters.ts';
import type { QName } from '../../model/source-model.ts';
import type { NameTable } from '../tokens.ts';

// Maps byte strings to ids with a hash table.

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

// Raw names, with their prefixes as written, and the facts that are stored for each.

/** Name without a prefix. */
export const NAME_LOCAL = 0;
/** `prefix:local`. */
export const NAME_PREFIXED = 1;
/** `xmlns` or `xmlns:prefix`: as an attribute, a namespace declaration. */
export const NAME_DECLARATION = 2;

/**
 * Qualified names as written in the document, interned by bytes, with the facts that the scanner has learnt about each. The columns are
 * indexed by raw name id; id 0 is the empty name, which predicts nothing.
 */
export class RawNames {
  readonly interner: ByteInterner;
  kinds: Int32Array;
  /** raw id of the prefix ('' = 0); of `xmlns:p`, the id of `p` */
  prefixes: Int32Array;
  /** namespace context that `elementNames` holds for; -1 for none yet */
  elementContexts: Int32Array;
  /** expanded name id as an element, or as a prefixed attribute */
  elementNames: Int32Array;
  /** expanded name id as an attribute without prefix; -1 until asked for */
  attributeNames: Int32Array;
  /** serial of the last start tag that had an attribute of this name */
  seenIn: Int32Array;
  /** attribute name that came next last time */
  nextAttributes: Int32Array;
  /** element name that came next last time: [2 * id] after its start tag, [2 * id + 1] after its end tag */
  nextElements: Int32Array;
  readonly locals: string[] = [''];

  constructor(memory: TokenizerMemory) {
    const { names } = memory;
    this.interner = new ByteInterner(memory);
    this.kinds = memory.ints(names);
    this.prefixes = memory.ints(names);
    this.elementContexts = memory.ints(names).fill(-1);
    this.elementNames = memory.ints(names);
    this.attributeNames = memory.ints(names).fill(-1);
    this.seenIn = memory.ints(names);
    this.nextAttributes = memory.ints(names);
    this.nextElements = memory.ints(names * 2);
  }

  /** Id of a name of valid name characters; -1 when it is not a qualified name (Namespaces in XML 1.0 §4). */
  intern(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const known = this.interner.intern(bytes, from, to, hash);
    if (known >= 0) return this.kinds[known]! < 0 ? -1 : known;
    return this.describe(-1 - known, bytes, from, to);
  }

  private describe(id: number, bytes: Uint8Array, from: number, to: number): number {
    while (id >= this.kinds.length) this.grow();
    const text = this.interner.text(id);
    const colon = text.indexOf(':');
    this.locals[id] = text.slice(colon + 1);
    if (colon < 0) {
      this.kinds[id] = text === 'xmlns' ? NAME_DECLARATION : NAME_LOCAL;
      return id;
    }
    if (!isNcName(text.slice(0, colon)) || !isNcName(text.slice(colon + 1))) {
      this.kinds[id] = -1;
      return -1;
    }
    const declares = text.startsWith('xmlns:');
    const split = from + bytes.subarray(from, to).indexOf(COLON);
    const prefix = declares ? this.internPart(bytes, split + 1, to) : this.internPart(bytes, from, split);
    this.kinds[id] = declares ? NAME_DECLARATION : NAME_PREFIXED;
    this.prefixes[id] = prefix;
    return id;
  }

  private internPart(bytes: Uint8Array, from: number, to: number): number {
    return this.intern(bytes, from, to, hashBytes(bytes, from, to));
  }

  private grow(): void {
    const size = this.kinds.length;
    this.kinds = grown(this.kinds);
    this.prefixes = grown(this.prefixes);
    this.elementContexts = grown(this.elementContexts).fill(-1, size);
    this.elementNames = grown(this.elementNames);
    this.attributeNames = grown(this.attributeNames).fill(-1, size);
    this.seenIn = grown(this.seenIn);
    this.nextAttributes = grown(this.nextAttributes);
    this.nextElements = grown(this.nextElements);
  }
}

/** True if a part of a name may be on either side of the colon. Its characters are known to be name characters. */
function isNcName(part: string): boolean {
  const first = part.codePointAt(0);
  if (first === undefined || part.includes(':')) return false;
  return first < 0x80 ? nameClass[first] === NAME_START : isWideNameStart(first);
}

// The table of expanded names (namespace and local name) that tokens refer to, and look-ups by such names.

/** An empty table of expanded names; may serve any number of tokenizers. */
export function createNameTable(): NameTable {
  const uris: string[] = [];
  const locals: string[] = [];
  let longNames = 0;
  const idsByUri = new Map<string, Map<string, number>>();
  return {
    get size() {
      return uris.length;
    },
    get longNames() {
      return longNames;
    },
    namespaceUri: (id) => nameAt(uris, id),
    localName: (id) => nameAt(locals, id),
    intern(namespaceUri, localName) {
      let ids = idsByUri.get(namespaceUri);
      if (ids === undefined) {
        ids = new Map();
        idsByUri.set(namespaceUri, ids);
        if (namespaceUri.length > longNameLength) longNames += 1;
      }
      let id = ids.get(localName);
      if (id === undefined) {
        id = uris.length;
        ids.set(localName, id);
        uris.push(namespaceUri);
        locals.push(localName);
        if (localName.length > longNameLength) longNames += 1;
      }
      return id;
    },
  };
}

/**
 * Returns a function that gives the item of a name: null if none has the name, the last one if several do. The items of a name are
 * searched on its first use, because documents use few of the names in a schema.
 */
export function itemByName<T extends { readonly name: QName }>(
  names: NameTable,
  items: readonly T[],
): (nameId: number) => T | null {
  const met = new Map<number, T | null>();
  return (nameId) => {
    let item = met.get(nameId);
    if (item === undefined) {
      const namespaceUri = names.namespaceUri(nameId);
      const localName = names.localName(nameId);
      item =
        items.findLast(({ name }) => name.localName === localName && name.namespaceUri === namespaceUri) ??
        null;
      met.set(nameId, item);
    }
    return item;
  };
}

function nameAt(parts: readonly string[], id: number): string {
  const part = parts[id];
  if (part === undefined) throw new RangeError(`no name has the id ${id}`);
  return part;
}
