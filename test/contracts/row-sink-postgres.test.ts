import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPostgresRowSink } from '../../src/adapters/postgres/postgres-row-sink.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { libraryPlan, loadLibrary } from './library-rows.ts';

let database: TestDatabase;
let schema = '';
let schemas = 0;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
  schema = `lib "${(schemas += 1)}"`;
});

test('smoke', async () => {
  for (const job of [1, 2]) {
    const sink = createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true });
    const started = performance.now();
    console.log(await loadLibrary(sink, libraryPlan(job), 2), sink.label, performance.now() - started);
    await sink.close();
  }
  const q = `"${schema.replaceAll('"', '""')}"`;
  console.log(await database.sql.unsafe(`select * from ${q}.library`), await database.sql.unsafe(`select * from ${q}.person`));
  console.log(await database.sql.unsafe(`select * from ${q}._keys`), await database.sql.unsafe(`select * from ${q}._loads`));
});
