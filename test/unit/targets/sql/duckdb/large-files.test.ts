/** A new file is filled by several transactions where it has many rows, and appears all the same when all of them are in it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuckDbRowSink } from '../../../../../src/targets/sql/duckdb/driver.ts';
import { duckDbReader } from '../../../../contracts/row-sinks/readers.ts';
import { libraryPlan, libraryRows, writeLibrary } from '../../../../contracts/targets/library-rows.ts';
import { at } from '../../../engine/sql/library-model.ts';

const longTitle = 'title '.repeat(1_500_000);
const [titleColumn, bornColumn] = [4, 5];
let directory = '';
let file = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'large-duckdb-'));
  file = join(directory, 'library.duckdb');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** `born`: of a person, whose table is filled behind that of books. */
async function load(born: string): Promise<void> {
  const rows = libraryRows(1);
  for (const book of rows.tables.get(at.book)!) book[titleColumn] = longTitle;
  rows.tables.get(at.person)![0]![bornColumn] = born;
  const sink = createDuckDbRowSink({ file });
  try {
    await sink.open(libraryPlan(1));
    await writeLibrary(sink, rows);
    await sink.publish(async () => true, rows.lastKeys);
  } finally {
    await sink.close();
  }
}

test('a fault in a later one leaves nothing, and all rows are there in the end', async () => {
  await expect(load('never')).rejects.toThrow(/never/);
  expect(await readdir(directory)).toEqual([]);
  await load('1815-12-10');
  expect(await readdir(directory)).toEqual(['library.duckdb']);
  const read = duckDbReader(file);
  expect((await read.read('book'))!.map(({ title }) => title === longTitle)).toEqual([true, true]);
  expect((await read.read('person'))!.map(({ born }) => born)).toEqual(['1815-12-10', null]);
  expect(await read.read('_loads')).toMatchObject([{ job: '1', documents: '1' }]);
});
