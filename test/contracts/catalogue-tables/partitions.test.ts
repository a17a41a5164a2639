/** Tables with partitions in a catalogue: they come with the rows of the first job, and later jobs keep to them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compactLake } from '../../../src/targets/files/lake/compaction.ts';
import type { PartitionWish } from '../../../src/engine/sql/partition-wish.ts';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { expectCatalogueJobs, libraryCatalogue, loadCatalogue } from './library-catalogue.ts';

let server: ObjectServer;
let catalogue: IcebergCatalogue;
let folder: string;

beforeEach(async () => {
  server = await startObjectServer();
  catalogue = await startIcebergCatalogue(server, { numbersBackwards: true });
  folder = await mkdtemp(join(tmpdir(), 'catalogue-partitions-'));
});
afterEach(async () => {
  await catalogue.end();
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

const byBirth: PartitionWish = { part: 'identity', column: 'born' };
const byPages: PartitionWish = { part: 'identity', column: 'book.pages' };
const job = (idJob: number, ...partition: PartitionWish[]): ReturnType<typeof loadCatalogue> =>
  loadCatalogue(catalogue.address, server.settings, folder, libraryPlan(idJob, { partition }));

const isRow = (key: string): boolean => key.startsWith('lake/person/data/');

function specOf(table: string): readonly unknown[] {
  const metadata = catalogue.tables.get(table)!;
  const spec = metadata['partition-specs'].find((one) => one['spec-id'] === metadata['default-spec-id'])!;
  const names = new Map(
    metadata.schemas
      .find((one) => one['schema-id'] === metadata['current-schema-id'])!
      .fields.map((field) => [field['id'], field['name']]),
  );
  return (spec['fields'] as Record<string, unknown>[]).map((field) => [
    field['name'],
    field['transform'],
    names.get(field['source-id']),
  ]);
}

test('jobs keep to the partitions of the first one, and another one is refused', async () => {
  await job(1, byBirth, byPages);
  await job(2);
  await job(3, byBirth);
  expect([specOf('person'), specOf('book'), specOf('note')]).toEqual([
    [['born', 'identity', 'born']],
    [['pages', 'identity', 'pages']],
    [],
  ]);
  expect(catalogue.tables.get('person')!['partition-specs']).toHaveLength(2);
  const files = [...server.objects.keys()].filter(isRow).length;
  expect(files).toBeGreaterThan(3);
  await expect(job(4, { part: 'year', column: 'born' })).rejects.toMatchObject({ code: 'conflict' });
  expect([...server.objects.keys()].filter(isRow)).toHaveLength(files);
  await expectCatalogueJobs(server, join(folder, 'copy'), [1, 2, 3]);
  const changes = await compactLake(libraryCatalogue(catalogue.address, server.settings, join(folder, 'c')));
  expect(changes).toContain(`person: ${files} files became ${files / 3}`);
  await expectCatalogueJobs(server, join(folder, 'compacted'), [1, 2, 3], { isCompacted: true });
});

test('what an attempt wished for that died before it decided binds nobody', async () => {
  server.setFaults(({ method, key }) =>
    key.includes('.svc/') && key.includes('steps') && method === 'PUT' ? { at: 'before', answer: 403 } : null,
  );
  await expect(job(1, byPages)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(catalogue.tables.has('book')).toBe(true);
  server.setFaults(() => null);
  await job(2, byBirth);
  expect([specOf('person'), specOf('book')]).toEqual([[['born', 'identity', 'born']], []]);
  await expectCatalogueJobs(server, join(folder, 'copy'), [2]);
});
