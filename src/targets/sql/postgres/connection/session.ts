/** What every connection to a target begins with: what is at the other end, and the settings of a load. */
import type { Sql, TransactionSql } from '../../../../adapters/postgres/client/connect.ts';
import { checkProduct } from './family.ts';
import { connectTarget, type TargetAddress } from './open.ts';
import { checkPooler } from './pooler.ts';

/**
 * First statement on each connection: what the database's owner set for people is not for a load. The server asks a silent client
 * whether it is there: the session of a machine that fell over would keep its locks for two hours.
 */
export const sessionSettings = `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
SET search_path = pg_catalog, pg_temp; SET standard_conforming_strings = on; SET jit = off; SET client_min_messages = warning;
SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout') AND setting <> '0'`;

/**
 * Statement: long values are compressed by LZ4 where the server has it and nobody has chosen otherwise: the default, pglz, takes most of
 * the time of loading text, for a tenth less space (PostgreSQL manual §20.11, default_toast_compression; since 14).
 */
export const quickCompression = `SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
 WHERE name = 'default_toast_compression' AND source = 'default' AND 'lz4' = ANY (enumvals)`;

/**
 * Makes a new connection ready: AppError `target_not_allowed` where it leads to another product than PostgreSQL, or changes its session
 * with each transaction. `more`: further statements. Answers the id of its process on the server.
 */
export async function beginSession(
  sql: Sql,
  address: TargetAddress,
  ...more: readonly string[]
): Promise<number> {
  await checkProduct(sql);
  await checkPooler(sql, () => connectTarget(address));
  return backendAfter(sql, [sessionSettings, ...more].join('; '));
}

/** Runs the statements, and answers the id of their process on the server. */
export async function backendAfter(sql: Sql | TransactionSql, statements: string): Promise<number> {
  const results = await sql.unsafe<{ pid: number }[][]>(`${statements}; SELECT pg_backend_pid() AS pid`);
  return results.at(-1)![0]!.pid;
}
