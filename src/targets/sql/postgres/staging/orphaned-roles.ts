/** Roles that executors log in as: dropped with the staging that they write into, or by a later job where theirs has died. */
import { setTimeout as sleep } from 'node:timers/promises';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import { sqlState, type Sql } from '../../../../adapters/postgres/client/connect.ts';
import { markStart, stagingMark, stagingPattern } from './mark.ts';

/** Comment of the role, quoted. Roles belong to all databases of a server, and locks to one: only jobs in that one know whether a job lives. */
export async function roleMark(sql: Sql, token: string): Promise<string> {
  const [{ database }] = await sql.unsafe<[{ database: string }]>('SELECT current_database() AS database');
  return `${stagingMark(token).slice(0, -1)} in ${standardLiteral(database).slice(1)}`;
}

/** No one can log in as it any more, and all who had are gone. AppError `service_unavailable`: a session outlives being ended. */
export async function endJobRole(sql: Sql, setRole: string | undefined, token: string): Promise<void> {
  const marked = await sql.unsafe(
    `SELECT FROM pg_roles WHERE rolname = ${standardLiteral(token)} AND shobj_description(oid, 'pg_authid') = ${stagingMark(token)} || ' in ' || current_database()`,
  );
  if (marked.length === 0) return;
  await asLogin(sql, setRole, `ALTER ROLE ${doubleQuoted(token)} NOLOGIN PASSWORD NULL`);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const results = await asLogin(
      sql,
      setRole,
      `SELECT count(pg_terminate_backend(pid))::int AS sessions FROM pg_stat_activity WHERE usename = ${standardLiteral(token)}`,
    );
    if (results.some((row) => row['sessions'] === 0)) return;
    await sleep(50);
  }
  throw new AppError('service_unavailable', 'Sessions of executors could not be ended.');
}

/** Runs what only the login may do, all in one message, so that a failure undoes `SET ROLE`, too; answers all rows. */
export async function asLogin(
  sql: Sql,
  setRole: string | undefined,
  statements: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const back = setRole === undefined ? '' : `; SET ROLE ${doubleQuoted(setRole)}`;
  const results = await sql.unsafe<Record<string, unknown>[][]>(`SET ROLE NONE; ${statements}${back}`);
  return results.flat();
}

/** Those of this database whose staging is gone, or that one alone whose name is given; which the login may not drop, stay. */
export async function dropJobRoles(sql: Sql, setRole: string | undefined, token?: string): Promise<void> {
  const found = await sql.unsafe<{ name: string }[]>(
    `SELECT rolname AS name FROM pg_roles
      WHERE rolname ~ '${stagingPattern}$' AND (${token === undefined ? 'true' : `rolname = ${standardLiteral(token)}`})
        AND shobj_description(oid, 'pg_authid') = '${markStart}' || rolname || ' in ' || current_database()
        AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = rolname)`,
  );
  if (found.length === 0) return;
  for (const { name } of found) {
    try {
      await endJobRole(sql, setRole, name);
      await asLogin(sql, setRole, `DROP ROLE ${doubleQuoted(name)}`);
    } catch (error) {
      // another job was quicker; it is not this login's; rights of it remain somewhere
      if (!['42704', '42501', '2BP01', 'XX000'].includes(sqlState(error) ?? '')) throw error;
    }
  }
}
