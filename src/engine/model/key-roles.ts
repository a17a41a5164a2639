/** Columns that identify which element of the parent row a row is, if several hang by one key (`PlanEdge.role`). */
import type { Column } from './relational-model.ts';

/** Last step of the path of a column that only has roles. */
export const roleStep = '/(role)';

/** True if the column identifies the use of a table that its row is, and exists only for that. */
export function tellsRole({ role, path }: Pick<Column, 'role' | 'path'>): boolean {
  return role === 'element_name' && path.endsWith(roleStep);
}
