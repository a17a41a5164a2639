/** Staged tables that other processes fill: all of the model are made before, and those without rows go when the others are told of. */
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import type { StagingArea } from './area.ts';
import type { StagedTable } from './staged-table.ts';

/** made or dropped in one transaction: each takes locks, which the server keeps in fixed memory */
const tablesPerTransaction = 50;

/** What the tables require of their rows is asked when all are there. */
export async function createSharedTables(sql: Sql, staging: StagingArea): Promise<void> {
  staging.isShared = true;
  const tables = [...staging.entries()].map(([, table]) => table);
  for (const table of tables) table.requireNothing();
  for (let from = 0; from < tables.length; from += tablesPerTransaction) {
    const some = tables.slice(from, from + tablesPerTransaction);
    await sql.unsafe(some.map((table) => table.createStatement()).join('; '));
  }
}

/** `rows`: by key, as those say who wrote them. No more come, and the tables get their keys. */
export async function adoptSharedTables(
  sql: Sql,
  staging: StagingArea,
  rows: ReadonlyMap<number | string, number>,
): Promise<void> {
  const empty: string[] = [];
  const filled: StagedTable[] = [];
  for (const [key, table] of staging.entries()) {
    table.rows = table.copied = rows.get(key) ?? 0;
    table.created = table.committed = table.rows > 0;
    if (!table.created) empty.push(table.relation);
    else if (table.form.logged) filled.push(table);
  }
  for (let from = 0; from < empty.length; from += tablesPerTransaction)
    await sql.unsafe(`DROP TABLE ${empty.slice(from, from + tablesPerTransaction).join(', ')}`);
  await staging.addKeys(filled.toSorted((a, b) => b.rows - a.rows));
}
