/** Whether a column gives a value back in the form it was written in: what databases print of numbers, flags and times. */
import type { ColumnType } from '../../model/relational-model.ts';
import { readDateTimeValue, readTimeValue } from './calendar.ts';

/** For a value without surrounding white space that the column's type holds. */
export function isPrintedAlike(type: ColumnType, source: Uint8Array, start: number, end: number): boolean {
  switch (type.kind) {
    case 'boolean':
      return end - start > 1;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
      return isPlainNumber(source, start, end, type.precision === undefined ? null : (type.scale ?? 0));
    case 'time':
      return readTimeValue(source, start, end)?.trailingZero === false;
    case 'timestamp':
    case 'timestamptz':
      return readDateTimeValue(source, start, end)?.trailingZero === false;
    default:
      return true;
  }
}

/** No plus sign, no leading zero, no negative zero, digits on both sides of a point; `scale`: as many digits after it. */
function isPlainNumber(source: Uint8Array, start: number, end: number, scale: number | null): boolean {
  const negative = source[start] === 45;
  const first = negative ? start + 1 : start;
  let point = end;
  let isZero = true;
  for (let i = first; i < end; i += 1) {
    const byte = source[i]!;
    if (byte === 46) point = i;
    else if (byte < 48 || byte > 57) return false;
    else if (byte !== 48) isZero = false;
  }
  const whole = point - first;
  const fraction = point === end ? 0 : end - point - 1;
  if (whole === 0 || (point < end && fraction === 0) || (whole > 1 && source[first] === 48)) return false;
  return !(negative && isZero) && (scale === null || fraction === scale);
}
