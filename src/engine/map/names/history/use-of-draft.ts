/** The use of a column that is being drawn. */
import { useText } from '../../../model/column-uses.ts';
import { columnPath, type ColumnDraft, type TableDraft } from '../../tables/model-builder.ts';

/** Returns the use as `useOf` gives it for the column of a finished model. */
export function useOfDraft(column: ColumnDraft, table: TableDraft): string {
  const leadsTo = column.role === 'parent_key' ? column.parent : column.child;
  return useText(column.role, columnPath(column, table), leadsTo?.usePath ?? null);
}
