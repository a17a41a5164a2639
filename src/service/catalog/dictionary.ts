/** The data dictionary of a logical schema, as a workbook or as text. */
import { mapInSlices } from '../../engine/in-slices.ts';
import { codeListsOf, describeModel } from '../../engine/metadata/described.ts';
import { dictionaryLines, dictionaryMarkdown, type ValueSample } from '../../engine/metadata/dictionary.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { CatalogStore, MappingRecord, OriginRecord } from '../../ports/stores/catalog.ts';
import { encodedPieces, renderXlsx, type Cell, zip } from './mapping-download.ts';
import { mappingsWithFigures } from './mapping-statistics.ts';
import { keyedLogicalSchema, findOrigin, findLogicalSchema } from './logical-schema.ts';
import { formatSpecifications, type ExportFormat } from '../../engine/metadata/formats.ts';
import { lineIdentity } from '../../engine/map/mappings.ts';
import { AppError } from '../../errors.ts';
import { enumerationsOf } from '../../engine/metadata/enumerations.ts';
import { dialectOf, type DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import { entityViews, viewScript } from '../../engine/views/statements.ts';

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
): Promise<(table: string, column: string) => ValueSample> {
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

// A logical schema as metadata for other tools.

export interface ExportedFile {
  /** `donuts.dbml`; may hold any character but a slash */
  readonly name: string;
  /** content in chunks */
  readonly content: readonly Uint8Array<ArrayBuffer>[];
}

/** AppError `not_found` when the origin is absent, or has no logical schema yet. */
export async function exportSchemaAs(
  { catalog, jobs }: Pick<Adapters, 'catalog' | 'jobs'>,
  idOrg: number,
  idSch: number,
  options: { readonly format: ExportFormat; readonly idLschma?: number },
): Promise<ExportedFile> {
  const { name, version } = await findOrigin(catalog, idOrg, idSch, options.idLschma);
  const { model } = await keyedLogicalSchema({ catalog, jobs }, idOrg, idSch, options.idLschma);
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const specification = formatSpecifications[options.format];
  const described = await describeModel({ name, version }, model, source);
  return {
    name: `${name}${specification.ending}`,
    content:
      specification.kind === 'files'
        ? await zip(await specification.make(described))
        : await mapInSlices(encodedPieces(await specification.make(described)), (bytes) => bytes),
  };
}

// Generates the next logical schema of an origin: from its source model, its statistics, and the active lines of its map.

/**
 * `maxLength`: longest name in bytes; absent: unchanged. Returns the origin with the new logical schema, or with the newest if nothing
 * differs from it. AppErrors of the compiler, which makes it.
 */
export async function generateLogicalSchema(
  { catalog, compiler }: Pick<Adapters, 'catalog' | 'compiler'>,
  idOrg: number,
  idSch: number,
  maxLength?: number,
): Promise<OriginRecord> {
  const origin = await catalog.loadOrigin(idOrg, idSch);
  if (origin === null) throw new AppError('not_found', 'there is no such schema');
  const newest = await catalog.loadLogicalSchema(idOrg, { idSch });
  // people deactivate lines of the schema that they see, which may be another one
  const switched = new Set([newest?.idLschma ?? null, origin.record.id_lschma]);
  const lines: MappingRecord[] = [];
  for (const idLschma of switched)
    if (idLschma !== null) lines.push(...(await catalog.listMappings(idOrg, idLschma, 'inactive')));
  const { source, model } = await compiler.generate({
    idOrg,
    sourceType: origin.record.source_type,
    source: origin.model,
    statistics: origin.statistics,
    newest: newest?.model ?? null,
    inactive: [...inactiveLines(lines)],
    ...(maxLength === undefined ? {} : { maxLength }),
  });
  if (source !== null) await catalog.refineOrigin(idOrg, idSch, source);
  await catalog.createLogicalSchema(idOrg, idSch, model, null);
  return findOrigin(catalog, idOrg, idSch);
}

/** Returns the identities of the inactive lines in a map. */
export function inactiveLines(lines: readonly MappingRecord[]): ReadonlySet<string> {
  return new Set(
    lines
      .filter((line) => !line.active)
      .map((line) =>
        lineIdentity({
          xpath: line.xpath,
          nodeType: line.node_type ?? 'element',
          sourceType: line.source_type,
        }),
      ),
  );
}

// Views of the business entities of a logical schema.

/** CREATE VIEW statements in that dialect, in pieces; AppError `not_found` when the origin is absent, or has no logical schema yet. */
export async function logicalSchemaViews(
  { catalog }: Pick<Adapters, 'catalog'>,
  idOrg: number,
  idSch: number,
  { dialect, idLschma }: { readonly dialect: DialectName; readonly idLschma?: number },
): Promise<readonly string[]> {
  const { model } = await findLogicalSchema(catalog, idOrg, idSch, idLschma);
  const source = (await catalog.loadOrigin(idOrg, idSch))?.model ?? null;
  const valuesAt = source === null ? null : await enumerationsOf(model, source);
  return viewScript(
    await entityViews(model, {
      dialect: dialectOf(dialect),
      enumeration: (table, column) => valuesAt?.(table, column)?.values ?? null,
    }),
  );
}
