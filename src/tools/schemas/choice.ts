/**
 * Chooses the logical schema of a run, with the reason: the one that an option names, the one that made the target, or the origin's
 * default.
 */
import { lineIdentity } from '../../engine/map/mappings.ts';
import type { RelationalModel, MapLevel } from '../../engine/model/relational-model.ts';
import { knownLogicals, logicalNamed, originNamed } from '../../service/catalog/named.ts';
import { AppError } from '../../errors.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';
import { requireExtras } from './extra-values.ts';
import { recogniseLoads, unknownLoadsMessage, type KnownLoad } from './store-origin.ts';
import { type ToolSession, settledSession } from '../session/tool-session.ts';
import type { ObservedContent } from '../../engine/map/tables/draw-model.ts';
import { clarkName, type QName, type SourceModel } from '../../engine/model/source-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { extraColumnsOf } from '../../engine/map/build-model.ts';

/** The schema that a load continues from. */
export interface SchemaBasis {
  /** null: the origin has none yet, except variants made for single loads */
  readonly stored: StoredLogicalSchema | null;
  readonly why: string;
  /** whether the origin's default is meant: a schema made from it may be the next default */
  readonly isDefault: boolean;
  /** whether it is of an earlier version of the origin: its names are kept, but it does not load rows */
  readonly isEarlierVersion?: boolean;
  /** it made the target, which has all its tables */
  readonly isOfTarget?: boolean;
}

/** paths that a line of the log names; the rest are counted */
const namedPaths = 5;

/** The logical schema that `-l` names, or that the run to be repeated used; null: the target and the origin decide. */
export async function pinnedLogicalSchema({
  request,
  idOrg,
  home,
  repeats,
}: ToolSession): Promise<{ readonly stored: StoredLogicalSchema; readonly why: string } | null> {
  const idLschma = repeats?.idLschma ?? request.logicalId;
  if (idLschma === undefined) return null;
  const stored = await home.adapters.catalog.loadLogicalSchema(idOrg, { idLschma });
  if (repeats !== null && stored === null)
    throw new AppError(
      'not_found',
      `logical schema ${idLschma}, which job ${repeats.idJob} used, no longer exists: send its request again instead of rerunning the job`,
    );
  if (stored === null)
    throw new AppError(
      'not_found',
      `-l ${idLschma}: there is no such logical schema${await knownLogicals(home.adapters.catalog, idOrg)}`,
    );
  requireExtras(stored.model, request.extraColumns);
  return {
    stored,
    why: repeats === null ? '-l names it' : `job ${repeats.idJob}, which this one repeats, used it`,
  };
}

/** `loads`: the loads that the target records, newest first. */
export async function findBasis(
  session: ToolSession,
  idSch: number,
  loads: readonly TargetLoad[],
): Promise<SchemaBasis> {
  const { request, idOrg, home, log } = session;
  const { catalog } = home.adapters;
  // a model is read only if the run continues from it: the default of a large set is far larger than one pruned from it
  const standard = (await catalog.listLogicalSchemas(idOrg, idSch)).find(({ variant }) => !variant);
  const ofDefault = async (): Promise<StoredLogicalSchema | null> =>
    standard === undefined ? null : catalog.loadLogicalSchema(idOrg, { idLschma: standard.idLschma });
  const byDefault = async (why: string): Promise<SchemaBasis> => ({
    stored: await ofDefault(),
    why,
    isDefault: true,
  });
  // a target of another map level is loaded as -g says
  const isOther = ({ mapLevel }: RelationalModel): boolean => mapLevel !== (request.mapLevel ?? mapLevel);
  const byLevel = (): Promise<SchemaBasis> =>
    byDefault(
      `-g ${request.mapLevel} is given and takes precedence over the target: the default of schema ${idSch}`,
    );
  if (loads.length === 0) return byDefault(`the default of schema ${idSch}, as the target is new`);
  const { known, unknown } = await recogniseLoads(session, loads);
  const tellUnknown = async (): Promise<void> => {
    const next =
      'if names differ, columns are added; -l chooses another logical schema, and -S o replaces what the target holds';
    const told = unknownLoadsMessage(unknown, await catalog.installation(), next);
    if (told !== null) log(told);
  };
  const loaded = loadedBefore(idSch, known);
  if (loaded !== null) {
    const isDefault = loaded.idLschma === standard?.idLschma;
    const stored = await catalog.loadLogicalSchema(idOrg, { idLschma: loaded.idLschma });
    if (stored !== null && isOther(stored.model)) return byLevel();
    await tellUnknown();
    if (standard !== undefined && loaded.variant)
      log(
        `logical schema ${loaded.idLschma} is a variant that the options of a load made: content that it omits is kept as unmapped; -l ${standard.idLschma} loads with the default of schema ${idSch}`,
      );
    else if (standard !== undefined && standard.idLschma > loaded.idLschma) {
      const newer = await ofDefault();
      if (newer !== null) log(tellNewer(loaded.idLschma, newer));
    }
    return { stored, why: loaded.why, isDefault, isOfTarget: true };
  }
  await tellUnknown();
  const earlier = await earlierVersion(session, idSch, known);
  if (earlier !== null) {
    if (isOther(earlier.model)) return byLevel();
    const why = `the target was loaded by logical schema ${earlier.idLschma} of schema ${earlier.idSch}, an earlier version; its names are kept`;
    const own = await ofDefault();
    if (own !== null && goesOn(own.model, earlier.model)) return { stored: own, why, isDefault: true };
    return { stored: earlier, why, isDefault: false, isEarlierVersion: true, isOfTarget: true };
  }
  const others = [...new Set(known.map((load) => load.idSch))];
  if (others.length > 0) log(`the target holds documents of other schemas, too: ${others.join(', ')}`);
  return byDefault(`the default of schema ${idSch}, which has not loaded the target before`);
}

/**
 * Returns the logical schema of this origin that made the target. If there are several, a default takes precedence over a variant, and
 * the last over the others.
 */
function loadedBefore(
  idSch: number,
  known: readonly KnownLoad[],
): { readonly idLschma: number; readonly variant: boolean; readonly why: string } | null {
  const candidates = holding(known.filter((load) => load.idSch === idSch));
  const chosen = defaultFirst(candidates);
  if (chosen === undefined) return null;
  const list = candidates
    .map(({ idLschma }) => idLschma)
    .toSorted((a, b) => a - b)
    .join(', ');
  const several = `the target holds documents loaded by ${list}, of which it is the newest`;
  const why =
    candidates.length === 1
      ? 'it made what the target holds'
      : candidates.every(({ variant }) => variant === chosen.variant)
        ? several
        : `${several} that is no variant`;
  return { ...chosen, why };
}

function defaultFirst(loads: readonly KnownLoad[]): KnownLoad | undefined {
  return loads.find(({ variant }) => !variant) ?? loads[0];
}

/** Returns the loads whose documents are still in the target, or all loads if there is none of them. */
function holding(loads: readonly KnownLoad[]): readonly KnownLoad[] {
  const still = loads.filter(({ holds }) => holds);
  return still.length > 0 ? still : loads;
}

/** Returns the schema that made the target, of the nearest version before this one that loaded it. */
async function earlierVersion(
  { idOrg, home }: ToolSession,
  idSch: number,
  known: readonly KnownLoad[],
): Promise<StoredLogicalSchema | null> {
  const { catalog } = home.adapters;
  let origin = await catalog.findOrigin(idOrg, idSch);
  while (origin !== null && origin.id_parent_sch !== null) {
    const parent = origin.id_parent_sch;
    const chosen = defaultFirst(holding(known.filter((load) => load.idSch === parent)));
    if (chosen !== undefined) return catalog.loadLogicalSchema(idOrg, { idLschma: chosen.idLschma });
    origin = await catalog.findOrigin(idOrg, parent);
  }
  return null;
}

/** Returns whether the two models have a known place in common. */
function goesOn(model: RelationalModel, earlier: RelationalModel): boolean {
  const columns = columnsByContent(earlier);
  for (const [content, here] of columnsByContent(model))
    if (columns.get(content)?.isDisjointFrom(here)) return false;
  return true;
}

function columnsByContent({ mappings, tables }: RelationalModel): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of mappings) {
    if (line.xpath === null || line.active === false) continue;
    const { name, columns } = tables[line.table]!;
    const column = `${name}\n${line.column === null ? '' : columns[line.column]!.name}`;
    const content = lineIdentity(line);
    const known = found.get(content);
    if (known === undefined) found.set(content, new Set([column]));
    else known.add(column);
  }
  return found;
}

/** Describes what a newer logical schema lacks: the paths that people have deactivated. */
function tellNewer(used: number, { idSch, idLschma, model }: StoredLogicalSchema): string {
  const paths = [
    ...new Set(
      model.mappings.flatMap(({ active, xpath }) => (active === false && xpath !== null ? [xpath] : [])),
    ),
  ];
  const rest = paths.length - namedPaths;
  const named = paths.slice(0, namedPaths).join(', ');
  const leavesOut =
    paths.length === 0
      ? ''
      : `, and leaves out what was deactivated (${named}${rest > 0 ? ` and ${rest} more` : ''})`;
  return `logical schema ${idLschma} of schema ${idSch} is newer${leavesOut}: this target keeps ${used}, which made it; -l ${idLschma} loads with the newer one`;
}

// The choices for a logical schema, beside its source: level, names, roots.

/** The default of `-g` (docs/decisions/loading/target-decides.md). */
export const defaultMapLevel: MapLevel = 3;

/** The elements that documents start with, as the options say; none if no option says it. AppError if the model has no such element. */
export function rootsOf(request: ToolRequest, source: SourceModel): readonly QName[] {
  if (request.root !== undefined) return elementsOf('--root', request.root, source);
  return request.rowTag === undefined ? [] : elementsOf('--row-tag', request.rowTag, source);
}

/**
 * The names of the elements of a model that the text of an option means: a name without a namespace means each element of that local
 * name. Of documents (`--root`), those that documents may start with come before others. AppError `invalid_option` if there is none.
 */
export function elementsOf(
  option: '--root' | '--row-tag',
  text: string,
  source: SourceModel,
): readonly QName[] {
  const wanted = requiredName(option, text, source);
  const named = source.elements.flatMap(({ name }) => (isMeant(wanted, name) ? [name] : []));
  const starting = source.roots
    .map((root) => source.elements[root]!.name)
    .filter((name) => isMeant(wanted, name));
  const all = option === '--root' && starting.length > 0 ? starting : [...starting, ...named];
  const found = new Map(all.map((name) => [clarkName(name), name]));
  if (found.size > 0) return [...found.values()];
  const known = source.roots.slice(0, 10).map((at) => source.elements[at]!.name.localName);
  throw new AppError(
    'invalid_option',
    `${option} ${text}: no such element; documents may start with ${known.join(', ')}`,
  );
}

/** Whether an element of this name is one that an option names. */
export function isMeant({ namespaceUri, localName }: RowElementName, name: QName): boolean {
  return localName === name.localName && (namespaceUri === null || namespaceUri === name.namespaceUri);
}

/**
 * The row elements of `--row-tag` in documents of a model. An XSD decides which namespace a name means; documents without one may have
 * rows in several.
 */
export function rowElement(text: string, source: SourceModel): RowElementName {
  const names = elementsOf('--row-tag', text, source);
  return names.length === 1 && source.inferred !== true ? names[0]! : requiredName('--row-tag', text, source);
}

/**
 * `{uri}local`, `prefix:local` with one of these prefixes, or `local`, of any namespace (null). Returns null if the prefix is none of
 * them.
 */
export function elementName(text: string, namespaces: SourceModel['namespaces']): RowElementName | null {
  const clark = /^\{([^}]*)\}(.+)$/.exec(text);
  if (clark !== null) return { namespaceUri: clark[1]!, localName: clark[2]! };
  const prefix = prefixOf(text);
  if (prefix === null) return { namespaceUri: null, localName: text };
  const uri = Object.hasOwn(namespaces, prefix) ? namespaces[prefix] : undefined;
  return uri === undefined ? null : { namespaceUri: uri, localName: text.slice(prefix.length + 1) };
}

/** The prefix of an element's name; null if it has none. */
export function prefixOf(text: string): string | null {
  const colon = text.startsWith('{') ? -1 : text.indexOf(':');
  return colon < 0 ? null : text.slice(0, colon);
}

export function unknownPrefix(option: '--root' | '--row-tag', text: string): AppError {
  const prefix = prefixOf(text)!;
  const local = text.slice(prefix.length + 1);
  return new AppError(
    'invalid_option',
    `${option} ${text}: neither the schema nor the documents declare the prefix ${prefix}; name the namespace itself, as in {urn:o}${local}, or leave the prefix out to mean ${local} in any namespace`,
  );
}

function requiredName(option: '--root' | '--row-tag', text: string, source: SourceModel): RowElementName {
  const name = elementName(text, source.namespaces);
  if (name === null) throw unknownPrefix(option, text);
  return name;
}

export interface ModelChoices {
  readonly mapLevel: MapLevel;
  /** roots beside those of the source model */
  readonly extraRoots?: readonly QName[];
  /** an earlier version: content at the same path keeps its name, and new names follow the same rules */
  readonly previous?: RelationalModel;
  /** false: names follow the run's options, except names of other content */
  readonly keepNames?: boolean;
  /** false: rows that were split over several tables go to one table if possible */
  readonly keepSplits?: boolean;
  /** see RelationalModel.keepsDefaultNames */
  readonly keepsDefaultNames?: boolean;
  /** content of the documents: nothing else is drawn (`--prune`) */
  readonly met?: ObservedContent | undefined;
  /** columns beside the content of every table, unless `-R` gives others */
  readonly extras?: ReturnType<typeof extraColumnsOf>;
}

// `-x NAME` and `-l NAME`: ids in place of names.

/** The session with ids alone. AppError `not_found`, `conflict`. */
export async function settleNames(session: ToolSession): Promise<ToolSession> {
  const { request, idOrg, home, log } = session;
  const { originId, logicalName } = request;
  const { catalog } = home.adapters;
  if (logicalName !== undefined) {
    const logicalId = await logicalNamed(catalog, idOrg, logicalName);
    return settledSession(session, { ...request, logicalId, logicalName: undefined });
  }
  if (originId === undefined || !('name' in originId)) return session;
  const { origin, versions } = await originNamed(catalog, idOrg, originId.name);
  const version = versions > 1 ? `, version ${origin.version}, the newest` : '';
  log(`-x ${originId.name}: origin ${origin.id_sch}${version}`);
  return settledSession(session, { ...request, originId: { id: origin.id_sch } });
}
