/** Reads packed JSON (src/engine/model/packed/writer.ts): its layout in bytes, and values that are decoded when they are first accessed. */

/**
 * The bytes of packed JSON. All numbers are LEB128 varints unless said otherwise:
 * `version byte, text form byte (0 UTF-8, 1 UTF-16LE), shapes, texts, value`, where
 * - shapes: count, then for each the number of its keys and the text ids of them;
 * - texts: count, for each the id of its prefix + 1 (0: none), for each the length of its rest in UTF-16 units, the byte length of
 *   all rests, all rests one after the other;
 * - value: a tag byte and what follows it.
 */
export const version = 1;

/** First byte of a value. Frequent values are in the byte itself, as ranges. */
export const tags = {
  /** 0x00-0x3f: the integer itself */
  smallInteger: 0x00,
  /** 0x40-0x7f: an object of that shape */
  smallShape: 0x40,
  /** 0x80-0x9f: an array of up to 31 values */
  smallArray: 0x80,
  null: 0xa0,
  false: 0xa1,
  true: 0xa2,
  integer: 0xa3,
  negativeInteger: 0xa4,
  /** 8 bytes, little-endian IEEE 754 */
  double: 0xa5,
  /** text id */
  text: 0xa6,
  /** shape id */
  object: 0xa7,
  /** count */
  array: 0xa8,
  /** count, the byte length of each element, then the elements: each is decoded when it is first looked at */
  indexedArray: 0xa9,
  /** a member of an object: byte length, then the value: decoded when it is first read */
  heldValue: 0xaa,
  /** 0xc0-0xff: text id of 14 bits, the lower 8 in the next byte */
  smallText: 0xc0,
} as const;

// Arrays whose elements are decoded on first access.

/** Arrays with fewer elements are made at once, because that costs less than the lazy form. */
const fewElements = 256;

interface Maker {
  readonly make: (index: number) => unknown;
  /** a member of an element, for which the element is not made; null: it has to be made */
  readonly member: ((index: number, key: string) => unknown) | null;
}

/** keyed by array: the function that makes an element */
const makers = new WeakMap<readonly unknown[], Maker>();

/** Yields the elements of an array for one pass. Elements that are made for it are not kept. */
export function* peekElements<T>(array: readonly T[]): Generator<T, void, void> {
  for (let index = 0; index < array.length; index += 1) yield peekElement(array, index);
}

/** Returns an element for one use. If it is made for that, it is not kept. */
export function peekElement<T>(array: readonly T[], index: number): T {
  const maker = makers.get(array);
  return maker === undefined || Object.hasOwn(array, index) ? array[index]! : (maker.make(index) as T);
}

/**
 * Returns a member of an element for one use. If the element is made for that, it is not kept, and if possible only that member is
 * decoded.
 */
export function memberOf<T extends object, Key extends keyof T & string>(
  array: readonly T[],
  index: number,
  key: Key,
): T[Key] {
  const member = makers.get(array)?.member ?? null;
  if (member === null || Object.hasOwn(array, index)) return peekElement(array, index)[key];
  return member(index, key) as T[Key];
}

/** Returns that member of all elements; see `memberOf`. */
export function membersOf<T extends object, Key extends keyof T & string>(
  array: readonly T[],
  key: Key,
): T[Key][] {
  return Array.from({ length: array.length }, (_, index) => memberOf(array, index, key));
}

/**
 * Returns an array that calls `make` once for each element, on first access. An element that has not been read costs one word: it is a
 * hole, and the array's prototype makes the element. Code that uses the array's own keys sees no holes. `member`: implements `memberOf`
 * without making the element.
 */
export function lazyArray<T>(
  length: number,
  make: (index: number) => T,
  member: Maker['member'] = null,
): T[] {
  if (length < fewElements) return Array.from({ length }, (_, index) => make(index));
  const elements: T[] = [];
  elements.length = length;
  makers.set(elements, { make, member });
  const isIndex = (key: string | symbol): key is string => {
    const index = typeof key === 'string' ? Number(key) : -1;
    return index >= 0 && index < length && String(index) === key;
  };
  Object.setPrototypeOf(
    elements,
    new Proxy(Array.prototype, {
      get(prototype, key) {
        if (!isIndex(key)) return Reflect.get(prototype, key) as unknown;
        const value = make(Number(key));
        Object.defineProperty(elements, key, { configurable: true, enumerable: true, writable: true, value });
        return value;
      },
      has: (prototype, key) => isIndex(key) || Reflect.has(prototype, key),
    }),
  );
  return elements;
}

// The reader.

/** Decodes a member that has not been read yet. */
interface UndecodedMember {
  (): unknown;
  /** true if an object in it has that key */
  holdsKey(key: string): boolean;
  /** the member, which is not kept */
  look(): unknown;
}

/**
 * Returns whether an object in that member of an unpacked object has a key, or null if that is unknown without decoding the member, or if
 * it has been decoded.
 */
export function hasKeyUndecoded(object: object, member: string, key: string): boolean | null {
  const get = Object.getOwnPropertyDescriptor(object, member)?.get as Partial<UndecodedMember> | undefined;
  return get?.holdsKey?.(key) ?? null;
}

/** Returns a member of an unpacked object for one use. Parts that are decoded for it are not kept. */
export function peekMember<T extends object, Member extends keyof T>(object: T, member: Member): T[Member] {
  const get = Object.getOwnPropertyDescriptor(object, member)?.get as Partial<UndecodedMember> | undefined;
  return get?.look === undefined ? object[member] : (get.look() as T[Member]);
}

/**
 * Returns a getter for a member that replaces a member of `object` with the same keys, so that `hasKeyUndecoded` has the same result for both.
 * `look`: implements `peekMember`.
 */
export function withKnownKeys<Value>(
  get: () => Value,
  look: () => Value,
  object: object,
  member: string,
): () => Value {
  const held = Object.getOwnPropertyDescriptor(object, member)?.get as Partial<UndecodedMember> | undefined;
  return held?.holdsKey === undefined ? get : Object.assign(get, { holdsKey: held.holdsKey, look });
}

/** keys of an object that may be shared */
const maxSharedKeys = 4;
/** a power of two */
const sharedSlots = 1024;

const plainMember = { configurable: true, enumerable: true, writable: true } as const;

export class PackedReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  readonly #shapes: (readonly string[])[];
  /** texts that have already been read */
  readonly #texts: (string | undefined)[];
  readonly #prefixes: Int32Array;
  /** start of each rest within all of them, one more than there are texts */
  readonly #starts: Uint32Array;
  readonly #rests: string;
  /** small objects by the hash of their bytes, the last one for each */
  readonly #shared: ({ readonly start: number; readonly value: unknown } | undefined)[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    if (this.#byte() !== version) throw new RangeError('the packed JSON is not of this version');
    const isUtf8 = this.#byte() === 0;
    const shapes = Array.from({ length: this.#varint() }, () =>
      Array.from({ length: this.#varint() }, () => this.#varint()),
    );
    const count = this.#varint();
    this.#texts = Array.from({ length: count });
    this.#prefixes = new Int32Array(count);
    for (let id = 0; id < count; id += 1) this.#prefixes[id] = this.#varint() - 1;
    this.#starts = new Uint32Array(count + 1);
    for (let id = 0; id < count; id += 1) this.#starts[id + 1] = this.#starts[id]! + this.#varint();
    const size = this.#varint();
    const rests = this.#bytes.subarray(this.#at, this.#at + size);
    this.#rests = isUtf8 ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(rests) : fromUtf16(rests);
    this.#at += size;
    this.#shapes = shapes.map((keys) => keys.map((key) => this.#text(key)));
  }

  value(): unknown {
    const tag = this.#byte();
    if (tag < tags.smallShape) return tag;
    if (tag < tags.smallArray) return this.#object(tag - tags.smallShape);
    if (tag < tags.null) return this.#array(tag - tags.smallArray);
    if (tag >= tags.smallText) return this.#text(((tag - tags.smallText) << 8) | this.#byte());
    switch (tag) {
      case tags.null:
        return null;
      case tags.false:
        return false;
      case tags.true:
        return true;
      case tags.integer:
        return this.#varint();
      case tags.negativeInteger:
        return -this.#varint();
      case tags.double:
        return this.#double();
      case tags.text:
        return this.#text(this.#varint());
      case tags.object:
        return this.#object(this.#varint());
      case tags.array:
        return this.#array(this.#varint());
      case tags.indexedArray:
        return this.#indexedArray(this.#varint())();
      default:
        throw new RangeError(`packed JSON has no value 0x${tag.toString(16)}`);
    }
  }

  /** Yields the elements of the array one by one. Throws RangeError if the value is not an array. */
  *elements(): Generator<unknown, void, void> {
    const tag = this.#byte();
    if (tag !== tags.array && (tag < tags.smallArray || tag >= tags.null))
      throw new RangeError('the packed JSON is not an array');
    const length = tag === tags.array ? this.#varint() : tag - tags.smallArray;
    for (let index = 0; index < length; index += 1) yield this.value();
  }

  #object(shape: number): unknown {
    const value: Record<string, unknown> = {};
    for (const key of this.#shapes[shape]!) {
      // assigned to, this one name would change the object's prototype
      if (key === '__proto__') Object.defineProperty(value, key, { ...plainMember, value: this.value() });
      else if (this.#bytes[this.#at] === tags.heldValue) this.#hold(value, key);
      else if (this.#bytes[this.#at] === tags.indexedArray) this.#index(value, key);
      else value[key] = this.#memberValue();
    }
    return value;
  }

  /** Returns the value of a member. Equal small objects without nested objects, such as types and names, are shared. */
  #memberValue(): unknown {
    const start = this.#at;
    const end = this.#endOfPlain(start);
    if (end < 0) return this.value();
    let hash = end - start;
    for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + this.#bytes[at]!) | 0;
    const slot = (hash ^ (hash >>> 12)) & (sharedSlots - 1);
    const known = this.#shared[slot];
    if (known !== undefined && this.#isSame(known.start, start, end)) {
      this.#at = end;
      return known.value;
    }
    const value = this.value();
    this.#shared[slot] = { start, value };
    return value;
  }

  /** Returns the end of a small object with only texts, small integers and truth values, or -1 if the object is not of this kind. */
  #endOfPlain(start: number): number {
    const bytes = this.#bytes;
    const tag = bytes[start]!;
    if (tag < tags.smallShape || tag >= tags.smallArray) return -1;
    const { length } = this.#shapes[tag - tags.smallShape]!;
    if (length > maxSharedKeys) return -1;
    let at = start + 1;
    for (let member = 0; member < length; member += 1) {
      const value = bytes[at]!;
      if (value >= tags.smallText) at += 2;
      else if (value < tags.smallShape || (value >= tags.null && value <= tags.true)) at += 1;
      else if (value === tags.text) {
        at += 2;
        while (bytes[at - 1]! >= 0x80) at += 1;
      } else return -1;
    }
    return at;
  }

  #isSame(other: number, start: number, end: number): boolean {
    for (let at = start; at < end; at += 1)
      if (this.#bytes[other + at - start] !== this.#bytes[at]) return false;
    return true;
  }

  /** A member that is decoded when somebody reads it. */
  #hold(object: Record<string, unknown>, key: string): void {
    this.#at += 1;
    const size = this.#varint();
    const start = this.#at;
    this.#at += size;
    const look = (): unknown => {
      this.#at = start;
      return this.value();
    };
    const get = (): unknown => {
      const value = look();
      Object.defineProperty(object, key, { ...plainMember, value });
      return value;
    };
    const holdsKey = (name: string): boolean => this.#holdsKey(start, name);
    const held: UndecodedMember = Object.assign(get, { holdsKey, look });
    Object.defineProperty(object, key, { configurable: true, enumerable: true, get: held });
  }

  /** Defines a member whose array elements are decoded on first access. The array is made when the member is first read. */
  #index(object: Record<string, unknown>, key: string): void {
    this.#at += 1;
    const make = this.#indexedArray(this.#varint());
    Object.defineProperty(object, key, {
      configurable: true,
      enumerable: true,
      get: () => {
        const value = make();
        Object.defineProperty(object, key, { ...plainMember, value });
        return value;
      },
    });
  }

  /** True if an object in the value at `start` has that key. Decodes nothing. */
  #holdsKey(start: number, key: string): boolean {
    this.#at = start;
    for (let values = 1; values > 0; values -= 1) {
      const tag = this.#byte();
      const shape = this.#shapeAt(tag);
      if (shape?.includes(key) === true) return true;
      values += shape?.length ?? this.#pass(tag);
    }
    return false;
  }

  /** Passes by a value that is no object, up to the first of those in it: how many these are. */
  #pass(tag: number): number {
    if (tag >= tags.smallText) this.#at += 1;
    else if (tag >= tags.smallArray && tag < tags.null) return tag - tags.smallArray;
    else if (tag === tags.integer || tag === tags.negativeInteger || tag === tags.text) this.#varint();
    else if (tag === tags.double) this.#at += 8;
    else if (tag === tags.array) return this.#varint();
    else if (tag === tags.heldValue) return Math.min(1, this.#varint());
    else if (tag === tags.indexedArray) {
      const count = this.#varint();
      for (let element = 0; element < count; element += 1) this.#varint();
      return count;
    }
    return 0;
  }

  #array(length: number): unknown[] {
    const values: unknown[] = [];
    for (let index = 0; index < length; index += 1) values.push(this.value());
    return values;
  }

  /** Returns a function that makes the array. The array's elements are decoded on first access. */
  #indexedArray(length: number): () => unknown[] {
    const starts = new Float64Array(length + 1);
    for (let index = 0; index < length; index += 1) starts[index + 1] = starts[index]! + this.#varint();
    const first = this.#at;
    this.#at += starts[length]!;
    const begin = (index: number): void => {
      this.#at = first + starts[index]!;
    };
    return () =>
      lazyArray(
        length,
        (index) => {
          begin(index);
          return this.value();
        },
        (index, key) => {
          begin(index);
          return this.#member(key);
        },
      );
  }

  /** Returns a member of the next object, or undefined if it has none, and skips the others. */
  #member(key: string): unknown {
    const shape = this.#shapeAt(this.#byte());
    if (shape === null) return undefined;
    for (const name of shape) {
      const isHeld = this.#bytes[this.#at] === tags.heldValue;
      if (name !== key) this.#passValue();
      else if (!isHeld) return this.value();
      else {
        this.#at += 1;
        this.#varint();
        return this.value();
      }
    }
    return undefined;
  }

  /** The keys of the object that begins with that tag; null: it is no object. */
  #shapeAt(tag: number): readonly string[] | null {
    if (tag >= tags.smallShape && tag < tags.smallArray) return this.#shapes[tag - tags.smallShape]!;
    return tag === tags.object ? this.#shapes[this.#varint()]! : null;
  }

  /** Skips a value with all of its content. */
  #passValue(): void {
    for (let values = 1; values > 0; values -= 1) {
      const tag = this.#byte();
      if (tag === tags.heldValue) {
        const size = this.#varint();
        this.#at += size;
      } else values += this.#shapeAt(tag)?.length ?? this.#pass(tag);
    }
  }

  #text(id: number): string {
    const known = this.#texts[id];
    if (known !== undefined) return known;
    const rest = this.#rests.slice(this.#starts[id], this.#starts[id + 1]);
    const prefix = this.#prefixes[id]!;
    const text = prefix < 0 ? rest : this.#text(prefix) + rest;
    this.#texts[id] = text;
    return text;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('packed JSON ends too early');
    return byte;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  #double(): number {
    const { buffer, byteOffset } = this.#bytes;
    const value = new DataView(buffer, byteOffset + this.#at, 8).getFloat64(0, true);
    this.#at += 8;
    return value;
  }
}

/** TextDecoder would replace unpaired surrogates, for which this form exists */
function fromUtf16(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 2) pieces.push(String.fromCharCode(view.getUint16(at, true)));
  return pieces.join('');
}
