/** Digits after the point that a value of the type is written with, however many the target's column has by now. */
import type { ColumnType } from '../model/relational-model.ts';

const wholeNumbers: ReadonlySet<ColumnType['kind']> = new Set(['smallint', 'integer', 'bigint']);

/** At least so many, more where the value has them; null: the type has no such digits. */
export function fractionDigits(type: ColumnType | undefined): number | null {
  if (type === undefined) return null;
  if (wholeNumbers.has(type.kind)) return 0;
  return type.kind === 'numeric' ? (type.scale ?? 0) : null;
}
