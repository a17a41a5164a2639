/** Manifests, which name the files of a table, and lists of manifests (Iceberg table specification, version 2, "Manifests"). */
import { randomBytes } from 'node:crypto';
import { inflateRawSync, deflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro, { type ForSchemaOptions, type Schema, type Type } from 'avsc';
import { AppError } from '../../../../errors.ts';
import { isObject, parseExact } from '../../json.ts';
import type { FieldIds, LakeField, NewFile, ValueRange } from '../table-format.ts';

// Reads and writes Avro files (specification 1.11, "Object Container Files") as a whole, because manifests are small. The package avsc
// decodes the content of blocks.

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

/** keyed by the text of the schema: tables have few schemas, and avsc generates code for each */
const types = new Map<string, Type>();
const maxTypes = 64;

/** `schema`: JSON */
function typeOf(schema: string): Type {
  const known = types.get(schema);
  if (known !== undefined) return known;
  const made = avro.Type.forSchema(JSON.parse(schema) as Schema, {
    registry: { long },
    typeHook: boundedType as ForSchemaOptions['typeHook'],
  });
  if (types.size === maxTypes) types.clear();
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
  if (!bytes.subarray(0, 4).equals(magic)) throw new Error('it does not begin with the Avro magic bytes');
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

// Manifests.

/** An entry of a manifest, with the values that it inherits from the list. */
export interface ManifestEntry {
  /** 0: existing; 1: added; 2: removed */
  readonly status: number;
  readonly snapshot_id: bigint | null;
  readonly sequence_number: bigint | null;
  readonly file_sequence_number: bigint | null;
  readonly data_file: DataFile;
}

interface DataFile {
  /** 0: rows */
  readonly content: number;
  readonly file_path: string;
  readonly file_format: string;
  readonly record_count: bigint;
  readonly file_size_in_bytes: bigint;
  readonly [member: string]: unknown;
}

/** An entry of a manifest list. */
export interface ListedManifest {
  readonly manifest_path: string;
  readonly manifest_length: bigint;
  readonly partition_spec_id: number;
  /** 0: data; 1: deletes */
  readonly content: number;
  readonly sequence_number: bigint;
  readonly min_sequence_number: bigint;
  readonly added_snapshot_id: bigint;
  readonly added_files_count: number;
  readonly existing_files_count: number;
  readonly deleted_files_count: number;
  readonly added_rows_count: bigint;
  readonly existing_rows_count: bigint;
  readonly deleted_rows_count: bigint;
  readonly [member: string]: unknown;
}

type Json = string | readonly Json[] | { readonly [member: string]: unknown };

function field(id: number, name: string, type: Json): Json {
  return { name, type, 'field-id': id };
}

function optional(id: number, name: string, type: Json): Json {
  return { name, type: ['null', type], default: null, 'field-id': id };
}

/** Maps with field ids as keys are lists of pairs. */
function byColumn(key: number, value: number, type: string): Json {
  return {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${key}_v${value}`,
      fields: [field(key, 'key', 'int'), field(value, 'value', type)],
    },
  };
}

/** `partition`: the Avro types of the fields of a partition. */
export function entrySchema(
  partition: readonly { readonly id: number; readonly name: string; readonly type: unknown }[],
): Json {
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      field(2, 'data_file', {
        type: 'record',
        name: 'r2',
        fields: [
          field(134, 'content', 'int'),
          field(100, 'file_path', 'string'),
          field(101, 'file_format', 'string'),
          field(102, 'partition', {
            type: 'record',
            name: 'r102',
            fields: partition.map(({ id, name, type }) => optional(id, name, type as Json)),
          }),
          field(103, 'record_count', 'long'),
          field(104, 'file_size_in_bytes', 'long'),
          optional(108, 'column_sizes', byColumn(117, 118, 'long')),
          optional(109, 'value_counts', byColumn(119, 120, 'long')),
          optional(110, 'null_value_counts', byColumn(121, 122, 'long')),
          optional(137, 'nan_value_counts', byColumn(138, 139, 'long')),
          optional(125, 'lower_bounds', byColumn(126, 127, 'bytes')),
          optional(128, 'upper_bounds', byColumn(129, 130, 'bytes')),
          optional(131, 'key_metadata', 'bytes'),
          optional(132, 'split_offsets', { type: 'array', items: 'long', 'element-id': 133 }),
          optional(135, 'equality_ids', { type: 'array', items: 'int', 'element-id': 136 }),
          optional(140, 'sort_order_id', 'int'),
        ],
      }),
    ],
  };
}

export const listSchema: Json = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', {
      type: 'array',
      'element-id': 508,
      items: {
        type: 'record',
        name: 'r508',
        fields: [
          field(509, 'contains_null', 'boolean'),
          optional(518, 'contains_nan', 'boolean'),
          optional(510, 'lower_bound', 'bytes'),
          optional(511, 'upper_bound', 'bytes'),
        ],
      },
    }),
    optional(519, 'key_metadata', 'bytes'),
  ],
};

const ofColumns = ['column_sizes', 'value_counts', 'null_value_counts', 'nan_value_counts'] as const;

/** Returns the data file in the form of our manifests; members that another program left out are absent. */
export function plainDataFile(file: DataFile): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = { ...file, partition: file['partition'] ?? {} };
  const members = [
    ...ofColumns,
    'lower_bounds',
    'upper_bounds',
    'key_metadata',
    'split_offsets',
    'equality_ids',
    'sort_order_id',
  ];
  for (const name of members) kept[name] = file[name] ?? null;
  return kept;
}

/** Returns the entry of a manifest list that another program wrote. */
export function listedManifest(record: Readonly<Record<string, unknown>>): ListedManifest {
  const count = (name: string): number =>
    Number(record[`${name}_files_count`] ?? record[`${name}_data_files_count`] ?? 0);
  const rows = (name: string): bigint => BigInt((record[`${name}_rows_count`] as bigint | null) ?? 0);
  return {
    manifest_path: String(record['manifest_path']),
    manifest_length: BigInt(record['manifest_length'] as bigint),
    partition_spec_id: Number(record['partition_spec_id'] ?? 0),
    content: Number(record['content'] ?? 0),
    sequence_number: BigInt((record['sequence_number'] as bigint | null) ?? 0),
    min_sequence_number: BigInt((record['min_sequence_number'] as bigint | null) ?? 0),
    added_snapshot_id: BigInt((record['added_snapshot_id'] as bigint | null) ?? 0),
    added_files_count: count('added'),
    existing_files_count: count('existing'),
    deleted_files_count: count('deleted'),
    added_rows_count: rows('added'),
    existing_rows_count: rows('existing'),
    deleted_rows_count: rows('deleted'),
    partitions: record['partitions'] ?? null,
    key_metadata: record['key_metadata'] ?? null,
  };
}

interface Pair {
  readonly key: number;
  readonly value: unknown;
}

/**
 * Returns the manifest entry of a file, from the statistics in Delta's form (Iceberg table specification, "Manifests"). `path`: complete,
 * as other programs open it.
 */
export function dataFileOf(
  path: string,
  { bytes, stats }: NewFile,
  fields: readonly LakeField[],
  ids: FieldIds,
): DataFile {
  const told = parseExact(stats);
  const { numRecords = 0, nullCount, minValues, maxValues } = isObject(told) ? told : {};
  const rows = BigInt(numRecords as number | bigint);
  const pairs = (source: unknown, value: (found: unknown, type: string) => unknown): readonly Pair[] =>
    fields
      .flatMap(({ name, sqlType }): Pair[] => {
        const found = isObject(source) ? source[name] : undefined;
        const key = ids[name]?.[0];
        return found === undefined || key === undefined || sqlType === null
          ? []
          : [{ key, value: value(found, sqlType) }];
      })
      .filter((pair) => pair.value !== null);
  return {
    content: 0,
    file_path: path,
    file_format: 'PARQUET',
    record_count: rows,
    file_size_in_bytes: BigInt(bytes),
    value_counts: pairs(nullCount, () => rows),
    null_value_counts: pairs(nullCount, (count) => BigInt(count as number | bigint)),
    lower_bounds: pairs(minValues, boundOf),
    upper_bounds: pairs(maxValues, boundOf),
  };
}

/** Returns the range of a column of integers; null if the manifest does not give it. */
export function rangeIn(
  { lower_bounds: lower, upper_bounds: upper }: DataFile,
  fields: readonly LakeField[],
  column: string,
): ValueRange | null {
  const id = idOf(fields, column);
  const [least, greatest] = [lower, upper].map((bounds) => wholeNumber(told(bounds, id)));
  return least === null || least === undefined || greatest === null || greatest === undefined
    ? null
    : [least, greatest];
}

/** Returns the number of NULLs in a column; null if the manifest does not record it. */
export function nullsIn(
  { null_value_counts: counts }: DataFile,
  fields: readonly LakeField[],
  column: string,
): number | null {
  const count = told(counts, idOf(fields, column));
  return count === undefined ? null : Number(count);
}

function idOf(fields: readonly LakeField[], column: string): number | undefined {
  return (fields.find(({ name }) => name === column)?.stored as { id?: number } | undefined)?.id;
}

function told(pairs: unknown, id: number | undefined): unknown {
  return Array.isArray(pairs) ? (pairs as Pair[]).find(({ key }) => key === id)?.value : undefined;
}

function wholeNumber(bound: unknown): bigint | null {
  if (!(bound instanceof Uint8Array)) return null;
  const bytes = Buffer.from(bound.buffer, bound.byteOffset, bound.byteLength);
  if (bytes.length === 8) return bytes.readBigInt64LE();
  return bytes.length === 4 ? BigInt(bytes.readInt32LE()) : null;
}

/** Returns the encoded bound; null for types without bounds. */
function boundOf(value: unknown, sqlType: string): Buffer | null {
  switch (sqlType) {
    case 'INTEGER':
      return fourBytes(Number(value));
    case 'DATE':
      return fourBytes(Math.round(Date.parse(`${String(value)}T00:00:00Z`) / 86_400_000));
    case 'BIGINT': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value as number | bigint));
      return bytes;
    }
    default:
      return null;
  }
}

function fourBytes(value: number): Buffer | null {
  if (!Number.isInteger(value) || Math.abs(value) > 0x7fff_ffff) return null;
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
