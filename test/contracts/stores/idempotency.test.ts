/** The contract of stores of idempotency keys, on PostgreSQL and in memory. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresIdempotencyStore } from '../../../src/metadb/idempotency-store.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import type { IdempotencyStore, KeyHold } from '../../../src/ports/stores/idempotency.ts';
import { createMemoryIdempotencyStore } from '../../support/memory/idempotency.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { submission } from './jobs/contract.ts';

const hour = 3_600_000;
const minute = 60_000;

let database: TestDatabase;
let second: number;
beforeAll(async () => {
  database = await createTestDatabase();
  const [org] = await database.sql<{ id: number }[]>`
    insert into svc.org (name) values ('second') returning id_org as id`;
  second = org!.id;
});
afterAll(() => database.drop());

const request = (key: string, requestHash = 'h', idOrg = 1) => ({ idOrg, key, requestHash });

async function take(store: IdempotencyStore, key: string, leaseMs = minute, idOrg = 1): Promise<KeyHold> {
  const begun = await store.begin(request(key, 'h', idOrg), leaseMs);
  if (!('hold' in begun)) throw new Error('the key is taken');
  return begun.hold;
}

describe.each([
  ['PostgreSQL', () => createPostgresIdempotencyStore(database.service, hour)],
  ['memory', () => createMemoryIdempotencyStore({ nowMs: () => Date.now() })],
] as const)('idempotency keys on %s', (_, open) => {
  let store: IdempotencyStore;
  beforeAll(() => (store = open()));

  it('keep the answer of the request that took them', async () => {
    const hold = await take(store, 'kept');
    await expect(store.begin(request('kept'), minute)).rejects.toMatchObject({ code: 'conflict' });
    await store.settle(hold, 'answer');
    expect(await store.begin(request('kept'), minute)).toEqual({ answer: 'answer' });
    await store.release(hold);
    await store.settle(hold, 'another');
    expect(await store.begin(request('kept'), minute)).toEqual({ answer: 'answer' });
    await expect(store.begin(request('kept', 'other'), minute)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await take(store, 'kept', minute, second);
  });

  it('are taken by one of many requests at a time', async () => {
    const begun = await Promise.allSettled(
      Array.from({ length: 8 }, () => store.begin(request('raced'), minute)),
    );
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('are free again when the request failed', async () => {
    await store.release(await take(store, 'released'));
    await store.begin(request('released', 'other'), minute);
  });

  it('are free again when the lease ended, and no longer belong to the process that had them', async () => {
    const dead = await take(store, 'left', 20);
    await delay(40);
    await expect(store.begin(request('left', 'other'), minute)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    const next = await take(store, 'left');
    await store.settle(dead, 'of the dead');
    await store.release(dead);
    await expect(store.begin(request('left'), minute)).rejects.toMatchObject({ code: 'conflict' });
    await store.settle(next, 'answer');
    expect(await store.begin(request('left'), minute)).toEqual({ answer: 'answer' });
  });

  it('stay taken while the lease is renewed', async () => {
    const hold = await take(store, 'renewed', 30);
    await store.extend(hold, minute);
    await delay(60);
    await expect(store.begin(request('renewed'), minute)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('idempotency keys on PostgreSQL', () => {
  it('are forgotten after their time', async () => {
    await createPostgresIdempotencyStore(database.service, hour).settle(
      await take(createPostgresIdempotencyStore(database.service, hour), 'old'),
      'answer',
    );
    const forgetful = createPostgresIdempotencyStore(database.service, 0);
    await delay(5);
    await take(forgetful, 'old');
  });

  it('are shared with submissions of jobs', async () => {
    const store = createPostgresIdempotencyStore(database.service, hour);
    const jobs = createPostgresJobStore(database.service);
    const idempotency = { key: 'shared', bodyHash: 'of the job' };
    expect(await jobs.findSubmission(1, idempotency)).toBeNull();
    const made = await jobs.submit(submission(1, 2, { idempotency }));
    expect(await jobs.findSubmission(1, idempotency)).toEqual({ ...made, replayed: true });
    expect(await jobs.findSubmission(second, idempotency)).toBeNull();
    await expect(jobs.findSubmission(1, { ...idempotency, bodyHash: 'x' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await expect(store.begin(request('shared'), minute)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await take(store, 'other');
    await expect(
      jobs.submit(submission(1, 1, { idempotency: { ...idempotency, key: 'other' } })),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await jobs.close();
  });
});
