/** The meaning of white space in values, by their types. */
import type { Column } from './relational-model.ts';
import type { BuiltInType } from './source-model.ts';

const collapsedTypes: ReadonlySet<BuiltInType> = new Set<BuiltInType>([
  'token',
  'language',
  'NMTOKEN',
  'Name',
  'NCName',
  'ID',
  'IDREF',
  'ENTITY',
  'duration',
  'gYearMonth',
  'gYear',
  'gMonthDay',
  'gDay',
  'gMonth',
  'hexBinary',
  'base64Binary',
  'anyURI',
  'QName',
  'NOTATION',
]);

/** True if white space around and within values is only a separator (XSD 1.0 Part 2 §4.3.6, `collapse`), in the way text is written. */
export function collapses(type: BuiltInType): boolean {
  return collapsedTypes.has(type);
}

export function isCollapsed({ sourceType }: Column): boolean {
  return sourceType !== null && collapses(sourceType);
}

/** White space is part of the value. */
export function keepsSpace(column: Column): boolean {
  return column.type.kind === 'text' && column.type.list !== true && !isCollapsed(column);
}
