/** A logical schema that one load made for its own target is marked as a variant; packages keep the mark. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { createLocalPackageFolder } from '../../../src/tools/transfer/local-package-folder.ts';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { createPostgresTransferStore } from '../../../src/metadb/transfer-store.ts';
import { exportPackage } from '../../../src/service/transfer/package-export.ts';
import { importPackage } from '../../../src/service/transfer/package-import.ts';
import { donutRelationalModel, donutSourceModel } from '../../support/models/donut.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const idOrg = 1;

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => void (database = await trial.database()));

async function createOrigin(name: string): Promise<number> {
  const { id_sch: idSch } = await createPostgresCatalogStore(database.sql).createOrigin({
    idOrg,
    idParentSch: null,
    idJob: null,
    name,
    sourceType: 'xsd',
    model: donutSourceModel,
    files: [],
  });
  return idSch;
}

it('a package keeps the mark', async () => {
  const { sql } = database;
  const catalog = createPostgresCatalogStore(sql);
  const idSch = await createOrigin('packed');
  await catalog.createLogicalSchema(idOrg, idSch, donutRelationalModel, null);
  await catalog.createLogicalSchema(idOrg, idSch, { ...donutRelationalModel, nameMaxLength: 99 }, null, true);
  const path = await mkdtemp(`${tmpdir()}/variants-`);
  try {
    const store = createPostgresTransferStore(sql);
    const folder = createLocalPackageFolder(path);
    await exportPackage(store, folder, { idOrg, idSch, nowMs: 1_790_000_000_000 });
    const { origins } = await importPackage(store, folder, { idOrg, idJob: null });
    const kept = await catalog.listLogicalSchemas(idOrg, origins[0]!);
    expect(kept.map(({ variant }) => variant)).toEqual([true, false]);
    expect((await catalog.findOrigin(idOrg, origins[0]!))?.id_lschma).toBe(kept[1]!.idLschma);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});
