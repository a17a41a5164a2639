/** A catalogue that says that all is done, and passed over a table that somebody else changed: the job changes it once more, and its version has all of its rows. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { changeBook, expectCatalogueJobs, libraryCatalogue, loadCatalogue } from './library-catalogue.ts';

/** how often the catalogue passes over `book`, from now on */
let left = 0;
let server: ObjectServer;
let catalogue: IcebergCatalogue;
let folder: string;

beforeEach(async () => {
  left = 0;
  server = await startObjectServer();
  catalogue = await startIcebergCatalogue(server, {
    passesOver: (name) => {
      if (name !== 'book' || left === 0) return false;
      left -= 1;
      changeBook(catalogue);
      return true;
    },
  });
  folder = await mkdtemp(join(tmpdir(), 'catalogue-put-right-'));
});
afterEach(async () => {
  await catalogue.end();
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

const load = (job: number): ReturnType<typeof loadCatalogue> =>
  loadCatalogue(catalogue.address, server.settings, folder, libraryPlan(job));

/** Rows of the table as a version of `_loads` tells them. */
async function booksAt(version: number): Promise<number> {
  const target = libraryCatalogue(catalogue.address, server.settings, join(folder, `at ${version}`));
  const source = createLakeRowSource({ target, version });
  const book = libraryModel.tables.findIndex(({ name }) => name === 'book');
  try {
    await source.open(libraryModel);
    const blocks = await (await source.rowsFrom(null)).table(book);
    let rows = 0;
    for (let block = await blocks?.next(); block != null; block = await blocks!.next()) rows += block.rows;
    return rows;
  } finally {
    await source.close();
  }
}

test('it is changed again, and the version of the job that did has its rows', async () => {
  await load(1);
  left = 1;
  await load(2);
  expect(left).toBe(0);
  await expectCatalogueJobs(server, join(folder, 'copy'), [1, 2]);
  expect(catalogue.tables.get('book')!.snapshots).toHaveLength(3);
  expect(catalogue.tables.get('_loads')!.snapshots).toHaveLength(2);
  await load(3);
  expect([await booksAt(1), await booksAt(2), await booksAt(3)]).toEqual([2, 4, 6]);
});
