/** The source-to-target map with every place that documents used. A stored map beyond `manyMappings` lines leaves out some of them. */
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { chooseRoots } from '../../engine/map/chosen-roots.ts';
import { manyMappings } from '../../engine/map/mappings.ts';
import { createPathPrinter } from '../../engine/map/names/paths.ts';
import type { CatalogStore, MappingRecord, StoredOrigin } from '../../ports/stores/catalog.ts';
import { findOrigin } from '../schemas/logical-schema.ts';
import { figuresOfLines, type LineFigures } from './figures.ts';

/** The map of a logical schema, and the figures of documents at its lines. */
export interface DocumentMap {
  readonly lines: readonly MappingRecord[];
  /** lines without an entry: documents had nothing there */
  readonly figures: ReadonlyMap<MappingRecord, LineFigures>;
}

/** Joins a stored map with statistics. Lines that the stored map leaves out follow the stored lines of their table. */
export async function readDocumentMap(
  catalog: CatalogStore,
  idOrg: number,
  idLschma: number,
  { model: source, statistics }: Pick<StoredOrigin, 'model' | 'statistics'>,
  stored?: readonly MappingRecord[],
): Promise<DocumentMap> {
  const [logical, lines] = await Promise.all([
    catalog.loadLogicalSchema(idOrg, { idLschma }),
    stored ?? catalog.listMappings(idOrg, idLschma),
  ]);
  if (statistics === null || logical === null) return { lines, figures: new Map() };
  const { model } = logical;
  const roots = chooseRoots(
    source,
    model.roots.map((root) => root.name),
  );
  const paths = createPathPrinter({ ...source, namespaces: model.namespaces }, roots);
  const { figures, added } = figuresOfLines(statistics as DocumentStatistics, model, lines, paths);
  return { lines: insertByTable(lines, added), figures };
}

/** The lines of the map for all runs together; empty while the origin has no logical schema. AppError `not_found`: no such schema. */
export async function listMappings(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma?: number,
): Promise<readonly MappingRecord[]> {
  const { id_lschma: id } = await findOrigin(catalog, idOrg, idSch, idLschma);
  return id === null ? [] : await listMappingsOfLogicalSchema(catalog, idOrg, idSch, id);
}

/** The same by the logical schema; empty if it was removed. */
export async function listMappingsOfLogicalSchema(
  catalog: CatalogStore,
  idOrg: number,
  idSch: number,
  idLschma: number,
): Promise<readonly MappingRecord[]> {
  const stored = await catalog.listMappings(idOrg, idLschma);
  if (stored.length <= manyMappings) return stored;
  const origin = await catalog.loadOrigin(idOrg, idSch);
  return origin === null ? stored : (await readDocumentMap(catalog, idOrg, idLschma, origin, stored)).lines;
}

function insertByTable(
  stored: readonly MappingRecord[],
  added: readonly MappingRecord[],
): readonly MappingRecord[] {
  if (added.length === 0) return stored;
  const ofTable = Map.groupBy(added, (line) => line.id_tab);
  const last = new Map(stored.map((line, at) => [line.id_tab, at]));
  return stored.flatMap((line, at) =>
    last.get(line.id_tab) === at ? [line, ...(ofTable.get(line.id_tab) ?? [])] : [line],
  );
}
