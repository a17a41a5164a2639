/** Which columns of a DuckDB file keep a time zone. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import type { ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';
import type { FoundTables } from '../found-tables.ts';
import { foldedName, type DuckDb } from './database.ts';

type DuckDbRows = Pick<DuckDb, 'read'>;

/** As `RowSink.zonesThere`. */
export async function readZones(
  database: DuckDbRows,
  known: FoundTables,
  tables: readonly ZoneTable[],
): Promise<ZonesThere> {
  const zones = new Map<string, ReadonlyMap<string, boolean>>();
  for (const { name, columns } of tables) {
    const there = known.get(foldedName(physicalName(duckdb, name)));
    if (there === undefined) continue;
    const kept = new Map<string, boolean>();
    for (const column of columns()) {
      const named = there.columns.get(foldedName(physicalName(duckdb, column.name)));
      if (named?.type.startsWith('TIMESTAMP') !== true) continue;
      const isZoned = named.type.includes('TIME ZONE');
      if (isZoned || !column.zoned || (await hasValues(database, there.name, named.name)))
        kept.set(column.name, isZoned);
    }
    zones.set(name, kept);
  }
  return zones;
}

/** Whether a row has a value in the column. */
export async function hasValues(database: DuckDbRows, table: string, column: string): Promise<boolean> {
  const rows = await database.read(
    `SELECT 1 FROM ${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}
