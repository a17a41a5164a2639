/** Columns of a table in which no row has a value, as far as the table tells: such a one can still become another. */
import type { TableVersion } from './table-format.ts';

/** False for what the table is partitioned by, which stays what it is. */
export function canTakeZone({ files, partitioning }: TableVersion, column: string): boolean {
  return (
    partitioning.every((field) => field.column !== column) &&
    [...files.values()].every(({ rows, nullsOf }) => rows === 0 || nullsOf(column) === rows)
  );
}
