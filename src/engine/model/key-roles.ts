/** Columns that say which element of the row above a row is, where several hang by one key (`PlanEdge.role`). */
import type { Column } from './relational-model.ts';

/** Last step of the path of a column that tells roles alone. */
export const roleStep = '/(role)';

/** Whether the column says which use of a table its row is, and was drawn for nothing else. */
export function tellsRole({ role, path }: Pick<Column, 'role' | 'path'>): boolean {
  return role === 'element_name' && path.endsWith(roleStep);
}
