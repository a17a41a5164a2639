/** What one load shaped is marked as a variant: in a database of an earlier version, and in a package. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { createLocalPackageFolder } from '../../../src/adapters/transfer/local-package-folder.ts';
import { createPostgresCatalogStore } from '../../../src/adapters/postgres/metadb/catalog/store.ts';
import { createPostgresTransferStore } from '../../../src/adapters/postgres/metadb/transfer-store.ts';
import { exportPackage } from '../../../src/transfer/package/export.ts';
import { importPackage } from '../../../src/transfer/package/import.ts';
import { donutRelationalModel, donutSourceModel } from '../../support/models/donut.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const idOrg = 1;
const file = new URL('../../../src/adapters/postgres/migrations/0016_variants.sql', import.meta.url);

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

it('a migration tells them by the options of the job that made them', async () => {
  const { sql } = database;
  const catalog = createPostgresCatalogStore(sql);
  const idSch = await createOrigin('earlier');
  const requests = [
    { prefix: 'first_' },
    { prune: true, extraColumns: [] },
    { prune: false, extraColumns: [] },
    { rowTag: 'item' },
    { extraColumns: [{ name: 'loaded' }] },
    { name: 'x\u0000', prune: true },
  ];
  const [workflow] = await sql<{ id: number }[]>`
    insert into svc.workflow (id_org) values (${idOrg}) returning id_workflow as id`;
  for (const [at, request] of requests.entries()) {
    const [job] = await sql<{ id: number }[]>`
      insert into svc.job (id_org, id_workflow, position, ready, job_type, tool, params, params_json, request, deadline, max_attempts)
      values (${idOrg}, ${workflow!.id}, ${at}, true, 'Parse', 'xml2er', '', '{}', ${JSON.stringify(request)}, 'infinity', 1)
      returning id_job as id`;
    await catalog.createLogicalSchema(
      idOrg,
      idSch,
      { ...donutRelationalModel, nameMaxLength: 20 + at },
      job!.id,
    );
  }
  const text = await readFile(file, 'utf8');
  await sql.unsafe(text.slice(text.indexOf('update svc.logical_schema')));
  const marked = (await catalog.listLogicalSchemas(idOrg, idSch)).map(({ variant }) => variant).toReversed();
  // the first one is what the origin began with
  expect(marked).toEqual([false, true, false, true, true, false]);
});

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
