/** Names that no table or column of a model may have, because a target reserves them for its own. */
import { dialectNames, dialectOf } from '../sql/dialects/every-dialect.ts';

/**
 * In lower case, because no target distinguishes names by case for all of its readers. `oid` is allowed: PostgreSQL has no such column
 * since version 12.
 */
const reserved: ReadonlySet<string> = new Set([
  ...dialectNames.flatMap((name) => dialectOf(name).reservedColumns),
  // the number of a row; some databases allow such a column, which then hides it
  'rowid',
  '_rowid_',
  'ora_rowscn',
  // Iceberg specification, Reserved Field IDs
  '_file',
  '_pos',
  '_deleted',
  '_spec_id',
  '_partition',
  '_change_type',
  '_change_ordinal',
  '_commit_snapshot_id',
  '_row_id',
  '_last_updated_sequence_number',
]);

const reservedPrefixes: readonly string[] = dialectNames.flatMap(
  (name) => dialectOf(name).reservedPrefixes ?? [],
);

/** True if no column of a model may have the name, regardless of case. */
export function isReservedColumn(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    reserved.has(lower) ||
    (lower.startsWith('_') && reservedPrefixes.some((prefix) => lower.startsWith(prefix)))
  );
}

/** True if no table of a model may have the name, regardless of case: SQLite keeps this prefix for its own objects. */
export function isReservedTable(name: string): boolean {
  return /^sqlite_/i.test(name);
}
