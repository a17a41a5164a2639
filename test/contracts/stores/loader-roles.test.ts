/** The loader role of an organisation: PostgreSQL keeps it away from other organisations' targets, whatever SQL it runs. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { claimTargetSchema, removeTargetSchema } from '../../../src/metadb/catalog-store.ts';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { ensureLoaderRole, loaderRoleOf, prepareLoaderRoles } from '../../../src/postgres/roles.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let first: number;
let second: number;

async function addOrganisation(name: string): Promise<number> {
  const [org] = await database.sql<{ id_org: number }[]>`
    insert into svc.org (name) values (${name}) returning id_org`;
  return org!.id_org;
}

/** A login that may take on only the organisation's role, and connects with it as a load does. */
async function connectAs(idOrg: number): Promise<Sql> {
  const login = `login_${randomBytes(6).toString('hex')}`;
  await database.sql.unsafe(
    `create role ${login} login noinherit password 'x'; grant ${loaderRoleOf(idOrg)} to ${login}`,
  );
  const address = new URL(database.url);
  [address.username, address.password] = [login, 'x'];
  const sql = connectPostgres(address.href, { applicationName: 'test', max: 1, role: loaderRoleOf(idOrg) });
  return trial.keep(sql, async () => {
    await sql.end({ timeout: 1 });
    await database.sql.unsafe(`drop role ${login}`);
  });
}

async function claim(idOrg: number, name: string): Promise<void> {
  await claimTargetSchema(database.service, idOrg, name, { idJob: 0, maxNames: 100 });
}

/** As a load does it. */
async function load(idOrg: number, name: string): Promise<Sql> {
  await claim(idOrg, name);
  expect(await ensureLoaderRole(database.service, idOrg, name)).toBe(loaderRoleOf(idOrg));
  const sql = await connectAs(idOrg);
  await sql.unsafe(`create schema if not exists "${name}"; create table "${name}".parent (id int primary key, note text);
    insert into "${name}".parent values (1, 'secret of ${idOrg}'); analyze "${name}".parent;
    create view "${name}".seen as select * from "${name}".parent`);
  return sql;
}

beforeAll(async () => {
  database = await trial.database();
  expect(await prepareLoaderRoles(database.sql)).toBe(true);
  first = await addOrganisation('first');
  second = await addOrganisation('second');
}, 60_000);

describe('the loader role of an organisation', () => {
  it('reads and changes only the targets of its organisation', async () => {
    const own = await load(first, 'own');
    await load(second, 'foreign');
    expect(await own`select id, note from own.seen`).toEqual([{ id: 1, note: `secret of ${first}` }]);
    const theirs = loaderRoleOf(second);
    for (const statement of [
      'select from "foreign".parent',
      'select from "foreign".seen',
      'copy "foreign".parent to stdout',
      'insert into "foreign".parent values (2)',
      'update "foreign".parent set id = 2',
      'delete from "foreign".parent',
      'truncate "foreign".parent',
      'do $$ begin lock table "foreign".parent in access share mode; end $$',
      'drop table "foreign".parent',
      'drop schema "foreign" cascade',
      'alter schema "foreign" rename to taken',
      'alter table "foreign".parent add column x int',
      'create table "foreign".more (x int)',
      'create table own.child (like "foreign".parent)',
      'create table own.child (id int references "foreign".parent)',
      'create table own.child () inherits ("foreign".parent)',
      'create view own.peek as select * from "foreign".parent',
      `create function own.peek() returns bigint language sql security definer as 'select count(*) from "foreign".parent'`,
      `select query_to_xml('select * from "foreign".parent', true, false, '')`,
      `select table_to_xml('"foreign".parent', true, false, '')`,
      `do $$ begin perform from "foreign".parent; end $$`,
      `set role ${theirs}`,
      `select set_config('role', '${theirs}', false)`,
      'set role svc_service',
      `set session authorization ${theirs}`,
      `grant ${theirs} to ${loaderRoleOf(first)}`,
      `alter role ${theirs} login password 'x'`,
      `reassign owned by ${theirs} to ${loaderRoleOf(first)}`,
      `alter default privileges for role ${theirs} grant select on tables to public`,
      'grant select on "foreign".parent to public',
      'comment on table "foreign".parent is \'x\'',
      'select from svc.job',
      "copy own.parent from program 'true'",
      "select pg_read_file('PG_VERSION')",
      'create role another',
    ])
      await expect(own.unsafe(statement), statement).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|42704)$/),
      });
    expect(await own`select from pg_stats where schemaname = 'foreign'`).toEqual([]);
    expect(await own`select from information_schema.tables where table_schema = 'foreign'`).toEqual([]);
    expect(await own`select from pg_auth_members where member = ${loaderRoleOf(first)}::regrole`).toEqual([]);
    // without its role the login has no rights
    await expect(own.unsafe('reset role; set role none; select from own.parent')).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('gets a name that another organisation had, without its staged rows', async () => {
    await claim(first, 'handed');
    await ensureLoaderRole(database.service, first, 'handed');
    const own = await connectAs(first);
    await own.unsafe('create schema handed; create table handed._svc_staging_0a (secret text)');
    const theirs = await load(second, 'handed');
    expect(await theirs`select relname from pg_class where relname = '_svc_staging_0a'`).toEqual([]);
    expect(await theirs`select id from handed.parent`).toEqual([{ id: 1 }]);
    await expect(own.unsafe('select from handed.parent')).rejects.toMatchObject({ code: '42501' });
    expect(await removeTargetSchema(database.service, second, 'handed')).toBe(true);
  });

  it('never gets tables that another organisation has made since', async () => {
    const own = await load(first, 'late');
    await database.sql`update svc.target_schema set id_org = ${second} where name = 'late'`;
    await expect(ensureLoaderRole(database.service, second, 'late')).rejects.toMatchObject({
      code: 'target_not_owned',
    });
    expect(await own`select id from late.parent`).toEqual([{ id: 1 }]);
  });

  it('gets no schema of people, and none that is not recorded as its organisation’s', async () => {
    await database.sql`create schema sales`;
    await claim(first, 'sales');
    await ensureLoaderRole(database.service, first, 'sales');
    await load(second, 'unrecorded');
    await ensureLoaderRole(database.service, first, 'unrecorded');
    const owners = await database.sql`
      select nspname as name, pg_get_userbyid(nspowner) as owner from pg_namespace where nspname in ('sales', 'unrecorded') order by 1`;
    expect(owners).toEqual([
      { name: 'sales', owner: decodeURIComponent(new URL(database.url).username) },
      { name: 'unrecorded', owner: loaderRoleOf(second) },
    ]);
  });
});
