/** Columns of a target that keep a time zone, and those that have none. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { physicalName } from '../../../../engine/sql/physical-names.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import type { ZonesThere, ZoneTable } from '../../../../ports/rows/sink.ts';
import type { Sql, TransactionSql } from '../../../../adapters/postgres/client/connect.ts';

/** As `RowSink.zonesThere`. */
export async function readZones(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  tables: readonly ZoneTable[],
): Promise<ZonesThere> {
  const rows = await sql.unsafe<{ table: string; column: string; zoned: boolean }[]>(`
    SELECT c.relname AS table, a.attname AS column, t.typname LIKE '%timestamptz' AS zoned
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relkind IN ('r', 'p') AND t.oid IN ('timestamp'::regtype, 'timestamptz'::regtype, 'timestamp[]'::regtype, 'timestamptz[]'::regtype)`);
  const known = Map.groupBy(rows, ({ table }) => table);
  const found = new Map<string, ReadonlyMap<string, boolean>>();
  for (const { name, columns } of tables) {
    const there = known.get(physicalName(postgresql, name));
    if (there === undefined) continue;
    const kept = new Map<string, boolean>();
    const byName = new Map(there.map((row) => [row.column, row]));
    for (const column of columns()) {
      const row = byName.get(physicalName(postgresql, column.name));
      if (row === undefined) continue;
      if (row.zoned || !column.zoned || (await hasValues(sql, sqlSchema, row.table, row.column)))
        kept.set(column.name, row.zoned);
    }
    found.set(name, kept);
  }
  return found;
}

/** Whether a row has a value in the column. */
export async function hasValues(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  table: string,
  column: string,
): Promise<boolean> {
  const rows = await sql.unsafe(
    `SELECT FROM ${doubleQuoted(sqlSchema)}.${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}
