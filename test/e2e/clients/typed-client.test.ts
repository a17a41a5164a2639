/** The example of the typed client, as it stands, against a running service. */
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { convert } from '../../../examples/typed-client.ts';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;

beforeAll(async () => {
  home = await trial.home();
  service = await trial.service(home);
});

it('converts a document, and tells the rows that are in the target', async () => {
  const file = join(freightDocumentFolder, 'manifest-1.xml');
  const told = await convert(service.url, service.key, file, 'typed');
  expect(told.documents).toBe(1);
  expect(told.ddl).toContain('CREATE TABLE');
  const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
  const counts: Record<string, number> = {};
  for (const table of Object.keys(told.rows)) {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from ${sql(`typed.${table}`)}`;
    counts[table] = row!.n;
  }
  await sql.end({ timeout: 1 });
  expect(Object.keys(counts).length).toBeGreaterThan(2);
  expect(told.rows).toEqual(counts);
});
