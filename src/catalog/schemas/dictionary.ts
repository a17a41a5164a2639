/** The data dictionary of a logical schema, as a workbook or as text. */
import { mapInSlices } from '../../engine/in-slices.ts';
import { codeListsOf, describeModel } from '../../engine/metadata/described.ts';
import { dictionaryLines, dictionaryMarkdown, type HeldValues } from '../../engine/metadata/dictionary.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { CatalogStore } from '../../ports/stores/catalog.ts';
import { encodedPieces } from '../mappings/encoded-pieces.ts';
import { renderXlsx, type Cell } from '../mappings/spreadsheet.ts';
import { mappingsWithFigures } from '../mappings/statistics.ts';
import type { ExportedFile } from './export-as.ts';
import { keyedLogicalSchema } from './logical-schema.ts';
import { findOrigin } from './origin.ts';

export const dictionaryFormats = ['xlsx', 'md'] as const;
export type DictionaryFormat = (typeof dictionaryFormats)[number];

/** AppError `not_found` when the origin is absent, or has no logical schema yet. */
export async function dictionaryFile(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  { format, idLschma }: { readonly format: DictionaryFormat; readonly idLschma?: number },
): Promise<ExportedFile> {
  const { name, version } = await findOrigin(catalog, idOrg, idSch, idLschma);
  const { model } = await keyedLogicalSchema({ catalog, jobs }, idOrg, idSch, idLschma);
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const described = await describeModel({ name, version }, model, source);
  const held = await heldValues(catalog, idOrg, idSch, model, idLschma);
  const lines = await dictionaryLines(described, held);
  const file = `${name}-dictionary.${format}`;
  if (format === 'md') {
    const pieces = await dictionaryMarkdown(described, lines);
    return { name: file, content: await mapInSlices(encodedPieces(pieces), (bytes) => bytes) };
  }
  const columns = await mapInSlices(lines.flat(), (line): Cell[] => [
    line.table,
    line.column,
    line.businessName,
    line.definition,
    line.path,
    line.type,
    line.isNullable,
    line.key,
    line.codes.join('\n'),
    line.sample,
    line.nullShare,
    line.codeTypes.join('\n'),
    line.constraint,
  ]);
  const tables = described.tables.map((table): Cell[] => [
    table.name,
    table.documentation,
    table.xpath,
    table.columns.length,
  ]);
  const codes = codeListsOf(described).flatMap(({ type, codes: own }) =>
    own.map(({ code, label, documentation }): Cell[] => [type, code, label, documentation]),
  );
  const content = await renderXlsx([
    { name: 'dictionary', rows: [headings.dictionary, ...columns] },
    { name: 'tables', rows: [headings.tables, ...tables] },
    { name: 'codes', rows: [headings.codes, ...codes] },
  ]);
  return { name: file, content };
}

const headings = {
  dictionary: [
    'table',
    'column',
    'business_name',
    'definition',
    'path',
    'type',
    'nullable',
    'key',
    'codes',
    'sample',
    'null_share',
    'code_type',
    'default',
  ],
  codes: ['type', 'code', 'label', 'documentation'],
  tables: ['table', 'definition', 'path', 'columns'],
};

/** Returns the values in the statistics by names of table and column, combined over all places from which a table has rows. */
async function heldValues(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  model: RelationalModel,
  idLschma?: number,
): Promise<(table: string, column: string) => HeldValues> {
  const lines = await mappingsWithFigures(catalog, idOrg, idSch, { idLschma });
  const rows = new Map<string, number>();
  const columns = new Map<string, { occurrences: number; sample: string | null }>();
  await mapInSlices(lines, ({ line, figures }) => {
    const { table_name: table, column_name: column, node_type: kind, active } = line;
    if (!active) return;
    if (column === null) {
      if (kind === 'element') rows.set(table, (rows.get(table) ?? 0) + figures.occurrences);
      return;
    }
    const key = JSON.stringify([table, column]);
    const before = columns.get(key);
    columns.set(key, {
      occurrences: (before?.occurrences ?? 0) + figures.occurrences,
      sample: before?.sample ?? figures.min_value,
    });
  });
  const rowsOf = new Map(
    model.tables.map((table) => [
      table.name,
      rows.get(table.continues === undefined ? table.name : model.tables[table.continues]!.name) ?? 0,
    ]),
  );
  return (table, column) => {
    const own = columns.get(JSON.stringify([table, column]));
    const all = rowsOf.get(table) ?? 0;
    if (own === undefined) return { sample: null, nullShare: null };
    const isKnown = all > 0 && own.occurrences <= all;
    return {
      sample: own.sample,
      nullShare: isKnown ? Math.round((1 - own.occurrences / all) * 10_000) / 10_000 : null,
    };
  };
}
