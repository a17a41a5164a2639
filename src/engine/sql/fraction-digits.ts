/** The number of digits after the point with which values of a type are written, regardless of the target column's present scale. */
import type { ColumnType } from '../model/relational-model.ts';

const wholeNumbers: ReadonlySet<ColumnType['kind']> = new Set(['smallint', 'integer', 'bigint']);

/** Returns the least number of digits, which a value may exceed, or null if the type has no such digits. */
export function fractionDigits(type: ColumnType | undefined): number | null {
  if (type === undefined) return null;
  if (wholeNumbers.has(type.kind)) return 0;
  return type.kind === 'numeric' ? (type.scale ?? 0) : null;
}
