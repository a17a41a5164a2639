/**
 * Reads and writes Avro files (specification 1.11, "Object Container Files"), as a whole, because manifests are small. The package avsc
 * decodes the content of blocks.
 */
import { randomBytes } from 'node:crypto';
import { inflateRawSync, deflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro, { type ForSchemaOptions, type Schema, type Type } from 'avsc';
import { AppError } from '../../../../errors.ts';

/** Makes 64-bit integers bigint. */
const long = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/** by the text of the schema: tables have few schemas, and avsc generates code for each */
const types = new Map<string, Type>();
const mostTypes = 64;

/** `schema`: JSON */
function typeOf(schema: string): Type {
  const known = types.get(schema);
  if (known !== undefined) return known;
  const made = avro.Type.forSchema(JSON.parse(schema) as Schema, {
    registry: { long },
    typeHook: boundedType as ForSchemaOptions['typeHook'],
  });
  if (types.size === mostTypes) types.clear();
  types.set(schema, made);
  return made;
}

/** The bytes that values are read from in sequence. avsc may read past their end, and checks the position when a record is complete. */
interface Tap {
  readonly buf: Buffer;
  readonly pos: number;
  readLong(): number;
  skipLong(): void;
  readString(): string;
}

interface Reading {
  _read(tap: Tap): unknown;
}

/** Limits the items of arrays and maps. A block may claim any number of items, which avsc would trust: each item has at least one byte. */
class BoundedArray extends (avro.types.ArrayType as unknown as TypeClass<{ readonly itemsType: Reading }>) {
  _read(tap: Tap): unknown[] {
    const items: unknown[] = [];
    readBlocks(tap, () => items.push(this.itemsType._read(tap)));
    return items;
  }
}

class BoundedMap extends (avro.types.MapType as unknown as TypeClass<{ readonly valuesType: Reading }>) {
  _read(tap: Tap): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    readBlocks(tap, () => entries.set(tap.readString(), this.valuesType._read(tap)));
    return Object.fromEntries(entries);
  }
}

/** Constructors of avsc that its typings lack. */
type TypeClass<Members> = new (schema: unknown, options: unknown) => Members;

function boundedType(schema: Schema, options: unknown): Type | undefined {
  const { type } = schema as { readonly type?: unknown };
  if (type === 'array') return new BoundedArray(schema, options) as unknown as Type;
  return type === 'map' ? (new BoundedMap(schema, options) as unknown as Type) : undefined;
}

function readBlocks(tap: Tap, readItem: () => void): void {
  for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
    // a negative number of items precedes the size of the block
    if (count < 0) tap.skipLong();
    for (let left = Math.abs(count); left > 0; left -= 1) {
      const from = tap.pos;
      if (left > tap.buf.length - from) throw new Error('it ends too early');
      readItem();
      if (tap.pos === from) throw new Error('it has items without a byte');
    }
  }
}

const magic = Buffer.from('Obj\u0001', 'latin1');
const metadataType = avro.Type.forSchema({ type: 'map', values: 'bytes' });

/** `metadata`: of the file, in addition to schema and codec. */
export function writeAvro(
  schema: unknown,
  records: readonly unknown[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  // the schema text is stored unchanged, because it contains field ids that readers need
  const text = JSON.stringify(schema);
  const type = typeOf(text);
  const sync = randomBytes(16);
  const head: Record<string, Buffer> = {
    'avro.schema': Buffer.from(text),
    'avro.codec': Buffer.from('deflate'),
  };
  for (const [name, value] of Object.entries(metadata)) head[name] = Buffer.from(value);
  const parts = [magic, metadataType.toBuffer(head), sync];
  if (records.length > 0) {
    const block = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))));
    parts.push(long.toBuffer(BigInt(records.length)), long.toBuffer(BigInt(block.length)), block, sync);
  }
  return Buffer.concat(parts);
}

/** AppError `conflict` if the file is not valid Avro. */
export function readAvro(bytes: Uint8Array, label: string): Record<string, unknown>[] {
  try {
    return recordsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw new AppError('conflict', `${label} cannot be read as Avro: ${(error as Error).message}`);
  }
}

function recordsOf(bytes: Buffer): Record<string, unknown>[] {
  if (!bytes.subarray(0, 4).equals(magic)) throw new Error('it does not begin as such a file does');
  let at = 4;
  const head = readHead();
  const type = typeOf(head.get('avro.schema')!.toString());
  const unpacked = unpacker(head.get('avro.codec')?.toString() ?? 'null');
  const records: Record<string, unknown>[] = [];
  at += 16;
  while (at < bytes.length) {
    const count = next();
    const block = unpacked(nextBytes());
    at += 16;
    // each record has at least one byte
    if (count < 0n || count > block.length) throw new Error('it ends too early');
    for (let left = Number(count), from = 0; left > 0; left -= 1) {
      const decoded = type.decode(block, from) as { value: Record<string, unknown>; offset: number };
      if (decoded.offset < 0) throw new Error('it ends too early');
      records.push(decoded.value);
      from = decoded.offset;
    }
  }
  return records;

  function next(): bigint {
    const decoded = long.decode(bytes, at) as { value: bigint; offset: number };
    if (decoded.offset < 0) throw new Error('it ends too early');
    at = decoded.offset;
    return decoded.value;
  }

  function nextBytes(): Buffer {
    const size = next();
    if (size < 0n || size > bytes.length - at) throw new Error('it ends too early');
    const from = at;
    at += Number(size);
    return bytes.subarray(from, at);
  }

  /** Reads a map of bytes. Its blocks may claim any number of entries, which avsc would trust. */
  function readHead(): ReadonlyMap<string, Buffer> {
    const found = new Map<string, Buffer>();
    for (let count = next(); count !== 0n; count = next()) {
      // a negative number of entries precedes the size of the block
      if (count < 0n) next();
      for (let left = count < 0n ? -count : count; left > 0n; left -= 1n)
        found.set(nextBytes().toString(), nextBytes());
    }
    return found;
  }
}

/** the maximum bytes of an uncompressed block: blocks of manifests have a few megabytes */
const longestBlock = 512 * 1024 * 1024;

function unpacker(codec: string): (block: Buffer) => Buffer {
  switch (codec) {
    case 'null':
      return (block) => block;
    case 'deflate':
      return (block) => inflateRawSync(block, { maxOutputLength: longestBlock });
    case 'zstandard':
      return (block) => zstdDecompressSync(block, { maxOutputLength: longestBlock });
    default:
      throw new Error(`its codec is ${codec}; those known are deflate and zstandard`);
  }
}
