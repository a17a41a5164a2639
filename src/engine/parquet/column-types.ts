/** Maps types by DuckDB's names to types of Parquet. */
import * as layout from './kernel/layout.ts';
import type { ReadKind } from './kernel/instance.ts';

export const PHYSICAL = { boolean: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6, fixed: 7 } as const;

/** How the values of a column are read and stored. */
export interface ParquetType {
  /** READ_… of the kernel */
  readonly read: ReadKind;
  readonly physical: number;
  /** bytes of a value; 0: text, 1: a bit */
  readonly width: number;
  readonly scale: number;
  readonly logical: LogicalType;
}

export type LogicalType =
  | { readonly kind: 'integer'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'timestamp' | 'time'; readonly isUtc: boolean }
  | { readonly kind: 'date' | 'text' | 'none' };

const { boolean, int32, int64, float, double, bytes, fixed } = PHYSICAL;

const named: Readonly<Record<string, ParquetType>> = {
  BOOLEAN: of(layout.READ_BOOLEAN, boolean, 1, { kind: 'none' }),
  SMALLINT: of(layout.READ_INT32, int32, 4, { kind: 'integer', bits: 16 }),
  INTEGER: of(layout.READ_INT32, int32, 4, { kind: 'integer', bits: 32 }),
  BIGINT: of(layout.READ_INT64, int64, 8, { kind: 'integer', bits: 64 }),
  FLOAT: of(layout.READ_FLOAT, float, 4, { kind: 'none' }),
  DOUBLE: of(layout.READ_DOUBLE, double, 8, { kind: 'none' }),
  DATE: of(layout.READ_DATE, int32, 4, { kind: 'date' }),
  TIME: of(layout.READ_TIME, int64, 8, { kind: 'time', isUtc: false }),
  TIMESTAMP: of(layout.READ_TIMESTAMP, int64, 8, { kind: 'timestamp', isUtc: false }),
  'TIMESTAMP WITH TIME ZONE': of(layout.READ_TIMESTAMP, int64, 8, { kind: 'timestamp', isUtc: true }),
  VARCHAR: of(layout.READ_TEXT, bytes, 0, { kind: 'text' }),
};

function of(read: ReadKind, physical: number, width: number, logical: LogicalType): ParquetType {
  return { read, physical, width, logical, scale: logical.kind === 'decimal' ? logical.scale : 0 };
}

/** Returns the Parquet type of a scalar SQL type. Throws RangeError if there is none. */
export function valueTypeOf(sqlType: string): ParquetType {
  const known = named[sqlType];
  if (known !== undefined) return known;
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType) ?? [];
  if (precision === undefined) throw new RangeError(`${sqlType} is no type of a Parquet column`);
  const logical = { kind: 'decimal', precision: Number(precision), scale: Number(scale) } as const;
  if (logical.precision <= 9) return of(layout.READ_INT32, int32, 4, logical);
  if (logical.precision <= 18) return of(layout.READ_INT64, int64, 8, logical);
  return of(layout.READ_INT128, fixed, 16, logical);
}

/** True if values may be written as differences from the previous value. */
export function isWholeNumber({ physical }: ParquetType): boolean {
  return physical === int32 || physical === int64;
}
