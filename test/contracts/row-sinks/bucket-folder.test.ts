/** Folders in a file store: what every row sink must do, and what becomes of attempts that die at any write. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import { createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';
import { everyRowSink } from './contract.ts';
import { folderReader, type TargetReader } from './readers.ts';

type Store = Pick<ReturnType<typeof createMemoryFileStore>, 'listFiles' | 'read' | 'write' | 'discard'>;

const location = '/memory/1/out';
let folders = '';
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'bucket-folder-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));

let sinks = 0;

/** One writer at a time. */
function mutex(): () => Promise<{ isHeld(): Promise<boolean>; release(): Promise<void> }> {
  let last = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return { isHeld: async () => true, release: async () => resolve() };
  };
}

function sinkOf(files: Store, lock = mutex(), jobMark?: string): RowSink {
  sinks += 1;
  return createObjectFolderRowSink({
    location: 's3://lake/library',
    objects: objectsIn(files),
    prefix: '1/out/',
    label: 'out',
    format: 'csv',
    jobMark: jobMark ?? String(sinks),
    scratch: join(folders, `staging ${sinks}`),
    lock,
  });
}

async function namesIn(files: Store): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of files.listFiles(location)) names.push(name);
  return names.toSorted();
}

function readerOf(files: Store): TargetReader {
  return {
    read: async (table) => {
      const copy = await mkdtemp(join(folders, 'copy-'));
      for (const name of await namesIn(files)) {
        const path = join(copy, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, await new Response(await files.read(`${location}/${name}`)).bytes());
      }
      return folderReader(copy, 'csv').read(table);
    },
  };
}

describe('a folder of csv in a store', () =>
  everyRowSink(() => {
    const files = createMemoryFileStore();
    const lock = mutex();
    return { createSink: () => sinkOf(files, lock), reader: readerOf(files), list: () => namesIn(files) };
  }));

const dead = async (): Promise<never> => {
  throw new Error('this process is dead');
};

test('an attempt that dies at any write leaves the folder as it was, or with all of its rows once another comes', async () => {
  let failures = 0;
  for (let dyingAt = 0; ; dyingAt += 1) {
    const files = createMemoryFileStore();
    const load = async (store: Store, job: number): Promise<void> => {
      const sink = sinkOf(store, mutex(), String(job));
      try {
        await loadLibrary(sink, libraryPlan(job), 1);
      } finally {
        await sink.close();
      }
    };
    await load(files, 1);
    const before = await namesIn(files);
    let left = dyingAt;
    /** every call fails from that one on, as no later one is made */
    const call = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => {
      return (...args: A): Promise<R> => (left-- > 0 ? work(...args) : dead());
    };
    const dying: Store = {
      ...files,
      write: call((...args) => files.write(...args)),
      discard: call((...args) => files.discard(...args)),
    };
    const outcome = await load(dying, 2).then(
      () => 'whole' as const,
      () => 'dead' as const,
    );
    if (outcome === 'whole') break;
    failures += 1;
    await load(files, 3);
    const books = await readerOf(files).read('book');
    const after = await namesIn(files);
    // each load has two books
    const hasSecond = after.includes('book.2.csv');
    expect(books).toHaveLength(hasSecond ? 6 : 4);
    expect(after.filter((name) => name.startsWith('.svc-'))).toEqual([]);
    expect(after.filter((name) => name.endsWith('.2.csv'))).toHaveLength(
      hasSecond ? before.filter((name) => name.endsWith('.1.csv')).length : 0,
    );
    expect(after.filter((name) => !name.endsWith('.csv'))).toEqual(
      before.filter((name) => !name.endsWith('.csv')),
    );
  }
  // the journal, each file, the manifest, each script, and the journal again
  expect(failures).toBeGreaterThan(10);
});
