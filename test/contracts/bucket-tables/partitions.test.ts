/** Tables with partitions in a bucket: the rows of all jobs, each file of one partition. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PartitionWish } from '../../../src/engine/sql/partition-wish.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { expectJobs } from './expected-jobs.ts';
import { load, prefix } from './library-bucket.ts';

let server: ObjectServer;
let folder: string;

beforeAll(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'bucket-partitions-'));
});
afterAll(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

test('jobs add rows, each once; another partition is refused, and nothing of it is there', async () => {
  const job = (idJob: number, ...partition: PartitionWish[]): ReturnType<typeof load> =>
    load(server.settings, folder, 'delta,iceberg', libraryPlan(idJob, { partition }));
  const byBirth: PartitionWish = { part: 'identity', column: 'born' };
  const byPages: PartitionWish = { part: 'identity', column: 'book.pages' };
  for (const id of [1, 2]) await job(id, byBirth, byPages);
  await job(3);
  expect((await job(3)).already).toBe(true);
  const files = [...server.objects.keys()].filter((key) => key.startsWith(`${prefix}person/data/`));
  expect(files).toHaveLength(6);
  await expect(job(4, { part: 'year', column: 'born' })).rejects.toMatchObject({ code: 'conflict' });
  await expectJobs(server, join(folder, 'copy'), 'delta,iceberg', [1, 2, 3]);
});
