/** Scripts beside the rows of a folder. The code that renders a script is loaded only if a folder has it. */
import { dataPackageName, loadScriptName, type TargetManifest } from '../manifest.ts';
import type { ViewFrame } from '../load-scripts/views.ts';
import type { FolderScript } from './folder-layout.ts';

const always = (): boolean => true;

/** The script `load.sql` for psql. `copied`: the format that its `\copy` reads; null: JSON Lines, which statements read. */
export function psqlScript(copied: 'csv' | 'text' | null): FolderScript {
  return {
    name: loadScriptName,
    isBeside: always,
    render: async ({ model }, manifest) => {
      const { loadScript } = await import('../load-scripts/psql.ts');
      return loadScript(model, manifest, copied);
    },
  };
}

/** The script `load.sql` for DuckDB, from Parquet. */
export const duckDbScript: FolderScript = {
  name: loadScriptName,
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { parquetScript } = await import('../load-scripts/duckdb.ts');
    return parquetScript(model, manifest);
  },
};

/** The load script for SQLite, from JSON Lines. */
export const sqliteScript: FolderScript = {
  name: 'load.sqlite.sql',
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { sqliteLoad } = await import('../load-scripts/sqlite.ts');
    return sqliteLoad(model, manifest, sqliteScript.name);
  },
};

/** The load script for MySQL, from TSV. */
export const mysqlScript: FolderScript = {
  name: 'load.mysql.sql',
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { mysqlLoad } = await import('../load-scripts/mysql.ts');
    return mysqlLoad(model, manifest, mysqlScript.name);
  },
};

/** The scripts for warehouses, which load Parquet files directly from a bucket. Redshift and BigQuery do not load from Azure. */
export const warehouseScripts: readonly FolderScript[] = [
  warehouseScript('snowflake', true),
  warehouseScript('bigquery', false),
  warehouseScript('redshift', false),
  warehouseScript('databricks', true),
];

function warehouseScript(
  warehouse: 'snowflake' | 'bigquery' | 'redshift' | 'databricks',
  loadsFromAzure: boolean,
): FolderScript {
  return {
    name: `load.${warehouse}.sql`,
    isBeside: ({ location }) =>
      location !== undefined && (loadsFromAzure || !location.startsWith('abfss://')),
    render: async ({ model }, manifest) => {
      const { warehouseLoad } = await import('../load-scripts/warehouses.ts');
      return warehouseLoad(warehouse, model, manifest, manifest.location!);
    },
  };
}

/** The script with views of the business entities over the tables of a load script, if a load requested views. */
export function viewsScript(name: string, frame: ViewFrame): FolderScript {
  return {
    name,
    isBeside: ({ views }) => views === true,
    render: async (plan, manifest) => {
      const { renderViews } = await import('../load-scripts/views.ts');
      return renderViews(plan, manifest, frame, name);
    },
  };
}

/** The script `datapackage.json`. A file of another origin is never replaced. */
export function dataPackage(format: 'csv' | 'tsv'): FolderScript {
  return {
    name: dataPackageName,
    isBeside: (manifest) => manifest.data_package === true,
    render: async ({ model }, manifest: TargetManifest) => {
      const { renderDataPackage } = await import('../load-scripts/data-package.ts');
      return renderDataPackage(model, manifest, format);
    },
  };
}
