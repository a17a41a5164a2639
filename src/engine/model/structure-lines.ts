/** Columns that hold no content of documents, yet have a line in the source-to-target map. */
import { isRoleColumn } from './keys.ts';
import type { Column, ColumnRole } from './relational-model.ts';

/** The part of such a line that depends on the role of its column. */
interface StructureLine {
  /** path of the element that the column describes; null: a key, a position or a column of the load */
  readonly xpath: string | null;
  /** empty if there is no path */
  readonly sourceType: string;
}

const withoutSource: ReadonlySet<ColumnRole> = new Set([
  'row_key',
  'parent_key',
  'child_key',
  'position',
  'document',
  'folded_position',
  'extra',
]);

/** Returns the line of a column that does not hold content of documents, or null if the column does. */
export function structureLine(column: Pick<Column, 'role' | 'path' | 'xpath'>): StructureLine | null {
  const { role, xpath } = column;
  switch (role) {
    case 'element_name':
      return { xpath, sourceType: isRoleColumn(column) ? 'role' : 'element name' };
    case 'type_name':
      return { xpath, sourceType: 'xsi:type' };
    case 'nil':
      return { xpath, sourceType: 'xsi:nil' };
    default:
      return withoutSource.has(role) ? { xpath: null, sourceType: '' } : null;
  }
}
