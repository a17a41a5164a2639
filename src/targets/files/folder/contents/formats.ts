/** Formats of the files in a folder: what rows come in, and what is written of them. */
import { passed } from '../../../../engine/model/packed/lazy-array.ts';
import { lookedAt } from '../../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../../engine/model/packed/table-names.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../../engine/model/side-tables.ts';

export const folderFormats = ['csv', 'tsv', 'jsonl', 'parquet'] as const;
export type FolderFormat = (typeof folderFormats)[number];

const encodings = { csv: 'csv', tsv: 'tsv', jsonl: 'json-lines', parquet: 'words' } as const;
export type FolderEncoding = (typeof encodings)[FolderFormat];

export function encodingOf(format: FolderFormat): FolderEncoding {
  return encodings[format];
}

export interface NamedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** The columns of a table of the model, or of a table beside the data. */
export function tableColumns(model: RelationalModel, table: string): readonly NamedColumn[] {
  const own = tableIndexes(model).get(table);
  if (own !== undefined) return lookedAt(passed(model.tables, own), 'columns');
  return [...Object.values(sideTableDefinitions), codesTable].find((side) => side.name === table)!.columns;
}

/** The columns' names, escaped like the values below them; nothing where the format says them elsewhere. */
export function headerLine(format: FolderFormat, names: readonly string[]): Uint8Array {
  if (format === 'jsonl' || format === 'parquet') return new Uint8Array(0);
  const csv = format === 'csv';
  const fields = names.map((name) => {
    if (csv) return /[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
    return name
      .replaceAll('\\', '\\\\')
      .replaceAll('\t', '\\t')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r');
  });
  return Buffer.from(`${fields.join(csv ? ',' : '\t')}\n`);
}
