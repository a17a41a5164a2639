/**
 * Names that a kind of target keeps for columns of its own, quoted or not. A model has none of them, whatever its target: one schema serves
 * several. `oid` is none of them: PostgreSQL has no such column since version 12.
 */

/** In lower case: no target tells names apart by case for all of its readers. */
const reservedNames: Readonly<Record<string, readonly string[]>> = {
  // PostgreSQL manual, 5.6 System Columns
  postgresql: ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
  redshift: ['insertxid', 'deletexid'],
  // InnoDB, of MySQL and MariaDB
  mysql: ['db_row_id', 'db_trx_id', 'db_roll_ptr', 'fts_doc_id'],
  // the number of a row; legal in some, and then hides it
  rows: ['rowid', '_rowid_', 'ora_rowscn'],
  // columns of metadata that engines add to tables of files
  databricks: ['_metadata', '_commit_version', '_commit_timestamp'],
  // Iceberg specification, Reserved Field IDs
  iceberg: [
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
  ],
};

/** Beginnings of names. BigQuery, Column names. */
const reservedPrefixes: readonly string[] = [
  '_table_',
  '_file_',
  '_partition',
  '_row_timestamp',
  '__root__',
  '_colidentifier',
  '_change_sequence_number',
  '_change_type',
  '_change_timestamp',
];

const reserved: ReadonlySet<string> = new Set(Object.values(reservedNames).flat());

/** Whether no column of a model may have the name, whatever the case of its letters. */
export function isReservedColumn(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    reserved.has(lower) ||
    (lower.startsWith('_') && reservedPrefixes.some((prefix) => lower.startsWith(prefix)))
  );
}
