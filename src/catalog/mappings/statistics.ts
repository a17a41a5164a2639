/** What documents held at each line of the source-to-target map (docs/decisions/service/catalogue.md, StatsMapping). */
import { mapInSlices } from '../../engine/in-slices.ts';
import { bareTypeName } from '../../engine/sql/dialects/postgresql.ts';
import { inferValue } from '../../engine/infer/source-model.ts';
import { uniteNestedElements } from '../../engine/infer/nested-elements.ts';
import { distinctEstimate } from '../../engine/infer/statistics.ts';
import type {
  DocumentStatistics,
  ElementStatistics,
  ValueStatistics,
} from '../../engine/infer/statistics.ts';
import { chooseRoots } from '../../engine/map/chosen-roots.ts';
import { columnTypeOf } from '../../engine/map/tables/column-types.ts';
import { createPathPrinter } from '../../engine/map/names/paths.ts';
import type { PathPrinter } from '../../engine/map/names/paths.ts';
import { clarkName, type SourceModel } from '../../engine/model/source-model.ts';
import { AppError } from '../../errors.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from '../schemas/origin.ts';

/** In wire form. A path that no document had stands with zeros. */
export interface MappingStatistics {
  readonly id_map: number;
  readonly xpath: string;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly documents: number;
  readonly occurrences: number;
  /** per parent element */
  readonly min_occurs: number;
  readonly max_occurs: number;
  /** characters; of an empty value 0 */
  readonly min_length: number;
  readonly max_length: number;
  /** the type of a column that holds the values, as PostgreSQL names it; `none` where there was no value, else the kind of content */
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

/**
 * One record for each mapping with a path, in the order of the map; of all runs together, or of one job alone.
 * AppError `not_found`: no such schema, or no statistics of that job under it.
 */
export async function mappingStatistics(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  which: { readonly idLschma?: number; readonly idJob?: number },
): Promise<readonly MappingStatistics[]> {
  const record = await findOrigin(catalog, idOrg, idSch, which.idLschma);
  const origin = await catalog.loadOrigin(idOrg, idSch);
  const statistics =
    which.idJob === undefined
      ? origin?.statistics
      : await catalog.loadJobStatistics(idOrg, idSch, which.idJob);
  if (which.idJob !== undefined && statistics === null) {
    throw new AppError('not_found', 'there are no statistics of such a job for this schema');
  }
  if (origin === null || record.id_lschma === null) return [];
  const [logical, mappings] = await Promise.all([
    catalog.loadLogicalSchema(idOrg, { idLschma: record.id_lschma }),
    catalog.listMappings(idOrg, record.id_lschma),
  ]);
  const roots = chooseRoots(origin.model, logical?.model.roots.map((root) => root.name) ?? []);
  const figures =
    statistics === null || statistics === undefined
      ? null
      : figuresByPath(statistics as DocumentStatistics, origin.model, createPathPrinter(origin.model, roots));
  const found: MappingStatistics[] = [];
  await mapInSlices(mappings, (mapping) => {
    const { id_map, xpath, table_name, column_name } = mapping;
    if (xpath === null) return;
    const own = figures === null ? unseen : figuresOf(mapping, figures);
    found.push({ id_map, xpath, table_name, column_name, ...own });
  });
  return found;
}

/** An element on one path, and how often its parents have it. */
interface ElementOnPath {
  readonly element: ElementStatistics;
  readonly minOccurs: number;
  readonly maxOccurs: number;
}

interface FiguresByPath {
  readonly elements: ReadonlyMap<string, ElementOnPath>;
  /** by the path of the attribute */
  readonly attributes: ReadonlyMap<
    string,
    ElementStatistics['attributes'][number] & { readonly required: boolean }
  >;
}

/**
 * Recursion is written out once, as in the map; its figures are those of all depths together. Names that the source model has not
 * are on no path of the map: without a prefix of the model they would be written as others that it has.
 */
function figuresByPath(
  collected: DocumentStatistics,
  { elements: declared, types }: SourceModel,
  paths: PathPrinter,
): FiguresByPath {
  const elementNames = new Set(declared.map(({ name }) => clarkName(name)));
  const attributeNames = new Set(types.flatMap((type) => type.attributes.map(({ name }) => clarkName(name))));
  const statistics = uniteNestedElements(collected);
  const elements = new Map<string, ElementOnPath>();
  const attributes = new Map<
    string,
    ElementStatistics['attributes'][number] & { readonly required: boolean }
  >();
  const visit = (
    index: number,
    xpath: string,
    occurs: Omit<ElementOnPath, 'element'>,
    ancestors: readonly number[],
  ): void => {
    const element = statistics.elements[index]!;
    elements.set(xpath, { element, ...occurs });
    for (const attribute of element.attributes) {
      if (!attributeNames.has(clarkName(attribute))) continue;
      attributes.set(paths.attribute(xpath, attribute), {
        ...attribute,
        required: attribute.count === element.count,
      });
    }
    if (ancestors.includes(index)) return;
    for (const child of element.children) {
      if (!elementNames.has(clarkName(statistics.elements[child.element]!))) continue;
      const minOccurs = Number.isFinite(child.minOccurs) ? child.minOccurs : 0;
      const name = statistics.elements[child.element]!;
      visit(child.element, paths.child(xpath, name), { minOccurs, maxOccurs: child.maxOccurs }, [
        ...ancestors,
        index,
      ]);
    }
  };
  for (const root of statistics.roots) {
    if (!elementNames.has(clarkName(statistics.elements[root]!))) continue;
    visit(root, paths.child('', statistics.elements[root]!), { minOccurs: 1, maxOccurs: 1 }, []);
  }
  return { elements, attributes };
}

function figuresOf(mapping: MappingRecord, figures: FiguresByPath): Figures {
  if (mapping.node_type === 'attribute') {
    const attribute = figures.attributes.get(mapping.xpath!);
    if (attribute === undefined) return unseen;
    return {
      documents: attribute.documents,
      occurrences: attribute.count,
      min_occurs: attribute.required ? 1 : 0,
      max_occurs: 1,
      ...valueFigures(attribute.value),
    };
  }
  const onPath = figures.elements.get(mapping.xpath!);
  // wildcards take what has no path of its own
  if (onPath === undefined || mapping.node_type === 'any') return unseen;
  const { element, minOccurs, maxOccurs } = onPath;
  const seen = {
    documents: element.documents,
    occurrences: element.count,
    min_occurs: minOccurs,
    max_occurs: maxOccurs,
  };
  const holdsValue = mapping.column_name !== null || mapping.node_type !== 'element';
  return holdsValue
    ? { ...seen, ...valueFigures(element.text) }
    : { ...seen, ...noValue(contentOf(element)) };
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

function contentOf(element: ElementStatistics): string {
  if (element.withChildren > 0) return element.withText > 0 ? 'mixed' : 'elements';
  return element.text.count > element.text.empty ? 'simple' : 'empty';
}
