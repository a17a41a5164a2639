/** What a SQLite file says before a job opens it to write: the logical schemas that loaded it. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { targetLoadsQuery } from '../../../engine/sql/target-loads.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { refusePreRelease } from '../../../adapters/row-sinks/pre-release.ts';
import { openSqlite, type SqliteDb } from './database.ts';
import { readTables } from './tables.ts';

/** Newest first; none where nothing was loaded into the file. */
export async function readSqliteLoads(
  file: string,
  label: string,
  busyTimeoutMs?: number,
): Promise<readonly TargetLoad[]> {
  const database = await openSqlite(file, { label, busyTimeoutMs, readOnly: true });
  try {
    return targetLoads(database, label);
  } finally {
    database.close();
  }
}

/** Throws AppError `conflict` if a version before 1.0 made the file. */
function targetLoads(database: SqliteDb, label: string): readonly TargetLoad[] {
  const { documents, loads } = sideTableNames;
  const known = readTables(database);
  refusePreRelease(label, (name) => known.get(name)?.columns);
  if (!known.has(documents) || !known.has(loads)) return [];
  return database
    .read<Record<keyof TargetLoad, unknown>>(targetLoadsQuery(doubleQuoted))
    .map(({ installation, idSch, idLschma, modelHash, holds }) => ({
      installation: String(installation),
      idSch: idSch === null ? null : Number(idSch),
      idLschma: idLschma === null ? null : Number(idLschma),
      modelHash: modelHash === null ? null : String(modelHash),
      holds: Number(holds) === 1,
    }));
}
