/** What every row sink must do, on every kind there is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { everyRowSink } from './contract.ts';
import { mariadbTarget, targetKinds } from './targets.ts';
import { needs, some } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let folders = '';
beforeAll(async () => {
  database = await trial.emptyDatabase();
  folders = await mkdtemp(join(tmpdir(), 'row-sink-'));
});

afterAll(async () => {
  await rm(folders, { recursive: true, force: true });
});

const kinds = targetKinds(() => ({ database, folders }));

describe.each(some(kinds, 1))('%s', (_, targetOf) => everyRowSink(targetOf));

describe('mariadb', needs(mariadbParts), () => {
  let server: TestMariadb;
  beforeAll(async () => {
    server = await startMariadb();
    for (let number = 1; number <= 30; number += 1) await server.run(`CREATE DATABASE \`lib ${number}\`;`);
  });
  afterAll(() => server?.stop());
  everyRowSink((name) => mariadbTarget(() => server, name));
});
