/** Replaces names of tables and columns that targets reserve. */
import { isReservedColumn, isReservedTable } from '../../model/reserved-names.ts';
import { byteLength, structureWord, truncateToBytes, type NamingOptions } from './identifiers.ts';

/** Returns the name, or, if it is reserved, another one with the same meaning: `xmin` becomes `xmin_value`, `_file` becomes `file`. */
export function unreservedColumn(
  name: string,
  { nameMode, maxBytes }: Pick<NamingOptions, 'nameMode' | 'maxBytes'>,
): string {
  if (!isReservedColumn(name)) return name;
  const plain = name.replace(/^_+/, '');
  if (plain !== name && plain !== '' && !isReservedColumn(plain)) return plain;
  const told = `${plain}_${structureWord('value', nameMode)}`;
  return byteLength(told) <= maxBytes ? told : `${plain.slice(0, maxBytes - 2)}_2`;
}

/**
 * Returns the name, or, if it is reserved, another one with the same meaning: `sqlite_stat` becomes `xml_sqlite_stat`. Many programs also
 * hide `sqlitestat`, because `_` is a wildcard in `LIKE 'sqlite_%'`.
 */
export function unreservedTable(name: string, { maxBytes }: Pick<NamingOptions, 'maxBytes'>): string {
  return isReservedTable(name) ? truncateToBytes(`xml_${name}`, maxBytes) : name;
}
