/** What is removed when it has been kept long enough, and what stays: on a real database and real folders. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalFileStore } from '../../../src/storage/local/file-store.ts';
import { createLocalLogStore } from '../../../src/storage/local/job-logs.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { createPostgresRetentionStore } from '../../../src/metadb/retention-store.ts';
import { sweepExpired } from '../../../src/service/jobs/retention.ts';
import type { JobStore } from '../../../src/ports/stores/jobs.ts';
import { createMemoryLogger } from '../../support/memory/adapters.ts';
import { newDonutJob, startNextJob, submitJobs } from '../../support/memory/job-records.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';

const day = 24 * 3_600_000;
const limits = { keepJobsMs: 90 * day, keepUploadsMs: 30 * day, keepIdempotencyKeysMs: day };

describe('what has been kept long enough', () => {
  let database: TestDatabase;
  let jobs: JobStore & { close(): Promise<void> };
  let folder: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    jobs = createPostgresJobStore(database.sql);
    folder = await mkdtemp(join(tmpdir(), 'retention-'));
    await mkdir(join(folder, 'logs'));
  });

  afterEach(async () => {
    await jobs.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const sweep = () =>
    sweepExpired(
      {
        retention: createPostgresRetentionStore(database.sql),
        files: createLocalFileStore({ filesDirectory: join(folder, 'files'), roots: [] }),
        logs: createLocalLogStore(join(folder, 'logs')),
        logger: createMemoryLogger([]),
      },
      limits,
    );

  /** A workflow of so many jobs, all ended but the last `open` ones; the end, and the workflow, so many days ago. */
  async function workflow(count: number, open: number, daysAgo: number): Promise<readonly number[]> {
    const { idJobs, idWorkflow } = await submitJobs(jobs, 1, count);
    for (let ended = 0; ended < count - open; ended += 1) await (await startNextJob(jobs)).end('completed');
    for (const id of idJobs) await writeFile(join(folder, 'logs', `job-${id}.log`), 'a line\n');
    await database.sql.begin(async (tx) => {
      // what the triggers forbid: an end that lies elsewhere
      await tx`set local session_replication_role = replica`;
      const moved = tx`- ${daysAgo} * interval '1 day'`;
      await tx`update svc.job set created = created ${moved}, start_date = start_date ${moved}, end_date = end_date ${moved}
                where id_workflow = ${idWorkflow}`;
      await tx`update svc.workflow set created = created ${moved} where id_workflow = ${idWorkflow}`;
    });
    // jobs that are still open must not be claimed by the next workflow's loop
    await database.sql`update svc.job set ready = false where id_workflow = ${idWorkflow} and status = 'Q'`;
    return idJobs;
  }

  const logs = (ids: readonly number[]): boolean[] =>
    ids.map((id) => existsSync(join(folder, 'logs', `job-${id}.log`)));

  it('removes workflows whose jobs all ended long ago, with their logs, however many there are', async () => {
    const old: (readonly number[])[] = [];
    for (let at = 0; at < 3; at += 1) old.push(await workflow(2, 0, 91));
    const young = await workflow(1, 0, 89);
    const open = await workflow(2, 1, 100);
    const retention = createPostgresRetentionStore(database.sql);
    const forgotten: number[] = [];
    expect(
      await retention.removeEndedJobs(limits.keepJobsMs, 0, 1, async (ids) => void forgotten.push(...ids)),
    ).toMatchObject({ jobs: 2 });
    expect(forgotten).toEqual(old[0]);

    expect(await sweep()).toMatchObject({ jobs: 4 });
    for (const id of old.flat()) expect(await jobs.findJob(1, id)).toBeNull();
    for (const id of [...young, ...open]) expect(await jobs.findJob(1, id)).not.toBeNull();
    expect(logs([...old[1]!, ...old[2]!])).toEqual([false, false, false, false]);
    expect(logs([...young, ...open])).toEqual([true, true, true]);
    const [left] = await database.sql`select count(*)::int as n from svc.workflow`;
    expect(left).toEqual({ n: 2 });
    expect(await sweep()).toEqual({ jobs: 0, uploads: 0, idempotencyKeys: 0, events: 0 });
  });

  it('keeps the record where the log cannot be removed', async () => {
    const [id] = await workflow(1, 0, 91);
    const retention = createPostgresRetentionStore(database.sql);
    const failing = retention.removeEndedJobs(limits.keepJobsMs, 0, 10, () =>
      Promise.reject(new Error('no disk')),
    );
    await expect(failing).rejects.toThrow('no disk');
    expect(await jobs.findJob(1, id!)).not.toBeNull();
  });

  it('removes uploads that no open job reads, and what was left of broken ones', async () => {
    const files = join(folder, 'files');
    const put = async (path: string, ageMs: number): Promise<string> => {
      const file = join(files, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, '<a/>');
      const then = new Date(Date.now() - ageMs);
      await utimes(file, then, then);
      return file;
    };
    const gone = [
      await put('1/uploads/aa/old.xml', 31 * day),
      await put('2/uploads/bb/old.xsd', 40 * day),
      await put('1/uploads/.part-01', 2 * 3_600_000),
    ];
    const kept = [
      await put('1/uploads/cc/young.xml', 29 * day),
      await put('1/uploads/dd/in-use.xml', 31 * day),
      await put('1/uploads/ee/in-use.xml', 31 * day),
      await put('1/uploads/.part-02', 60_000),
      await put('1/out/result.csv', 400 * day),
      await put('notes/uploads/aa/old.xml', 400 * day),
    ];
    const outside = join(folder, 'outside.xml');
    await writeFile(outside, '<secret/>');
    const old = new Date(Date.now() - 400 * day);
    await utimes(outside, old, old);
    await symlink(outside, join(files, '1/uploads/cc/link.xml'));
    await symlink(folder, join(files, '1/uploads/linked'));
    for (const inputPath of ['uploads/dd/in-use.xml', 'uploads/ee'])
      await jobs.submit({
        idOrg: 1,
        workflowName: null,
        jobs: [{ ...newDonutJob, inputPath }],
        idempotency: null,
      });

    expect(await sweep()).toMatchObject({ uploads: 3 });
    expect(gone.filter((file) => existsSync(file))).toEqual([]);
    expect(existsSync(join(files, '1/uploads/aa'))).toBe(false);
    expect(kept.filter((file) => !existsSync(file))).toEqual([]);
    expect(existsSync(outside)).toBe(true);
  });

  it('removes idempotency keys and settled events, and leaves what waits', async () => {
    const { sql } = database;
    await sql`insert into svc.idempotency (id_org, key, body_hash, created)
      values (1, 'old', 'h', now() - interval '25 hours'), (1, 'young', 'h', now() - interval '23 hours')`;
    const ages = sql`now() - interval '91 days', now() - interval '91 days'`;
    await sql`insert into svc.event (kind, moment, id_org, job, state, next_attempt, occurred, settled)
      values ('webhook', 'ended', 1, '{}', 'delivered', null, ${ages}), ('webhook', 'ended', 1, '{}', 'dead', null, ${ages}),
             ('webhook', 'ended', 1, '{}', 'dead', null, now(), now())`;
    await sql`insert into svc.event_kind values ('webhook')`;
    await sql`insert into svc.event (kind, moment, id_org, job, occurred)
      values ('webhook', 'ended', 1, '{}', now() - interval '91 days'), ('openlineage', 'ended', 1, '{}', now() - interval '91 days')`;
    expect(await sweep()).toEqual({ jobs: 0, uploads: 0, idempotencyKeys: 1, events: 3 });
    expect(await sql`select key from svc.idempotency`).toEqual([{ key: 'young' }]);
    expect(await sql`select state from svc.event order by id_event`).toEqual([
      { state: 'dead' },
      { state: 'waiting' },
    ]);
  });

  it('is the work of one process at a time', async () => {
    const other = createPostgresRetentionStore(database.sql);
    let meanwhile: unknown = 'not asked';
    expect(
      await other.alone(async () => {
        meanwhile = await sweep();
      }),
    ).toBe(true);
    expect(meanwhile).toBeNull();
    expect(await sweep()).not.toBeNull();
    await expect(other.alone(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await sweep()).not.toBeNull();
  });
});
