/** The relational model a run works with: one that is stored, or a new one made to the run's options. */
import { buildRelationalModel, chooseRoots } from '../engine/map/build-model.ts';
import { defaultNaming, type NamingOptions } from '../engine/map/names.ts';
import type { MapLevel, RelationalModel } from '../engine/model/relational-model.ts';
import type { QName, SourceModel } from '../engine/model/source-model.ts';
import { AppError } from '../errors.ts';
import type { ToolRequest } from '../jobs/tool-request.ts';
import type { StoredLogicalSchema } from '../ports/catalog-store.ts';
import type { ToolSession } from './tool-session.ts';

/** `-g` where nothing says otherwise (engine.md §11). */
export const defaultMapLevel: MapLevel = 3;

export function namingOf(request: ToolRequest): NamingOptions {
  return {
    nameMode: request.nameMode ?? defaultNaming.nameMode,
    tablePrefix: request.prefix ?? '',
    tableSuffix: request.suffix ?? '',
    maxBytes: request.nameMaxLen ?? defaultNaming.maxBytes,
    rename: new Map(request.rename ?? []),
  };
}

/** Options that shape tables: with one of them a stored model is not taken as it is. */
function shapesModel(request: ToolRequest): boolean {
  return (
    request.mapLevel !== undefined ||
    request.nameMode !== undefined ||
    request.prefix !== undefined ||
    request.suffix !== undefined ||
    request.nameMaxLen !== undefined ||
    request.defaultVarcharLen !== undefined ||
    request.rename !== undefined ||
    request.root !== undefined ||
    request.prune ||
    request.extraColumns.length > 0
  );
}

/** Options that give names: those of an earlier model then count no more. */
function namesTables(request: ToolRequest): boolean {
  return (
    request.nameMode !== undefined ||
    request.prefix !== undefined ||
    request.suffix !== undefined ||
    request.nameMaxLen !== undefined ||
    request.rename !== undefined
  );
}

/** What the next version of an origin (`--parent`) goes on from: the level and the names of its newest logical schema. */
export async function choicesAfterParent(session: ToolSession): Promise<ModelChoices> {
  const { request, idOrg, home } = session;
  const given = request.mapLevel;
  if (request.parent === undefined) return { mapLevel: given ?? defaultMapLevel };
  const parent = await home.adapters.catalog.loadLogicalSchema(idOrg, { idSch: request.parent });
  const mapLevel = given ?? parent?.model.mapLevel ?? defaultMapLevel;
  const goesOn = parent !== null && parent.model.mapLevel === mapLevel && !namesTables(request);
  return { mapLevel, ...(goesOn ? { previous: parent.model } : {}) };
}

/** `{uri}local`, `prefix:local` with a prefix of the model, or `local`. AppError where the model has no such root. */
export function rootsOf(request: ToolRequest, source: SourceModel): readonly QName[] {
  if (request.root === undefined) return [];
  const clark = /^\{([^}]*)\}(.+)$/.exec(request.root);
  const prefixed = /^([^:{}]+):(.+)$/.exec(request.root);
  const name: QName =
    clark !== null
      ? { namespaceUri: clark[1]!, localName: clark[2]! }
      : prefixed !== null
        ? { namespaceUri: source.namespaces[prefixed[1]!] ?? '', localName: prefixed[2]! }
        : { namespaceUri: '', localName: request.root };
  if (chooseRoots(source, [name]).length === 0) {
    const known = source.roots.slice(0, 10).map((root) => source.elements[root]!.name.localName);
    throw new AppError(
      'invalid_option',
      `--root ${request.root}: no such element; documents may start with ${known.join(', ')}`,
    );
  }
  return [name];
}

export interface ModelChoices {
  readonly mapLevel: MapLevel;
  /** roots beside those of the source model */
  readonly extraRoots?: readonly QName[];
  /** an earlier version: what stands at the same path keeps its name */
  readonly previous?: RelationalModel;
}

export function buildModel(
  request: ToolRequest,
  source: SourceModel,
  { mapLevel, extraRoots = [], previous }: ModelChoices,
): RelationalModel {
  const chosen = rootsOf(request, source);
  const standard = chooseRoots(source, undefined).map((root) => source.elements[root]!.name);
  return buildRelationalModel(source, {
    mapLevel,
    naming: namingOf(request),
    roots: chosen.length > 0 ? chosen : [...standard, ...extraRoots],
    ...(request.defaultVarcharLen === undefined ? {} : { defaultTextLength: request.defaultVarcharLen }),
    ...(previous === undefined ? {} : { previous }),
    extraColumns: request.extraColumns.map((column) => ({ name: column.name, type: { kind: column.type } })),
  });
}

/** What is stored under the origin, unless an option asks for another shape or the documents start with another element. */
export async function chooseLogicalSchema(
  session: ToolSession,
  idSch: number,
  source: SourceModel,
  documentRoots: readonly QName[],
): Promise<StoredLogicalSchema> {
  const { request, idOrg, home } = session;
  const { catalog } = home.adapters;
  const known = request.logicalId !== undefined ? { idLschma: request.logicalId } : { idSch };
  const stored = await catalog.loadLogicalSchema(idOrg, known);
  if (request.logicalId !== undefined) {
    if (stored === null)
      throw new AppError('not_found', `-l ${request.logicalId}: there is no such logical schema`);
    return stored;
  }
  const missing = documentRoots.filter(
    (name) => chooseRoots(source, [name]).length > 0 && !hasRoot(stored?.model, name),
  );
  if (stored !== null && !shapesModel(request) && missing.length === 0) return stored;
  const level = request.mapLevel ?? stored?.model.mapLevel ?? defaultMapLevel;
  const before = stored?.model.roots.map((root) => root.name) ?? [];
  const model = buildModel(request, source, {
    mapLevel: level,
    extraRoots: unique([...before, ...missing]),
    ...(stored?.model.mapLevel === level && !namesTables(request) ? { previous: stored.model } : {}),
  });
  return storeModel(session, idSch, model);
}

export function storeModel(
  session: ToolSession,
  idSch: number,
  model: RelationalModel,
): Promise<StoredLogicalSchema> {
  return session.home.adapters.catalog.createLogicalSchema(session.idOrg, idSch, model, session.idJob);
}

export function hasRoot(model: RelationalModel | undefined, name: QName): boolean {
  return (
    model?.roots.some(
      (root) => root.name.localName === name.localName && root.name.namespaceUri === name.namespaceUri,
    ) ?? false
  );
}

function unique(names: readonly QName[]): QName[] {
  const seen = new Set<string>();
  return names.filter((name) => {
    const key = `{${name.namespaceUri}}${name.localName}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
