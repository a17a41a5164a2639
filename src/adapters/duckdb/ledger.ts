/** What a DuckDB file says of the logical schemas that loaded it. */
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doubleQuoted } from '../../engine/sql/dialect.ts';
import { targetLoadsQuery } from '../../engine/sql/target-loads.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import { openDuckDbReader } from './database.ts';

/** Newest first; none where there is no such file, or nothing was loaded into it. */
export async function readDuckDbLoads(
  file: string,
  label: string,
  busyTimeoutMs = 30_000,
): Promise<readonly TargetLoad[]> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return [];
  const spill = await mkdtemp(join(tmpdir(), 'target-loads-'));
  try {
    const database = await openDuckDbReader(file, spill, { label, busyTimeoutMs, streams: 1 });
    try {
      const { documents, loads } = sideTableNames;
      const tables = await database.read<{ name: string }>(
        `SELECT table_name AS name FROM duckdb_tables() WHERE table_name IN ('${documents}', '${loads}')`,
      );
      if (tables.length < 2) return [];
      const rows = await database.read<Record<keyof TargetLoad, unknown>>(targetLoadsQuery(doubleQuoted));
      return rows.map(({ installation, idSch, idLschma, holds }) => ({
        installation: String(installation),
        idSch: idSch === null ? null : Number(idSch),
        idLschma: idLschma === null ? null : Number(idLschma),
        holds: holds === true,
      }));
    } finally {
      database.close();
    }
  } finally {
    await rm(spill, { recursive: true, force: true });
  }
}
