/**
 * Writes packed JSON, a compact form of a JSON value of which a reader decodes only the parts that are accessed. Its layout is in
 * src/engine/model/packed/reader.ts.
 */
import { tags, version, PackedReader } from './reader.ts';

/** a longer text is not a path but prose */
const longestPath = 4096;

/** A set of keys, found by walking from the empty one key by key. */
interface ShapeStep {
  /** -1 while no object has just these keys */
  shape: number;
  readonly next: Map<string, ShapeStep>;
  /** the last step used, because objects of the same kind are consecutive */
  lastKey: string | null;
  last: ShapeStep | null;
}

function shapeStep(): ShapeStep {
  return { shape: -1, next: new Map(), lastKey: null, last: null };
}

/** a shorter array costs less when it is decoded at once than as a lazy one */
const fewestHeld = 8;

/** The parts that a reader decodes on first access. */
export interface LazyParts {
  /** keys of the outermost object: each element of their arrays by itself */
  readonly indexed?: readonly string[];
  /** keys of any object: their arrays whole */
  readonly held?: readonly string[];
}

class PackedWriter {
  readonly #indexed: ReadonlySet<string>;
  readonly #held: ReadonlySet<string>;
  readonly #values = new ByteWriter();
  readonly #shapes: (readonly string[])[] = [];
  readonly #noKeys = shapeStep();
  readonly #textIds = new Map<string, number>();
  readonly #prefixes: number[] = [];
  readonly #rests: string[] = [];
  /** the last prefix used, because paths are in the order of a tree */
  #prefix = '';
  #prefixId = -1;

  constructor({ indexed = [], held = [] }: LazyParts) {
    this.#indexed = new Set(indexed);
    this.#held = new Set(held);
  }

  pack(value: unknown): Uint8Array<ArrayBuffer> {
    this.#value(value, this.#indexed.size > 0);
    const out = new ByteWriter(this.#values.length + 1024);
    const shapes = this.#shapes.map((keys) => keys.map((key) => this.#textId(key)));
    const text = this.#rests.join('');
    const wellFormed = text.isWellFormed();
    out.byte(version);
    out.byte(wellFormed ? 0 : 1);
    out.varint(shapes.length);
    for (const keys of shapes) {
      out.varint(keys.length);
      for (const key of keys) out.varint(key);
    }
    out.varint(this.#rests.length);
    for (const prefix of this.#prefixes) out.varint(prefix + 1);
    for (const rest of this.#rests) out.varint(rest.length);
    const bytes = wellFormed ? new TextEncoder().encode(text) : utf16(text);
    out.varint(bytes.length);
    out.bytes(bytes);
    out.bytes(this.#values.written());
    return out.written();
  }

  #value(value: unknown, outermost = false): void {
    const out = this.#values;
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return this.#number(value);
      case 'boolean':
        return out.byte(value ? tags.true : tags.false);
      default:
        if (value === null) return out.byte(tags.null);
        if (typeof value !== 'object') throw new TypeError(`a ${typeof value} is not JSON`);
        if (Array.isArray(value)) return this.#array(value);
        return this.#object(value as Readonly<Record<string, unknown>>, outermost);
    }
  }

  #number(value: number): void {
    const out = this.#values;
    if (!Number.isSafeInteger(value)) {
      out.byte(tags.double);
      out.double(value);
    } else if (value >= 0 && value < 0x40) out.byte(tags.smallInteger + value);
    else if (value >= 0) {
      out.byte(tags.integer);
      out.varint(value);
    } else {
      out.byte(tags.negativeInteger);
      out.varint(-value);
    }
  }

  #text(value: string): void {
    const id = this.#textId(value);
    const out = this.#values;
    if (id < 0x4000) {
      out.byte(tags.smallText + (id >> 8));
      out.byte(id & 0xff);
    } else {
      out.byte(tags.text);
      out.varint(id);
    }
  }

  #textId(value: string): number {
    const known = this.#textIds.get(value);
    if (known !== undefined) return known;
    const cut = value.charCodeAt(0) === 0x2f && value.length <= longestPath ? value.lastIndexOf('/') : 0;
    const prefix = cut > 0 ? this.#idOfPrefix(value, cut) : -1;
    const id = this.#rests.length;
    this.#textIds.set(value, id);
    this.#prefixes.push(prefix);
    this.#rests.push(cut > 0 ? value.slice(cut) : value);
    return id;
  }

  #idOfPrefix(path: string, length: number): number {
    if (this.#prefix.length === length && path.startsWith(this.#prefix)) return this.#prefixId;
    const prefix = path.slice(0, length);
    const id = this.#textId(prefix);
    this.#prefix = prefix;
    this.#prefixId = id;
    return id;
  }

  #array(values: readonly unknown[]): void {
    const out = this.#values;
    if (values.length < 0x20) out.byte(tags.smallArray + values.length);
    else {
      out.byte(tags.array);
      out.varint(values.length);
    }
    for (const value of values) this.#value(value);
  }

  #indexedArray(values: readonly unknown[]): void {
    const out = this.#values;
    out.byte(tags.indexedArray);
    out.varint(values.length);
    const start = out.length;
    const lengths = values.map((value) => {
      const before = out.length;
      this.#value(value);
      return out.length - before;
    });
    const elements = out.cut(start);
    for (const length of lengths) out.varint(length);
    out.bytes(elements);
  }

  #hold(value: unknown): void {
    const out = this.#values;
    out.byte(tags.heldValue);
    const start = out.length;
    this.#value(value);
    const bytes = out.cut(start);
    out.varint(bytes.length);
    out.bytes(bytes);
  }

  #object(value: Readonly<Record<string, unknown>>, outermost: boolean): void {
    const out = this.#values;
    const keys = Object.keys(value);
    let step = this.#noKeys;
    for (const key of keys) if (value[key] !== undefined) step = nextStep(step, key);
    if (step.shape < 0) {
      step.shape = this.#shapes.length;
      this.#shapes.push(keys.filter((key) => value[key] !== undefined));
    }
    if (step.shape < 0x40) out.byte(tags.smallShape + step.shape);
    else {
      out.byte(tags.object);
      out.varint(step.shape);
    }
    for (const key of keys) {
      const member = value[key];
      if (member === undefined) continue;
      if (outermost && Array.isArray(member) && this.#indexed.has(key))
        this.#indexedArray(member as unknown[]);
      else if (Array.isArray(member) && member.length >= fewestHeld && this.#held.has(key))
        this.#hold(member);
      else this.#value(member);
    }
  }
}

function nextStep(step: ShapeStep, key: string): ShapeStep {
  if (step.lastKey === key) return step.last!;
  let next = step.next.get(key);
  if (next === undefined) {
    next = shapeStep();
    step.next.set(key, next);
  }
  step.lastKey = key;
  step.last = next;
  return next;
}

/** Texts with half a surrogate pair have no UTF-8. */
function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), true);
  return bytes;
}

/** Bytes that grow at their end. */
class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(capacity = 4096) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  /** LEB128 of a non-negative safe integer. */
  varint(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  double(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(values: Uint8Array): void {
    if (this.#length + values.length > this.#bytes.length) this.#grow(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Removes and returns the bytes from `start` on. */
  cut(start: number): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(start, this.#length);
    this.#length = start;
    return taken;
  }

  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + by));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

// Packs and unpacks a value. The keys of objects are stored once for each set of keys, each text once, and a path as its last step after
// the path above it. Equal values with keys in the same order have equal bytes.

/** Members that are undefined are left out, as JSON.stringify does. */
export function packJson(value: unknown, lazy: LazyParts = {}): Uint8Array<ArrayBuffer> {
  return new PackedWriter(lazy).pack(value);
}

/** Returns the unpacked value. Throws RangeError if the bytes are not from `packJson`. */
export function unpackJson(packed: Uint8Array): unknown {
  return new PackedReader(packed).value();
}

/**
 * Yields the elements of a packed array, each decoded on request. Throws RangeError like `unpackJson`, and if the value is not an array.
 */
export function unpackElements(packed: Uint8Array): Iterable<unknown> {
  return new PackedReader(packed).elements();
}
