/** The relational model a run works with: one that is stored, or a new one made to the run's options. */
import { rootsNamed } from '../engine/map/chosen-roots.ts';
import type { MapLevel, RelationalModel } from '../engine/model/relational-model.ts';
import type { RowElementName } from '../engine/shred/row-elements.ts';
import type { QName, SourceModel } from '../engine/model/source-model.ts';
import { AppError } from '../errors.ts';
import type { ToolRequest } from '../jobs/tool-request.ts';
import type { StoredLogicalSchema } from '../ports/catalog-store.ts';
import { requireExtras } from './extra-values.ts';
import type { ToolSession } from './tool-session.ts';

/** `-g` where nothing says otherwise (engine.md §11). */
export const defaultMapLevel: MapLevel = 3;

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

/** What the options say that documents start with, if they do. AppError where the model has no such element. */
export function rootsOf(request: ToolRequest, source: SourceModel): readonly QName[] {
  if (request.root !== undefined) return [elementOf('--root', request.root, source)];
  return request.rowTag === undefined ? [] : [elementOf('--row-tag', request.rowTag, source)];
}

/** An element of the model, one that documents start with before others; AppError `invalid_option` where there is none. */
export function elementOf(option: string, text: string, source: SourceModel): QName {
  const { namespaceUri, localName } = elementName(text, source.namespaces);
  const [root] = rootsNamed(source, [{ namespaceUri: namespaceUri ?? '', localName }]);
  const found =
    source.elements[root ?? -1] ??
    source.elements.find(
      ({ name }) =>
        name.localName === localName && (namespaceUri === null || name.namespaceUri === namespaceUri),
    );
  if (found !== undefined) return found.name;
  const known = source.roots.slice(0, 10).map((at) => source.elements[at]!.name.localName);
  throw new AppError(
    'invalid_option',
    `${option} ${text}: no such element; documents may start with ${known.join(', ')}`,
  );
}

/** `{uri}local`, `prefix:local` with a prefix of the model, or `local`; namespace null: any. */
export function elementName(text: string, namespaces: SourceModel['namespaces']): RowElementName {
  const clark = /^\{([^}]*)\}(.+)$/.exec(text);
  if (clark !== null) return { namespaceUri: clark[1]!, localName: clark[2]! };
  const colon = text.indexOf(':');
  if (colon < 0) return { namespaceUri: null, localName: text };
  return { namespaceUri: namespaces[text.slice(0, colon)] ?? null, localName: text.slice(colon + 1) };
}

export interface ModelChoices {
  readonly mapLevel: MapLevel;
  /** roots beside those of the source model */
  readonly extraRoots?: readonly QName[];
  /** an earlier version: what stands at the same path keeps its name */
  readonly previous?: RelationalModel;
}

/** What is stored under the origin, unless an option asks for another shape or the documents start with another element of the model. */
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
    requireExtras(stored.model, request.extraColumns);
    return stored;
  }
  const missing = documentRoots.filter((name) => !hasRoot(stored?.model, name));
  if (stored !== null && !shapesModel(request) && missing.length === 0) return stored;
  const level = request.mapLevel ?? stored?.model.mapLevel ?? defaultMapLevel;
  const before = stored?.model.roots.map((root) => root.name) ?? [];
  // parts that become documents are named for themselves, not for what was around them
  const samePlaces = rootsOf(request, source).every((name) => hasRoot(stored?.model, name));
  const { buildModel } = await import('./new-model.ts');
  const model = buildModel(request, source, {
    mapLevel: level,
    extraRoots: unique([...before, ...missing]),
    ...(stored?.model.mapLevel === level && !namesTables(request) && samePlaces
      ? { previous: stored.model }
      : {}),
  });
  return storeModel(session, idSch, model);
}

/** The one that `-l` names, or the newest of the origin that `-x` names. */
export async function namedLogicalSchema({
  request,
  home,
  idOrg,
}: ToolSession): Promise<StoredLogicalSchema> {
  const { catalog } = home.adapters;
  if (request.logicalId !== undefined) {
    const logical = await catalog.loadLogicalSchema(idOrg, { idLschma: request.logicalId });
    if (logical === null)
      throw new AppError('not_found', `-l ${request.logicalId}: there is no such logical schema`);
    return logical;
  }
  if (request.originId === undefined || !('id' in request.originId)) {
    throw new AppError('invalid_option', '-x $N: stands for a schema of the same request only');
  }
  const { id } = request.originId;
  const logical = await catalog.loadLogicalSchema(idOrg, { idSch: id });
  if (logical === null) throw new AppError('not_found', `-x ${id}: that origin has no logical schema`);
  return logical;
}

/** Stores a new model; a --rename that named nothing is told, as a mistyped name would go unnoticed. */
export function storeModel(
  session: ToolSession,
  idSch: number,
  model: RelationalModel,
): Promise<StoredLogicalSchema> {
  for (const [from, to] of unusedRenames(session.request.rename ?? [], model))
    session.log(`--rename ${from}=${to}: no table or column would be called ${from}`);
  return session.home.adapters.catalog.createLogicalSchema(session.idOrg, idSch, model, session.idJob);
}

/** Those whose new name nothing bears, alone or followed by what tells it from others. */
function unusedRenames(
  renames: NonNullable<ToolRequest['rename']>,
  { tables, nameMaxLength }: RelationalModel,
): typeof renames {
  const names = tables.flatMap((table) => [table.name, ...table.columns.map((column) => column.name)]);
  return renames.filter(
    ([, to]) =>
      Buffer.byteLength(to) <= nameMaxLength &&
      !names.some((name) => name === to || name.startsWith(`${to}_`)),
  );
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
