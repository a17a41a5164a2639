/** Tables in a bucket through all that jobs do to tables: the same rows are in them as in a folder of this machine. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createLakeRowRemover } from '../../../src/targets/files/lake/remover.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import type { SinkPlan } from '../../../src/ports/row-sink.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { deltaReader, icebergReader } from '../row-sinks/readers.ts';
import { loadUnits, unitsOf } from '../file-units/library-units.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { expectJobs } from './expected-jobs.ts';
import { libraryBucket, load, prefix } from './library-bucket.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

const format: LakeFormatName = 'delta,iceberg';
let server: ObjectServer;
let folder: string;
const job = (idJob: number, more: Partial<SinkPlan> = {}): ReturnType<typeof load> =>
  load(server.settings, folder, format, libraryPlan(idJob, more));
const keysBelow = (path: string): string[] =>
  [...server.objects.keys()].filter((key) => key.startsWith(prefix + path));

async function documentsAt(version?: number): Promise<(number | null)[]> {
  const source = createLakeRowSource({
    target: libraryBucket(server.settings, join(folder, `read-${Math.random()}`)),
    ...(version === undefined ? {} : { version }),
  });
  await source.open(libraryModel);
  const documents: (number | null)[] = [];
  for await (const { key } of source.documents()) documents.push(Number(key));
  await source.close();
  return documents;
}

beforeAll(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'bucket-loads-'));
});
afterAll(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

test('jobs add rows, each once, and a repeated one adds none', async () => {
  for (const id of [1, 2, 3]) expect((await job(id)).already).toBe(false);
  expect((await job(3)).already).toBe(true);
  await expectJobs(server, join(folder, 'added'), format, [1, 2, 3]);
  expect(await documentsAt()).toEqual([1, 2, 3]);
});

test('files that executors wrote are uploaded, and are those of the tables', async () => {
  const own = await startObjectServer();
  try {
    for (const id of [1, 2]) {
      const scratch = join(folder, `units-${id}`);
      const sink = createLakeRowSink({ target: libraryBucket(own.settings, join(scratch, 'here')), format });
      const units = unitsOf(id, 1);
      const plan = libraryPlan(id, { keys: 'hash' });
      const { published } = await loadUnits(join(scratch, 'work'), sink, plan, units);
      expect(published.rows).toMatchObject({ library: 1, book: 2 });
    }
    const one = createLakeRowSink({
      target: libraryBucket(own.settings, join(folder, 'units-died')),
      format,
    });
    await one.open(libraryPlan(3, { keys: 'hash' }));
    await one.units!.begin(1);
    await one.close();
    await own.copyTo(join(folder, 'units'), prefix);
    const rows = (await deltaReader(join(folder, 'units')).read('book'))!;
    expect(rows).toHaveLength(4);
    expect(await icebergReader(join(folder, 'units')).read('book')).toEqual(rows);
    expect(rows.map(({ isbn }) => isbn).toSorted()).toEqual(['1-1-1', '1-1-2', '2-1-1', '2-1-2']);
    expect([...own.objects.keys()].filter((key) => /\.svc-(?:lock|staging)/.test(key))).toEqual([]);
  } finally {
    await own.end();
  }
});

test('a document is taken out, and earlier versions have it', async () => {
  const remover = createLakeRowRemover(libraryBucket(server.settings, join(folder, 'unload')));
  const name = 'job 1 file 1.xml';
  const removed = await remover.removeDocuments(
    {
      model: libraryModel,
      documentName: name,
      idJob: 4,
      jobUuid: uuidOfJob(4),
      modelHash: hashOfLogical(2)!,
      idSch: 1,
      idLschma: 2,
      installation: '',
      dryRun: false,
    },
    () => Promise.resolve(true),
  );
  expect(removed.documents).toBe(1);
  expect(await documentsAt()).toEqual([2, 3]);
  expect(await documentsAt(2)).toEqual([1, 2, 3]);
  await expect(documentsAt(9)).rejects.toMatchObject({ code: 'not_found' });
});

test('-S o takes the place of what was there; -S e is refused; -S i leaves it', async () => {
  await job(5, { saveMode: 'overwrite' });
  expect(await documentsAt()).toHaveLength(1);
  await expect(job(6, { saveMode: 'error' })).rejects.toMatchObject({ code: 'conflict' });
  await job(7, { saveMode: 'ignore' });
  expect(await documentsAt()).toHaveLength(1);
});

test('what one formats’ tables are is no place for another format', async () => {
  await expect(load(server.settings, folder, 'delta', libraryPlan(8))).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('a table’s folder that somebody else filled is left alone', async () => {
  const foreign = 'elsewhere/';
  server.put(`${foreign}book/part-0.parquet`, 'x');
  const { bucketLake } = await import('../../../src/targets/files/lake/bucket.ts');
  const { createS3ObjectStore } = await import('../../../src/storage/object-store/s3.ts');
  const { createLakeRowSink } = await import('../../../src/targets/files/lake/sink.ts');
  const sink = createLakeRowSink({
    target: bucketLake({
      objects: createS3ObjectStore(server.settings),
      location: 's3://lakehouse/elsewhere',
      prefix: foreign,
      label: 's3://lakehouse/elsewhere',
      scratch: join(folder, 'foreign'),
    }),
    format: 'delta',
  });
  await expect(sink.open(libraryPlan(1))).rejects.toMatchObject({ code: 'conflict' });
  await sink.close();
  expect([...server.objects.keys()].filter((key) => key.startsWith(foreign))).toEqual([
    `${foreign}book/part-0.parquet`,
  ]);
});

test('nothing is left that only a running job needs', async () => {
  expect(keysBelow('.svc-lock')).toEqual([]);
  expect(keysBelow('.svc-staging')).toEqual([]);
  const left = await readdir(folder, { recursive: true });
  expect(left.filter((name) => name.includes('.svc-staging'))).toEqual([]);
});
