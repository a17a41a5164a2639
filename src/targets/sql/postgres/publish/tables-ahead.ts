/** Empty tables in such numbers that one transaction could not hold their locks: made before it, a few at a time. */
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import type { Sql, TransactionSql } from '../../../../adapters/postgres/client/connect.ts';
import type { StagingArea } from '../staging/area.ts';
import type { PostgresPublication } from './publication.ts';
import { makeSideTables } from '../../publish.ts';
import { finishTables, makeTables } from './tables.ts';

/** each takes several locks of a table that PostgreSQL keeps in fixed memory */
const tablesPerTransaction = 100;

/** `begin`: takes the target's lock and reads what is there. */
export async function makeTablesAhead(
  sql: Sql,
  plan: SinkPlan,
  staging: StagingArea,
  begin: (tx: TransactionSql) => Promise<PostgresPublication>,
): Promise<void> {
  if (!plan.allTables && plan.saveMode !== 'write-schema') return;
  const empty = plan.model.tables.flatMap((_, index) => (staging.get(index)!.rows === 0 ? [index] : []));
  if (empty.length <= tablesPerTransaction) return;
  for (let from = 0; from < empty.length; from += tablesPerTransaction) {
    await sql.begin(async (begun) => {
      const publication = await begin(begun as unknown as TransactionSql);
      await makeSideTables(publication);
      const some = empty.slice(from, from + tablesPerTransaction);
      await makeTables(
        publication,
        some.filter((index) => !publication.present.has(publication.tables[index]!.name)),
      );
      await finishTables(publication);
    });
  }
}
