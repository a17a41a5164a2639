/** Default names of constraints. */
import { byteLength, truncateToBytes } from './identifiers.ts';

/**
 * Returns the name that PostgreSQL gives to an unnamed constraint, as `makeObjectName` in its source code does. The name has at most 63
 * bytes, or `maxBytes`.
 */
export function constraintName(
  table: string,
  column: string,
  label: 'fkey' | 'not_null' | 'idx' | 'codes' | 'ukey',
  maxBytes = 63,
): string {
  const room = maxBytes - `__${label}`.length;
  let tableBytes = byteLength(table);
  let columnBytes = byteLength(column);
  while (tableBytes + columnBytes > room) {
    if (tableBytes > columnBytes) tableBytes -= 1;
    else columnBytes -= 1;
  }
  return `${truncateToBytes(table, tableBytes)}_${truncateToBytes(column, columnBytes)}_${label}`;
}
