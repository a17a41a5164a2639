/** All that lies in a folder beside its rows, to say how they are read. */
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import {
  dataPackageName,
  mysqlScriptName,
  sqliteScriptName,
  viewScriptNames,
  type Journal,
  type TargetManifest,
} from '../contents/manifest.ts';

export async function renderScripts(
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<Required<Pick<Journal, 'loadScript' | 'otherScripts'>>> {
  return {
    loadScript: await loadScript(plan, manifest),
    otherScripts: {
      ...(await viewScripts(plan, manifest)),
      ...(await scriptsOfFormat(plan, manifest)),
      ...(await warehouseScripts(plan, manifest)),
      ...(await dataPackage(plan, manifest)),
    },
  };
}

// what a folder has none of is not loaded

async function viewScripts(plan: SinkPlan, manifest: TargetManifest): Promise<Record<string, string>> {
  if (viewScriptNames(manifest).length === 0) return {};
  const { renderViewScripts } = await import('./views.ts');
  return renderViewScripts(plan, manifest);
}

async function scriptsOfFormat(
  { model }: SinkPlan,
  manifest: TargetManifest,
): Promise<Record<string, string>> {
  switch (manifest.format) {
    case 'jsonl': {
      const { renderSqliteScript } = await import('./sqlite.ts');
      return { [sqliteScriptName]: renderSqliteScript(model, manifest) };
    }
    case 'tsv': {
      const { renderMysqlScript } = await import('./mysql.ts');
      return { [mysqlScriptName]: renderMysqlScript(model, manifest) };
    }
    default:
      return {};
  }
}

async function dataPackage({ model }: SinkPlan, manifest: TargetManifest): Promise<Record<string, string>> {
  if (manifest.format === 'jsonl' || manifest.data_package !== true) return {};
  const { renderDataPackage } = await import('../contents/data-package.ts');
  return { [dataPackageName]: await renderDataPackage(model, manifest) };
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
  if (manifest.format !== 'parquet') {
    const { renderLoadScript } = await import('./psql.ts');
    return renderLoadScript(model, manifest);
  }
  const { renderParquetScript } = await import('./duckdb.ts');
  return renderParquetScript(model, manifest);
}
