/** The relational model a run works with: one that is stored, or a new one made to the run's options. */
import { rootsNamed } from '../../engine/map/chosen-roots.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { extraColumnsOf } from '../../engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../engine/model/relational-model.ts';
import { isSameName, type QName, type SourceModel } from '../../engine/model/source-model.ts';
import { knownOrigins } from '../../service/catalog/named.ts';
import { familiesOf } from '../../service/catalog/logical-schema.ts';
import { AppError } from '../../errors.ts';
import { storesNothing, type ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { inactiveLines } from '../../service/catalog/dictionary.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';
import {
  findBasis,
  pinnedLogicalSchema,
  type SchemaBasis,
  defaultMapLevel,
  rootsOf,
  type ModelChoices,
} from './choice.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { recogniseLoads } from './store-origin.ts';
import { engineIdentity } from '../../installation.ts';
import { sha256Of } from '../../storage/staging/durable-file.ts';
import { shapingOptions } from './set-fingerprint.ts';

/** Returns whether options shape tables: with one of them a stored model is not used unchanged. */
function shapesModel(request: ToolRequest, stored: RelationalModel | undefined): boolean {
  return (
    (request.mapLevel !== undefined && request.mapLevel !== stored?.mapLevel) ||
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

/** Options that give names: those of an earlier model are then not kept. */
function namesTables(request: ToolRequest): boolean {
  return (
    request.nameMode !== undefined ||
    request.prefix !== undefined ||
    request.suffix !== undefined ||
    request.nameMaxLen !== undefined ||
    request.rename !== undefined
  );
}

/** Returns the choices that the next version of an origin (`--parent`) inherits: the level and the names of its newest logical schema. */
export async function choicesAfterParent(session: ToolSession): Promise<ModelChoices> {
  const { request, idOrg, home } = session;
  const given = request.mapLevel;
  if (request.parent === undefined) return { mapLevel: given ?? defaultMapLevel };
  const { catalog } = home.adapters;
  const parent = await catalog.loadLogicalSchema(idOrg, { idSch: request.parent });
  if (parent === null && (await catalog.findOrigin(idOrg, request.parent)) === null) {
    const known = await knownOrigins(catalog, idOrg);
    throw new AppError('not_found', `--parent ${request.parent}: there is no such origin${known}`);
  }
  const mapLevel = given ?? parent?.model.mapLevel ?? defaultMapLevel;
  if (parent === null) return { mapLevel };
  const { previous, keepNames } = choicesAfter(parent.model, mapLevel, request);
  return { mapLevel, previous, keepNames };
}

/** Names are kept on the same level if no option gives others; a name of other content is never reused. */
function choicesAfter(
  previous: RelationalModel,
  mapLevel: MapLevel,
  request: ToolRequest,
): Pick<ModelChoices, 'previous' | 'keepNames' | 'extras'> {
  const keepNames = previous.mapLevel === mapLevel && !namesTables(request);
  return { previous, keepNames, ...(keepNames ? { extras: extraColumnsOf(previous) } : {}) };
}

/** Returns the root elements that documents of the model may have. */
export function documentRoots(request: ToolRequest, source: SourceModel): readonly QName[] {
  const chosen = rootsOf(request, source);
  return chosen.length > 0 ? chosen : source.roots.map((root) => source.elements[root]!.name);
}

export interface ChosenSchema {
  readonly stored: StoredLogicalSchema;
  readonly why: string;
}

/**
 * Returns the schema that the run continues from, unless an option asks for another shape or the documents have another root element of
 * the model. `met`: the part of the documents' statistics that decides (`--prune`).
 */
export async function chooseLogicalSchema(
  session: ToolSession,
  idSch: number,
  source: SourceModel,
  basis: SchemaBasis,
  rootsMet: readonly QName[],
  met?: DocumentStatistics,
): Promise<ChosenSchema> {
  const { request } = session;
  const { stored } = basis;
  const missing = rootsMet.filter((name) => !hasRoot(stored?.model, name));
  const shaped = shapesModel(request, stored?.model);
  if (stored !== null && basis.isEarlierVersion !== true && !shaped && missing.length === 0)
    return { stored, why: basis.why };
  const isVariant = shaped || request.rowTag !== undefined || !basis.isDefault;
  const result = await drawnSchema(session, { idSch, source, basis, missing, met, isVariant });
  if (stored === null || result.idLschma === stored.idLschma) return { stored: result, why: basis.why };
  const names = missing.map(({ localName }) => localName).join(', ');
  const reason = shaped
    ? 'the options of this load change its tables'
    : missing.length > 0
      ? `documents start with ${names}`
      : 'this version of the schema has no other for this target';
  const from = `made from logical schema ${stored.idLschma}`;
  return { stored: result, why: `${reason}; ${from}: ${basis.why}` };
}

/** The tables of the next version of an origin, `source`, which keep the names and choices of a logical schema of the previous version. */
export async function drawNextVersion(
  session: ToolSession,
  source: SourceModel,
  stored: StoredLogicalSchema,
): Promise<RelationalModel> {
  const { catalog } = session.home.adapters;
  const inactive = inactiveLines(await catalog.listMappings(session.idOrg, stored.idLschma, 'inactive'));
  const basis = { stored, why: '', isDefault: true, isOfTarget: true };
  const wanted = { idSch: unstoredVersion, source, basis, missing: [], met: undefined, isVariant: false };
  return makeModel(session, wanted, inactive);
}

/** The id of a version that is not stored yet: none that a store gives. */
const unstoredVersion = -1;

interface WantedModel {
  readonly idSch: number;
  readonly source: SourceModel;
  readonly basis: SchemaBasis;
  readonly missing: readonly QName[];
  readonly met: DocumentStatistics | undefined;
  readonly isVariant: boolean;
}

/** Redraws a pruned model only if documents bring statistics that decide its shape; otherwise returns the stored one. */
async function drawnSchema(session: ToolSession, wanted: WantedModel): Promise<StoredLogicalSchema> {
  const { home, idOrg } = session;
  const { idSch, basis, missing, met, isVariant } = wanted;
  const { stored } = basis;
  // paths that people have deactivated stay inactive, whatever else changes
  const inactive = inactiveLines(
    stored === null ? [] : await home.adapters.catalog.listMappings(idOrg, stored.idLschma, 'inactive'),
  );
  const draw = async (): Promise<StoredLogicalSchema> =>
    storeModel(session, idSch, await makeModel(session, wanted, inactive), isVariant);
  if (met === undefined || inactive.size > 0 || storesNothing(session.request)) return draw();
  const earlier = await findEarlierDrawing(session, { idSch, basis, missing, statistics: met });
  if (earlier.known !== null) {
    tellUnusedRenames(session, earlier.known.model);
    return earlier.known;
  }
  const drawn = await draw();
  await earlier.remember(drawn);
  return drawn;
}

async function makeModel(
  session: ToolSession,
  { idSch, source, basis, missing, met }: WantedModel,
  inactive: ReturnType<typeof inactiveLines>,
): Promise<RelationalModel> {
  const { request } = session;
  const { stored, isOfTarget = false } = basis;
  const level = request.mapLevel ?? stored?.model.mapLevel ?? defaultMapLevel;
  const before = (stored?.model.roots ?? []).map((root) => root.name);
  const known = before.filter((name) => rootsNamed(source, [name]).length > 0);
  // parts that become documents are named for themselves, not for the elements around them
  const sameRoots = rootsOf(request, source).every((name) => hasRoot(stored?.model, name));
  session.expectWork({ elements: source.elements.length });
  const { buildModel } = await import('./build-model.ts');
  const drawnOf =
    met === undefined ? source : (await import('../../engine/map/prune.ts')).pruneSourceModel(source, met);
  const choices = {
    mapLevel: level,
    extraRoots: unique([...known, ...missing]),
    met: met === undefined ? undefined : { statistics: met, declared: source },
    // a pruned model needs no extra table for columns that were too many before, unless the target has it
    keepSplits: isOfTarget || !request.prune,
  };
  const model =
    stored === null || !sameRoots
      ? buildModel(request, drawnOf, choices)
      : await drawnAfter(session, { idSch, stored, isPruned: met !== undefined }, (previous, beside) =>
          buildModel(request, drawnOf, { ...choices, ...choicesAfter(previous, level, request), ...beside }),
        );
  if (inactive.size === 0) return model;
  const { leaveOutInactive } = await import('../../engine/map/deactivate.ts');
  return leaveOutInactive(drawnOf, model, inactive);
}

/**
 * Returns the schema that continues `stored`, made by `draw`. A pruned model does not record the names that the default of its origin
 * has.
 */
async function drawnAfter(
  { idOrg, home }: ToolSession,
  {
    idSch,
    stored,
    isPruned,
  }: Pick<WantedModel, 'idSch'> & {
    readonly stored: StoredLogicalSchema;
    readonly isPruned: boolean;
  },
  draw: (previous: RelationalModel, beside?: Pick<ModelChoices, 'keepsDefaultNames'>) => RelationalModel,
): Promise<RelationalModel> {
  const { model: previous } = stored;
  if (stored.idSch === idSch && !stored.variant && isPruned)
    return draw(previous, { keepsDefaultNames: true });
  if (previous.keepsDefaultNames !== true) return draw(previous);
  const { catalog } = home.adapters;
  const schemas = await catalog.listLogicalSchemas(idOrg, stored.idSch);
  const idLschma = schemas.find(({ variant }) => !variant)?.idLschma;
  const standard = idLschma === undefined ? null : await catalog.loadLogicalSchema(idOrg, { idLschma });
  if (standard === null) return draw(previous);
  const { withNamesOf, withoutNamesOf } = await import('../../engine/map/names/history.ts');
  const model = draw(withNamesOf(previous, standard.model));
  return isPruned && stored.idSch === idSch ? withoutNamesOf(model, standard.model) : model;
}

/** The logical schema of rows that are there: the one that `-l` names, that made them, or the default of the origin that `-x` names. */
export async function namedLogicalSchema(
  session: ToolSession,
  loads: () => Promise<readonly TargetLoad[]>,
): Promise<ChosenSchema> {
  const pinned = await pinnedLogicalSchema(session);
  if (pinned !== null) return pinned;
  const { catalog } = session.home.adapters;
  const all = await loads();
  const idSch = await namedOrigin(session, all);
  const { stored, why, isEarlierVersion } = await findBasis(session, idSch, all);
  const own = isEarlierVersion === true ? await catalog.loadLogicalSchema(session.idOrg, { idSch }) : stored;
  if (own === null) {
    const known = await knownOrigins(catalog, session.idOrg);
    throw new AppError('not_found', `-x ${idSch}: there is no such origin${known}`);
  }
  return { stored: own, why };
}

/**
 * Returns the origin of `-x`. Without it, and with `auto`, returns the only origin that the rows were loaded with, or the newest if all
 * are versions of one schema.
 */
async function namedOrigin(session: ToolSession, loads: readonly TargetLoad[]): Promise<number> {
  const { request, home, idOrg } = session;
  const { originId } = request;
  if (originId !== undefined && 'id' in originId) return originId.id;
  if (originId !== undefined && !('auto' in originId))
    throw new AppError('invalid_option', '-x $N: refers only to a schema of the same request');
  const { known } = await recogniseLoads(session, loads);
  const holding = known.filter(({ holds }) => holds);
  const ids = [...new Set((holding.length > 0 ? holding : known).map(({ idSch }) => idSch))];
  const [only] = ids;
  if (ids.length === 1) return only!;
  const families = familiesOf(await home.adapters.catalog.listOrigins(idOrg));
  const versions = families
    .map((family) => family.map(({ id_sch: idSch }) => idSch))
    .find((family) => ids.every((id) => family.includes(id)));
  const newest = versions?.findLast((idSch) => ids.includes(idSch));
  if (newest !== undefined) return newest;
  throw ids.length === 0
    ? new AppError(
        'not_found',
        'no schema of this metadata database loaded the target that -i names: give -x or -l',
      )
    : new AppError('conflict', `the rows of -i were loaded by origins ${ids.join(', ')}: name one with -x`);
}

/**
 * Stores a new model if the run stores anything. A --rename that matched nothing is reported, because a mistyped name would go
 * unnoticed.
 */
export async function storeModel(
  session: ToolSession,
  idSch: number,
  model: RelationalModel,
  isVariant = false,
): Promise<StoredLogicalSchema> {
  tellUnusedRenames(session, model);
  if (storesNothing(session.request))
    return { idSch, idLschma: -1, model, modelHash: '', variant: isVariant };
  return session.home.adapters.catalog.createLogicalSchema(
    session.idOrg,
    idSch,
    model,
    session.idJob,
    isVariant,
  );
}

function tellUnusedRenames({ request, log }: ToolSession, model: RelationalModel): void {
  for (const [from, to] of unusedRenames(request.rename ?? [], model))
    log(`--rename ${from}=${to}: no table or column would be called ${from}`);
}

/** Returns the renames whose new name is not in use, neither alone nor with a distinguishing suffix. */
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
  return model?.roots.some((root) => isSameName(root.name, name)) ?? false;
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

// Pruned models that were drawn before: the same statistics, options and program need no drawing.

/** The inputs from which a model is drawn, beside the options of the run and the source model of its origin. */
interface DrawnFrom {
  readonly idSch: number;
  readonly basis: Pick<SchemaBasis, 'stored' | 'isOfTarget'>;
  /** roots of documents that the basis lacks */
  readonly missing: readonly QName[];
  /** the part of the documents' statistics that decides (src/engine/map/prune.ts) */
  readonly statistics: DocumentStatistics;
}

interface EarlierDrawing {
  /** null: such a model was not drawn yet, or was removed */
  readonly known: StoredLogicalSchema | null;
  /** `drawn`: the resulting model */
  remember(drawn: StoredLogicalSchema): Promise<void>;
}

async function findEarlierDrawing(session: ToolSession, from: DrawnFrom): Promise<EarlierDrawing> {
  const { request, idOrg, home } = session;
  const { catalog } = home.adapters;
  const run = [engineIdentity(), shapingOptions(request), request.rowTag, from.idSch];
  const statistics = hashOf(from.statistics);
  const fingerprintOf = (
    { stored, isOfTarget = false }: DrawnFrom['basis'],
    missing: readonly QName[],
  ): string => hashOf([run, statistics, stored?.modelHash, isOfTarget, missing]);
  const fingerprint = fingerprintOf(from.basis, from.missing);
  const found = await catalog.findDrawnSchema(idOrg, from.idSch, fingerprint);
  const known = found === null ? null : await schemaOf(found);
  return {
    known,
    // drawing again from the drawn model with the same documents returns that model
    remember: (drawn) =>
      catalog.rememberDrawnSchema(idOrg, drawn.idLschma, [
        ...new Set([fingerprint, fingerprintOf({ stored: drawn, isOfTarget: true }, [])]),
      ]),
  };

  async function schemaOf(idLschma: number): Promise<StoredLogicalSchema | null> {
    const { stored } = from.basis;
    return stored?.idLschma === idLschma ? stored : catalog.loadLogicalSchema(idOrg, { idLschma });
  }
}

function hashOf(value: unknown): string {
  return sha256Of(JSON.stringify(value));
}
