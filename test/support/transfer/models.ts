/** Models, maps and contents of files as the catalog gives them, ids left out. */
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import type { Sql } from '../../../src/postgres/connect.ts';

const idOrg = 1;

export async function unpackedModels(
  sql: Sql,
  origins: readonly number[],
  logicals: readonly number[],
): Promise<readonly unknown[]> {
  const catalog = createPostgresCatalogStore(sql);
  const shown: unknown[] = [];
  for (const idSch of origins) {
    shown.push((await catalog.loadOrigin(idOrg, idSch))?.model);
    const files = await catalog.loadOriginFiles(idOrg, idSch);
    shown.push(files.map(({ content, ...file }) => ({ ...file, content: Buffer.from(content).toString() })));
  }
  for (const idLschma of logicals) {
    const stored = await catalog.loadLogicalSchema(idOrg, { idLschma });
    const tables = await catalog.listTables(idOrg, idLschma);
    const mappings = await catalog.listMappings(idOrg, idLschma);
    shown.push({ hash: stored?.modelHash, model: stored?.model });
    shown.push(
      tables.map(({ columns, ...table }) => ({
        ...table,
        id_tab: 0,
        columns: columns.map((column) => ({ ...column, id_col: 0 })),
      })),
    );
    shown.push(mappings.map((mapping) => ({ ...mapping, id_map: 0, id_sch: 0, id_lschma: 0, id_tab: 0 })));
  }
  return JSON.parse(JSON.stringify(shown)) as unknown[];
}
