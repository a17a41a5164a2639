/** What a MySQL target says of its loads: the logical schemas that made it. */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { targetLoadsQuery } from '../../../engine/sql/target-loads.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { holdsLoads } from '../../../adapters/row-sinks/pre-release.ts';
import type { Mysql } from './connection.ts';

/** Returns the newest first, or none if nothing was loaded there yet. Throws AppError `conflict` if a version before 1.0 made the target. */
export async function readMysqlLoads(database: Mysql, label: string): Promise<readonly TargetLoad[]> {
  const names = Object.values(sideTableNames).map((name) => `'${name}'`);
  const found = await database.rows(
    `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name IN (${names.join(', ')})`,
  );
  const columns = found.map(([table, column]) => ({ table: table!, column: column! }));
  if (!holdsLoads(label, columns)) return [];
  const rows = await database.rows(targetLoadsQuery(mysql.quote).replaceAll('IS NOT DISTINCT FROM', '<=>'));
  return rows.map(([installation, idSch, idLschma, modelHash, holds]) => ({
    installation: installation!,
    idSch: idSch === null ? null : Number(idSch),
    idLschma: idLschma === null ? null : Number(idLschma),
    modelHash: modelHash ?? null,
    holds: holds === '1',
  }));
}
