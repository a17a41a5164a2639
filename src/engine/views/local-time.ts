/** Local times of instants (docs/decisions/model/offsets-of-times.md). */
import { hasOffsetBehind } from '../model/zones.ts';
import type { Column } from '../model/relational-model.ts';

/** Whether column `at` of a table has instants, as many minutes from their local times as the one behind says. */
export function tellsLocalTime(columns: readonly Column[], at: number): boolean {
  const { kind, list } = columns[at]!.type;
  return kind === 'timestamptz' && list !== true && hasOffsetBehind(columns, at);
}
