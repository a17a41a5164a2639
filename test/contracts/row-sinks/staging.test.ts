/** What has the name of something that a load makes for a while, and is not: it stays, in every kind of target. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import type { RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';
import { duckDbReader } from './readers.ts';

const trial = useTrial();
let database: TestDatabase;
let directory = '';
let file = '';
let schema = '';
let number = 0;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'row-sink-staging-'));
  file = join(directory, 'library.duckdb');
  schema = `lib${(number += 1)}`;
  return () => rm(directory, { recursive: true, force: true });
});

async function load(sink: RowSink, plan: SinkPlan): Promise<void> {
  try {
    await loadLibrary(sink, plan, 1);
  } finally {
    await sink.close();
  }
}

test('what only looks like staging is somebody’s, and stays', async () => {
  const other = '_svc_staging_7_0123abcd';
  await database.sql.unsafe(`create schema ${other}; create table ${other}.${other}_0 as select 1 as a;
    create schema ${schema}; create table ${schema}._svc_staging_8_00000004_x as select 2 as a;
    create table ${schema}._svc_staging_9_00000005_0 as select 3 as a;
    comment on table ${schema}._svc_staging_9_00000005_0 is 'staging of conversion-job-service: _svc_staging_8_00000004'`);
  for (const [job, sqlSchema] of [
    [1, schema],
    [2, other],
    [3, other],
    [4, schema],
  ] as const) {
    await load(createPostgresRowSink({ url: database.url, sqlSchema }), libraryPlan(job));
  }
  for (const table of [
    `${other}.${other}_0`,
    `${schema}._svc_staging_8_00000004_x`,
    `${schema}._svc_staging_9_00000005_0`,
  ])
    expect(await database.sql.unsafe(`select from ${table}`)).toHaveLength(1);
  expect(await database.sql.unsafe(`select from ${other}.library`)).toHaveLength(2);
});

test('a table of a logical schema that has the name of staging keeps its rows', async () => {
  const name = '_svc_staging_1_deadbeef_x';
  const model = {
    ...libraryModel,
    tables: libraryModel.tables.with(at.library, { ...libraryModel.tables[at.library]!, name }),
  };
  for (const job of [1, 2, 3])
    await load(
      createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true }),
      libraryPlan(job, { model }),
    );
  expect(await database.sql`select from ${database.sql(schema)}.${database.sql(name)}`).toHaveLength(3);
});

test('DuckDB: a folder that only has the name of staging is somebody’s, and stays', async () => {
  const dead = JSON.stringify({ token: 'x', host: hostname(), pid: process.pid, started: 'another process' });
  const theirs = join(directory, '.library.duckdb.svc-staging-9-00000000');
  await mkdir(theirs, { recursive: true });
  await writeFile(join(theirs, '.svc-lock'), dead);
  await writeFile(join(theirs, 'order.csv'), 'a');
  await load(createDuckDbRowSink({ file }), libraryPlan(1));
  expect(await readFile(join(theirs, 'order.csv'), 'utf8')).toBe('a');
});

test('tables that are called like our temporary ones keep their rows', async () => {
  const library = libraryModel.tables[at.library]!;
  for (const [idJob, name] of [
    [1, '_svc_old_documents'],
    [2, '_svc_cleared_documents'],
    [3, '_svc_old_documents'],
  ] as const) {
    const model = { ...libraryModel, tables: libraryModel.tables.with(at.library, { ...library, name }) };
    await load(
      createDuckDbRowSink({ file }),
      libraryPlan(idJob, { model, saveMode: idJob === 3 ? 'overwrite' : 'append' }),
    );
    expect(await duckDbReader(file).read(name)).toHaveLength(1);
  }
});

test('folder: a folder that only has the name of staging is somebody’s, and stays', async () => {
  const theirs = join(directory, '.svc-staging-9-00000000');
  await mkdir(theirs, { recursive: true });
  await writeFile(join(theirs, 'book.csv'), 'theirs');
  // moved, or copied, from where an attempt had made it
  await writeFile(join(theirs, '.svc-staging'), '.svc-staging-8-00000000');
  await load(createFolderRowSink({ directory, format: 'csv' }), libraryPlan(1));
  expect(await readFile(join(theirs, 'book.csv'), 'utf8')).toBe('theirs');
});
