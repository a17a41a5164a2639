/** MySQL and MariaDB, as far as the steps of publishing and removing know them. */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { PublishingWays } from '../publication.ts';
import type { Mysql } from './connection.ts';
import { foldedName, mysqlDialect, readTables } from './tables.ts';

export const mysqlDriver: PublishingWays<Mysql> = {
  dialect: mysqlDialect,
  foldedName,
  readTables,
  begin: 'START TRANSACTION',
  now: () => 'UTC_TIMESTAMP(6)',
  instant: (iso) => mysql.literal(iso.replace('T', ' ').replace('Z', '')),
  async latestChange(database) {
    const [row] = await database.read<{ latest: string | null }>(
      `SELECT max(greatest(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${mysql.quote(sideTableNames.documents)}`,
    );
    return row!.latest === null ? null : `${row!.latest.replace(' ', 'T')}Z`;
  },
  keepHigherKey: 'ON DUPLICATE KEY UPDATE last_value = greatest(last_value, highest.last)',
  listsDocumentKeys: true,
  joinsChanges: true,
};
