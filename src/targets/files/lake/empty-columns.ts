/** Columns of a table in which no row has a value, as far as the table tells: such a one can still become another. */
import { fileKeyName } from '../../../engine/model/side-tables.ts';
import { isOwnFile } from './data-files.ts';
import type { LakeField, LakeFile, TableVersion } from './table-format.ts';

/** False for what the table is partitioned by, which stays what it is. */
export function canTakeZone(
  { files, partitioning }: TableVersion,
  column: Pick<LakeField, 'name' | 'sqlType'>,
): boolean {
  return (
    partitioning.every((field) => field.column !== column.name) &&
    [...files].every(([path, file]) => file.rows === 0 || hasNoValue(path, file, column))
  );
}

function hasNoValue(
  path: string,
  { rows, nullsOf }: LakeFile,
  { name, sqlType }: Pick<LakeField, 'name' | 'sqlType'>,
): boolean {
  const nulls = nullsOf(name);
  if (nulls !== null) return nulls === rows;
  // where jobs tell of a file, they tell of each such column that it has
  return sqlType === 'TIMESTAMP' && isOwnFile(path) && nullsOf(fileKeyName) !== null;
}
