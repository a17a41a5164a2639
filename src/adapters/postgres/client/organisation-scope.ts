/** Transactions that speak for one organisation: row-level security shows them its rows alone. */
import type { Sql, TransactionSql } from './connect.ts';

/** Value of `svc.id_org` on connections that access all organisations. */
export const everyOrganisation = '*';

/**
 * Runs `work` in a transaction that sees only this organisation's rows, whatever its statements query. Functions that begin a
 * transaction of their own join this one; `mode` is its isolation if that matters.
 */
export async function withinOrganisation<T>(
  sql: Sql,
  idOrg: number,
  work: (tx: Sql) => Promise<T>,
  mode = '',
): Promise<T> {
  const done = sql.begin(mode, async (tx) => {
    // first on its way, and not waited for: the setting costs no round trip of its own
    const setting = tx`select set_config('svc.id_org', ${String(idOrg)}, true)`.execute();
    const [result] = await Promise.all([work(joining(tx)), setting]);
    return { result };
  });
  return (await done).result;
}

/** Runs statements that only read, each of which sees the organisation's rows and no other's; they share no snapshot. */
export type OrganisationReader = <T>(idOrg: number, read: (sql: Sql) => Promise<T>) => Promise<T>;

export function readInTransaction(sql: Sql): OrganisationReader {
  return (idOrg, read) => withinOrganisation(sql, idOrg, read);
}

function joining(tx: TransactionSql): Sql {
  const begin = (...given: unknown[]): unknown => (given.at(-1) as (inner: TransactionSql) => unknown)(tx);
  return Object.assign(tx, { begin }) as unknown as Sql;
}
