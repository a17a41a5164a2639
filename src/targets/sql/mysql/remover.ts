/** Documents out of a MySQL target, in one transaction: each row names its document. */
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { withListTables } from '../../../engine/sql/list-tables.ts';
import { doubleForReal } from '../../../engine/sql/mysql-values.ts';
import { physicalTables } from '../../../engine/sql/physical-model.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/rows/remover.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import { removeDocuments } from './document-removal.ts';
import { readMysqlLoads } from './ledger.ts';
import { takeTargetLock } from './staging.ts';
import { readTables } from './tables.ts';
import { publishedQuery, ledgerStatement } from '../../../adapters/row-sinks/ledger.ts';
import { refusePreRelease } from '../../../adapters/row-sinks/pre-release.ts';

const { quote } = mysql;

export function createMysqlRowRemover(address: MysqlAddress): RowRemover {
  let opened: Promise<Mysql> | null = null;
  const guarded = async <T>(work: (database: Mysql) => Promise<T>): Promise<T> => {
    try {
      return await work(await (opened ??= openMysql(address)));
    } catch (error) {
      throw mysqlFault(error, address.label);
    }
  };
  return {
    label: address.label,
    loads: () => guarded((database) => readMysqlLoads(database, address.label)),
    removeDocuments: (plan, fence) => guarded((database) => removeNamed(database, address, plan, fence)),
    close: async () => {
      // one that was never opened has nothing to close
      await (await opened?.catch(() => null))?.close();
    },
  };
}

async function removeNamed(
  database: Mysql,
  address: MysqlAddress,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  const { model, documentName, idLschma } = plan;
  const { label } = address;
  const { documents, loads } = sideTableNames;
  await takeTargetLock(database, address);
  const known = await readTables(database);
  if (!known.has(documents)) throw new AppError('not_found', `${label}: no documents were loaded there.`);
  refusePreRelease(label, (name) => known.get(name)?.columns);
  const done = await database.rows(publishedQuery(plan, quote));
  if (done.length > 0) return { documents: 0, rows: {}, already: true };
  const doubles = {
    ...model,
    tables: model.tables.map((table) => ({ ...table, columns: table.columns.map(doubleForReal) })),
  };
  const { model: drawn, lists } = withListTables(doubles, mysql);
  const tables = physicalTables(drawn, mysql, doubles);
  await database.run('START TRANSACTION');
  try {
    const gone = await removeDocuments(
      { database, known, model, tables, lists },
      `name = ${mysql.literal(documentName)}`,
    );
    if (gone.documents === 0)
      throw new AppError(
        'not_found',
        `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
      );
    const { rows } = gone;
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    // the ledger's sums go on telling what the target holds
    await database.run(
      ledgerStatement(
        plan,
        { documents: -gone.documents, rows: -total },
        { into: quote(loads), now: 'UTC_TIMESTAMP(6)', quote },
      ),
    );
    const removed: Removed = { documents: gone.documents, rows, already: false };
    if (!plan.dryRun && !(await fence(removed)))
      throw new AppError('conflict', 'The job is another worker’s by now: nothing was removed.');
    await database.run(plan.dryRun ? 'ROLLBACK' : 'COMMIT');
    return removed;
  } catch (error) {
    // the first fault is the one to tell; a connection that is lost has rolled back
    await database.run('ROLLBACK').catch(() => 0);
    throw error;
  }
}
