/** Switching parts of the source-to-target map on and off (docs/decisions/service/catalogue.md). */
import { mapInSlices } from '../../engine/in-slices.ts';
import { AppError, type ErrorDetail } from '../../errors.ts';
import type { CatalogStore, MappingRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from './logical-schema.ts';

export interface ActivationRequest {
  readonly idSch: number;
  readonly ids: readonly number[];
  readonly xpaths: readonly string[];
}

/** The result as in the API. */
export interface ActivationResult {
  readonly id_sch: number;
  readonly changed: number;
  readonly active_count: number;
  readonly inactive_count: number;
}

/**
 * Activates or deactivates lines of a map. An element includes everything below it; activation includes the parent elements, which hold
 * its place. All or none: `not_found` if a line is not in the newest map, `conflict` for columns of structure and the root element.
 */
export async function setActivation(
  catalog: CatalogStore,
  idOrg: number,
  request: ActivationRequest,
  active: boolean,
): Promise<ActivationResult> {
  const origin = await findOrigin(catalog, idOrg, request.idSch);
  const idLschma = origin.id_lschma;
  const mappings = idLschma === null ? [] : await catalog.listMappings(idOrg, idLschma);
  if (idLschma === null) throw new AppError('not_found', 'the schema has no mappings yet');
  const chosen = await choose(mappings, request);
  if (!active) refuseRoots(chosen);
  const ids = active ? [...chosen, ...(await elementsAbove(mappings, chosen))] : chosen;
  const result = await catalog.setMappingsActive(
    idOrg,
    idLschma,
    [...new Set(ids.map((line) => line.id_map))],
    active,
  );
  return {
    id_sch: request.idSch,
    changed: result.changed,
    active_count: result.activeCount,
    inactive_count: result.inactiveCount,
  };
}

async function choose(
  mappings: readonly MappingRecord[],
  request: ActivationRequest,
): Promise<readonly MappingRecord[]> {
  const byId = new Map(mappings.map((line) => [line.id_map, line]));
  const lines = new Set<MappingRecord>();
  const unknown: ErrorDetail[] = [];
  const keys: ErrorDetail[] = [];
  const wholes = new Set(request.xpaths);
  for (const [at, id] of request.ids.entries()) {
    const line = byId.get(id);
    if (line === undefined)
      unknown.push({ pointer: `/ids/${at}`, detail: 'is not a mapping of this schema' });
    else if (line.xpath === null || line.node_type === null)
      keys.push({ pointer: `/ids/${at}`, detail: 'is a column of structure' });
    else if (isWholeElement(line)) wholes.add(line.xpath);
    else lines.add(line);
  }
  const found = new Set<string>();
  await mapInSlices(wholes.size === 0 ? [] : mappings, (line) => {
    if (line.xpath === null || line.node_type === null) return;
    for (const path of [line.xpath, ...pathsAbove(line.xpath)]) {
      if (!wholes.has(path)) continue;
      lines.add(line);
      found.add(path);
    }
  });
  for (const [at, xpath] of request.xpaths.entries())
    if (!found.has(xpath)) unknown.push({ pointer: `/xpaths/${at}`, detail: 'is not a path of this schema' });
  if (unknown.length > 0) throw new AppError('not_found', 'there is no such mapping', { errors: unknown });
  if (keys.length > 0)
    throw new AppError(
      'conflict',
      'keys, positions and columns that describe an element cannot be switched',
      { errors: keys },
    );
  return [...lines];
}

/** Yields the paths from the parent upwards. */
function* pathsAbove(xpath: string): Generator<string, void, void> {
  for (let at = xpath.lastIndexOf('/'); at > 0; at = xpath.lastIndexOf('/', at - 1)) yield xpath.slice(0, at);
}

function isWholeElement(line: MappingRecord): boolean {
  return line.node_type === 'element';
}

function refuseRoots(chosen: readonly MappingRecord[]): void {
  const root = chosen.find((line) => line.node_type === 'element' && /^\/[^/]+$/.test(line.xpath ?? ''));
  if (root !== undefined)
    throw new AppError('conflict', `${root.xpath} is the document itself, which cannot be left out`);
}

async function elementsAbove(
  mappings: readonly MappingRecord[],
  chosen: readonly MappingRecord[],
): Promise<MappingRecord[]> {
  const paths = new Set<string>();
  await mapInSlices(chosen, ({ xpath }) => {
    for (const path of pathsAbove(xpath!)) paths.add(path);
  });
  return mappings.filter(
    (line) => line.node_type === 'element' && line.xpath !== null && paths.has(line.xpath),
  );
}
