/** All that lies in a folder beside its rows, to say how they are read. */
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import { renderDataPackage } from '../contents/data-package.ts';
import {
  dataPackageName,
  mysqlScriptName,
  sqliteScriptName,
  type Journal,
  type TargetManifest,
} from '../contents/manifest.ts';
import { renderMysqlScript } from './mysql.ts';
import { renderLoadScript } from './psql.ts';
import { renderSqliteScript } from './sqlite.ts';
import { renderViewScripts } from './views.ts';

export async function renderScripts(
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<Required<Pick<Journal, 'loadScript' | 'otherScripts'>>> {
  const { model } = plan;
  const { format } = manifest;
  return {
    loadScript: await loadScript(plan, manifest),
    otherScripts: {
      ...(await renderViewScripts(plan, manifest)),
      ...(format === 'jsonl' ? { [sqliteScriptName]: renderSqliteScript(model, manifest) } : {}),
      ...(await warehouseScripts(plan, manifest)),
      ...(format === 'tsv' ? { [mysqlScriptName]: renderMysqlScript(model, manifest) } : {}),
      ...(format !== 'jsonl' && manifest.data_package === true
        ? { [dataPackageName]: await renderDataPackage(model, manifest) }
        : {}),
    },
  };
}

async function warehouseScripts(
  { model }: SinkPlan,
  manifest: TargetManifest,
): Promise<Record<string, string>> {
  if (manifest.format !== 'parquet' || manifest.location === undefined) return {};
  const { renderWarehouseScripts } = await import('./warehouses.ts');
  return renderWarehouseScripts(model, manifest, manifest.location);
}

async function loadScript({ model }: SinkPlan, manifest: TargetManifest): Promise<string> {
  if (manifest.format !== 'parquet') return renderLoadScript(model, manifest);
  // DuckDB is loaded for Parquet alone
  const { renderParquetScript } = await import('./duckdb.ts');
  return renderParquetScript(model, manifest);
}
