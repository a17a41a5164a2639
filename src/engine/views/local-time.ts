/** Local times of instants (docs/decisions/model/offsets-of-times.md). */
import { hasOffsetBehind } from '../model/zones.ts';
import type { Column } from '../model/relational-model.ts';

/** True if column `at` of a table has instants, and the next column their offsets from local time in minutes. */
export function tellsLocalTime(columns: readonly Column[], at: number): boolean {
  const { kind, list } = columns[at]!.type;
  return kind === 'timestamptz' && list !== true && hasOffsetBehind(columns, at);
}
