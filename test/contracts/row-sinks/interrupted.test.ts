/** Loads into a DuckDB file that are interrupted while DuckDB is at work. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { memoryFor, openDuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { duckDbReader } from './readers.ts';

let folders = '';
let directory = '';
let file = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'interrupted-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, String((number += 1)));
  file = join(directory, 'library.duckdb');
});

test('a statement that runs ends with its signal; one that ends a transaction does not', async () => {
  const end = new AbortController();
  await mkdir(directory);
  const database = await openDuckDb(file, {
    directory,
    memoryBytes: memoryFor(0, 10),
    signal: end.signal,
  });
  try {
    await database.run('CREATE TABLE kept (n BIGINT)');
    await database.run('BEGIN');
    await database.run('INSERT INTO kept VALUES (1)');
    const long = database.read('SELECT count(*) FROM range(100000000000) a, range(1000000) b');
    setTimeout(() => end.abort(new Error('no more')), 50);
    await expect(long).rejects.toThrow(/interrupt/i);
    await expect(database.run('INSERT INTO kept VALUES (2)')).rejects.toThrow('no more');
    await database.run('ROLLBACK');
  } finally {
    database.close();
  }
  expect(await duckDbReader(file).read('kept')).toEqual([]);
});

test('a load that is interrupted before it is committed leaves the file as it was', async () => {
  const first = createDuckDbRowSink({ file });
  await loadLibrary(first, libraryPlan(1), 1);
  await first.close();
  const before = await duckDbReader(file).read('book');
  const end = new AbortController();
  const sink = createDuckDbRowSink({ file, signal: end.signal });
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2, 2);
  await writeLibrary(sink, rows);
  end.abort(new Error('no more'));
  await expect(sink.publish(() => Promise.resolve(true), rows.lastKeys)).rejects.toThrow('no more');
  await sink.close();
  expect(await duckDbReader(file).read('book')).toEqual(before);
  expect(await readdir(directory)).toEqual(['library.duckdb']);
});
