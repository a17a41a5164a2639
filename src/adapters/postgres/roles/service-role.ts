/** The role that the service works under in its metadata database: row-level security binds it, as it owns no table. */
import { sqlState } from '../client/connect.ts';
import type { Sql } from '../client/connect.ts';
import { ensureRole, grantRole } from './ensure-role.ts';

export const serviceRole = 'svc_service';

/** The same for all services of a server, as roles belong to all of its databases. */
const roleLock = 730_519;

/**
 * Creates the role if it is missing, lets this login assume it, and lets it read and write the tables of `svc`, except changing or
 * removing entries of the audit log. Returns false if the login may not do that: the service then works as its login.
 */
export async function ensureServiceRole(sql: Sql): Promise<boolean> {
  if (await isServiceRoleReady(sql)) return true;
  try {
    return await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${roleLock})`;
      await ensureRole(tx, serviceRole, 'nologin nosuperuser nocreatedb nocreaterole noinherit nobypassrls');
      const [login] = await tx<{ name: string; super: boolean }[]>`
        select current_user as name, rolsuper as super from pg_roles where rolname = current_user`;
      if (login?.super !== true) await grantRole(tx, serviceRole, login?.name ?? '');
      await tx.unsafe(`
        grant usage on schema svc to ${serviceRole};
        grant select, insert, update, delete on all tables in schema svc to ${serviceRole};
        grant usage, select on all sequences in schema svc to ${serviceRole};
        grant execute on all functions in schema svc to ${serviceRole};
        revoke insert, update, delete on svc.migration from ${serviceRole};`);
      const [log] = await tx`select to_regclass('svc.audit') is not null as made`;
      if (log?.made === true) await tx.unsafe(`revoke update, delete on svc.audit from ${serviceRole}`);
      // Proves that the login may take the role on.
      await tx.unsafe(`set local role ${serviceRole}`);
      return true;
    });
  } catch (error) {
    // insufficient_privilege, invalid_grant_operation
    if (sqlState(error) === '42501' || sqlState(error) === '0LP01') return false;
    throw error;
  }
}

/**
 * Returns whether nothing is left to do, queried as the login or under the role itself: one query at each start instead of a dozen
 * statements.
 */
async function isServiceRoleReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ready: boolean | null }[]>`select ${serviceRoleReady(sql)} as ready`;
  return row?.ready === true;
}

/** SQL expression; NULL if there is no such role. */
export function serviceRoleReady(sql: Sql) {
  return sql`(
    select pg_has_role(current_user, r.oid, case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end)
           and has_schema_privilege(r.oid, 'svc', 'usage')
           and not exists (select from pg_class c where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'S')
                              and not case c.relkind when 'S' then has_sequence_privilege(r.oid, c.oid, 'usage')
                                                     else has_table_privilege(r.oid, c.oid, 'select') end)
      from pg_roles r where r.rolname = ${serviceRole})`;
}
