/** The example of the typed client, as it stands, against a running service. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { convert } from '../../../examples/typed-client.ts';
import { connectPostgres } from '../../../src/adapters/postgres/client/connect.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';

let home: ServiceHome;
let service: RunningService;

beforeAll(async () => {
  home = await createServiceHome();
  service = await startService(home);
});

afterAll(async () => {
  await service?.end('SIGTERM');
  await home?.remove();
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
