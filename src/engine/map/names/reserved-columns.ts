/** Names of columns that make way for those of targets. */
import { isReservedColumn } from '../../model/reserved-columns.ts';
import { byteLength, structureWord, type NamingOptions } from './identifiers.ts';

/** The name, or one that says the same and is not reserved: `xmin` is `xmin_value`, `_file` is `file`. */
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
