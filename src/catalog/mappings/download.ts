/** The source-to-target map as a file. */
import { mapInSlices } from '../../engine/in-slices.ts';
import { describeModel } from '../../engine/metadata/described.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { listMappings } from './document-map.ts';
import { findOrigin } from '../schemas/origin.ts';
import { encodedPieces } from './encoded-pieces.ts';
import { renderCsv, renderXlsx } from './spreadsheet.ts';
import type { Cell, Sheet } from './spreadsheet.ts';

export const downloadFormats = ['xlsx', 'csv', 'json'] as const;
export type DownloadFormat = (typeof downloadFormats)[number];

export interface DownloadedFile {
  /** `donuts-mapping.xlsx`; may hold any character but a slash */
  readonly name: string;
  /** content in chunks */
  readonly content: readonly Uint8Array<ArrayBuffer>[];
}

const columns = [
  'xpath',
  'node_type',
  'source_type',
  'min_occurs',
  'max_occurs',
  'table_name',
  'column_name',
  'data_type',
  'length',
  'nullable',
  'key',
  'active',
  'documentation',
  'id_map',
  'id_tab',
] as const satisfies readonly (keyof MappingRecord)[];

export async function downloadMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  options: { readonly format: DownloadFormat; readonly idLschma?: number },
): Promise<DownloadedFile> {
  const { name } = await findOrigin(catalog, idOrg, idSch, options.idLschma);
  const mappings = await listMappings(catalog, idOrg, idSch, options.idLschma);
  const sheets = options.format === 'xlsx' ? await otherSheets(catalog, idOrg, idSch, options.idLschma) : [];
  return {
    name: `${name}-mapping.${options.format}`,
    content: await render(mappings, options.format, sheets),
  };
}

async function render(
  mappings: readonly MappingRecord[],
  format: DownloadFormat,
  others: readonly Sheet[],
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  if (format === 'json') return await encoded(await renderJson(mappings));
  const lines = await mapInSlices(mappings, (line) => columns.map((column) => line[column]));
  const rows: (readonly Cell[])[] = [columns, ...lines];
  return format === 'csv'
    ? await encoded(await renderCsv(rows))
    : await renderXlsx([{ name: 'mapping', rows }, ...others]);
}

/** Builds the sheets of tables and, if the schema enumerates them, of the values that columns can have. */
async function otherSheets(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly Sheet[]> {
  const shown = idLschma ?? (await catalog.findOrigin(idOrg, idSch))?.id_lschma ?? null;
  const stored = shown === null ? null : await catalog.loadLogicalSchema(idOrg, { idLschma: shown });
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const { tables } =
    stored === null ? { tables: [] } : await describeModel({ name: '', version: 1 }, stored.model, source);
  const tableRows = await mapInSlices(tables, (table): Cell[] => [
    table.name,
    table.xpath,
    table.columns.length,
    table.primaryKey.join(', '),
    [...new Set(table.references.map(({ parentTable }) => parentTable))].join(', '),
    table.documentation,
  ]);
  const codeRows = await mapInSlices(tables, ({ name, columns: own }) =>
    own.flatMap(({ name: columnName, saidOfValues, xpath, documentation, codeLists }) =>
      codeLists.flatMap(({ type, codes }) =>
        codes.map(({ code, label }): Cell[] => [
          name,
          columnName,
          code,
          saidOfValues.get(code) ?? null,
          xpath,
          documentation,
          type,
          label,
        ]),
      ),
    ),
  );
  return [
    {
      name: 'tables',
      rows: [['table_name', 'xpath', 'columns', 'key', 'refers_to', 'documentation'], ...tableRows],
    },
    {
      name: 'codes',
      rows: [
        ['table_name', 'column_name', 'code', 'meaning', 'xpath', 'documentation', 'type', 'label'],
        ...codeRows.flat(),
      ],
    },
  ];
}

function encoded(pieces: readonly string[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  return mapInSlices(encodedPieces(pieces), (bytes) => bytes);
}

/** Formats values like `JSON.stringify` with an indent of two, in pieces. */
async function renderJson(values: readonly unknown[]): Promise<readonly string[]> {
  if (values.length === 0) return ['[]'];
  const texts = await mapInSlices(
    values,
    (value, at) => `${at === 0 ? '[\n' : ',\n'}${JSON.stringify([value], null, 2).slice(2, -2)}`,
  );
  return [...texts, '\n]'];
}
