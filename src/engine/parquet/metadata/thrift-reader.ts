/** Reads structures of Thrift's compact protocol. Fields that are not requested are skipped. */

const [TRUE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT] = [1, 3, 7, 8, 9, 10, 12];

/** Fields by number: whole numbers, booleans, bytes, lists, and structures. */
export type ThriftFields = ReadonlyMap<number, ThriftValue>;
export type ThriftValue = number | boolean | Uint8Array | readonly ThriftValue[] | ThriftFields;

const utf8 = new TextDecoder();

/** Throws RangeError if the bytes end before the structure does. `end`: offset after it. */
export function readThrift(
  bytes: Uint8Array,
  at = 0,
): { readonly fields: ThriftFields; readonly end: number } {
  const reader = new ThriftReader(bytes, at);
  return { fields: reader.struct(), end: reader.at };
}

export function numberOf(fields: ThriftFields, field: number): number | null {
  const value = fields.get(field);
  return typeof value === 'number' ? value : null;
}

/** Returns a count or a position in a file. Throws RangeError if the field is missing or negative. */
export function countOf(fields: ThriftFields, field: number): number {
  const value = numberOf(fields, field);
  if (value === null || value < 0) throw new RangeError(`field ${field} of a structure is no count`);
  return value;
}

export function textOf(value: ThriftValue | undefined): string | null {
  return value instanceof Uint8Array ? utf8.decode(value) : null;
}

export function structOf(value: ThriftValue | undefined): ThriftFields | null {
  return value instanceof Map ? (value as ThriftFields) : null;
}

/** Returns an empty array if the field is missing. Throws RangeError if it has another type. */
export function structsOf(value: ThriftValue | undefined): readonly ThriftFields[] {
  const items: readonly ThriftValue[] = Array.isArray(value) ? (value as readonly ThriftValue[]) : [];
  return items.map((item) => {
    const fields = structOf(item);
    if (fields === null) throw new RangeError('a list has other items than structures');
    return fields;
  });
}

class ThriftReader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(): ThriftFields {
    const fields = new Map<number, ThriftValue>();
    for (let field = 0; ;) {
      const header = this.#byte();
      if (header === 0) return fields;
      const kind = header & 15;
      field = header >> 4 === 0 ? this.#zigzag() : field + (header >> 4);
      fields.set(field, kind <= 2 ? kind === TRUE : this.#value(kind));
    }
  }

  #value(kind: number): ThriftValue {
    switch (kind) {
      case BYTE:
        return this.#byte();
      case DOUBLE:
        return this.#take(8);
      case BINARY:
        return this.#take(this.#varint());
      case LIST:
      case SET:
        return this.#list();
      case STRUCT:
        return this.struct();
      default:
        return this.#zigzag();
    }
  }

  #list(): readonly ThriftValue[] {
    const header = this.#byte();
    const kind = header & 15;
    const count = header >> 4 === 15 ? this.#varint() : header >> 4;
    const items: ThriftValue[] = [];
    for (let item = 0; item < count; item += 1)
      items.push(kind <= 2 ? this.#byte() === TRUE : this.#value(kind));
    return items;
  }

  #take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.#bytes.length) throw new RangeError('a structure ends too early');
    const taken = this.#bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  #byte(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) throw new RangeError('a structure ends too early');
    this.at += 1;
    return byte;
  }

  /** Beyond 2^53 not exact: no place of a file is there. */
  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
