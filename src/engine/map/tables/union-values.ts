/** Types of union columns whose members differ, by the values in documents: a date, if a union of dates and years had only dates. */
import { inferValue } from '../../infer/source-model.ts';
import type { ValueStatistics } from '../../infer/statistics.ts';
import type { ColumnType } from '../../model/relational-model.ts';
import { columnTypeOf, widerColumnType } from './column-types.ts';
import type { ColumnDraft } from './model-builder.ts';

const whole: readonly ColumnType['kind'][] = ['smallint', 'integer', 'bigint'];

/**
 * Gives a column that would be text the type that all of its values have, if the union has that type; a different value makes it text
 * again.
 */
export function settleUnion(column: ColumnDraft, met: readonly ValueStatistics[]): void {
  const values = met.filter(({ count, empty }) => count > empty);
  const [first, ...others] = values.map((value) => columnTypeOf(inferValue(value)));
  if (column.type.kind !== 'text' || column.type.list === true || first === undefined) return;
  const type = memberType(
    others.reduce(widerColumnType, first),
    column.members.map((member) => columnTypeOf(member)),
  );
  if (type === null) return;
  column.type = type;
  // 1 may be a flag or a number
  column.keepsForm = true;
  if (met.some(({ empty }) => empty > 0)) column.requiredBy.clear();
}

/** Returns the member type, or null if no member has the type of the values. */
function memberType({ kind, list }: ColumnType, members: readonly ColumnType[]): ColumnType | null {
  const kinds = new Set(members.flatMap((member) => (member.list === true ? [] : [member.kind])));
  const has = (...some: readonly ColumnType['kind'][]): boolean => !kinds.isDisjointFrom(new Set(some));
  if (list === true) return null;
  if (whole.includes(kind) && has(...whole)) return { kind: 'bigint' };
  if (whole.includes(kind) || kind === 'numeric')
    return has('numeric', 'double') ? { kind: 'numeric' } : null;
  if (kind === 'timestamp' || kind === 'timestamptz')
    return has('timestamp', 'timestamptz') ? { kind } : null;
  return kind !== 'text' && has(kind) ? { kind } : null;
}
