/** The registry of file layouts. A new layout is an entry of src/ports/layouts.ts, an object here, and its member of `layouts`. */
import { dataPackageName, loadScriptName, type TargetManifest } from './manifest.ts';
import type { ViewFrame } from './load-scripts/views.ts';
import type { FolderScript, FolderLayout, FileMaking, ScriptConditions } from './layout.ts';
import type { RecordFormat } from '../../../engine/records/split.ts';
import { storedText } from './text-records.ts';
import { ColumnsBeside } from '../parquet/beside.ts';
import { workbookLimits } from '../../../engine/workbook.ts';
import type { FileLayoutName } from '../../../ports/layouts.ts';
import type { SinkPlan } from '../../../ports/row-sink.ts';
import { writeDurably } from '../../../storage/staging/durable-file.ts';

// Scripts beside the rows of a folder. The code that writes a script is loaded only if a folder has it.

const always = (): boolean => true;

/** The script `load.sql` for psql. `copied`: the format that its `\copy` reads; null: JSON Lines, which statements read. */
function psqlScript(copied: 'csv' | 'text' | null): FolderScript {
  return {
    name: loadScriptName,
    isBeside: always,
    render: async ({ model }, manifest) => {
      const { loadScript } = await import('./load-scripts/psql.ts');
      return loadScript(model, manifest, copied);
    },
  };
}

/** The script `load.sql` for DuckDB, from Parquet. */
const duckDbScript: FolderScript = {
  name: loadScriptName,
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { parquetScript } = await import('./load-scripts/duckdb.ts');
    return parquetScript(model, manifest);
  },
};

/** The load script for SQLite, from JSON Lines. */
const sqliteScript: FolderScript = {
  name: 'load.sqlite.sql',
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { sqliteLoad } = await import('./load-scripts/sqlite.ts');
    return sqliteLoad(model, manifest, sqliteScript.name);
  },
};

/** The load script for MySQL, from TSV. */
const mysqlScript: FolderScript = {
  name: 'load.mysql.sql',
  isBeside: always,
  render: async ({ model }, manifest) => {
    const { mysqlLoad } = await import('./load-scripts/mysql.ts');
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
      const { warehouseLoad } = await import('./load-scripts/warehouses.ts');
      return warehouseLoad(warehouse, model, manifest, manifest.location!);
    },
  };
}

/** The script with views of the business entities over the tables of a load script, if a load requested views. */
function viewsScript(name: string, frame: ViewFrame): FolderScript {
  return {
    name,
    isBeside: ({ views }) => views === true,
    render: async (plan, manifest) => {
      const { renderViews } = await import('./load-scripts/views.ts');
      return renderViews(plan, manifest, frame, name);
    },
  };
}

/** The script `datapackage.json`. A file of another origin is never replaced. */
function dataPackage(format: 'csv' | 'tsv'): FolderScript {
  return {
    name: dataPackageName,
    isBeside: (manifest) => manifest.data_package === true,
    render: async ({ model }, manifest: TargetManifest) => {
      const { renderDataPackage } = await import('./load-scripts/data-package.ts');
      return renderDataPackage(model, manifest, format);
    },
  };
}

// The layouts.

const views = viewsScript('views.sql', 'psql');

const csv: FolderLayout = textLayout('csv', {
  header: (names) =>
    `${names.map((name) => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}\n`,
  scripts: [psqlScript('csv'), dataPackage('csv'), views],
});

const tsv: FolderLayout = textLayout('tsv', {
  header: (names) => `${names.map((name) => storedText(name, 'tsv').toString()).join('\t')}\n`,
  scripts: [
    psqlScript('text'),
    mysqlScript,
    dataPackage('tsv'),
    views,
    viewsScript('views.mysql.sql', 'mysql'),
  ],
});

const jsonl: FolderLayout = textLayout('jsonl', {
  // every line has the names of its columns
  header: () => '',
  scripts: [psqlScript(null), sqliteScript, views, viewsScript('views.sqlite.sql', 'sqlite')],
});

function textLayout(
  format: RecordFormat,
  own: {
    readonly header: (names: readonly string[]) => string;
    readonly scripts: readonly FolderScript[];
  },
): FolderLayout {
  return {
    header: (names) => Buffer.from(own.header(names)),
    scalesDecimals: false,
    makeFiles: null,
    limits: null,
    scripts: own.scripts,
    units: 'plain',
    stored: {
      openTables: async (...folder) => {
        const { openTextTables } = await import('./text-tables.ts');
        return openTextTables(format, ...folder);
      },
      documentHashes: async function* (_, path) {
        const { textHashes } = await import('./loaded-documents.ts');
        yield* textHashes(path, format);
      },
      rewrite: async (rewriting, file, written, draft) => {
        const { patchedRecords } = await import('./rewritten-file.ts');
        return (await patchedRecords(format, file, written, draft)) ? {} : null;
      },
    },
  };
}

const parquet: FolderLayout = {
  // the file names its columns after the rows
  header: () => new Uint8Array(0),
  scalesDecimals: true,
  makeFiles: (options) => new ColumnsBeside(options),
  limits: null,
  scripts: [duckDbScript, ...warehouseScripts, viewsScript('views.sql', 'duckdb')],
  units: 'typed',
  stored: {
    openTables: async (...folder) => {
      const { openParquetTables } = await import('./parquet-tables.ts');
      return openParquetTables(...folder);
    },
    documentHashes: async function* (directory, path) {
      const { parquetHashes } = await import('./loaded-documents.ts');
      yield* parquetHashes(directory, path);
    },
    rewrite: async (rewriting, file, written, draft) => {
      const { joinedParquet } = await import('./rewritten-file.ts');
      const types = await joinedParquet(rewriting, file, written, draft);
      return types === null ? null : { types };
    },
  },
};

const xlsx: FolderLayout = {
  // the sheet has its own heading
  header: () => new Uint8Array(0),
  scalesDecimals: false,
  makeFiles: (options): FileMaking => ({
    write: async (staged) => {
      const { writeWorkbook } = await import('./workbook.ts');
      return writeWorkbook(staged, options);
    },
    // no work runs beside the load
    end: () => Promise.resolve(),
  }),
  limits: {
    rows: workbookLimits.rows,
    columns: workbookLimits.columns,
    advice: 'Load fewer documents at once (each load writes its own workbook), or use -f csv or -f parquet.',
  },
  scripts: [],
  units: null,
  stored: null,
};

const layouts: Readonly<Record<FileLayoutName, FolderLayout>> = { csv, tsv, jsonl, parquet, xlsx };

export function layoutOf(name: FileLayoutName): FolderLayout {
  return layouts[name];
}

/** Returns the names of the scripts of a folder. */
export function scriptNames(manifest: ScriptConditions): readonly string[] {
  return layoutOf(manifest.format)
    .scripts.filter((script) => script.isBeside(manifest))
    .map(({ name }) => name);
}

/** Returns whether folders of the layout may have that script. */
export function hasScript(format: FileLayoutName, name: string): boolean {
  return layoutOf(format).scripts.some((script) => script.name === name);
}

/** Writes the scripts into the folder, one at a time and in pieces, because scripts for many tables are long. Returns their names. */
export async function writeScripts(
  directory: string,
  plan: SinkPlan,
  manifest: TargetManifest,
): Promise<string[]> {
  const names: string[] = [];
  for (const script of layoutOf(manifest.format).scripts) {
    if (!script.isBeside(manifest)) continue;
    await writeDurably(directory, script.name, await script.render(plan, manifest));
    names.push(script.name);
  }
  return names;
}
