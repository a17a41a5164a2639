/** The database that the migrations make, as text. `UPDATE_GOLDEN=1` writes it anew. */
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeDatabase } from '../../src/adapters/postgres/metadb/schema/describe.ts';
import { createTestDatabase } from '../support/servers/postgres.ts';
import type { TestDatabase } from '../support/servers/postgres.ts';

const golden = new URL('./database-schema.txt', import.meta.url);

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

test('the migrated database is as recorded', async () => {
  const text = await describeDatabase(database.sql);
  if (process.env.UPDATE_GOLDEN === '1') await writeFile(golden, text);
  expect(text).toBe(await readFile(golden, 'utf8'));
});
