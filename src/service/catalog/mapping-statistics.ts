/** Computes statistics of documents for each line of the source-to-target map (docs/decisions/service/catalogue.md, StatsMapping). */
import { mapInSlices } from '../../engine/in-slices.ts';
import { bareTypeName } from '../../engine/sql/dialects/postgresql.ts';
import { inferValue } from '../../engine/infer/source-model.ts';
import { distinctEstimate, type ValueStatistics } from '../../engine/infer/statistics.ts';
import { columnTypeOf } from '../../engine/map/tables/column-types.ts';
import { AppError } from '../../errors.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from './logical-schema.ts';
import { readDocumentMap, type DocumentMap, type LineFigures } from './mapping-figures.ts';

/** Statistics as in the API. A path that no document had has zeros. */
export interface MappingStatistics {
  readonly id_map: number;
  readonly xpath: string;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly documents: number;
  /** for a table: its rows; for a column: its values that are not NULL, as far as statistics tell */
  readonly occurrences: number;
  /** per parent element */
  readonly min_occurs: number;
  readonly max_occurs: number;
  /** characters; of an empty value 0 */
  readonly min_length: number;
  readonly max_length: number;
  /** the type of a column that holds the values, as PostgreSQL names it; `none` if there was no value, otherwise the kind of content */
  readonly inferred_type: string;
  readonly min_value: string | null;
  readonly max_value: string | null;
  readonly distinct_estimate: number;
}

type Figures = Omit<MappingStatistics, 'id_map' | 'xpath' | 'table_name' | 'column_name'>;

const unseen: Figures = {
  documents: 0,
  occurrences: 0,
  min_occurs: 0,
  max_occurs: 0,
  min_length: 0,
  max_length: 0,
  inferred_type: 'none',
  min_value: null,
  max_value: null,
  distinct_estimate: 0,
};

interface Selection {
  readonly idLschma?: number;
  readonly idJob?: number;
}

/**
 * One record for each mapping with a path, in the order of the map; of all runs together, or of one job alone.
 * AppError `not_found`: no such schema, or no statistics of that job under it.
 */
export async function mappingStatistics(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  which: Selection,
): Promise<readonly MappingStatistics[]> {
  const lines = await mappingsWithFigures(catalog, idOrg, idSch, which);
  return lines.map(({ line: { id_map, xpath, table_name, column_name }, figures }) => ({
    id_map,
    xpath,
    table_name,
    column_name,
    ...figures,
  }));
}

/** The same with the whole line of each record. */
export async function mappingsWithFigures(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  which: Selection,
): Promise<
  readonly { readonly line: MappingRecord & { readonly xpath: string }; readonly figures: Figures }[]
> {
  const { lines, figures } = await documentMap(catalog, idOrg, idSch, which);
  const found: { line: MappingRecord & { xpath: string }; figures: Figures }[] = [];
  await mapInSlices(lines, (line) => {
    const { xpath } = line;
    if (xpath === null || line.node_type === null) return;
    const own = figures.get(line);
    found.push({
      line: { ...line, xpath },
      figures: own === undefined ? unseen : wireFigures(own, line.node_type),
    });
  });
  return found;
}

async function documentMap(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  which: Selection,
): Promise<DocumentMap> {
  const record = await findOrigin(catalog, idOrg, idSch, which.idLschma);
  const origin = await catalog.loadOrigin(idOrg, idSch);
  const statistics =
    which.idJob === undefined
      ? origin?.statistics
      : await catalog.loadJobStatistics(idOrg, idSch, which.idJob);
  if (which.idJob !== undefined && statistics === null) {
    throw new AppError('not_found', 'there are no statistics of such a job for this schema');
  }
  if (origin === null || record.id_lschma === null) return { lines: [], figures: new Map() };
  const { model } = origin;
  return await readDocumentMap(catalog, idOrg, record.id_lschma, { model, statistics: statistics ?? null });
}

function wireFigures(line: LineFigures, kind: MappingRecord['node_type']): Figures {
  const { documents, occurrences, minOccurs, maxOccurs, values } = line;
  const seen = { documents, occurrences, min_occurs: minOccurs, max_occurs: maxOccurs };
  if (values !== null) return { ...seen, ...valueFigures(values) };
  return { ...seen, ...noValue(kind === 'any' ? 'none' : contentOf(line)) };
}

function valueFigures(
  value: ValueStatistics,
): Omit<Figures, 'documents' | 'occurrences' | 'min_occurs' | 'max_occurs'> {
  if (value.count === value.empty) return noValue('none');
  return {
    min_length: value.empty > 0 ? 0 : value.minLength,
    max_length: value.maxLength,
    inferred_type: bareTypeName(columnTypeOf(inferValue(value))),
    min_value: value.min,
    max_value: value.max,
    distinct_estimate: distinctEstimate(value.sketch),
  };
}

function noValue(type: string): Omit<Figures, 'documents' | 'occurrences' | 'min_occurs' | 'max_occurs'> {
  return {
    min_length: 0,
    max_length: 0,
    inferred_type: type,
    min_value: null,
    max_value: null,
    distinct_estimate: 0,
  };
}

function contentOf({ withChildren, withText }: LineFigures): string {
  if (withChildren > 0) return withText > 0 ? 'mixed' : 'elements';
  return withText > 0 ? 'simple' : 'empty';
}
