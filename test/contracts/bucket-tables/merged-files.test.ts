/** `-S m` and `unload` in a bucket fetch only files that can hold rows of the documents that go, as far as the tables tell. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createLakeRowRemover } from '../../../src/targets/files/lake/remover.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import type { LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import {
  createDice,
  expectSame,
  mergeFolder,
  orderModel,
  orderOf,
  written,
  type MergeTarget,
} from '../merge/orders.ts';
import { libraryBucket } from './library-bucket.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

let server: ObjectServer;
let folder: string;
let scratches = 0;

beforeEach(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'bucket-merge-'));
});
afterEach(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

const jobs = 6;
const dice = createDice(7);

function target(): LakeTarget {
  return libraryBucket(server.settings, join(folder, `scratch-${(scratches += 1)}`));
}

function bucket(format: LakeFormatName): MergeTarget {
  return {
    createSink: () => createLakeRowSink({ target: target(), format }),
    createSource: () => createLakeRowSource({ target: target() }),
    count: () => Promise.resolve(0),
  };
}

async function merge(
  place: MergeTarget,
  job: number,
  documents: ReadonlyMap<string, string>,
  more: { readonly deleteMissing?: true } = {},
) {
  const input = join(folder, `job-${job}`);
  await mkdir(input);
  for (const [id, text] of documents) await writeFile(join(input, `${job}-${id}.xml`), text);
  return mergeFolder(place, orderModel, input, job, more);
}

/** Names of the files with rows of orders that `work` fetches. */
async function fetched(work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  server.setFaults(({ method, key }) => {
    if (method === 'GET' && /\/order\/data\//.test(key)) files.add(key);
    return null;
  });
  await work();
  server.setFaults(() => null);
  return files;
}

/** That made the files. */
function jobsOf(files: ReadonlySet<string>): string[] {
  return [...files].map((key) => key.replace(/.*\/data\/(\d+)-.*/, '$1')).toSorted();
}

test.each(['delta', 'iceberg'] as const)(
  'a merge of one document of many jobs fetches the file that has it: %s',
  async (format) => {
    const place = bucket(format);
    const model = new Map<string, string>();
    for (let job = 1; job <= jobs; job += 1) {
      const added = new Map(['a', 'b'].map((part) => [`${job}${part}`, orderOf(`${job}${part}`, dice)]));
      await merge(place, job, added);
      for (const [id, text] of added) model.set(id, text);
    }
    const changed = new Map([['5a', orderOf('5a', dice)]]);
    const files = await fetched(async () => {
      expect((await merge(place, 20, changed)).merged).toMatchObject({ replaced: 1, deleted: 0 });
    });
    expect(jobsOf(files)).toEqual(['5']);
    model.set('5a', changed.get('5a')!);
    // one that is there as it is, and one that is not there
    const other = new Map([...changed, ['new', orderOf('new', dice)]]);
    const more = await fetched(async () => {
      expect(await merge(place, 21, other)).toMatchObject({ unchanged: 1, loaded: 1 });
    });
    expect(more.size).toBe(1);
    model.set('new', other.get('new')!);
    expectSame(await written(place.createSource(), orderModel), model);
    const taken = await fetched(() =>
      createLakeRowRemover(target()).removeDocuments(
        {
          model: orderModel,
          idJob: 30,
          jobUuid: uuidOfJob(30),
          modelHash: hashOfLogical(1)!,
          installation: '',
          idSch: 1,
          idLschma: 1,
          documentName: '4-4b.xml',
          dryRun: false,
        },
        async () => true,
      ),
    );
    expect(jobsOf(taken)).toEqual(['4']);
    model.delete('4b');
    expectSame(await written(place.createSource(), orderModel), model);
    model.delete('2a');
    model.set('6b', orderOf('6b', dice));
    const rest = await fetched(async () => {
      const { merged } = await merge(place, 40, model, { deleteMissing: true });
      expect(merged).toMatchObject({ replaced: 1, deleted: 1 });
    });
    expect(jobsOf(rest)).toEqual(['2', '6']);
    expectSame(await written(place.createSource(), orderModel), model);
  },
);
