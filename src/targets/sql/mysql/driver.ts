/** MySQL and MariaDB, as far as the steps of publishing and removing know them. */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RemovalDriver } from '../removal.ts';
import type { Mysql } from './connection.ts';
import { foldedName, readTables } from './tables.ts';

export const mysqlDriver: RemovalDriver<Mysql> = {
  dialect: mysql,
  foldedName,
  readTables,
  begin: 'START TRANSACTION',
  now: () => 'UTC_TIMESTAMP(6)',
  listsDocumentKeys: true,
  joinsDeletes: true,
};

/** A literal of DATETIME. `iso`: ISO 8601 in UTC. */
export function instant(iso: string): string {
  return mysql.literal(iso.replace('T', ' ').replace('Z', ''));
}

/** Returns the latest time at which a document became or ceased to be valid, in ISO 8601, or null if there is none. */
export async function latestChange(database: Mysql): Promise<string | null> {
  const [row] = await database.read<{ latest: string | null }>(
    `SELECT max(greatest(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${mysql.quote(sideTableNames.documents)}`,
  );
  return row!.latest === null ? null : `${row!.latest.replace(' ', 'T')}Z`;
}
