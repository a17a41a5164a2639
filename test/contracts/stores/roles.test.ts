/** Roles belong to the whole server: services of several databases may start at the same time. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareLoaderRoles, ensureRole, ensureServiceRole } from '../../../src/postgres/roles.ts';
import { migrate } from '../../../src/metadb/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/postgres.ts';

const databases: TestDatabase[] = [];

beforeAll(async () => {
  for (let number = 0; number < 3; number += 1) databases.push(await createEmptyDatabase());
  for (const { sql } of databases) await migrate(sql);
}, 60_000);

afterAll(async () => {
  for (const database of databases) await database.drop();
});

it('makes a role once, whoever comes first', async () => {
  const name = `svc_test_${Math.random().toString(36).slice(2, 10)}`;
  // all ask before any has made it
  await Promise.all(databases.map(({ sql }) => sql.begin((tx) => ensureRole(tx as never, name, 'nologin'))));
  const [found] = await databases[0]!.sql`select count(*)::int as n from pg_roles where rolname = ${name}`;
  expect(found).toEqual({ n: 1 });
  await databases[0]!.sql.unsafe(`drop role ${name}`);
});

it('makes those of the service in several databases at once', async () => {
  const made = await Promise.all(
    databases.flatMap(({ sql }) => [ensureServiceRole(sql), prepareLoaderRoles(sql)]),
  );
  expect(new Set(made)).toEqual(new Set([true]));
});
