/** Small files become large ones: the same rows before and after, in both formats, on a disk and in a bucket. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compactLake } from '../../../src/targets/files/lake/compaction.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import type { Published } from '../../../src/ports/row-sink.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { deltaFiles, deltaReader, icebergFiles, icebergReader } from '../row-sinks/readers.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';
import { libraryBucket, prefix } from './library-bucket.ts';

let server: ObjectServer;
let folder: string;

beforeEach(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'compaction-'));
});
afterEach(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

interface Place {
  target(): LakeTarget;
  /** a copy of all that is there, in a new folder */
  copy(name: string): Promise<string>;
}

let scratches = 0;
const bucket = (): Place => ({
  target: () => libraryBucket(server.settings, join(folder, `scratch-${(scratches += 1)}`)),
  copy: async (name) => {
    await server.copyTo(join(folder, name), prefix);
    return join(folder, name);
  },
});
const disk = (): Place => ({
  target: () => diskLake({ directory: join(folder, 'lake') }),
  copy: async (name) => {
    await cp(join(folder, 'lake'), join(folder, name), { recursive: true });
    return join(folder, name);
  },
});

async function load(place: Place, job: number, maxFiles = 64): Promise<Published> {
  const sink = createLakeRowSink({ target: place.target(), format: 'delta,iceberg', maxFiles });
  try {
    return await loadLibrary(sink, libraryPlan(job), 1);
  } finally {
    await sink.close();
  }
}

const tables = [...libraryModel.tables.map(({ name }) => name), '_documents', '_lexical', '_loads'];

async function rowsIn(copy: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const reader of [deltaReader(copy), icebergReader(copy)])
    for (const table of tables) {
      const found = (await reader.read(table)) ?? [];
      rows.push([
        table,
        found
          .map((row) =>
            JSON.stringify(row, (_, value: unknown) =>
              String(value) === '[object Object]' ? value : String(value),
            ),
          )
          .toSorted(),
      ]);
    }
  return rows;
}

const filesOf = async (copy: string, table: string): Promise<string[][]> => [
  await deltaFiles(join(copy, table)),
  await icebergFiles(join(copy, table)),
];

describe.each([
  ['a disk', disk],
  ['a bucket', bucket],
] as const)('on %s', (_, placeOf) => {
  test('tables have the rows they had, in one file for both formats, and earlier versions are there', async () => {
    const place = placeOf();
    for (const job of [1, 2, 3]) await load(place, job);
    const before = await place.copy('before');
    expect((await filesOf(before, 'book'))[0]).toHaveLength(3);
    const changes = await compactLake(place.target());
    expect(changes).toContain('book: 3 files became 1');
    const after = await place.copy('after');
    expect(await rowsIn(after)).toEqual(await rowsIn(before));
    const [delta, iceberg] = await filesOf(after, 'book');
    expect(delta).toHaveLength(1);
    expect(iceberg).toEqual(delta);
    expect(await compactLake(place.target())).toEqual([]);

    const source = createLakeRowSource({ target: place.target(), version: 1 });
    await source.open(libraryModel);
    expect(await source.documentCount()).toBe(2);
    await source.close();
    expect((await load(place, 4)).already).toBe(false);
    const later = await place.copy('later');
    expect((await filesOf(later, 'book'))[0]).toHaveLength(2);
    const keys = (await deltaReader(later).read('book'))!.map((row) => String(row['book_key']));
    expect(new Set(keys).size).toBe(8);
  });

  test('a job does it where its tables have too many', async () => {
    const place = placeOf();
    for (const job of [1, 2]) expect((await load(place, job, 2)).changes).toEqual([]);
    expect((await load(place, 3, 2)).changes).toContain('book: 3 files became 1');
    const [delta, iceberg] = await filesOf(await place.copy('after'), '_loads');
    expect(delta).toHaveLength(1);
    expect(iceberg).toEqual(delta);
  });
});

test('files of a table of which one cannot be read stay as they are, and the others are compacted', async () => {
  const place = disk();
  for (const job of [1, 2]) await load(place, job);
  const table = libraryModel.tables[0]!.name;
  const data = join(folder, 'lake', table, 'data');
  const [name] = await readdir(data);
  const whole = await readFile(join(data, name!));
  const broken = Buffer.from(whole).fill(0xff, 4, 60);
  for (const bytes of [whole.subarray(0, 50), broken]) {
    await writeFile(join(data, name!), bytes);
    const told = await compactLake(place.target()).catch((error: unknown) => error);
    expect(told).toMatchObject({ code: 'conflict' });
    const { message } = told as Error;
    expect(message).toContain(
      `${table}: 2 files stay as they are: ${table}/data/${name} cannot be read as Parquet (`,
    );
    expect(message).not.toMatch(/\/proc|LINE 1/);
    // nothing waits for the next one who opens the tables
    expect((await readdir(join(folder, 'lake'))).filter((entry) => entry.startsWith('.svc'))).toEqual([]);
  }
  await writeFile(join(data, name!), whole);
  expect(await compactLake(place.target())).toContain(`${table}: 2 files became 1`);
});
