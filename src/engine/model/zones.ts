/**
 * Time zones of dates with times. A type whose rules do not state if values have a zone becomes `timestamp`: in a column of instants,
 * values without a zone would shift with the reader's time zone. If a target receives values with a zone, its column is `timestamptz`.
 */
import type { Column } from './relational-model.ts';

/** True if a date with a time, or a list of these, has a time zone. */
export function hasZone(text: string): boolean {
  return /:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)(?=\s|$)/u.test(text);
}

/** True if the target and its documents decide whether the column keeps a time zone, or has the time as written. */
export function isOpenToZones({ type, sourceType, keepsForm, writtenAs, role }: Column): boolean {
  return (
    role === 'value' &&
    sourceType === 'dateTime' &&
    // the form was guessed from documents
    (keepsForm !== true || writtenAs !== undefined) &&
    (type.kind === 'timestamp' || type.kind === 'timestamptz')
  );
}

/** True if the next column has the offsets from UTC of column `at` of a row (docs/decisions/model/offsets-of-times.md). */
export function hasOffsetBehind(columns: readonly Column[], at: number): boolean {
  const offset = columns[at + 1];
  return offset?.role === 'offset' && offset.path === columns[at]!.path;
}
