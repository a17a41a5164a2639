/** The source-to-target map as a file. */
import { mapInSlices } from '../../engine/in-slices.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { listMappings } from '../schemas/logical-schema.ts';
import { findOrigin } from '../schemas/origin.ts';
import { encodedPieces } from './encoded-pieces.ts';
import { renderCsv, renderXlsx } from './spreadsheet.ts';
import type { Cell } from './spreadsheet.ts';

export const downloadFormats = ['xlsx', 'csv', 'json'] as const;
export type DownloadFormat = (typeof downloadFormats)[number];

export interface DownloadedFile {
  /** `donuts-mapping.xlsx`; may hold any character but a slash */
  readonly name: string;
  /** in chunks */
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
  return { name: `${name}-mapping.${options.format}`, content: await render(mappings, options.format) };
}

async function render(
  mappings: readonly MappingRecord[],
  format: DownloadFormat,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  if (format === 'json') return await encoded(await renderJson(mappings));
  const lines = await mapInSlices(mappings, (line) => columns.map((column) => line[column]));
  const rows: (readonly Cell[])[] = [columns, ...lines];
  return format === 'csv' ? await encoded(await renderCsv(rows)) : await renderXlsx('mapping', rows);
}

function encoded(pieces: readonly string[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  return mapInSlices(encodedPieces(pieces), (bytes) => bytes);
}

/** As `JSON.stringify` with an indent of two, in pieces. */
async function renderJson(values: readonly unknown[]): Promise<readonly string[]> {
  if (values.length === 0) return ['[]'];
  const texts = await mapInSlices(
    values,
    (value, at) => `${at === 0 ? '[\n' : ',\n'}${JSON.stringify([value], null, 2).slice(2, -2)}`,
  );
  return [...texts, '\n]'];
}
