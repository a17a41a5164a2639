/** Removes documents from a MySQL or MariaDB target. */
import type { RowRemover } from '../../../ports/rows/remover.ts';
import { targetLoads } from '../ledger.ts';
import { removeInTransaction } from '../removal.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import { mysqlDriver } from './driver.ts';
import { takeTargetLock } from './staging.ts';
import { readTables } from './tables.ts';

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
      // a connection that was never opened needs no end
      await (await opened?.catch(() => null))?.close();
    },
  };
}
