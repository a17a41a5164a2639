/** Whether a column gives a value back in the form it was written in: what databases print of numbers, flags and times. */
import type { ColumnType } from '../../model/relational-model.ts';
import { readDateTimeValue, readTimeValue } from './calendar.ts';

/**
 * For a value without surrounding white space that the column's type holds; `scalesDecimals`: decimals without a scale come back without zeros
 * at their end.
 */
export function isPrintedAlike(
  type: ColumnType,
  source: Uint8Array,
  start: number,
  end: number,
  scalesDecimals: boolean,
): boolean {
  switch (type.kind) {
    case 'boolean':
      return end - start > 1;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
      return isPlainNumber(source, start, end, scaleOf(type, scalesDecimals));
    case 'time':
      return readTimeValue(source, start, end)?.trailingZero === false;
    case 'timestamp':
    case 'timestamptz':
      return readDateTimeValue(source, start, end)?.trailingZero === false;
    default:
      return true;
  }
}

type Scale = number | 'any' | 'shortest';

function scaleOf({ precision, scale = 0 }: ColumnType, scalesDecimals: boolean): Scale {
  if (precision !== undefined) return scale;
  return scalesDecimals ? 'shortest' : 'any';
}

/** No plus sign, no leading zero, no negative zero, digits on both sides of a point; `scale`: as many digits after it, or as few as can be. */
function isPlainNumber(source: Uint8Array, start: number, end: number, scale: Scale): boolean {
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
  if (negative && isZero) return false;
  if (scale === 'shortest') return fraction === 0 || source[end - 1] !== 48;
  return scale === 'any' || fraction === scale;
}
