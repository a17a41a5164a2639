/** The database that the migrations make, as text. `UPDATE_GOLDEN=1` writes it anew. */
import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { describeDatabase } from '../../src/metadb/describe.ts';
import type { TestDatabase } from '../support/servers/postgres.ts';
import { useTrial } from '../support/service/trial.ts';

const golden = new URL('./database-schema.txt', import.meta.url);

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => void (database = await trial.database()));

test('the migrated database is as recorded', async () => {
  const text = await describeDatabase(database.sql);
  if (process.env.UPDATE_GOLDEN === '1') await writeFile(golden, text);
  expect(text).toBe(await readFile(golden, 'utf8'));
});
