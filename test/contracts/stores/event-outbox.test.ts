/** The outbox on a real database: what the ends of jobs write there, and how deliveries take it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresEventOutbox } from '../../../src/metadb/event-outbox.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { isJobEvent, readStoredEvent } from '../../../src/service/events/deliver.ts';
import type { EventOutbox } from '../../../src/ports/stores/event-outbox.ts';
import type { JobStore } from '../../../src/ports/stores/jobs.ts';
import { startNextJob, submitJobs } from '../../support/memory/job-records.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';

describe('the outbox', () => {
  let database: TestDatabase;
  let jobs: JobStore & { close(): Promise<void> };
  let outbox: EventOutbox;

  beforeEach(async () => {
    database = await createTestDatabase();
    jobs = createPostgresJobStore(database.sql);
    outbox = createPostgresEventOutbox(database.sql);
  });

  afterEach(async () => {
    await jobs.close();
    await database.drop();
  });

  it('records nothing until it is told to, and then the kinds it is told', async () => {
    await submitJobs(jobs, 1, 1);
    await (await startNextJob(jobs)).end('completed');
    expect(await database.sql`select * from svc.event`).toEqual([]);
    await outbox.recordKinds(['webhook']);
    await submitJobs(jobs, 1, 1);
    await (await startNextJob(jobs)).end('completed');
    expect(await outbox.claimEvents('openlineage', 9, 60_000)).toEqual([]);
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toHaveLength(1);
    await outbox.recordKinds(['openlineage']);
    await submitJobs(jobs, 1, 1);
    await (await startNextJob(jobs)).end('completed');
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toEqual([]);
    const moments = (await outbox.claimEvents('openlineage', 9, 60_000)).map(({ moment }) => moment);
    expect(moments).toEqual(['started', 'ended']);
  });

  it('tells of every end, those that follow from another too, with the record as it is read', async () => {
    await outbox.recordKinds(['webhook', 'openlineage']);
    const { idJobs } = await submitJobs(jobs, 1, 3);
    await (await startNextJob(jobs)).end('failed');
    const events = (await outbox.claimEvents('webhook', 9, 60_000)).map(readStoredEvent).filter(isJobEvent);
    expect(events.map(({ job }) => [job.id_job, job.status])).toEqual(
      idJobs.map((id, at) => [id, at === 0 ? 'failed' : 'killed']),
    );
    for (const { job, occurred } of events) {
      expect(job).toEqual(await jobs.findJob(1, job.id_job));
      expect(occurred).toBe(job.end_date);
    }
    // those that never started have no run that could end
    const lineage = (await outbox.claimEvents('openlineage', 9, 60_000))
      .map(readStoredEvent)
      .filter(isJobEvent);
    expect(lineage.map(({ job, moment }) => [job.id_job, moment])).toEqual([
      [idJobs[0], 'started'],
      [idJobs[0], 'ended'],
    ]);
    expect(lineage[0]!.job).toMatchObject({ status: 'running', end_date: null });
  });

  it('holds nothing of a transaction that did not commit', async () => {
    await outbox.recordKinds(['webhook']);
    await submitJobs(jobs, 1, 1);
    const { idJob } = await startNextJob(jobs);
    const broken = database.sql.begin(async (tx) => {
      await tx`update svc.job set status = 'C', end_date = now(), lease_until = null where id_job = ${idJob}`;
      expect((await tx`select * from svc.event`).length).toBe(1);
      throw new Error('no commit');
    });
    await expect(broken).rejects.toThrow('no commit');
    expect(await database.sql`select * from svc.event`).toEqual([]);
  });

  it('gives events of one organisation at a time, by turns, and of none that has its share', async () => {
    await outbox.recordKinds(['webhook']);
    await database.sql`insert into svc.org (id_org, name) values (2, 'second'), (3, 'third')`;
    const insert = (idOrg: number, count: number): Promise<unknown> => database.sql`
      insert into svc.event (kind, moment, id_org, job, occurred)
      select 'webhook', 'ended', ${idOrg}, '{}', now() from generate_series(1, ${count})`;
    await insert(2, 30);
    await insert(3, 2);
    const claim = async (without: number[], served: number[]): Promise<number[]> =>
      (await outbox.claimEvents('webhook', 8, 60_000, { without, served })).map(({ idOrg }) => idOrg);
    expect(await claim([], [])).toEqual(Array(8).fill(2));
    expect(await claim([], [2])).toEqual([3, 3]);
    expect(await claim([2], [])).toEqual([]);
    expect(await claim([], [2, 3])).toEqual(Array(8).fill(2));
  });

  it('gives back what nobody tried, at once and without an attempt', async () => {
    await outbox.recordKinds(['webhook']);
    await submitJobs(jobs, 1, 1);
    await (await startNextJob(jobs)).end('completed');
    const [event] = await outbox.claimEvents('webhook', 9, 60_000);
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toEqual([]);
    await outbox.release([event!.idEvent]);
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toEqual([{ ...event, attempt: 1 }]);
  });

  it('gives each event to one delivery at a time, and again when that falls silent', async () => {
    await outbox.recordKinds(['webhook']);
    await submitJobs(jobs, 1, 1);
    await (await startNextJob(jobs)).end('completed');
    const other = createPostgresEventOutbox(database.sql);
    const claims = await Promise.all([
      outbox.claimEvents('webhook', 9, 200),
      other.claimEvents('webhook', 9, 200),
    ]);
    expect(claims.flat()).toHaveLength(1);
    const [first] = claims.flat();
    await database.sql`update svc.event set next_attempt = now() - interval '1 second'`;
    const [again] = await other.claimEvents('webhook', 9, 60_000);
    expect(again).toMatchObject({ idEvent: first!.idEvent, message: first!.message, attempt: 2 });

    await outbox.failed(again!.idEvent, 'answered 500', 3_600_000);
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toEqual([]);
    await database.sql`update svc.event set next_attempt = now() - interval '1 second'`;
    expect(await outbox.claimEvents('webhook', 9, 60_000)).toHaveLength(1);
    await outbox.delivered(again!.idEvent);
    // what comes late changes nothing any more
    await outbox.failed(again!.idEvent, 'too late', null);
    const [row] = await database.sql`select state, attempts, last_error, next_attempt from svc.event`;
    expect(row).toEqual({ state: 'delivered', attempts: 3, last_error: null, next_attempt: null });
  });
});
