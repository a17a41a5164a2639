/** What a MySQL target says of its loads: the logical schemas that made it. */
import { mysql } from '../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { targetLoadsQuery } from '../../engine/sql/target-loads.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import type { Mysql } from './connection.ts';

/** Newest first; none where nothing was loaded there yet. */
export async function readMysqlLoads(database: Mysql): Promise<readonly TargetLoad[]> {
  const { documents, loads } = sideTableNames;
  const found = await database.rows(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ('${documents}', '${loads}')`,
  );
  if (found.length < 2) return [];
  const rows = await database.rows(targetLoadsQuery(mysql.quote).replaceAll('IS NOT DISTINCT FROM', '<=>'));
  return rows.map(([installation, idSch, idLschma, modelHash, holds]) => ({
    installation: installation!,
    idSch: idSch === null ? null : Number(idSch),
    idLschma: idLschma === null ? null : Number(idLschma),
    modelHash: modelHash ?? null,
    holds: holds === '1',
  }));
}
