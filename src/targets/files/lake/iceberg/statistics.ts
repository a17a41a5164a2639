/** What a manifest says of a file's columns, of what Delta's log says (Iceberg table specification, "Manifests", "Binary single-value serialization"). */
import { isObject, parseExact } from '../../json.ts';
import type { FieldIds, LakeField, NewFile, ValueRange } from '../table-format.ts';
import type { DataFile } from './manifests.ts';

interface Pair {
  readonly key: number;
  readonly value: unknown;
}

/** `path`: whole, as other programs are to open it. */
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

/** Of a column of whole numbers; null where the manifest does not tell. */
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

/** How many rows have no value in a column; null where the manifest does not tell. */
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

/** Null for types whose bounds are not told. */
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
