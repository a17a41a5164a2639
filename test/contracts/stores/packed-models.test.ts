/** A database that holds models as JSON and rows for their parts: migrated, it tells the same of them, under the same ids. */
import { afterEach, expect, test } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/adapters/postgres/metadb/catalog/store.ts';
import type { Sql } from '../../../src/adapters/postgres/client/connect.ts';
import { migrate, readMigrations } from '../../../src/adapters/postgres/metadb/schema/run-migrations.ts';
import type { MappingRecord, TableRecord } from '../../../src/ports/stores/catalog.ts';
import { donutRelationalModel, donutSourceModel } from '../../support/models/donut.ts';
import { createMemoryCatalogStore } from '../../support/memory/catalog.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';

let database: TestDatabase;
afterEach(() => database.drop());

test('models stored as JSON are packed; ids, order and inactive lines stay', async () => {
  database = await createEmptyDatabase();
  const { sql } = database;
  const migrations = readMigrations();
  await migrate(
    sql,
    migrations.filter(({ name }) => name < '0005'),
  );
  const [org] = await sql<{ id_org: number }[]>`insert into svc.org (name) values ('older') returning id_org`;
  const idOrg = org!.id_org;

  const before = createMemoryCatalogStore({ nowMs: () => 0 });
  const { id_sch } = await before.createOrigin({
    idOrg,
    idParentSch: null,
    idJob: null,
    name: 'donuts',
    sourceType: 'xsd',
    model: donutSourceModel,
    files: [],
  });
  const { idLschma } = await before.createLogicalSchema(idOrg, id_sch, donutRelationalModel, null);
  const tables = withIdsApart(await before.listTables(idOrg, idLschma));
  const mappings = (await before.listMappings(idOrg, idLschma)).map((line, at) => ({
    ...line,
    // as two jobs would have left them that stored at the same time
    id_map: 10 + at * 2,
    id_tab: tables.find(({ name }) => name === line.table_name)!.id_tab,
    active: at !== 3,
  }));
  await insertAsRows(sql, idOrg, id_sch, idLschma, tables, mappings);

  const applied = await migrate(sql);
  expect(applied).toContain('0007_packed_models');
  const after = createPostgresCatalogStore(sql);
  expect(await after.listTables(idOrg, idLschma)).toEqual(tables);
  expect(await after.listMappings(idOrg, idLschma)).toEqual(mappings);
  expect((await after.loadLogicalSchema(idOrg, { idLschma }))?.model).toEqual(donutRelationalModel);
  expect((await after.loadOrigin(idOrg, id_sch))?.model).toEqual(donutSourceModel);

  // the model is known to be the newest one; ids go on after those that were given
  expect((await after.createLogicalSchema(idOrg, id_sch, donutRelationalModel, null)).idLschma).toBe(
    idLschma,
  );
  const next = await after.createLogicalSchema(idOrg, id_sch, { ...donutRelationalModel, mapLevel: 0 }, null);
  const later = await after.listMappings(idOrg, next.idLschma);
  expect(Math.min(...later.map((line) => line.id_map))).toBeGreaterThan(
    Math.max(...mappings.map((line) => line.id_map)),
  );
  expect(later.filter(({ active }) => !active).map(({ xpath }) => xpath)).toEqual(
    mappings.filter(({ active, xpath }) => !active && xpath !== null).map(({ xpath }) => xpath),
  );
  await expect(after.setMappingsActive(idOrg, idLschma, [11], false)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await after.setMappingsActive(idOrg, idLschma, [mappings[3]!.id_map], true)).toEqual({
    changed: 1,
    activeCount: mappings.length,
    inactiveCount: 0,
  });
});

function withIdsApart(tables: readonly TableRecord[]): TableRecord[] {
  let column = 100;
  return tables.map((table, at) => ({
    ...table,
    id_tab: 20 + at * 5,
    columns: table.columns.map((entry) => ({ ...entry, id_col: (column += 3) })),
  }));
}

/** As the version before stored them, which said of row keys, too, that they are elements. */
async function insertAsRows(
  sql: Sql,
  idOrg: number,
  idSch: number,
  idLschma: number,
  tables: readonly TableRecord[],
  mappings: readonly MappingRecord[],
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into svc.origin (id_sch, id_org, id_family, name, version, source_type, root_elements, namespaces, model)
      values (${idSch}, ${idOrg}, ${idSch}, 'donuts', 1, 'xsd', '[]', '{}', ${JSON.stringify(donutSourceModel)})`;
    await tx`insert into svc.origin_name (id_org, name, id_family) values (${idOrg}, 'donuts', ${idSch})`;
    await tx`
      insert into svc.logical_schema (id_lschma, id_sch, map_level, max_length, table_count, mapping_count, model, model_hash)
      values (${idLschma}, ${idSch}, ${donutRelationalModel.mapLevel}, ${donutRelationalModel.nameMaxLength}, ${tables.length},
              ${mappings.length}, ${JSON.stringify(donutRelationalModel)}, ${'0'.repeat(64)})`;
    await tx`select setval(pg_get_serial_sequence('svc.logical_schema', 'id_lschma'), ${idLschma})`;
    for (const [position, table] of tables.entries()) {
      await tx`
        insert into svc.logical_table (id_tab, id_lschma, position, name, xpath, parent_table)
        values (${table.id_tab}, ${idLschma}, ${position}, ${table.name}, ${table.xpath}, ${table.parent_table})`;
      for (const [at, column] of table.columns.entries())
        await tx`
          insert into svc.logical_column (id_col, id_tab, position, name, role, data_type, nullable)
          values (${column.id_col}, ${table.id_tab}, ${at}, ${column.name}, 'value', ${column.data_type}, ${column.nullable})`;
    }
    for (const line of mappings)
      await tx`
        insert into svc.mapping (id_map, id_lschma, id_tab, xpath, node_type, source_type, min_occurs, max_occurs, active)
        values (${line.id_map}, ${idLschma}, ${line.id_tab}, ${line.xpath}, ${line.node_type ?? 'element'}, ${line.source_type}, ${line.min_occurs},
                ${line.max_occurs}, ${line.active})`;
  });
}
