/** Roles in PostgreSQL: of the service, and of the tools of each organisation. */
import { sqlState, type TransactionSql, type Sql } from './connect.ts';
import { doubleQuoted } from '../engine/sql/dialect.ts';
import { AppError } from '../errors.ts';

// Roles belong to a whole server, and locks to one database of it: services of two databases may make a role at the same time.

/** Creates the role if it is missing. `attributes` and the name are SQL of our own. */
export async function ensureRole(tx: TransactionSql, name: string, attributes: string): Promise<void> {
  const [known] = await tx`select 1 from pg_roles where rolname = ${name}`;
  if (known !== undefined) return;
  try {
    await tx.savepoint((savepoint) => savepoint.unsafe(`create role ${name} ${attributes}`));
  } catch (error) {
    // duplicate_object, or unique_violation if the other transaction had not committed yet
    if (sqlState(error) !== '42710' && sqlState(error) !== '23505') throw error;
  }
}

/** Lets a login take on a role. */
export async function grantRole(tx: TransactionSql, name: string, login: string): Promise<void> {
  try {
    await tx.savepoint((savepoint) => savepoint`grant ${savepoint(name)} to ${savepoint(login)}`);
  } catch (error) {
    // `tuple concurrently updated`, or a unique_violation: another one grants the same
    if (sqlState(error) !== 'XX000' && sqlState(error) !== '23505') throw error;
  }
}

// The roles that loads run under in the metadata database: one per organisation, with no rights on the schema `svc` or on other
// organisations' schemas.

/** The organisation of the operator, which every installation has. */
const firstOrganisation = 1;

/** The lock's number could be any: roles belong to the whole server, so several services may make one at once. */
const roleLock = 730_519;

export function loaderRoleOf(idOrg: number): string {
  return `svc_loader_${idOrg}`;
}

/** Returns whether this login may make roles for loads: if not, loads run as the login itself. */
export async function prepareLoaderRoles(sql: Sql): Promise<boolean> {
  return (await ensureLoaderRole(sql, firstOrganisation)) !== null;
}

/**
 * Creates the organisation's role if it is missing, lets this login assume it (`set role`) and lets it create schemas. A schema of the
 * organisation that another loader role owns becomes this role's. Returns the role's name, or null if the login may not do that.
 * AppError `target_not_owned`: the schema holds tables of another organisation.
 */
export async function ensureLoaderRole(sql: Sql, idOrg: number, sqlSchema?: string): Promise<string | null> {
  const role = loaderRoleOf(idOrg);
  const [found] = await sql<{ ready: boolean | null; isOwnOrNew: boolean }[]>`
    select ${loaderRoleReady(sql, role)} as ready,
           not exists (select from pg_namespace where nspname = ${sqlSchema ?? ''} and pg_get_userbyid(nspowner) <> ${role}) as "isOwnOrNew"`;
  if (found?.ready === true && found.isOwnOrNew) return role;
  try {
    return await sql.begin(async (tx) => {
      await tx`set local role none`;
      await tx`select pg_advisory_xact_lock(${roleLock})`;
      if (found?.ready !== true) await makeRole(tx, role);
      if (sqlSchema !== undefined) await takeOverSchema(tx, idOrg, sqlSchema);
      const [made] = await tx<{ ready: boolean | null }[]>`select ${loaderRoleReady(tx, role)} as ready`;
      return made?.ready === true ? role : null;
    });
  } catch (error) {
    // insufficient_privilege, invalid_grant_operation
    if (sqlState(error) === '42501' || sqlState(error) === '0LP01') return null;
    throw error;
  }
}

async function makeRole(tx: TransactionSql, role: string): Promise<void> {
  await ensureRole(tx, role, 'nologin nosuperuser nocreatedb nocreaterole noinherit');
  const [login] = await tx<{ name: string; super: boolean; creator: boolean; database: string }[]>`
    select current_user as name, rolsuper as super,
           has_database_privilege(${role}, current_database(), 'create') as creator, current_database() as database
      from pg_roles where rolname = current_user`;
  if (login === undefined) return;
  if (!login.super) await grantRole(tx, role, login.name);
  if (!login.creator) await tx`grant create on database ${tx(login.database)} to ${tx(role)}`;
  await tx.unsafe(
    `revoke all on schema svc from ${role}, public; revoke all on all tables in schema svc from ${role}, public`,
  );
}

/**
 * Gives a schema that `svc.target_schema` records as the organisation's to its role, if it belongs to the role of an organisation that had
 * the name before. Drops the staging tables of that organisation.
 */
async function takeOverSchema(tx: TransactionSql, idOrg: number, sqlSchema: string): Promise<void> {
  const role = loaderRoleOf(idOrg);
  const [schema] = await tx<{ owner: string }[]>`
    select pg_get_userbyid(n.nspowner) as owner from pg_namespace n
     where n.nspname = ${sqlSchema} and exists (select from svc.target_schema t where t.name = n.nspname and t.id_org = ${idOrg})`;
  if (schema === undefined || schema.owner === role || !/^svc_loader_\d+$/.test(schema.owner)) return;
  await tx`set local lock_timeout = '10s'`;
  const relations = await tx<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = (select oid from pg_namespace where nspname = ${sqlSchema}) and relkind in ('r', 'p', 'v', 'm', 'f')`;
  for (const { name } of relations) {
    if (!name.startsWith('_svc_staging_'))
      throw new AppError(
        'target_not_owned',
        `the SQL schema ${JSON.stringify(sqlSchema)} holds tables of another organisation`,
      );
    await tx.unsafe(`drop table if exists ${doubleQuoted(sqlSchema)}.${doubleQuoted(name)} cascade`);
  }
  await tx.unsafe(`alter schema ${doubleQuoted(sqlSchema)} owner to ${role}`);
}

/** Continues the transaction as the owner of the organisation's target schemas: its loader role, or the login if there is none. */
export async function actAsLoader(tx: Sql | TransactionSql, idOrg: number): Promise<void> {
  const role = loaderRoleOf(idOrg);
  const [row] = await tx<{ isMember: boolean | null }[]>`
    select (select pg_has_role(session_user, oid, 'member') from pg_roles where rolname = ${role}) as "isMember"`;
  await tx.unsafe(`set local role ${row?.isMember === true ? role : 'none'}`);
}

/** SQL expression: whether the role can be assumed, may create schemas and has no rights on `svc`. NULL if there is no such role. */
function loaderRoleReady(sql: Sql | TransactionSql, role: string) {
  return sql`(
    select pg_has_role(session_user, r.oid, case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) and has_database_privilege(r.oid, current_database(), 'create')
           and not has_schema_privilege(r.oid, 'svc', 'usage')
           and not exists (select from pg_class c where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r'
                              and has_table_privilege(r.oid, c.oid, 'select, insert, update, delete'))
      from pg_roles r where r.rolname = ${role})`;
}

/** An expression: nothing is left to do for loader roles before a load makes its own. */
export function areLoaderRolesReady(sql: Sql) {
  return sql`coalesce(${loaderRoleReady(sql, loaderRoleOf(firstOrganisation))}, false)`;
}

// The role that the service works under in its metadata database: row-level security binds it, as it owns no table.

export const serviceRole = 'svc_service';

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
