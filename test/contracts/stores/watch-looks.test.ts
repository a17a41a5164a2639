/** A look at a location that is under way while a person changes the watch: what it meets is not recorded for the watch as it is by then. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobStoreSettings } from '../../../src/metadb/job-queue.ts';
import { createPostgresWatchSchedule } from '../../../src/metadb/watch-schedule.ts';
import { createPostgresWatchStore } from '../../../src/metadb/watch-store.ts';
import type { WatchDefinition, WatchSchedule, WatchStore } from '../../../src/ports/stores/watches.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';

const definition: WatchDefinition = {
  name: 'orders',
  location: 'first',
  pattern: null,
  id_sch: null,
  target: 'metadb:orders',
  options: { '-S': 'm', '--delete-missing': true },
  sealed: 'sealed',
  every: '1h',
  order: 'name',
  settle: '0s',
  settleMs: 0,
  on_error: 'fail',
  on_drift: 'evolve',
  max_files: 100,
  max_bytes: 1_000_000,
  credential: null,
  paused: false,
};
/** of jobs, none of which is started here */
const jobSettings: JobStoreSettings = {
  maxRunningPerOrg: 1,
  maxQueuedPerOrg: 1,
  maxAttempts: 1,
  deadlineMs: 60_000,
  retryDelayMs: 1000,
  idempotencyKeyMs: 1000,
};
const met = (...names: string[]) => names.map((name) => ({ name, version: '1', bytes: 10, modified: null }));

describe('a look that is under way', () => {
  let database: TestDatabase;
  let watches: WatchStore;
  let schedule: WatchSchedule;

  beforeEach(async () => {
    database = await createTestDatabase();
    watches = createPostgresWatchStore(database.sql);
    const unused = { waitForWatches: () => Promise.reject(new Error('nobody waits')) };
    schedule = createPostgresWatchSchedule(database.sql, unused, jobSettings);
  });
  afterEach(() => database.drop());

  const files = async (id: number): Promise<unknown> =>
    (await watches.listWatchFiles(1, id, null, 0, 99))!.content.map(({ name, status }) => [name, status]);

  it.each([
    ['location', { location: 'second' }],
    ['pattern', { pattern: 'c*' }],
    ['options', { options: { '-S': 'm' } }],
  ])('records nothing any more once the %s is another', async (_what, change) => {
    const { id_watch: id } = await watches.createWatch(1, definition, null, 100);
    const claim = (await schedule.claimWatch(60_000))!;
    const since = (await schedule.beginLook(claim))!;
    expect(await schedule.recordObjects(claim, met('a.xml'))).toBe(true);
    await watches.replaceWatch(1, id, { ...definition, ...change }, null, () => true);
    expect(await schedule.recordObjects(claim, met('b.xml'))).toBe(false);
    expect(await schedule.endLook(claim, since, [], null)).toBe(false);
    expect(await schedule.beginLook(claim)).toBe(null);
    expect(await files(id)).toEqual([['a.xml', 'waiting']]);
  });

  it('goes on where it is asked for once more, or something else is changed', async () => {
    const { id_watch: id } = await watches.createWatch(1, definition, null, 100);
    const claim = (await schedule.claimWatch(60_000))!;
    const since = (await schedule.beginLook(claim))!;
    await watches.runNow(1, id, 'none');
    await watches.replaceWatch(1, id, { ...definition, max_files: 5 }, null, null);
    expect(await schedule.recordObjects(claim, met('a.xml'))).toBe(true);
    expect(await schedule.endLook(claim, since, ['a.xml'], null)).toBe(true);
    expect(await files(id)).toEqual([['a.xml', 'waiting']]);
  });
});

describe('watches of one organisation', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it('are never more than the limit, also if many are made at the same time', async () => {
    const watches = createPostgresWatchStore(database.sql);
    const made = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) =>
        watches.createWatch(1, { ...definition, name: `watch ${at}` }, null, 5),
      ),
    );
    const refused = made.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
    expect(refused).toHaveLength(3);
    for (const reason of refused)
      expect(reason).toMatchObject({
        code: 'too_many_requests',
        message: expect.stringContaining('svc.limits.watches'),
      });
    expect((await watches.listWatches(1, 0, 20)).totalElements).toBe(5);
  });
});

describe('claims of watches', () => {
  let database: TestDatabase;
  let watches: WatchStore;
  let schedule: WatchSchedule;

  beforeEach(async () => {
    database = await createTestDatabase();
    watches = createPostgresWatchStore(database.sql);
    const unused = { waitForWatches: () => Promise.reject(new Error('nobody waits')) };
    schedule = createPostgresWatchSchedule(database.sql, unused, jobSettings);
    await database.sql`insert into svc.org (id_org, name) values (2, 'second'), (3, 'third')`;
  });
  afterEach(() => database.drop());

  const claimed = async (without: number[], served: number[]): Promise<string | null> =>
    (await schedule.claimWatch(60_000, { without, served }))?.watch.name ?? null;

  it('go by organisation first, then by time', async () => {
    for (const [idOrg, name, at] of [
      [1, 'a', 1000],
      [1, 'b', 2000],
      [2, 'c', 4000],
      [3, 'd', 3000],
    ] as const)
      await watches.createWatch(idOrg, { ...definition, name }, at, 100);
    expect(await claimed([], [1])).toBe('d');
    expect(await claimed([], [1, 3])).toBe('c');
    expect(await claimed([1], [])).toBe(null);
    expect(await schedule.nextDueInMs([1])).toBeGreaterThan(0);
    expect(await schedule.nextDueInMs()).toBeLessThan(0);
    expect(await claimed([], [1, 3, 2])).toBe('a');
    expect((await schedule.claimWatch(60_000))?.watch.name).toBe('b');
  });
});
