/** The role that loads run under in the metadata database: without any right on the schema `svc`. */
import { sqlState } from '../client/connect.ts';
import type { Sql } from '../client/connect.ts';
import { ensureRole, grantRole } from './ensure-role.ts';

export const loaderRole = 'svc_loader';

/** The lock's number could be any: roles belong to the whole server, so several services may make one at once. */
const roleLock = 730_519;

/**
 * Makes the role where it is missing, lets this login take it on (`set role`) and lets it create schemas here.
 * False where the login may not do that: loads then run as the login itself.
 */
export async function ensureLoaderRole(sql: Sql): Promise<boolean> {
  if (await isLoaderRoleReady(sql)) return true;
  try {
    return await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${roleLock})`;
      await ensureRole(tx, loaderRole, 'nologin nosuperuser nocreatedb nocreaterole noinherit');
      const [login] = await tx<{ name: string; super: boolean; creator: boolean; database: string }[]>`
        select current_user as name, rolsuper as super,
               has_database_privilege(${loaderRole}, current_database(), 'create') as creator, current_database() as database
          from pg_roles where rolname = current_user`;
      if (login === undefined) return false;
      if (!login.super) await grantRole(tx, loaderRole, login.name);
      if (!login.creator) await tx`grant create on database ${tx(login.database)} to ${tx(loaderRole)}`;
      await tx.unsafe(
        `revoke all on schema svc from ${loaderRole}, public; revoke all on all tables in schema svc from ${loaderRole}, public`,
      );
      const [right] = await tx<{ create: boolean; svc: boolean }[]>`
        select has_database_privilege(${loaderRole}, current_database(), 'create') as create, has_schema_privilege(${loaderRole}, 'svc', 'usage') as svc`;
      // Proves that the login may take the role on.
      await tx.unsafe(`set local role ${loaderRole}`);
      return right?.create === true && !right.svc;
    });
  } catch (error) {
    // insufficient_privilege, invalid_grant_operation
    if (sqlState(error) === '42501' || sqlState(error) === '0LP01') return false;
    throw error;
  }
}

/** Whether nothing is left to do, asked for the login whatever role it has taken on: one question at each start in place of a dozen statements. */
async function isLoaderRoleReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ready: boolean | null }[]>`select ${loaderRoleReady(sql)} as ready`;
  return row?.ready === true;
}

/** An expression; NULL where there is no such role. */
export function loaderRoleReady(sql: Sql) {
  return sql`(
    select pg_has_role(session_user, r.oid, case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) and has_database_privilege(r.oid, current_database(), 'create')
           and not has_schema_privilege(r.oid, 'svc', 'usage')
           and not exists (select from pg_class c where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r'
                              and has_table_privilege(r.oid, c.oid, 'select, insert, update, delete'))
      from pg_roles r where r.rolname = ${loaderRole})`;
}
