/**
 * Settles what a request leaves open about its schema: an XSD set becomes its origin, or the target names the schema it was loaded
 * with.
 */
import { InputError } from '../../engine/diagnostics.ts';
import { rangeText } from '../../engine/shred/xml-capture.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { createFastXmlTokenizer } from '../../engine/xml/tokenizer/fast.ts';
import { KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../../engine/xml/tokens.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { InputMember } from '../../inputs/members.ts';
import {
  elementName,
  prefixOf,
  unknownPrefix,
  settleNames,
  findBasis,
  elementsOf,
  isMeant,
} from '../schemas/choice.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import { AppError, isOutage } from '../../errors.ts';
import { takesXsdDocuments } from '../../service/jobs/xsd-inputs.ts';
import { openDocuments, openWatched } from '../session/document-inputs.ts';
import { documentTest } from '../../inputs/document-names.ts';
import type { XsdSetFiles } from '../../inputs/xsd-files.ts';
import { localFolder } from '../session/remote-sources.ts';
import { inputPaths } from '../session/resolve-inputs.ts';
import type { TargetOnDemand, ConversionContext } from './context.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import { rootsNamed, startsWith } from '../../engine/map/chosen-roots.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { QName, SourceModel } from '../../engine/model/source-model.ts';
import { parseModeOf, storesNothing } from '../../service/jobs/request/tool-request.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';
import { peekRootName } from '../../inputs/read-document.ts';
import {
  chooseLogicalSchema,
  hasRoot,
  type ChosenSchema,
  choicesAfterParent,
  storeModel,
} from '../schemas/logical-schema.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import { type KnownOrigin, storedStatistics } from './plan.ts';
import { isHtmlRoot } from '../../engine/shred/open-document.ts';
import type { OriginRecord } from '../../ports/stores/catalog.ts';
import { recogniseLoads, unknownLoadsMessage } from '../schemas/store-origin.ts';

// Prefixes in `--row-tag` and `--root`: those of the schema count first, then those that the documents declare.

/** The namespace of a prefix, as the first document that declares it has it; null if none does. */
type DeclaredNamespace = (prefix: string) => Promise<string | null>;

function namespacesOfDocuments(session: ToolSession, inputs: InputSet): DeclaredNamespace {
  const found = new Map<string, Promise<string | null>>();
  return (prefix) => {
    const known = found.get(prefix) ?? firstDeclared(session, inputs, prefix);
    found.set(prefix, known);
    return known;
  };
}

/**
 * The session with `{uri}local` in place of prefixes. AppError `invalid_option` for a prefix that neither the schema nor a document
 * declares.
 */
async function withoutPrefixes(session: ToolSession, declared: DeclaredNamespace): Promise<ToolSession> {
  const { request } = session;
  const { rowTag, root } = request;
  if (prefixIn(rowTag) === null && prefixIn(root) === null) return session;
  const namespaces = await namespacesOfSchema(session);
  const resolved = async (option: '--row-tag' | '--root', text: string | undefined) => {
    const prefix = prefixIn(text);
    if (text === undefined || prefix === null) return text;
    const uri = namespaces[prefix] ?? (await declared(prefix));
    if (uri === null) throw unknownPrefix(option, text);
    const { localName } = elementName(text, { [prefix]: uri })!;
    const full = `{${uri}}${localName}`;
    session.log(`${option} ${text}: ${full}`);
    return full;
  };
  return settledSession(session, {
    ...request,
    rowTag: await resolved('--row-tag', rowTag),
    root: await resolved('--root', root),
  });
}

function prefixIn(text: string | undefined): string | null {
  return text === undefined ? null : prefixOf(text);
}

/** The prefixes of the schema that the request names; none if the documents make their own. */
async function namespacesOfSchema({
  request,
  repeats,
  home,
  idOrg,
}: ToolSession): Promise<Readonly<Record<string, string>>> {
  const { catalog } = home.adapters;
  const idLschma = repeats?.idLschma ?? request.logicalId;
  const logical = idLschma === undefined ? null : await catalog.loadLogicalSchema(idOrg, { idLschma });
  const named = request.originId !== undefined && 'id' in request.originId ? request.originId.id : undefined;
  const idSch = logical?.idSch ?? named;
  const origin = idSch === undefined ? null : await catalog.loadOrigin(idOrg, idSch);
  return origin?.model.namespaces ?? {};
}

async function firstDeclared(session: ToolSession, inputs: InputSet, prefix: string): Promise<string | null> {
  for await (const member of inputs.members()) {
    const uri = await declaredIn(session, member, prefix).catch((error: unknown) => {
      // the reader of the document reports what is wrong with it
      if (error instanceof InputError) return null;
      throw error;
    });
    if (uri !== null) return uri;
  }
  return null;
}

const pieceBytes = 16_384;

async function declaredIn(
  { limits, kernels }: ToolSession,
  member: InputMember,
  prefix: string,
): Promise<string | null> {
  const names = createNameTable();
  const found: { uri: string | null } = { uri: null };
  const tokenizer = createFastXmlTokenizer(
    {
      names,
      limits,
      fileName: member.name,
      onBatch: (batch) => {
        const { events, count } = batch;
        for (let at = 0; at < count && found.uri === null; at += 1)
          if (
            (events[at * RECORD_INTS]! & KIND_MASK) === KIND_NAMESPACE &&
            names.localName(events[at * RECORD_INTS + 1]!) === prefix
          )
            found.uri = rangeText(batch, at);
      },
    },
    kernels,
  );
  for await (const chunk of member.chunks('fleeting'))
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      tokenizer.write(chunk.subarray(at, Math.min(at + pieceBytes, chunk.length)));
      if (found.uri !== null) return found.uri;
    }
  tokenizer.end();
  return found.uri;
}

// Settles the schema.

export interface SettledConversion {
  readonly session: ToolSession;
  readonly inputs: InputSet;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
}

/**
 * Returns the documents, and an origin if one is named, made from XSDs, or recorded in the target; otherwise the documents make their
 * own schema. `rows`: archives of the documents of `--from`.
 */
export async function settleSchema(
  given: ToolSession,
  target: TargetOnDemand,
  rows: readonly string[] | null,
): Promise<SettledConversion> {
  const named = await settleNames(given);
  const { idOrg, home, request, repeats } = named;
  const takesXsd = (await takesXsdDocuments(home.adapters.catalog, idOrg, request)) === true;
  named.steps.begin('inputs');
  // a watch reads only the files that it found, no others in the folder
  const watched =
    request.watched === undefined || rows !== null
      ? null
      : await (await import('../session/watched-files.ts')).watchedFiles(named, request.watched);
  const paths = rows ?? (watched === null ? await inputPaths(named, request.inputs, 'in', 'documents') : []);
  named.steps.begin('schema');
  const isNamed =
    request.logicalId !== undefined || (request.originId !== undefined && 'id' in request.originId);
  // the schema that another run is repeated with is settled
  const isSettled = isNamed || repeats !== null;
  const set = isSettled ? null : await xsdSetOf(named, rows === null ? paths : []);
  const isAmong = set !== null && request.xsd === undefined;
  named.steps.begin('inputs');
  const opened =
    watched === null
      ? await openDocuments(named, paths, { takesXsd, set, isAmong })
      : await openWatched(named, watched, takesXsd);
  named.soFar.inputs = opened.seen;
  const inputs = request.concatenated ? await separateDocuments(named, opened) : opened;
  named.steps.begin('schema');
  const declared = namespacesOfDocuments(named, inputs);
  const settled = async (): Promise<ToolSession> => {
    if (isSettled) return named;
    if (set !== null) {
      const { originOfSet } = await import('../schemas/set-origin.ts');
      return originOfSet(named, set, () => target.loads());
    }
    const { continueTarget } = await import('./settle-schema.ts');
    return continueTarget(named, inputs, target, declared);
  };
  try {
    const known = await withoutPrefixes(await settled(), declared);
    if (known.request.onDrift !== 'evolve') return { session: known, inputs, takesXsd };
    const { withNewestVersion } = await import('./drift.ts');
    return { session: await withNewestVersion(known, target), inputs, takesXsd };
  } catch (error) {
    await inputs.dispose();
    throw error;
  }
}

/** `--concatenated` */
async function separateDocuments(session: ToolSession, inputs: InputSet): Promise<InputSet> {
  const { separated } = await import('../../inputs/concatenated.ts');
  const { byHand, archiveLimits: limits } = session;
  const walk = { test: documentTest(false), limits, links: byHand ? 'follow' : 'refuse' } as const;
  try {
    return await separated(inputs, walk, localFolder(session, 'documents'), () => session.progress(0));
  } catch (error) {
    await inputs.dispose();
    throw error;
  }
}

/** Reads the XSD set of `--xsd`, or the XSDs among the inputs. Returns null if there are none. */
async function xsdSetOf(session: ToolSession, paths: readonly string[]): Promise<XsdSetFiles | null> {
  const { request, byHand, archiveLimits, spool } = session;
  const { followOf, readXsdSet, holdingXsds } = await import('../../inputs/xsd-files.ts');
  const links = byHand ? 'follow' : 'refuse';
  const reading = { follow: followOf(session), links, limits: archiveLimits, entry: request.entry } as const;
  if (request.xsd !== undefined) return readXsdSet(await inputPaths(session, request.xsd, 'xsd'), reading);
  const files = paths.filter((path) => spool.get(path) === undefined);
  const holding = await holdingXsds(files, archiveLimits, links);
  if (holding.length === 0 && request.entry !== undefined)
    throw new AppError('invalid_option', '--entry names a file of an XSD set: give that with --xsd');
  return holding.length === 0 ? null : readXsdSet(holding, { ...reading, among: true });
}

// The logical schema of a known origin that documents are loaded by.

/** Reports the schema. `collected` is null if the documents have not been read yet. */
export async function chooseSchema(
  context: ConversionContext,
  origin: KnownOrigin,
  collected: CollectedStatistics | null,
): Promise<ChosenSchema> {
  const { session } = context;
  session.steps.begin('schema');
  const met = await observedStatistics(context, origin, collected);
  const chosen = origin.pinned ?? (await chooseByTarget(context, origin, met));
  const { idLschma } = chosen.stored;
  if (origin.idSch < 0) session.log('its logical schema is not stored either');
  else if (idLschma < 0)
    session.log(
      `a new logical schema of schema ${origin.idSch}, which this run does not store: ${chosen.why}`,
    );
  else session.log(`logical schema ${idLschma} of schema ${origin.idSch}: ${chosen.why}`);
  if (idLschma >= 0) await session.report({ idLschma });
  session.choose({ logical: idLschma, why: chosen.why }, chosen.stored.model);
  return chosen;
}

/**
 * Returns the statistics for `--prune`, which leaves out unused elements, as is known only after all documents have been read. Returns
 * undefined if tables are drawn for everything in the model.
 */
async function observedStatistics(
  { plan }: ConversionContext,
  { model, statistics, ofJobs }: KnownOrigin,
  collected: CollectedStatistics | null,
): Promise<DocumentStatistics | undefined> {
  if (!plan.prunes || collected === null) return undefined;
  const { decidingStatistics } = await import('../../engine/map/prune.ts');
  const earlier = [...(statistics === null ? [] : [statistics]), ...ofJobs];
  return decidingStatistics([...earlier, collected.statistics].reduce(mergeStatistics), model);
}

/** Chooses by the loads of an existing target; without a target, the default of the origin counts. */
async function chooseByTarget(
  context: ConversionContext,
  { idSch, model }: KnownOrigin,
  met: DocumentStatistics | undefined,
): Promise<ChosenSchema> {
  const { session } = context;
  const loads = parseModeOf(session.request) === 'statistics' ? [] : await loadsOf(context);
  const basis = await findBasis(session, idSch, loads);
  const roots = await rootsOfDocuments(context, model, basis.stored?.model);
  return chooseLogicalSchema(session, idSch, model, basis, roots, met);
}

/**
 * Returns the loads that a dry run and `-S p` compare with, the same that a load would use. Tables are printed even if their target
 * cannot be queried.
 */
async function loadsOf({ session, target }: ConversionContext): Promise<readonly TargetLoad[]> {
  if (session.request.saveMode !== 'print-schema') return target.loads();
  try {
    return await target.loads();
  } catch (error) {
    if (!(error instanceof AppError) && !isOutage(error)) throw error;
    session.log(`cannot read from the target which schemas loaded it: ${(error as Error).message}`);
    return [];
  }
}

/** Root elements of the documents, when the stored model does not start with all that the source model allows. */
async function rootsOfDocuments(
  { session, inputs }: ConversionContext,
  source: SourceModel,
  stored: RelationalModel | undefined,
): Promise<readonly QName[]> {
  const { request, limits } = session;
  if (request.rowTag !== undefined) return elementsOf('--row-tag', request.rowTag, source);
  // one that --row-tag or --root made may start with other elements
  if (source.roots.every((root) => hasRoot(stored, source.elements[root]!.name))) return [];
  const names = createNameTable();
  const found = new Map<number, QName>();
  for await (const member of inputs.members()) {
    const id = await peekRootName(member, names, limits).catch((error: unknown) => {
      // it is skipped later, with its reason
      if (error instanceof InputError && request.onError === 'skip') return null;
      throw error;
    });
    if (id === null || found.has(id)) continue;
    const name = { namespaceUri: names.namespaceUri(id), localName: names.localName(id) };
    if (rootsNamed(source, [name]).length > 0 && !hasRoot(stored, name)) found.set(id, name);
  }
  return [...found.values()];
}

// Makes a schema from the documents themselves: inferred, drawn as tables, and stored with its statistics.

/** Reports the stored schema; a dry run and printed tables store nothing. */
export async function makeSchema(
  { session }: ConversionContext,
  { statistics, files }: CollectedStatistics,
): Promise<ChosenSchema> {
  const { request, home, idOrg, steps } = session;
  steps.begin('infer');
  const earlier = await earlierOrigin(session);
  const before = await storedStatistics(session, null);
  const all = before.reduce(mergeStatistics, statistics);
  const { inferSourceModel } = await import('../../engine/infer/source-model.ts');
  const source = earlier?.source ?? inferSourceModel(all);
  steps.begin('map');
  session.expectWork({ elements: source.elements.length });
  const { buildModel, modelSize } = await import('../schemas/build-model.ts');
  // places of a type that several share hold less than all of them together
  const met = request.prune ? { statistics: all, declared: source } : undefined;
  const model = buildModel(request, source, { ...(await choicesAfterParent(session)), met });
  session.log(modelSize(model));
  const why = 'made of the documents themselves';
  if (storesNothing(request))
    return { stored: { idSch: -1, idLschma: -1, model, modelHash: '', variant: false }, why };
  steps.begin('store');
  const { storeOrigin } = await import('../schemas/store-origin.ts');
  const origin = earlier?.record ?? (await storeOrigin(session, source, 'xml', files));
  // recorded now, so that a further attempt uses this origin again
  await session.report({ idSch: origin.id_sch });
  await session.reported();
  await home.adapters.catalog.saveStatistics(idOrg, origin.id_sch, session.idJob, statistics, () => all);
  const stored = await storeModel(session, origin.id_sch, model);
  await session.report({ idLschma: stored.idLschma });
  session.choose({ logical: stored.idLschma, why }, model);
  return { stored, why };
}

/** The origin that an earlier attempt of this job stored. */
async function earlierOrigin({ originOfEarlierAttempt, home, idOrg, idJob }: ToolSession) {
  if (originOfEarlierAttempt === null) return null;
  const origin = await home.adapters.catalog.loadOrigin(idOrg, originOfEarlierAttempt);
  return origin?.record.id_job === idJob ? { record: origin.record, source: origin.model } : null;
}

// `-x auto`: documents that are loaded into a target again go on with the origin that loaded it.

/** origins of a target that are looked into, the last that loaded it first */
const maxOrigins = 20;

/**
 * Returns the session with the target's origin that knows the documents, if there is one, otherwise unchanged. The log says which, and
 * why.
 */
export async function continueTarget(
  session: ToolSession,
  inputs: InputSet,
  target: TargetOnDemand,
  declared: DeclaredNamespace,
): Promise<ToolSession> {
  const { request, log } = session;
  const open = settledSession(session, { ...request, originId: undefined });
  if (
    request.out === undefined ||
    request.saveMode === 'print-schema' ||
    parseModeOf(request) === 'statistics'
  )
    return open;
  if (request.parent !== undefined || (await hasOwnOrigin(session))) return open;
  const recognised = await recogniseLoads(session, await target.loads());
  const known = [...new Set(recognised.known.map(({ idSch }) => idSch))].slice(0, maxOrigins);
  const tellUnknown = async (): Promise<void> => {
    const installation = await session.home.adapters.catalog.installation();
    const next = 'a new schema is made from the documents; if names differ, columns are added';
    const told = unknownLoadsMessage(recognised.unknown, installation, next);
    if (told !== null && request.saveMode !== 'overwrite') log(told);
  };
  if (known.length === 0) {
    await tellUnknown();
    return open;
  }
  const isAsked = request.originId !== undefined;
  if (request.saveMode === 'overwrite' && !isAsked) {
    log(
      `-S o replaces what the target holds: a new schema is made from the documents; -x auto uses origin ${known[0]}, which loaded it last`,
    );
    return open;
  }
  const roots = await rootTest(session, inputs, declared);
  for (const idSch of known) {
    const origin = await session.home.adapters.catalog.loadOrigin(session.idOrg, idSch);
    if (origin === null || !fitsName(request.name, origin.record) || !roots.knows(origin.model)) continue;
    const { name } = origin.record;
    log(
      `-x auto: origin ${idSch} (${name}) loaded the target before and is used again${isAsked ? '' : '; --name NAME makes a schema of these documents instead'}`,
    );
    return settledSession(session, { ...request, originId: { id: idSch }, name: undefined });
  }
  await tellUnknown();
  log(
    request.name === undefined
      ? `the target was loaded by other schemas (origin ${known.join(', ')}), none of which has ${roots.names}: a new schema is made from the documents`
      : `the target was loaded by other schemas than ${request.name} (origin ${known.join(', ')}): a new schema is made from the documents`,
  );
  return open;
}

/** An attempt before this one stored an origin of its own. */
async function hasOwnOrigin({ originOfEarlierAttempt, home, idOrg, idJob }: ToolSession): Promise<boolean> {
  if (originOfEarlierAttempt === null) return false;
  const origin = await home.adapters.catalog.findOrigin(idOrg, originOfEarlierAttempt);
  // the next version of another one is made once the documents have been read by that
  return origin?.id_job === idJob && origin.id_parent_sch === null;
}

function fitsName(name: string | undefined, origin: OriginRecord): boolean {
  return name === undefined || origin.name === name;
}

/** Tests whether a source model knows the root element of the documents. */
type RootTest = (model: SourceModel) => boolean;

async function rootTest(
  { request, limits }: ToolSession,
  inputs: InputSet,
  declared: DeclaredNamespace,
): Promise<{ readonly names: string; readonly knows: RootTest }> {
  const given = request.rowTag ?? request.root;
  if (given !== undefined) {
    const prefix = prefixOf(given);
    const uri = prefix === null ? null : await declared(prefix);
    const ofDocuments = prefix === null || uri === null ? {} : { [prefix]: uri };
    return {
      names: given,
      knows: ({ namespaces, elements }) => {
        const wanted = elementName(given, { ...ofDocuments, ...namespaces });
        return wanted !== null && elements.some(({ name }) => isMeant(wanted, name));
      },
    };
  }
  const names = createNameTable();
  const found = new Map<number, QName>();
  for await (const member of inputs.members()) {
    const id = await peekRootName(member, names, limits).catch((error: unknown) => {
      // it is reported, or skipped, when it is read
      if (error instanceof InputError) return null;
      throw error;
    });
    if (id === null || found.has(id)) continue;
    found.set(id, { namespaceUri: names.namespaceUri(id), localName: names.localName(id) });
  }
  const all = [...found.values()];
  // a page of HTML among documents is rejected, and decides nothing
  const others = all.filter((name) => !isHtmlRoot(name));
  const roots = others.length > 0 ? others : all;
  return {
    names: roots.map(({ localName }) => `<${localName}>`).join(', '),
    // elements that an inferred schema does not know are added to it
    knows: (model) =>
      request.onDrift === 'evolve' && model.inferred === true
        ? roots.some((name) => startsWith(model, name))
        : roots.every((name) => startsWith(model, name)),
  };
}
