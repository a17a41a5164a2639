/** Another program that is first with a version in each of a job's first tries: the job goes on from that, and reads nothing twice. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Conflicts } from '../../../src/targets/files/lake/next-files.ts';
import { formatsOf } from '../../../src/targets/files/lake/formats.ts';
import type { TableFormat } from '../../../src/targets/files/lake/table-format.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { libraryBucket, load } from './library-bucket.ts';

const table = 'book';
const before = 12;
const tries = 6;

let server: ObjectServer;
let folder: string;

beforeEach(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'busy-writer-'));
});
afterEach(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

let others = 0;

/** Of another program: one more file, without rows. Answers its path. */
async function writeOther(format: TableFormat): Promise<string> {
  const name = `other-${(others += 1)}.parquet`;
  await libraryBucket(server.settings, join(folder, `other-${others}`)).look(async (place) => {
    const state = (await format.readTable(place, table, table))!;
    const version = await format.commit(place, table, table, state, {
      name: table,
      comment: '',
      fields: state.fields,
      partitioning: [],
      operation: 'append',
      removed: [],
      added: [{ name, bytes: 0, stats: '{"numRecords":0}' }],
      job: others,
      jobUuid: randomUUID(),
      installation: `other ${randomBytes(4).toString('hex')}`,
      versions: null,
      drafts: folder,
      run: () => Promise.reject(new Error('no checkpoints')),
    });
    expect(version).toBe(state.version + 1);
  });
  return `data/${name}`;
}

const filesOf = async (format: TableFormat): Promise<readonly string[]> => {
  const state = await libraryBucket(server.settings, join(folder, 'look')).look((place) =>
    format.readTable(place, table, table),
  );
  return [...state!.files.keys()];
};

interface Watched {
  /** how often each object of the table's log was read for the job */
  readonly reads: ReadonlyMap<string, number>;
  readonly added: readonly string[];
}

/** While `work` goes on, somebody else is first in its first tries to make a version of the table. */
async function beside(format: TableFormat, work: () => Promise<unknown>): Promise<Watched> {
  const reads = new Map<string, number>();
  const added: string[] = [];
  let isOther = false;
  const isVersion = new RegExp(`/${table}/${format.folder}/v?\\d+(?:\\.metadata)?\\.json$`);
  server.setFaults(async ({ method, key, isExclusive }) => {
    if (isOther) return null;
    if (method === 'GET' && server.objects.has(key) && key.includes(`/${table}/${format.folder}/`))
      reads.set(key, (reads.get(key) ?? 0) + 1);
    if (!isExclusive || !isVersion.test(key) || added.length === tries) return null;
    isOther = true;
    added.push(await writeOther(format));
    isOther = false;
    return null;
  });
  await work();
  server.setFaults(() => null);
  expect(added).toHaveLength(tries);
  return { reads, added };
}

for (const format of formatsOf('delta,iceberg')) {
  test(`${format.title}: a job has its rows once, and no file of the log was read for it in each try`, async () => {
    for (let job = 1; job <= before; job += 1)
      await load(server.settings, folder, format.name, libraryPlan(job));
    const { reads, added } = await beside(format, () =>
      load(server.settings, folder, format.name, libraryPlan(before + 1)),
    );
    const files = await filesOf(format);
    expect(files).toEqual(expect.arrayContaining([...added]));
    const jobs = files.flatMap((path) => /^data\/(\d+)-/.exec(path)?.[1] ?? []);
    expect(jobs.map(Number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: before + 1 }, (_, at) => at + 1),
    );
    // as the job opened it and as it began to commit; what others made, as it stood in the way, as it was new, and as what the next try goes on from
    for (const [key, times] of reads) expect([key, times <= 3]).toEqual([key, true]);
  });

  test(`${format.title}: an overwrite takes the place of what others added before it, too`, async () => {
    for (const job of [1, 2]) await load(server.settings, folder, format.name, libraryPlan(job));
    await beside(format, () =>
      load(server.settings, folder, format.name, libraryPlan(3, { saveMode: 'overwrite' })),
    );
    expect(await filesOf(format)).toEqual([expect.stringMatching(/^data\/3-/)]);
  });
}

test('who is never first gives up after a number of tries, with pauses that grow and are never the same', async () => {
  const pauses: number[] = [];
  const conflicts = new Conflicts({ maxTries: 20, firstPauseMs: 8, longestPauseMs: 100 }, async (ms) => {
    pauses.push(ms);
  });
  for (let count = 1; count < 20; count += 1) await conflicts.next('here: book');
  await expect(conflicts.next('here: book')).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('here: book: other programs committed first') as string,
  });
  expect(pauses).toHaveLength(19);
  for (const [at, pause] of pauses.entries()) expect(pause).toBeLessThanOrEqual(Math.min(100, 8 * 2 ** at));
  expect(new Set(pauses).size).toBe(19);
});
