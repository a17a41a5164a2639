/** What a DuckDB file says before a job opens it to write: the logical schemas that loaded it, and which columns keep a time zone. */
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { targetLoadsQuery } from '../../../engine/sql/target-loads.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { holdsLoads } from '../../../adapters/row-sinks/pre-release.ts';
import { foldedName, openDuckDbReader, type DuckDb } from './database.ts';
import { readTables } from './tables.ts';

type DuckDbRows = Pick<DuckDb, 'read'>;

/**
 * Returns the newest first, or none if there is no such file or nothing was loaded into it. Throws AppError `conflict` if a version before 1.0 made
 * the file.
 */
export async function readDuckDbLoads(
  file: string,
  label: string,
  busyTimeoutMs = 30_000,
): Promise<readonly TargetLoad[]> {
  const found = await readFile(file, { label, busyTimeoutMs }, async (database) => {
    const names = Object.values(sideTableNames).map((name) => `'${name}'`);
    const columns = await database.read<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM duckdb_columns() WHERE table_name IN (${names.join(', ')})`,
    );
    if (!holdsLoads(label, columns)) return [];
    const rows = await database.read<Record<keyof TargetLoad, unknown>>(targetLoadsQuery(doubleQuoted));
    return rows.map(({ installation, idSch, idLschma, modelHash, holds }) => ({
      installation: String(installation),
      idSch: idSch === null ? null : Number(idSch),
      idLschma: idLschma === null ? null : Number(idLschma),
      modelHash: modelHash === null ? null : String(modelHash),
      holds: holds === true,
    }));
  });
  return found ?? [];
}

/** As `RowSink.zonesThere`. */
export async function readDuckDbZones(
  file: string,
  tables: readonly ZoneTable[],
  label: string,
  busyTimeoutMs = 30_000,
): Promise<ZonesThere> {
  const found = await readFile(file, { label, busyTimeoutMs }, async (database) => {
    const known = await readTables(database);
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
  });
  return found ?? new Map();
}

/** Whether a row has a value in the column. */
export async function hasValues(database: DuckDbRows, table: string, column: string): Promise<boolean> {
  const rows = await database.read(
    `SELECT 1 FROM ${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}

/** Null: there is no such file. */
async function readFile<T>(
  file: string,
  options: { readonly label: string; readonly busyTimeoutMs: number },
  read: (database: DuckDbRows) => Promise<T>,
): Promise<T | null> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return null;
  const spill = await mkdtemp(join(tmpdir(), 'target-loads-'));
  try {
    const database = await openDuckDbReader(file, spill, { ...options, streams: 1 });
    try {
      return await read(database);
    } finally {
      database.close();
    }
  } finally {
    await rm(spill, { recursive: true, force: true });
  }
}
