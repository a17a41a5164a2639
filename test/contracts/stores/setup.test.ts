/** What comes before the stores: connections, migrations, the role that loads run under. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { ensureLoaderRole, loaderRoleOf, prepareLoaderRoles } from '../../../src/postgres/roles.ts';
import {
  appliedAsJson,
  migrate,
  missingMigrations,
  readMigrations,
  versionFault,
} from '../../../src/metadb/migrations.ts';
import { createSocketOpener } from '../../../src/postgres/checked-socket.ts';
import { openGate } from '../../support/gate.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/servers/postgres.ts';
import { needs } from '../../support/needs.ts';

const databases: TestDatabase[] = [];
const open = async (make: () => Promise<TestDatabase>): Promise<TestDatabase> => {
  const database = await make();
  databases.push(database);
  return database;
};
afterEach(async () => {
  for (const database of databases.splice(0)) await database.drop();
});

describe('connections', () => {
  test('give numbers where they are exact, never rounded ones', async () => {
    const { sql } = await open(createEmptyDatabase);
    const [row] =
      await sql`select 9007199254740991::bigint as exact, 9007199254740993::bigint as large, 0.10::numeric as price, current_setting('TimeZone') as zone`;
    expect(row).toEqual({
      exact: 9_007_199_254_740_991,
      large: 9_007_199_254_740_993n,
      price: '0.10',
      zone: 'UTC',
    });
    const [back] = await sql`select ${9_007_199_254_740_991}::bigint as id`;
    expect(back?.id).toBe(9_007_199_254_740_991);
  });

  test('come back after the server ended them', needs('whole run'), async () => {
    const { sql } = await open(createEmptyDatabase);
    const [before] = await sql`select pg_backend_pid() as pid`;
    await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => undefined);
    const [after] = await sql`select pg_backend_pid() as pid`;
    expect(after?.pid).not.toBe(before?.pid);
  });

  // what the driver would throw where nobody can catch it ends the process, and this run
  test.each(['while it asks', 'between two questions'])(
    'a transaction whose connection is lost %s fails',
    needs('whole run'),
    async (when) => {
      const { sql } = await open(createEmptyDatabase);
      const end = (pid: number): PromiseLike<unknown> => sql`select pg_terminate_backend(${pid})`;
      const lost = sql.begin(async (tx) => {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        if (when === 'while it asks') await Promise.all([tx`select pg_sleep(60)`, end(row!.pid)]);
        await end(row!.pid);
        await new Promise((resolve) => setTimeout(resolve, 100));
        await tx`select 1`;
      });
      await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
    },
  );
});

describe('watched connections', () => {
  test('an outage leaves no connection of the pool behind', async () => {
    const { url } = await open(createEmptyDatabase);
    const gate = await openGate(new URL(url));
    const sql = connectPostgres(gate.url, {
      applicationName: 'test',
      max: 2,
      openSocket: createSocketOpener(60_000),
    });
    expect((await sql`select 1 as one`)[0]?.one).toBe(1);
    await gate.shut();
    for (let query = 0; query < 6; query += 1) await expect(sql`select 1`).rejects.toThrow();
    await gate.reopen();
    await expect.poll(() => sql`select 2 as two`.then((rows) => rows[0]?.two).catch(() => null)).toBe(2);
    await Promise.all(Array.from({ length: 5 }, () => sql`select 3`));
    await sql.end({ timeout: 1 });
    await gate.shut();
  });

  test('a connection that goes silent is given up, and the next one is used', async () => {
    const { url } = await open(createEmptyDatabase);
    const gate = await openGate(new URL(url));
    const sql = connectPostgres(gate.url, {
      applicationName: 'test',
      max: 1,
      openSocket: createSocketOpener(300),
    });
    expect((await sql`select 1 as one`)[0]?.one).toBe(1);
    gate.freeze();
    await expect(sql`select 2`).rejects.toMatchObject({
      code: expect.stringMatching(/^CONNECTION_/),
    });
    gate.thaw();
    expect((await sql`select 3 as three`)[0]?.three).toBe(3);
    await sql.end({ timeout: 1 });
    await gate.shut();
  });
});

describe('migrations', () => {
  test('are applied once, also by processes that start together', async () => {
    const { sql, url } = await open(createEmptyDatabase);
    const others = Array.from({ length: 4 }, () => connectPostgres(url, { applicationName: 'test', max: 1 }));
    const applied = await Promise.all(others.map((other) => migrate(other)));
    for (const other of others) await other.end();
    const names = readMigrations().map((migration) => migration.name);
    expect(applied.filter((list) => list.length > 0)).toEqual([names]);
    expect(names[0]).toBe('0001_baseline');
    expect(
      (await sql`select name from svc.migration order by name`).map((row) => row.name as string),
    ).toEqual(names);
    expect(await migrate(sql)).toEqual([]);
  });

  test('are refused when changed, or when the database is ahead; a broken one leaves nothing', async () => {
    const { sql } = await open(createEmptyDatabase);
    const one = { name: '0001_a', sql: 'create table svc.a (x int)' };
    const two = { name: '0002_b', sql: 'create table svc.b (x int)' };
    await expect(
      migrate(sql, [one, { name: '0002_b', sql: 'create table svc.b (x nonsense)' }]),
    ).rejects.toMatchObject({ code: '42704' });
    expect((await sql`select to_regclass('svc.a') as found`)[0]?.found).toBeNull();
    expect(await migrate(sql, [one])).toEqual(['0001_a']);
    expect(await migrate(sql, [one, two])).toEqual(['0002_b']);
    await expect(migrate(sql, [{ ...one, sql: 'select 1' }, two])).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    await expect(migrate(sql, [one])).rejects.toThrow(/newer version/);
  });

  test('are refused in a database of a version before 1.0, which stays as it is', async () => {
    const { sql } = await open(createEmptyDatabase);
    await migrate(sql, [
      { name: '0001_access', sql: 'create table svc.org (id_org bigint)' },
      { name: '0002_jobs', sql: 'create table svc.job (id_job bigint)' },
    ]);
    const refusal = {
      code: 'service_unavailable',
      message: expect.stringMatching(/before 1\.0.*er2xml.*new home/) as unknown,
    };
    await expect(migrate(sql)).rejects.toMatchObject(refusal);
    await expect(missingMigrations(sql)).rejects.toMatchObject(refusal);
    const [row] = await sql<{ applied: string }[]>`select ${appliedAsJson(sql)} as applied`;
    expect(versionFault(row!.applied)).toMatch(/before 1\.0/);
    expect(versionFault(row!.applied)).not.toMatch(/newer/);
    expect(
      (await sql`select name from svc.migration order by name`).map(({ name }) => name as string),
    ).toEqual(['0001_access', '0002_jobs']);
  });
});

describe('the loader role', () => {
  const loaderRole = loaderRoleOf(1);

  test('makes and fills schemas of its own, and cannot touch svc', async () => {
    const { sql } = await open(createTestDatabase);
    expect([await ensureLoaderRole(sql, 1), await ensureLoaderRole(sql, 1)]).toEqual([
      loaderRole,
      loaderRole,
    ]);
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${loaderRole}`);
      await tx`create schema lake`;
      await tx`create table lake.t as select 1 as n`;
    });
    expect((await sql`select n from lake.t`)[0]?.n).toBe(1);
    for (const statement of [
      'select * from svc.job',
      'insert into svc.org (name) values (1)',
      'create table svc.x (n int)',
      'select svc.epoch_ms(now())',
    ]) {
      const attempt = sql.begin(async (tx) => {
        await tx.unsafe(`set local role ${loaderRole}`);
        await tx.unsafe(statement);
      });
      await expect(attempt).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('is missing if the login may not make roles, unless an administrator makes it', async () => {
    const database = await open(createEmptyDatabase);
    const name = `plain_${randomBytes(4).toString('hex')}`;
    const address = new URL(database.url);
    const databaseName = address.pathname.slice(1);
    await database.sql.unsafe(`create role ${name} login password 'x'`);
    await database.sql.unsafe(`alter database ${databaseName} owner to ${name}`);
    address.username = name;
    address.password = 'x';
    const sql = connectPostgres(address.href, { applicationName: 'test', max: 1 });
    await migrate(sql);
    const idOrg = Number.parseInt(randomBytes(3).toString('hex'), 16) + 1000;
    expect([await ensureLoaderRole(sql, idOrg), await ensureLoaderRole(sql, idOrg, 'orders')]).toEqual([
      null,
      null,
    ]);
    const role = loaderRoleOf(idOrg);
    await database.sql.unsafe(
      `create role ${role} nologin noinherit; grant ${role} to ${name}; grant create on database ${databaseName} to ${role}`,
    );
    expect(await ensureLoaderRole(sql, idOrg, 'orders')).toBe(role);
    await sql.end();
    await database.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  });

  test('can be made by an owner who is no superuser', async () => {
    const database = await open(createEmptyDatabase);
    const name = `owner_${randomBytes(4).toString('hex')}`;
    await database.sql.unsafe(`create role ${name} login createrole password 'x'`);
    await database.sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${name}`);
    const address = new URL(database.url);
    address.username = name;
    address.password = 'x';
    const sql = connectPostgres(address.href, { applicationName: 'test', max: 1 });
    await migrate(sql);
    const [server] = await sql<{ version: number; known: boolean }[]>`
      select current_setting('server_version_num')::int as version, exists (select from pg_roles where rolname = ${loaderRole}) as known`;
    // From version 16 on, a role that someone else made can be taken on only with that one's leave.
    if (server?.known === true && server.version >= 160_000)
      await database.sql.unsafe(`grant ${loaderRole} to ${name} with admin option`);
    expect([await prepareLoaderRoles(sql), await ensureLoaderRole(sql, 1)]).toEqual([true, loaderRole]);
    await sql.end();
  });
});
