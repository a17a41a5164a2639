/** CSV, TSV and JSON Lines: files of records, which are staged as they are to be. */
import type { RecordFormat } from '../../../../engine/records/split.ts';
import { storedText } from '../written/text-records.ts';
import type { FolderLayout, FolderScript } from './folder-layout.ts';
import { dataPackage, mysqlScript, psqlScript, sqliteScript, viewsScript } from './scripts.ts';

const views = viewsScript('views.sql', 'psql');

export const csv: FolderLayout = textLayout('csv', {
  header: (names) =>
    `${names.map((name) => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}\n`,
  scripts: [psqlScript('csv'), dataPackage('csv'), views],
});

export const tsv: FolderLayout = textLayout('tsv', {
  header: (names) => `${names.map((name) => storedText(name, 'tsv').toString()).join('\t')}\n`,
  scripts: [
    psqlScript('text'),
    mysqlScript,
    dataPackage('tsv'),
    views,
    viewsScript('views.mysql.sql', 'mysql'),
  ],
});

export const jsonl: FolderLayout = textLayout('jsonl', {
  // every line names the columns
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
        const { openTextTables } = await import('../reading/text-tables.ts');
        return openTextTables(format, ...folder);
      },
      documentHashes: async function* (_, path) {
        const { textHashes } = await import('../loaded-documents.ts');
        yield* textHashes(path, format);
      },
      rewrite: async (rewriting, file, written, draft) => {
        const { patchedRecords } = await import('../written/rewritten-file.ts');
        return (await patchedRecords(format, file, written, draft)) ? {} : null;
      },
    },
  };
}
