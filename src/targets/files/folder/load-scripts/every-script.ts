/** All that lies in a folder beside its rows, to say how they are read. */
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import {
  dataPackageName,
  mysqlScriptName,
  sqliteScriptName,
  loadScriptName,
  viewScriptNames,
  writeDurably,
  type TargetManifest,
} from '../contents/manifest.ts';

/** Texts by the names of their files, in pieces. */
type Scripts = Record<string, Iterable<string>>;

/** Writes them into the folder; answers their names. One at a time, and a piece at a time, as scripts of many tables are long. */
export async function writeScripts(
  directory: string,
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<string[]> {
  const names: string[] = [];
  for (const render of [scriptOfLoad, scriptsOfViews, scriptsOfFormat, scriptsOfWarehouses, dataPackage]) {
    for (const [name, text] of Object.entries(await render(plan, manifest))) {
      await writeDurably(directory, name, text);
      names.push(name);
    }
  }
  return names;
}

// what a folder has none of is not loaded

async function scriptsOfViews(plan: SinkPlan, manifest: TargetManifest): Promise<Scripts> {
  if (viewScriptNames(manifest).length === 0) return {};
  const { viewScripts } = await import('./views.ts');
  return viewScripts(plan, manifest);
}

async function scriptsOfFormat({ model }: SinkPlan, manifest: TargetManifest): Promise<Scripts> {
  switch (manifest.format) {
    case 'jsonl': {
      const { sqliteScript } = await import('./sqlite.ts');
      return { [sqliteScriptName]: sqliteScript(model, manifest) };
    }
    case 'tsv': {
      const { mysqlScript } = await import('./mysql.ts');
      return { [mysqlScriptName]: mysqlScript(model, manifest) };
    }
    default:
      return {};
  }
}

async function dataPackage({ model }: SinkPlan, manifest: TargetManifest): Promise<Scripts> {
  if (manifest.format === 'jsonl' || manifest.data_package !== true) return {};
  const { renderDataPackage } = await import('../contents/data-package.ts');
  return { [dataPackageName]: renderDataPackage(model, manifest) };
}

async function scriptsOfWarehouses({ model }: SinkPlan, manifest: TargetManifest): Promise<Scripts> {
  if (manifest.format !== 'parquet' || manifest.location === undefined) return {};
  const { warehouseScripts } = await import('./warehouses.ts');
  return warehouseScripts(model, manifest, manifest.location);
}

async function scriptOfLoad({ model }: SinkPlan, manifest: TargetManifest): Promise<Scripts> {
  if (manifest.format !== 'parquet') {
    const { loadScript } = await import('./psql.ts');
    return { [loadScriptName]: loadScript(model, manifest) };
  }
  const { parquetScript } = await import('./duckdb.ts');
  return { [loadScriptName]: parquetScript(model, manifest) };
}
