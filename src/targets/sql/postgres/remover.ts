/** Removes documents from a PostgreSQL target, in one transaction. */
import { physicalTables } from '../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/row-sink.ts';
import { sqlState, type Sql, type TransactionSql } from '../../../postgres/connect.ts';
import { askTargetLoads, databaseOf, postgresWays } from './driver.ts';
import {
  connectTarget,
  stoppedSeconds,
  targetLock,
  beginSession,
  watchPostgres,
  targetFault,
  type TargetAddress,
} from './connection.ts';
import { checkFoundTables } from '../found-tables.ts';
import { readTarget } from './existing-tables.ts';
import { removeNamed } from '../removal.ts';

interface PostgresRowRemoverOptions extends TargetAddress {
  readonly sqlSchema: string;
  readonly label: string;
}

export function createPostgresRowRemover(options: PostgresRowRemoverOptions): RowRemover {
  const backends: number[] = [];
  const watch = watchPostgres({ address: options, backends: () => backends });
  const sql = connectTarget(options, { all: watch.sockets });
  return {
    label: options.label,
    loads: () => askTargetLoads(options),
    async removeDocuments(plan, fence) {
      try {
        return await watch.during(async () => {
          backends.push(await beginSession(sql, options));
          return await removeDocuments(sql, options, plan, fence);
        });
      } catch (error) {
        if (sqlState(error) === '23503') {
          const { message } = error as Error;
          throw new AppError(
            'conflict',
            `${options.label}: other rows refer to the rows to remove: ${message}`,
          );
        }
        throw targetFault(error, options.label);
      }
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

async function removeDocuments(
  sql: Sql,
  { sqlSchema, label }: PostgresRowRemoverOptions,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  const outcome: { removed: Removed } = { removed: { documents: 0, rows: {}, already: false } };
  const rollBack = new Error('dry run');
  await sql
    .begin(async (begun) => {
      outcome.removed = await removeUnderLock(begun as unknown as TransactionSql, sqlSchema, plan, label);
      if (plan.dryRun) throw rollBack;
      if (!(await fence(outcome.removed)))
        throw new AppError('conflict', 'Another worker has taken over the job: nothing was removed.');
    })
    .catch((error: unknown) => {
      if (error !== rollBack) throw error;
    });
  return outcome.removed;
}

/** Removes documents under the lock of the target, after checks of its tables. */
async function removeUnderLock(
  tx: TransactionSql,
  sqlSchema: string,
  plan: RemovalPlan,
  label: string,
): Promise<Removed> {
  await tx.unsafe(
    `${targetLock(sqlSchema)}; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '${stoppedSeconds}s'`,
  );
  const { model } = plan;
  const tables = physicalTables(model, postgresql);
  const [database, driver] = [databaseOf(tx), postgresWays(tx, sqlSchema, tables)];
  const known = await driver.readTables(database);
  if (!known.has(sideTableNames.documents))
    throw new AppError('not_found', `${label}: no documents were loaded there.`);
  const names = [...tables.map(({ name }) => name), ...Object.values(sideTableNames)];
  const { tables: there } = await readTarget(tx, sqlSchema, names);
  const drawn = { model, tables, lists: [] };
  checkFoundTables(driver, label, there, drawn, () => true);
  return removeNamed({ database, driver, drawn, known }, plan, label);
}
