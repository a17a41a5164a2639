/** Maps a source model to a relational model: the mapper's entry point. */
import type { QName, SourceModel } from '../model/source-model.ts';
import type { MapLevel, ModelOptions, RelationalModel } from '../model/relational-model.ts';
import { uniteSimilarTypes } from './tables/similar-types.ts';
import { findValueTypes, type ValueTypes } from './tables/column-types.ts';
import { chooseRoots } from './chosen-roots.ts';
import { listIdentityRules } from './tables/identity-rules.ts';
import { drawModel, type DrawingOptions, type ObservedContent } from './tables/draw-model.ts';
import { earlierHeldKeys, unfoldedPlaces } from './tables/earlier-folds.ts';
import { crowdedLeaves, needlessPlaces } from './tables/needless-tables.ts';
import { unitePlacesInParents } from './tables/parent-roles.ts';
import type { Drawing } from './tables/model-builder.ts';
import { finishTables, plainEdge, plainNodes, plainTables, type AddedColumn } from './tables/finish-model.ts';
import { addOffsets } from './tables/zones.ts';
import { observedRoots } from './tables/unobserved-places.ts';
import { listMappings } from './mappings.ts';
import { defaultNaming, type NamingOptions } from './names/identifiers.ts';
import { earlierTables, groupTables, sharedPlaces } from './names/earlier-tables.ts';
import {
  NameHistory,
  noPreviousNames,
  previousNames,
  recordedMeanings,
  translationOf,
  withFormerNames,
} from './names/history.ts';
import { rememberedTypeNames } from './names/type-names.ts';
import { namespacesOf } from './names/paths.ts';

export interface MappingOptions {
  readonly mapLevel: MapLevel;
  readonly naming?: NamingOptions;
  /** elements that documents start with; default: the primary roots of the source model, or all of its roots if none are primary */
  readonly roots?: readonly QName[];
  readonly defaultTextLength?: number;
  /** the content of the documents; with `--prune`, content that they never have at a place is left out of the model there */
  readonly met?: ObservedContent;
  readonly extraColumns?: readonly AddedColumn[];
  /** an earlier version of the model: tables and columns with the same path keep their names, and no name gets another meaning */
  readonly previous?: RelationalModel;
  /** false: names are given as for a model without an earlier version, except for names that had another meaning */
  readonly keepNames?: boolean;
  /** false: rows that an earlier version split over several tables go into one table if they fit */
  readonly keepSplits?: boolean;
  /** see RelationalModel.keepsDefaultNames; then no former names are recorded */
  readonly keepsDefaultNames?: boolean;
}

/**
 * Builds the relational model of a source model. The same input always gives the same model: names and order depend only on the source
 * model and the options.
 */
export function buildRelationalModel(given: SourceModel, options: MappingOptions): RelationalModel {
  const naming = options.naming ?? defaultNaming;
  const valueTypes = valueTypesOf(given, options);
  // content that documents never have beside values is pruned with all other content that they never have
  const plain = options.met === undefined && valueTypes !== null ? valueTypes.source : given;
  const source = options.mapLevel >= 2 ? uniteSimilarTypes(plain) : plain;
  const chosen = chooseRoots(source, options.roots);
  const roots = options.met === undefined ? chosen : observedRoots(source, chosen, options.met.statistics);
  const drawingOptions: DrawingOptions = {
    mapLevel: options.mapLevel,
    roots,
    defaultTextLength: options.defaultTextLength,
    declaredIn: given,
    met: options.met,
    ...(valueTypes === null ? {} : { valueTypes }),
    ...earlierFolds(options, source, roots),
    typeNames: rememberedTypeNames(options.met?.declared ?? source),
    textsByPlace: drawsTextsByPlace(options),
  };
  const { keepNames = true, keepSplits = true } = options;
  const { drawing, history, apart, folds } = drawnAfter(
    source,
    options.previous,
    drawingOptions,
    keepNames && keepSplits,
  );
  const previous = history === null ? noPreviousNames : previousNames(history, { keepNames, keepSplits });
  unitePlacesInParents(drawing, previous);
  for (const table of drawing.tables) addOffsets(table, previous);
  finishTables(drawing, source, naming, options.extraColumns ?? [], previous);
  const plan = {
    tables: plainTables(drawing.tables, keyedIds(options.previous), naming.maxBytes),
    nodes: plainNodes(drawing, source.types),
    roots: drawing.roots.map(plainEdge),
  };
  const model: RelationalModel = {
    mapLevel: options.mapLevel,
    nameMaxLength: naming.maxBytes,
    ...plan,
    mappings: listMappings(source, plan, roots),
    namespaces: source.namespaces,
    ...identityRules(source, plan),
    ...(drawing.foldedPlaces === null ? {} : { foldedPlaces: drawing.foldedPlaces }),
    ...(folds.size === 0 || drawing.foldedPlaces !== null ? {} : { foldedTables: [...folds].toSorted() }),
    ...(valueTypes === null ? {} : { keptBeside: options.met === undefined ? valueTypes.kept : [] }),
    ...(apart.size === 0 ? {} : { typesApart: [...apart] }),
    ...unusualOptions(naming, options.defaultTextLength),
  };
  if (options.keepsDefaultNames === true) return { ...model, keepsDefaultNames: true };
  return history === null ? model : withFormerNames(model, history);
}

/**
 * Returns whether the text of mixed content is settled place by place. The text of a target that was not pruned stays in rows of its own.
 */
function drawsTextsByPlace({ met, previous, keepSplits = true }: MappingOptions): boolean {
  if (met === undefined) return false;
  return previous === undefined || !keepSplits || previous.foldedPlaces !== undefined;
}

/** Decides which ids become keys. An id is a key from the first version on, or never: existing tables are not rebuilt for it. */
function keyedIds(previous: RelationalModel | undefined): (table: string, column: string) => boolean {
  if (previous === undefined) return () => true;
  const before = new Map(previous.tables.map((table) => [table.name, table]));
  return (table, column) => {
    const known = before.get(table);
    if (known === undefined) return true;
    return known.uniqueKeys.some(({ columns }) => columns.some((at) => known.columns[at]!.name === column));
  };
}

/**
 * Returns the folds of an earlier version. If the target has rows and the folds were not recorded, elements were folded only by type. A
 * target of its own has no folds yet.
 */
function earlierFolds(
  { previous, keepSplits = true }: MappingOptions,
  source: SourceModel,
  roots: readonly number[],
): Pick<DrawingOptions, 'foldedPlaces' | 'foldedTables'> {
  if (previous === undefined) return {};
  const { foldedPlaces: places, foldedTables = [] } = previous;
  const byType = places === undefined && keepSplits;
  const folded = new Set(foldedTables);
  if (byType && folded.size === 0) return { foldedPlaces: null, foldedTables: folded };
  const named = roots.map((root) => ({ name: source.elements[root]!.name }));
  const later = namespacesOf({ roots: named, namespaces: source.namespaces });
  const translate = translationOf(previous, later, source);
  return {
    foldedPlaces: byType ? null : new Set((places ?? []).map(translate)),
    foldedTables: new Set(foldedTables.map(translate)),
  };
}

/**
 * Returns the types of elements that are read as values, or null if there are none, or if tables of an earlier version have rows for
 * elements of such types.
 */
function valueTypesOf(given: SourceModel, { previous, met }: MappingOptions): ValueTypes | null {
  if (previous !== undefined && previous.keptBeside === undefined) return null;
  const found = findValueTypes(met?.declared ?? given);
  return found.types.size === 0 ? null : found;
}

interface Drawn {
  readonly drawing: Drawing;
  /** null: there is no earlier version */
  readonly history: NameHistory | null;
  /** see RelationalModel.typesApart */
  readonly apart: ReadonlySet<string>;
  /** see RelationalModel.foldedTables */
  readonly folds: ReadonlySet<string>;
}

/**
 * Draws the next version of a model. It keeps the choice of the previous version whether rows have the keys of their parents or those of
 * their children.
 */
function drawnAfter(
  source: SourceModel,
  previous: RelationalModel | undefined,
  options: DrawingOptions,
  keepsTables: boolean,
): Drawn {
  const earlier = new Set(previous?.typesApart ?? []);
  const folds = options.foldedTables ?? new Set();
  if (previous === undefined) {
    const drawing = drawModel(source, options);
    const apart = new Set(crowdedLeaves(drawing, source));
    const mayFold = options.mapLevel === 1 || options.mapLevel === 3;
    const foldedTables = new Set(mayFold ? needlessPlaces(drawing) : []);
    const isFinal = apart.size === 0 && foldedTables.size === 0;
    const better = isFinal ? drawing : drawModel(source, { ...options, apart, foldedTables });
    return { drawing: better, history: null, apart, folds: foldedTables };
  }
  const after = versionAfter(source, previous, options, keepsTables);
  const start = { ...options, keptFolds: new Set<string>(), apart: earlier };
  const { drawing, history, how } = keepsTables
    ? drawKeepingFolds(after, start)
    : { ...after(start), how: start };
  // a type that has one table for all of its places keeps that table
  const crowded = crowdedLeaves(drawing, source).filter((path) => !history.rows.has(path));
  if (crowded.length === 0) return { drawing, history, apart: earlier, folds };
  const apart = new Set([...earlier, ...crowded]);
  return { ...after({ ...how, apart }), apart, folds };
}

type KeptFolds = DrawingOptions & { readonly keptFolds: ReadonlySet<string> };

/**
 * Draws until each child that the last version read in the row above is read there again. One drawing may not be enough: the places of
 * further children appear only when their parent is back in the row above it.
 */
function drawKeepingFolds(
  after: ReturnType<typeof versionAfter>,
  how: KeptFolds,
): ReturnType<typeof after> & { readonly how: KeptFolds } {
  const drawn = after(how);
  const keptFolds = new Set([...how.keptFolds, ...unfoldedPlaces(drawn.drawing, drawn.history)]);
  return keptFolds.size === how.keptFolds.size
    ? { ...drawn, how }
    : drawKeepingFolds(after, { ...how, keptFolds });
}

/** Draws the version after `previous`. `keepsTables`: tables of `previous` hold rows, and tables with the same path continue them. */
function versionAfter(
  source: SourceModel,
  previous: RelationalModel,
  { roots }: DrawingOptions,
  keepsTables: boolean,
): (how: DrawingOptions) => { readonly drawing: Drawing; readonly history: NameHistory } {
  const named = roots.map((root) => ({ name: source.elements[root]!.name }));
  const later = namespacesOf({ roots: named, namespaces: source.namespaces });
  const meanings = recordedMeanings(previous, later, source);
  const groupBefore = groupTables(previous, meanings);
  return (how) => {
    // in this drawing, rows have the keys of their parents everywhere
    const plain = drawModel(source, { ...how, heldKeys: null });
    const history = new NameHistory(previous, meanings);
    const places = keepsTables ? sharedPlaces(previous, history, meanings) : null;
    const drawing = drawModel(source, {
      ...how,
      earlier: earlierTables(plain, places, history, groupBefore),
      heldKeys: earlierHeldKeys(history),
    });
    return { drawing, history };
  };
}

function identityRules(
  source: SourceModel,
  plan: Pick<RelationalModel, 'tables' | 'nodes'>,
): Pick<RelationalModel, 'identityRules'> {
  const rules = listIdentityRules(source, plan);
  return rules.length === 0 ? {} : { identityRules: rules };
}

function unusualOptions(
  naming: NamingOptions,
  defaultTextLength: number | undefined,
): { readonly options?: ModelOptions } {
  const options: ModelOptions = {
    ...(naming.nameMode === defaultNaming.nameMode ? {} : { nameMode: naming.nameMode }),
    ...(naming.tablePrefix === '' ? {} : { tablePrefix: naming.tablePrefix }),
    ...(naming.tableSuffix === '' ? {} : { tableSuffix: naming.tableSuffix }),
    ...(naming.rename.size === 0 ? {} : { rename: [...naming.rename] }),
    ...(defaultTextLength === undefined ? {} : { defaultTextLength }),
  };
  return Object.keys(options).length === 0 ? {} : { options };
}

// The options that a stored model was made with, so that its next version has names and columns of the same kind.

export function namingLike({ options = {}, nameMaxLength }: RelationalModel): NamingOptions {
  return {
    nameMode: options.nameMode ?? defaultNaming.nameMode,
    tablePrefix: options.tablePrefix ?? '',
    tableSuffix: options.tableSuffix ?? '',
    rename: new Map(options.rename ?? []),
    maxBytes: nameMaxLength,
  };
}

/**
 * Returns the columns that were added to the content of tables: in all tables (`-R`), or in those that documents start in. The first table
 * has them in both cases.
 */
export function extraColumnsOf({ tables }: RelationalModel): readonly AddedColumn[] {
  const extra = tables[0]?.columns.filter(({ role }) => role === 'extra') ?? [];
  return extra.map(({ name, type, nullable }) => ({
    name,
    type,
    ...(nullable ? { rootsOnly: true as const } : {}),
  }));
}
