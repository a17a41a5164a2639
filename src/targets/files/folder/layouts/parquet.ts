/** Parquet: files with typed columns, made of the staged rows when all are there, or beside them. */
import { ColumnsBeside } from '../columns/beside.ts';
import type { FolderLayout } from './folder-layout.ts';
import { duckDbScript, viewsScript, warehouseScripts } from './scripts.ts';

export const parquet: FolderLayout = {
  // the file names its columns behind the rows
  header: () => new Uint8Array(0),
  scalesDecimals: true,
  makeFiles: (options) => new ColumnsBeside(options),
  limits: null,
  scripts: [duckDbScript, ...warehouseScripts, viewsScript('views.sql', 'duckdb')],
  units: 'typed',
  stored: {
    openTables: async (...folder) => {
      const { openParquetTables } = await import('../reading/parquet-tables.ts');
      return openParquetTables(...folder);
    },
    documentHashes: async function* (directory, path) {
      const { parquetHashes } = await import('../loaded-documents.ts');
      yield* parquetHashes(directory, path);
    },
    rewrite: async (rewriting, file, written, draft) => {
      const { joinedParquet } = await import('../written/rewritten-file.ts');
      const types = await joinedParquet(rewriting, file, written, draft);
      return types === null ? null : { types };
    },
  },
};
