/** All that lies in a folder beside its rows, to say how they are read. */
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import {
  dataPackageName,
  mysqlScriptName,
  sqliteScriptName,
  loadScriptName,
  viewScriptNames,
  writeDurably,
  type TargetManifest,
} from '../contents/manifest.ts';

/** Writes them into the folder; answers their names. One at a time, as scripts of many tables are long. */
export async function writeScripts(
  directory: string,
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<string[]> {
  const names: string[] = [];
  for (const render of [loadScript, viewScripts, scriptsOfFormat, warehouseScripts, dataPackage]) {
    for (const [name, text] of Object.entries(await render(plan, manifest))) {
      await writeDurably(directory, name, text);
      names.push(name);
    }
  }
  return names;
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

async function loadScript({ model }: SinkPlan, manifest: TargetManifest): Promise<Record<string, string>> {
  if (manifest.format !== 'parquet') {
    const { renderLoadScript } = await import('./psql.ts');
    return { [loadScriptName]: renderLoadScript(model, manifest) };
  }
  const { renderParquetScript } = await import('./duckdb.ts');
  return { [loadScriptName]: renderParquetScript(model, manifest) };
}
