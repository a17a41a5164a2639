/**
 * Columns for the offsets from UTC that dates with times are written with; they follow the columns of the times
 * (docs/decisions/model/offsets-of-times.md).
 */
import type { PreviousNames } from '../../names/history/previous.ts';
import { useOfDraft } from '../../names/history/use-of-draft.ts';
import { newColumn, type ColumnDraft, type TableDraft } from '../model-builder.ts';

/**
 * Adds columns of offsets to a table whose path is settled. Times that documents have with offsets get one, unless an earlier version had
 * the time without it.
 */
export function addOffsets(table: TableDraft, previous: PreviousNames): void {
  const columns = table.columns.flatMap((column) => {
    if (column.role !== 'value' || column.type.list === true) return [column];
    const offset = newColumn({
      role: 'offset',
      type: { kind: 'smallint' },
      steps: column.steps,
      xpath: column.xpath,
      offsetOf: column,
    });
    const isDrawn = isNewWithOffsets(column, table, previous);
    return isDrawn || previous.column(table.usePath, useOfDraft(offset, table)) !== undefined
      ? [column, offset]
      : [column];
  });
  table.columns.splice(0, table.columns.length, ...columns);
}

function isNewWithOffsets(column: ColumnDraft, table: TableDraft, previous: PreviousNames): boolean {
  if (!column.hasOffsets || column.type.kind !== 'timestamptz') return false;
  return previous.parts(table.usePath)?.partOf(useOfDraft(column, table)) === undefined;
}
