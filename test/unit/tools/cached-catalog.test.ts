/** A run's reads of the catalogue: once, until something changes. */
import { expect, test } from 'vitest';
import { rememberReads } from '../../../src/tools/session/tool-session.ts';
import { donutRelationalModel, donutSourceModel } from '../../support/models/donut.ts';
import { createMemoryCatalogStore } from '../../support/memory/catalog.ts';

test('a schema is fetched once, and again after a change', async () => {
  const store = createMemoryCatalogStore({ nowMs: () => 0 });
  let reads = 0;
  const catalog = rememberReads({
    ...store,
    loadLogicalSchema: (idOrg, which) => {
      reads += 1;
      return store.loadLogicalSchema(idOrg, which);
    },
  });
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: null,
    name: 'donuts',
    sourceType: 'xsd',
    model: donutSourceModel,
    files: [],
  });
  expect(await catalog.loadLogicalSchema(1, { idSch })).toBeNull();
  expect(await catalog.loadLogicalSchema(1, { idSch })).toBeNull();
  expect(reads).toBe(1);
  await catalog.createLogicalSchema(1, idSch, donutRelationalModel, null);
  const stored = await catalog.loadLogicalSchema(1, { idSch });
  expect(stored?.model).toEqual(donutRelationalModel);
  expect(await catalog.loadLogicalSchema(1, { idSch })).toBe(stored);
  expect(reads).toBe(2);
  expect(await catalog.loadLogicalSchema(2, { idSch })).toBeNull();
  expect(reads).toBe(3);
});

test('a read that failed is tried again', async () => {
  const store = createMemoryCatalogStore({ nowMs: () => 0 });
  let reads = 0;
  const catalog = rememberReads({
    ...store,
    loadOrigin: () => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error('outage')) : Promise.resolve(null);
    },
  });
  await expect(catalog.loadOrigin(1, 1)).rejects.toThrow('outage');
  expect(await catalog.loadOrigin(1, 1)).toBeNull();
});
