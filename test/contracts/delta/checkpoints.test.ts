/** Checkpoints of Delta tables: when they come, and that others begin with them. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesEverAdded, readDeltaTable } from '../../../src/targets/files/lake/delta/log.ts';
import type { DeltaState } from '../../../src/targets/files/lake/delta/log.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { needs } from '../../support/needs.ts';
import { deltalakeReader } from '../targets/readers/deltalake.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';

/** the first makes version 0 of each table */
const jobs = 12;
let directory = '';
const logOf = (table: string): string => join(directory, table, '_delta_log');

async function load(job: number, saveMode: 'append' | 'overwrite' = 'append'): Promise<void> {
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'delta' });
  try {
    await loadLibrary(sink, libraryPlan(job, { saveMode }), 1);
  } finally {
    await sink.close();
  }
}

const stateOf = (table: string): Promise<DeltaState | null> =>
  diskLake({ directory }).look((place) => readDeltaTable(place, table, table));

const everAdded = (table: string, version: number): Promise<ReadonlySet<string> | null> =>
  diskLake({ directory }).look((place) => filesEverAdded(place, table, table, version));

/** Versions of another program, without rows and without checkpoints. */
async function addForeignVersions(table: string, count: number): Promise<void> {
  const first = (await stateOf(table))!.version + 1;
  const line = `${JSON.stringify({ commitInfo: { operation: 'somebody’s' } })}\n`;
  for (let version = first; version < first + count; version += 1)
    await writeFile(join(logOf(table), `${String(version).padStart(20, '0')}.json`), line);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'delta-checkpoints-'));
  for (let job = 1; job <= jobs; job += 1) await load(job, job === 3 ? 'overwrite' : 'append');
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

/** As somebody cleans up: no version before the checkpoint is there. */
async function shortenLog(table: string): Promise<void> {
  for (const name of await readdir(logOf(table)))
    if (/^0+\d\.json$/.test(name)) await rm(join(logOf(table), name));
}

describe('every tenth version', () => {
  test('has one, which says all that the log before it did', async () => {
    const names = await readdir(logOf('book'));
    expect(names.filter((name) => name.includes('checkpoint'))).toEqual([
      '00000000000000000010.checkpoint.parquet',
      '_last_checkpoint',
    ]);
    expect(JSON.parse(await readFile(join(logOf('book'), '_last_checkpoint'), 'utf8'))).toMatchObject({
      version: 10,
    });
    const whole = (await stateOf('book'))!;
    await shortenLog('book');
    const short = (await stateOf('book'))!;
    expect([...short.files.keys()].toSorted()).toEqual([...whole.files.keys()].toSorted());
    expect([...short.removed.keys()].toSorted()).toEqual([...whole.removed.keys()].toSorted());
    expect(short.transactions).toEqual(whole.transactions);
    expect(short.metadata.schemaString).toBe(whole.metadata.schemaString);
    expect([short.checkpoint, await everAdded('book', short.version)]).toEqual([10, null]);
  });

  test('is gone on from, where the log before it is gone', async () => {
    await shortenLog('note');
    await load(jobs + 1);
    // one file of each job since the one that took the rows of others away
    const { files, version } = (await stateOf('note'))!;
    expect([version, files.size]).toEqual([jobs, jobs + 1 - 2]);
  });
});

describe('a long log', () => {
  test('has a checkpoint behind versions that others made, and is read from there', async () => {
    await addForeignVersions('library', 42);
    await load(jobs + 2);
    const before = (await stateOf('library'))!;
    const digits = String(before.version).padStart(20, '0');
    expect(await readdir(logOf('library'))).toContain(`${digits}.checkpoint.parquet`);
    expect(before.checkpoint).toBe(before.version);
    expect([...before.files.keys()].filter((path) => !before.removed.has(path))).toHaveLength(
      before.files.size,
    );
    const ever = (await everAdded('library', before.version))!;
    expect([...ever].toSorted()).toEqual([...before.files.keys(), ...before.removed.keys()].toSorted());
    // what it has not read cannot be missed
    await rm(join(logOf('library'), '00000000000000000001.json'));
    expect((await stateOf('library'))!.files).toEqual(before.files);
    expect(await everAdded('library', before.version)).toBeNull();
  });

  test('is read whole where somebody’s checkpoint is none', async () => {
    await addForeignVersions('person', 42);
    const { version, files } = (await stateOf('person'))!;
    await writeFile(join(logOf('person'), `${String(version).padStart(20, '0')}.checkpoint.parquet`), 'no');
    expect([...(await stateOf('person'))!.files.keys()]).toEqual([...files.keys()]);
  });
});

test('the library of delta-rs begins with it', needs('deltalake'), async () => {
  const { files } = (await stateOf('book'))!;
  await shortenLog('book');
  const rows = (await deltalakeReader(directory).read('book'))!;
  // two books of each job
  expect(rows).toHaveLength(files.size * 2);
  expect(new Set(rows.map((row) => row.book_key)).size).toBe(rows.length);
});
