/** Units that other processes write as files: what the sink publishes of them is what it would have written itself. */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import type { PartitionWish } from '../../../src/engine/sql/partition-wish.ts';
import type { RowSink, SinkPlan, UnitToken } from '../../../src/ports/row-sink.ts';
import { openUnit } from '../../../src/tools/targets/units.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { founded, loadHere, loadUnits, unitsOf, writeUnit, type DoneUnit } from './library-units.ts';
import { encodeRows, libraryPlan, type Value } from '../targets/library-rows.ts';
import { some } from '../../support/needs.ts';
import {
  deltaFiles,
  deltaReader,
  folderManifest,
  folderReader,
  icebergFiles,
  icebergReader,
  type TargetReader,
} from '../row-sinks/readers.ts';

const all = ['parquet', 'delta,iceberg', 'jsonl', 'csv', 'tsv', 'delta', 'iceberg'] as const;
type Kind = (typeof all)[number];
const kinds = some(all, 3);
const isLake = (kind: Kind) => kind === 'delta' || kind === 'iceberg' || kind === 'delta,iceberg';

const [weight, pages] = [6, 7];

let folders = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'file-units-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  number += 1;
});

const pathOf = (name: string): string => join(folders, String(number), name);

function createSink(kind: Kind, name: string): RowSink {
  const directory = pathOf(name);
  if (isLake(kind)) return createLakeRowSink({ target: diskLake({ directory }), format: kind });
  return createFolderRowSink({ directory, format: kind });
}

function readersOf(kind: Kind, name: string): TargetReader[] {
  const directory = pathOf(name);
  if (kind === 'delta,iceberg') return [deltaReader(directory), icebergReader(directory)];
  if (kind === 'delta') return [deltaReader(directory)];
  return [kind === 'iceberg' ? icebergReader(directory) : folderReader(directory, kind)];
}

async function contents(kind: Kind, name: string): Promise<unknown[]> {
  const tables = [...libraryModel.tables.map((table) => table.name), '_documents'];
  const found: unknown[] = [];
  for (const reader of readersOf(kind, name))
    for (const table of tables) found.push([table, await reader.read(table)]);
  return found;
}

test.each(kinds)('%s: rows, and what is told of them, are those of the sink itself', async (kind) => {
  const [first, second] = [unitsOf(1, 3), unitsOf(2, 2)];
  const plans = [libraryPlan(1, { keys: 'hash' }), libraryPlan(2, { keys: 'hash' })] as const;
  const { published, passes } = await loadUnits(pathOf('work'), createSink(kind, 'units'), plans[0], first);
  expect(passes).toBe(1);
  expect(published).toEqual(await loadHere(createSink(kind, 'here'), plans[0], first));
  expect(published.rows['library']).toBe(3);
  const more = await loadUnits(pathOf('work'), createSink(kind, 'units'), plans[1], second);
  expect(more.published).toEqual(await loadHere(createSink(kind, 'here'), plans[1], second));
  expect(await contents(kind, 'units')).toEqual(await contents(kind, 'here'));
});

test.each(kinds.filter((kind) => kind === 'parquet' || isLake(kind)))(
  '%s: values of one unit decide types in all of them, which are written again',
  async (kind) => {
    for (const [name, weights] of [
      // one unit needs another scale, then two together more digits than a number has
      ['scale', ['0.5', '0.1234567890123456789012345', '12.25']],
      ['text', ['12345678901234567890123456789', '0.1234567890123456789012345', '7']],
    ] as const) {
      const units = unitsOf(1, 3);
      for (const [unit, rows] of units.entries())
        for (const book of rows.tables.get(at.book)!) book[weight] = weights[unit]!;
      units[2]!.tables.get(at.library)![0]![founded] = 'some day';
      const odd = [{ unit: 2, text: 'some day' }];
      const plan = libraryPlan(1, { keys: 'hash' });
      const { passes, published } = await loadUnits(
        pathOf('work'),
        createSink(kind, `${name} units`),
        plan,
        units,
        odd,
      );
      expect(passes).toBeGreaterThan(1);
      expect(published).toEqual(await loadHere(createSink(kind, `${name} here`), plan, units, odd));
      expect(published.changes).toContain('library.founded: widened to text');
      expect(await contents(kind, `${name} units`)).toEqual(await contents(kind, `${name} here`));
      if (kind !== 'parquet') continue;
      const types = await typesIn(pathOf(`${name} units`));
      expect(types).toEqual(await typesIn(pathOf(`${name} here`)));
      expect(types['book']).toHaveLength(1);
    }
  },
);

test.each(kinds)(
  '%s: a whole number of one unit makes its column wider in all, text of another one text',
  async (kind) => {
    const many = '12345678901234567890123456789012345678';
    for (const [name, others, type] of [
      ['wide', [], 'numeric'],
      ['text', [{ unit: 2, text: `+${many}`, table: at.book, column: pages }], 'text'],
    ] as const) {
      const units = unitsOf(1, 3);
      units[1]!.tables.get(at.book)![0]![pages] = many;
      for (const { unit, text } of others) units[unit]!.tables.get(at.book)![0]![pages] = text;
      const odd = [{ unit: 1, text: many, table: at.book, column: pages }, ...others];
      const plan = libraryPlan(1, { keys: 'hash' });
      const { published } = await loadUnits(
        pathOf('work'),
        createSink(kind, `${name} units`),
        plan,
        units,
        odd,
      );
      expect(published).toEqual(await loadHere(createSink(kind, `${name} here`), plan, units, odd));
      expect(published.changes).toEqual([`book.pages: widened to ${type}`]);
      const read = await contents(kind, `${name} units`);
      expect(JSON.stringify(read)).toContain(many);
      expect(read).toEqual(await contents(kind, `${name} here`));
    }
  },
);

/** of the library's persons: whose name, and when they were born */
const [personName, born] = [4, 5];
const byBirth: readonly PartitionWish[] = [
  { part: 'year', column: 'person.born' },
  { part: 'identity', column: 'person.name' },
];

function partitionedPlan(job: number, partition?: readonly PartitionWish[]): SinkPlan {
  return libraryPlan(job, { keys: 'hash', ...(partition === undefined ? {} : { partition }) });
}

describe.each(kinds.filter(isLake))('%s with partitions', (kind) => {
  test('executors write a file for each, and a later job without a word of them does so, too', async () => {
    for (const [job, partition] of [[1, byBirth], [2]] as const) {
      const units = unitsOf(job, 2);
      const asked = partitionedPlan(job, partition);
      const { published, receipts } = await loadUnits(
        pathOf('work'),
        createSink(kind, 'units'),
        asked,
        units,
      );
      for (const { files } of receipts)
        expect(files!.flatMap(({ table, partition: one }) => (table === at.person ? [one] : []))).toEqual([
          ['1815', 'Ada'],
          [null, 'Grace'],
        ]);
      expect(published).toEqual(await loadHere(createSink(kind, 'here'), asked, units));
      expect(published.rows['person']).toBe(4);
    }
    expect(await contents(kind, 'units')).toEqual(await contents(kind, 'here'));
    const filesOf = kind === 'iceberg' ? icebergFiles : deltaFiles;
    // of each unit and partition, here of each job and partition
    expect(await filesOf(join(pathOf('units'), 'person'))).toHaveLength(8);
    expect(await filesOf(join(pathOf('here'), 'person'))).toHaveLength(4);
  });

  test('what cannot be a partition is told as without executors, and nothing is there', async () => {
    for (const [name, change, odd, wanted] of [
      // Delta cannot tell it from none
      ['empty', (row: Value[]) => (row[personName] = ''), [], kind === 'iceberg' ? null : /empty string/],
      [
        'text',
        (row: Value[]) => (row[born] = 'one day'),
        [{ unit: 1, text: 'one day', table: at.person, column: born }],
        /born is VARCHAR, which has no year/,
      ],
    ] as const) {
      const units = unitsOf(1, 2);
      change(units[1]!.tables.get(at.person)![0]!);
      const sink = createSink(kind, name);
      const load = loadUnits(pathOf('work'), sink, partitionedPlan(1, byBirth), units, odd);
      if (wanted === null) expect((await load).published.rows['person']).toBe(4);
      else await expect(load).rejects.toThrow(wanted);
      await sink.close();
      if (wanted !== null) expect(await readdir(pathOf(name)).catch(() => [])).toEqual([]);
    }
  });
});

/** By table, the types of its files, each once. */
async function typesIn(directory: string): Promise<Record<string, readonly string[]>> {
  const { tables } = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as {
    tables: { name: string; files: { types: string[] }[] }[];
  };
  return Object.fromEntries(
    tables.map(({ name, files }) => [name, [...new Set(files.map(({ types }) => types.join()))]]),
  );
}

test.each(kinds)('%s: a unit that nobody told of is missed, and nothing is published', async (kind) => {
  const sink = createSink(kind, 'missing');
  const units = unitsOf(1, 1);
  await sink.open(libraryPlan(1, { keys: 'hash' }));
  const token = (await sink.units!.begin(2)) as UnitToken;
  const { folder, receipt } = await writeUnit(pathOf('work'), token, units[0]!, 0);
  await expect(sink.units!.adopt([receipt], () => folder)).rejects.toMatchObject({ code: 'internal_error' });
  const foreign = { ...receipt, files: [{ ...receipt.files![0]!, name: '../other' }] };
  await expect(sink.units!.adopt([receipt, foreign], () => folder)).rejects.toMatchObject({
    code: 'internal_error',
  });
  await sink.close();
  // a folder that the job made goes with it
  expect(await readdir(pathOf('missing')).catch(() => [])).toEqual([]);
  expect((await contents(kind, 'missing')).every((table) => (table as [string, unknown])[1] === null)).toBe(
    true,
  );
});

test.each(kinds)('%s: attempts of which nothing is told leave nothing', async (kind) => {
  const units = unitsOf(1, 2);
  const sink = createSink(kind, 'attempts');
  await sink.open(libraryPlan(1, { keys: 'hash' }));
  const token = (await sink.units!.begin(2)) as UnitToken;
  const half = pathOf('work/half');
  await mkdir(half, { recursive: true });
  const dead = await openUnit(token, { unit: 0, model: libraryModel, folder: half });
  await dead.writeSide('documents', encodeRows(sink.encoding, units[0]!.documents, 'documents'), 1);
  const done: DoneUnit[] = [];
  for (const [unit, rows] of units.entries()) {
    await writeUnit(pathOf('work'), token, rows, unit);
    done.push(await writeUnit(pathOf('work'), token, rows, unit));
  }
  const receipts = done.map(({ receipt }) => receipt);
  await sink.units!.adopt(receipts, (unit) => done[unit]!.folder);
  const published = await sink.publish(async () => true, new Map());
  await sink.close();
  // one that wakes now has a folder of its own, which nobody reads
  expect(JSON.parse(await dead.commit((receipt) => JSON.stringify(receipt)))).toMatchObject({
    rows: [['documents', 1]],
  });
  await dead.close();
  expect(published).toEqual(
    await loadHere(createSink(kind, 'here'), libraryPlan(1, { keys: 'hash' }), units),
  );
  expect(await contents(kind, 'attempts')).toEqual(await contents(kind, 'here'));
});

test.each(some(['parquet', 'csv'] as const, 1))(
  'a bucket of %s has the files of executors',
  async (format) => {
    const files = createMemoryFileStore();
    const inBucket = (name: string, idJob: number): RowSink =>
      createObjectFolderRowSink({
        location: `s3://lake/${name}`,
        objects: objectsIn(files),
        prefix: `1/${name}/`,
        label: name,
        format,
        jobMark: String(idJob),
        scratch: pathOf(`${name} staging`),
        lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
      });
    for (const job of [1, 2]) {
      const plan = libraryPlan(job, { keys: 'hash' });
      const units = unitsOf(job, 2);
      const { published } = await loadUnits(pathOf('work'), inBucket('units', job), plan, units);
      expect(published).toEqual(await loadHere(inBucket('here', job), plan, units));
    }
    for (const name of ['units', 'here']) {
      await mkdir(pathOf(name));
      for await (const { name: file } of files.listFiles(`/memory/1/${name}`)) {
        const body = await files.read(`/memory/1/${name}/${file}`);
        await writeFile(join(pathOf(name), file), await new Response(body).bytes());
      }
    }
    const { tables } = (await folderManifest(pathOf('units')))!;
    expect(tables.find(({ name }) => name === 'book')!.files.map(({ name }) => name)).toEqual(
      [1, 2].flatMap((job) => [0, 1].map((unit) => `book.${job}.u${unit}.${format}`)),
    );
    expect(await contents(format, 'units')).toEqual(await contents(format, 'here'));
  },
);
