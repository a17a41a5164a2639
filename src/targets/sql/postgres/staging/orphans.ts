/** Removes staging that a dead attempt left, whose lock is no longer held, and the roles with which executors log in to fill it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState, type Sql } from '../../../../postgres/connect.ts';
import { applicationName } from '../connection.ts';
import { AppError } from '../../../../errors.ts';

/** Returns the lock that the connection of an attempt holds as long as it lives. */
export function stagingLock(token: string): string {
  return `hashtextextended(${standardLiteral(token)}, 0)`;
}

/** Drops all of it in this database that this login owns, in the target's schema and in schemas of its own. */
export async function removeDeadStaging(
  sql: Sql,
  sqlSchema: string,
  setRole: string | undefined,
): Promise<void> {
  const found = await sql.unsafe<
    {
      token: string;
    }[]
  >(`
    SELECT nspname AS token FROM pg_namespace WHERE nspname ~ '${stagingPattern}$' AND pg_has_role(nspowner, 'USAGE')
       AND obj_description(oid, 'pg_namespace') = '${markStart}' || nspname
    UNION
    SELECT substring(c.relname from '${stagingPattern}') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind = 'r' AND c.relname ~ '${stagingPattern}_'
       AND pg_has_role(c.relowner, 'USAGE')
       AND obj_description(c.oid, 'pg_class') = '${markStart}' || substring(c.relname from '${stagingPattern}')`);
  for (const { token } of found) {
    const lock = stagingLock(token);
    const [{ free }] = await sql.unsafe<[{ free: boolean }]>(`SELECT pg_try_advisory_lock(${lock}) AS free`);
    if (!free) continue;
    try {
      await endJobRole(sql, setRole, token);
      await dropStaging(sql, token, sqlSchema);
    } catch (error) {
      // another job was quicker, or a reader holds a lock: the next job removes it
      if (!['42P01', '3F000', '55P03', '2BP01', '42501', '40P01'].includes(sqlState(error) ?? ''))
        throw error;
    } finally {
      await sql.unsafe(`SELECT pg_advisory_unlock(${lock})`);
    }
  }
  await dropJobRoles(sql, setRole);
}

/**
 * Drops the remaining staging of one attempt, few tables at a time, because each takes locks until the end of its transaction. The tables
 * refer to each other.
 */
export async function dropStaging(sql: Sql, token: string, sqlSchema: string): Promise<void> {
  const mark = stagingMark(token);
  const tables = await sql.unsafe<
    {
      schema: string;
      name: string;
    }[]
  >(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND c.relname ~ ${standardLiteral(`^${token}_`)}
       AND (n.nspname = ${standardLiteral(token)} AND obj_description(n.oid, 'pg_namespace') = ${mark}
            OR n.nspname = ${standardLiteral(sqlSchema)} AND obj_description(c.oid, 'pg_class') = ${mark})`);
  for (let from = 0; from < tables.length; from += 50) {
    const names = tables
      .slice(from, from + 50)
      .map(({ schema, name }) => `${doubleQuoted(schema)}.${doubleQuoted(name)}`);
    await sql.unsafe(`SET lock_timeout = '10s'; DROP TABLE IF EXISTS ${names.join(', ')} CASCADE`);
  }
  const own = await sql.unsafe(
    `SELECT FROM pg_namespace WHERE nspname = ${standardLiteral(token)} AND obj_description(oid, 'pg_namespace') = ${mark}`,
  );
  if (own.length > 0) await sql.unsafe(`DROP SCHEMA IF EXISTS ${doubleQuoted(token)}`);
}

/**
 * Ends the server's side of connections that were cut, and waits until they are gone (at most 5 s). Only the login may do so, so the role
 * is reset for it.
 */
export async function endBackends(
  sql: Sql,
  pids: readonly number[],
  setRole: string | undefined,
): Promise<void> {
  const list = pids.join(', ');
  await sql.unsafe('SET ROLE NONE');
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const living = await sql.unsafe(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (${list}) AND usename = session_user
         AND application_name = ${standardLiteral(applicationName)}`,
    );
    if (living.length === 0) break;
    await sleep(50);
  }
  if (setRole !== undefined) await sql.unsafe(`SET ROLE ${doubleQuoted(setRole)}`);
}

/**
 * Returns the comment of the role, quoted. Roles belong to all databases of a server, but locks to one: only jobs in that database know
 * whether a job lives.
 */
export async function roleMark(sql: Sql, token: string): Promise<string> {
  const [{ database }] = await sql.unsafe<[{ database: string }]>('SELECT current_database() AS database');
  return `${stagingMark(token).slice(0, -1)} in ${standardLiteral(database).slice(1)}`;
}

/** Prevents further logins with the role, and ends its sessions. Throws AppError `service_unavailable` if a session survives that. */
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

/** Runs statements that only the login may run, all in one message, so that a failure undoes `SET ROLE`, too; returns all rows. */
export async function asLogin(
  sql: Sql,
  setRole: string | undefined,
  statements: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const back = setRole === undefined ? '' : `; SET ROLE ${doubleQuoted(setRole)}`;
  const results = await sql.unsafe<Record<string, unknown>[][]>(`SET ROLE NONE; ${statements}${back}`);
  return results.flat();
}

/**
 * Drops the roles of jobs in this database whose staging is gone, or only the role that `token` names. Roles that the login may not drop
 * stay.
 */
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
      // another job was quicker; the role belongs to another login; rights of it remain elsewhere
      if (!['42704', '42501', '2BP01', 'XX000'].includes(sqlState(error) ?? '')) throw error;
    }
  }
}

/**
 * A regular expression for the start of tokens, of which each attempt at a job has its own. Other programs may use such a name: comments
 * mark staging as made by this service.
 */
const stagingPattern = '^_svc_staging_[0-9]+_[0-9a-f]{8}';

/** The text before the token in the comment of an attempt's schema, of its tables in the target's schema, and of its role. */
const markStart = 'staging of conversion-job-service: ';

/** Returns the comment, quoted. */
export function stagingMark(token: string): string {
  return standardLiteral(markStart + token);
}
