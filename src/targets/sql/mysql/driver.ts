/** MySQL and MariaDB: the operations that publishing and removing need. */
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { PublishingWays } from '../publication.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import { foldedName, modelComment, mysqlDialect, readTables } from './tables.ts';
import type { RowRemover } from '../../../ports/row-sink.ts';
import { targetLoads } from '../ledger.ts';
import { removeInTransaction } from '../removal.ts';
import { takeTargetLock } from './staging.ts';

const { quote } = mysql;

/** `relation`: returns the location of a table, quoted. */
export function mysqlWays(relation: (name: string) => string = quote): PublishingWays<Mysql> {
  return {
    dialect: mysqlDialect,
    relation,
    foldedName,
    readTables,
    begin: 'START TRANSACTION',
    now: () => 'UTC_TIMESTAMP(6)',
    instant: (iso) => mysql.literal(iso.replace('T', ' ').replace('Z', '')),
    async latestChange(database) {
      const [row] = await database.read<{ latest: string | null }>(
        `SELECT max(greatest(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${relation(sideTableNames.documents)}`,
      );
      return row!.latest === null ? null : `${row!.latest.replace(' ', 'T')}Z`;
    },
    keepHigherKey: 'ON DUPLICATE KEY UPDATE last_value = greatest(last_value, highest.last)',
    keepCodeTexts: `ON DUPLICATE KEY UPDATE label = coalesce(VALUES(label), label), documentation = coalesce(VALUES(documentation), documentation)`,
    mergeTable: `(name LONGTEXT NOT NULL, written CHAR(64) NOT NULL, ${quote('key')} LONGTEXT NOT NULL, sha256 CHAR(64) NOT NULL, INDEX (written), INDEX (${quote('key')}(255)))
       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ENGINE = InnoDB`,
    modelComment,
    listsDocumentKeys: true,
    joinsChanges: true,
  };
}

export const mysqlDriver = mysqlWays();

export function createMysqlRowRemover(address: MysqlAddress): RowRemover {
  const { label } = address;
  let opened: Promise<Mysql> | null = null;
  const withDatabase = async <T>(work: (database: Mysql) => Promise<T>): Promise<T> => {
    try {
      return await work(await (opened ??= openMysql(address)));
    } catch (error) {
      throw mysqlFault(error, label);
    }
  };
  return {
    label,
    loads: () =>
      withDatabase(async (database) => {
        const known = await readTables(database);
        return targetLoads(database, (name) => known.get(name)?.columns, mysqlDriver.dialect.quote, label);
      }),
    removeDocuments: (plan, fence) =>
      withDatabase(async (database) => {
        await takeTargetLock(database, address);
        return removeInTransaction(mysqlDriver, database, label, plan, fence);
      }),
    close: async () => {
      // a connection that was never opened need not be closed
      await (await opened?.catch(() => null))?.close();
    },
  };
}
