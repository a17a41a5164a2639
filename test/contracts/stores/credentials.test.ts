/** The contract of stores of credentials, on PostgreSQL and in memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresCredentialStore } from '../../../src/metadb/access-store.ts';
import { withinOrganisation } from '../../../src/postgres/organisation-pools.ts';
import type { CredentialStore } from '../../../src/ports/stores/access.ts';
import { createMemoryCredentialStore } from '../../support/memory/credentials.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';

let database: TestDatabase;
let second: number;
beforeAll(async () => {
  database = await createTestDatabase();
  const [org] = await database.sql<{ id: number }[]>`
    insert into svc.org (name) values ('second') returning id_org as id`;
  second = org!.id;
});
afterAll(() => database.drop());

describe.each([
  ['PostgreSQL', () => createPostgresCredentialStore(database.service)],
  ['memory', () => createMemoryCredentialStore({ nowMs: () => Date.now() })],
] as const)('credentials on %s', (_, open) => {
  let store: CredentialStore;
  beforeAll(() => (store = open()));
  const one = { name: 'inbox', kind: 's3', sealed: 'v2.sealed' };

  it('are kept, listed by name, found by their organisation alone, and removed once', async () => {
    const made = await store.create(1, one);
    expect(made).toEqual({ name: 'inbox', kind: 's3', created: expect.any(Number) as number });
    expect(Math.abs(made.created - Date.now())).toBeLessThan(60_000);
    await store.create(1, { ...one, name: 'Another', kind: 'https' });
    expect((await store.list(1)).map(({ name, kind }) => [name, kind])).toEqual([
      ['Another', 'https'],
      ['inbox', 's3'],
    ]);
    expect(await store.find(1, 'inbox')).toEqual({ kind: 's3', sealed: 'v2.sealed' });
    expect(await store.find(1, 'Inbox')).toBeNull();
    expect([await store.find(second, 'inbox'), await store.list(second)]).toEqual([null, []]);
    expect(await store.remove(second, 'inbox')).toBe(false);
    expect([await store.remove(1, 'inbox'), await store.remove(1, 'inbox')]).toEqual([true, false]);
  });

  it('of one name are one of each organisation', async () => {
    await store.create(1, one);
    await expect(store.create(1, one)).rejects.toMatchObject({ code: 'conflict' });
    await store.create(second, { ...one, sealed: 'other' });
    expect(await store.find(1, 'inbox')).toEqual({ kind: 's3', sealed: 'v2.sealed' });
    expect(await store.find(second, 'inbox')).toEqual({ kind: 's3', sealed: 'other' });
  });
});

describe('credentials on PostgreSQL', () => {
  it('are of no organisation that is not there', async () => {
    const store = createPostgresCredentialStore(database.service);
    await expect(store.create(4711, { name: 'a', kind: 's3', sealed: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('are kept apart by the database, too', async () => {
    const seen = await withinOrganisation(
      database.service,
      second,
      (tx) => tx`select id_org from svc.credential`,
    );
    expect(new Set(seen.map((row) => row['id_org'] as number))).toEqual(new Set([second]));
  });
});
