/** Reads the footer of a file that our writer made: the facts about its columns that reading its rows needs. */
import { createdBy } from '../footer.ts';

/** One column of a row group. */
export interface StoredChunk {
  readonly at: number;
  readonly end: number;
  readonly isCompressed: boolean;
}

/** The least and the greatest whole number that a column has in a row group. */
export type StoredBounds = readonly [least: bigint, greatest: bigint];

interface StoredGroup {
  readonly rows: number;
  /** bounds of the requested column; null: not in the file */
  readonly bounds: StoredBounds | null;
  /** in the order of the columns */
  readonly chunks: readonly StoredChunk[];
}

export interface FileLayout {
  /** PHYSICAL; of a list, that of its items */
  readonly columns: readonly {
    readonly name: string;
    readonly physical: number | null;
    /** decimals: digits after the point */
    readonly scale: number;
    readonly isList: boolean;
  }[];
  readonly groups: readonly StoredGroup[];
}

const lastBytes = 32 * 1024;

/**
 * Returns null for a file of another writer. Throws RangeError if it is not a Parquet file, or damaged. `boundsOf`: a column of whole
 * numbers of 64 bits whose bounds are requested.
 */
export async function readFooter(
  size: number,
  read: (at: number, length: number) => Promise<Uint8Array>,
  boundsOf: string | null = null,
): Promise<FileLayout | null> {
  let at = Math.max(0, size - lastBytes);
  let bytes = await read(at, size - at);
  if (bytes.length < 8) throw new RangeError('it is too short');
  const tail = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 8, 8);
  // PAR1
  if (tail.getUint32(4, true) !== 0x31524150) throw new RangeError('it does not end as Parquet does');
  const length = tail.getUint32(0, true);
  if (length + 8 > size) throw new RangeError('it does not end as Parquet does');
  if (length + 8 > bytes.length) {
    at = size - 8 - length;
    bytes = await read(at, length + 8);
  }
  const { fields } = readThrift(bytes, bytes.length - 8 - length);
  return textOf(fields.get(6)) === createdBy ? fileLayout(fields, size, boundsOf) : null;
}

function fileLayout(fields: ThriftFields, size: number, boundsOf: string | null): FileLayout {
  const columns: FileLayout['columns'][number][] = [];
  // after the root, which contains them
  const nodes = structsOf(fields.get(2));
  for (let node = 1; node < nodes.length; node += 1) {
    const name = textOf(nodes[node]!.get(4)) ?? '';
    // a list has two nodes below its own; the second one is its items
    const isList = numberOf(nodes[node]!, 5) !== null;
    if (isList) node += 2;
    const facts = nodes[node] ?? new Map();
    columns.push({ name, physical: numberOf(facts, 1), scale: numberOf(facts, 7) ?? 0, isList });
  }
  const bounded = columns.findIndex(({ name }) => name === boundsOf);
  return {
    columns,
    groups: structsOf(fields.get(4)).map((group) => ({
      ...storedGroup(group, size, columns.length),
      bounds: storedBounds(structsOf(group.get(1))[bounded]),
    })),
  };
}

/** Statistics of a chunk (parquet.thrift, ColumnMetaData 12: max_value 5, min_value 6). */
function storedBounds(column: ThriftFields | undefined): StoredBounds | null {
  const statistics = structOf(structOf(column?.get(3))?.get(12));
  const [least, greatest] = [6, 5].map((field) => {
    const bytes = statistics?.get(field);
    return bytes instanceof Uint8Array && bytes.length === 8
      ? new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true)
      : null;
  });
  return least == null || greatest == null ? null : [least, greatest];
}

function storedGroup(group: ThriftFields, size: number, columns: number): Omit<StoredGroup, 'bounds'> {
  const chunks = structsOf(group.get(1)).map((column) => {
    const facts = structOf(column.get(3)) ?? new Map();
    const at = numberOf(facts, 11) ?? countOf(facts, 9);
    const end = at + countOf(facts, 7);
    if (at < 4 || end > size) throw new RangeError('a column is outside the file');
    return { at, end, isCompressed: countOf(facts, 4) !== 0 };
  });
  if (chunks.length !== columns) throw new RangeError('a row group has other columns than the file');
  return { rows: countOf(group, 3), chunks };
}

// Reads structures of Thrift's compact protocol. Fields that are not requested are skipped.

const [TRUE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT] = [1, 3, 7, 8, 9, 10, 12];

/** Fields by number: whole numbers, booleans, bytes, lists, and structures. */
export type ThriftFields = ReadonlyMap<number, ThriftValue>;
type ThriftValue = number | boolean | Uint8Array | readonly ThriftValue[] | ThriftFields;

const utf8 = new TextDecoder();

/** Throws RangeError if the bytes end before the structure does. `end`: offset after it. */
export function readThrift(
  bytes: Uint8Array,
  at = 0,
): { readonly fields: ThriftFields; readonly end: number } {
  const reader = new ThriftReader(bytes, at);
  return { fields: reader.struct(), end: reader.at };
}

function numberOf(fields: ThriftFields, field: number): number | null {
  const value = fields.get(field);
  return typeof value === 'number' ? value : null;
}

/** Returns a count or a position in a file. Throws RangeError if the field is missing or negative. */
export function countOf(fields: ThriftFields, field: number): number {
  const value = numberOf(fields, field);
  if (value === null || value < 0) throw new RangeError(`field ${field} of a structure is not a count`);
  return value;
}

function textOf(value: ThriftValue | undefined): string | null {
  return value instanceof Uint8Array ? utf8.decode(value) : null;
}

export function structOf(value: ThriftValue | undefined): ThriftFields | null {
  return value instanceof Map ? (value as ThriftFields) : null;
}

/** Returns an empty array if the field is missing. Throws RangeError if it has another type. */
function structsOf(value: ThriftValue | undefined): readonly ThriftFields[] {
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

  /** Not exact beyond 2^53, which exceeds every offset in a file. */
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
