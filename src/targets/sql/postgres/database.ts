/** A SQL schema of PostgreSQL as the steps that all databases share know it, and what it says of its loads. */
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { Sql, TransactionSql } from '../../../adapters/postgres/client/connect.ts';
import type { SqlDatabase } from '../database.ts';
import { relationOf, type SqlNames } from '../found-tables.ts';
import { targetLoads } from '../ledger.ts';
import { addressLabel, connectTarget, targetFault, type TargetAddress } from './connection/open.ts';
import { sessionSettings } from './connection/session.ts';

const rowsPerPage = 10_000;

export function databaseOf(sql: Sql | TransactionSql): SqlDatabase {
  return {
    // one message of bounded size, however many columns there are
    statementsPerRun: 1000,
    run: async (statements) => (await sql.unsafe(statements)).count,
    read: async <T>(query: string) => [...(await sql.unsafe<object[]>(query))] as T[],
    pages: <T>(query: string) =>
      sql.unsafe<object[]>(query).cursor(rowsPerPage) as unknown as AsyncIterable<readonly T[]>,
  };
}

export function namesIn(sqlSchema: string): SqlNames {
  return { dialect: postgresql, foldedName: (name) => name, sqlSchema };
}

/** Returns the newest first, or none if nothing was loaded there yet. Throws AppError `conflict` if a version before 1.0 made the target. */
export async function readTargetLoads(
  sql: Sql,
  sqlSchema: string,
  label: string,
): Promise<readonly TargetLoad[]> {
  const names = Object.values(sideTableNames).map((name) => standardLiteral(name));
  const rows = await sql.unsafe<{ table: string; column: string }[]>(
    `SELECT c.relname AS table, a.attname AS column
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind IN ('r', 'p') AND c.relname IN (${names.join(', ')})`,
  );
  const columns = Map.groupBy(rows, ({ table }) => table);
  const columnsOf = (name: string): ReadonlySet<string> | undefined => {
    const found = columns.get(name);
    return found === undefined ? undefined : new Set(found.map(({ column }) => column));
  };
  return targetLoads(databaseOf(sql), columnsOf, relationOf(namesIn(sqlSchema)), label);
}

/** `readTargetLoads` over a connection of its own. */
export async function askTargetLoads(
  options: TargetAddress & { readonly sqlSchema: string; readonly label?: string },
): Promise<readonly TargetLoad[]> {
  const label = options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`;
  const sql = connectTarget(options);
  try {
    await sql.unsafe(sessionSettings);
    return await readTargetLoads(sql, options.sqlSchema, label);
  } catch (error) {
    throw targetFault(error, label);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
