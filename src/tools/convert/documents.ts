/** xml2er: documents become statistics, an origin with its model, and rows in a target. Rarely needed modules are imported lazily. */
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { xsiNamespace } from '../../engine/model/name-labels.ts';
import type { PlanNode, RelationalModel } from '../../engine/model/relational-model.ts';
import { clarkName } from '../../engine/model/source-model.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import { nothingToLoad, type Conversion, noDetails, nothingKept } from '../reports/conversion-result.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import { chooseSchema, makeSchema, settleSchema } from './settle-schema.ts';
import { TargetOnDemand, type ConversionContext } from './context.ts';
import { addsRoots, planAfterDrift, planConversion, type KnownOrigin } from './plan.ts';
import type { ChosenSchema } from '../schemas/logical-schema.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import { type LoadResult, type RowsOrSchema, enumerationsOfOrigin, loadRows } from './load-rows.ts';
import { noDocumentsLeft } from '../load/document-cut.ts';
import { ddlDialectOf } from '../targets/kinds.ts';
import type { FilesOfDocuments, FindRemovedFiles } from '../session/watched-files.ts';
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { parseModeOf, storesNothing } from '../../service/jobs/request/tool-request.ts';
import type { DocumentValidator } from '../../ports/processes.ts';

// Finds elements that may hold anything (`xs:anyType`), and held only text: they get rows of their own, but `--prune` makes a column of
// them.

/** paths that the line names; the rest are counted */
const namedPaths = 5;

/** The line of the log, or null if documents had no such element. */
export function adviceOnUntyped(model: RelationalModel, statistics: DocumentStatistics): string | null {
  const paths = untypedTexts(model, statistics);
  if (paths.length === 0) return null;
  const rest = paths.length - namedPaths;
  const named = paths.slice(0, namedPaths).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `the schema gives no type to ${named}, and documents have only text there: the text is stored in separate tables; in a new target, --prune stores it in columns`;
}

function untypedTexts(
  { nodes, roots }: RelationalModel,
  { elements, roots: documents }: DocumentStatistics,
): string[] {
  const found: string[] = [];
  const visited = new Uint8Array(elements.length);
  const open: { readonly element: number; readonly xpath: string; readonly node: PlanNode }[] = [];
  const follow = (element: number, above: string, steps: Pick<PlanNode, 'edges'>['edges']): void => {
    const name = elements[element]!;
    const edge = visited[element] === 1 ? undefined : steps.find((step) => sameName(step.name, name));
    if (edge === undefined) return;
    visited[element] = 1;
    open.push({ element, xpath: `${above}/${name.localName}`, node: nodes[edge.node]! });
  };
  for (const element of documents) follow(element, '', roots);
  for (const { element, xpath, node } of open) {
    const { withChildren, withText, attributes, children } = elements[element]!;
    const hasTextAlone =
      withText > 0 && withChildren === 0 && attributes.every((one) => one.namespaceUri === xsiNamespace);
    if (hasTextAlone && mayHoldAnything(node)) found.push(xpath);
    for (const child of children) follow(child.element, xpath, node.edges);
  }
  return found;
}

function mayHoldAnything({ textTable, wildcardTable, edges }: PlanNode): boolean {
  return textTable >= 0 && wildcardTable >= 0 && edges.length === 0;
}

function sameName(a: PlanNode['name'], b: PlanNode['name']): boolean {
  return a.localName === b.localName && clarkName(a) === clarkName(b);
}

// The conversion.

export async function convertXml(given: ToolSession): Promise<Conversion> {
  if (given.request.from === undefined) return convertInputs(given, null);
  const { spooledRows } = await import('../session/spooled-rows.ts');
  given.steps.begin('inputs');
  const rows = await spooledRows(given);
  if (rows.isDone) return nothingToLoad;
  const conversion = await convertInputs(rows.session, rows.paths);
  await rows.settle();
  return conversion;
}

/** `rows`: archives of the documents of `--from`. */
async function convertInputs(given: ToolSession, rows: readonly string[] | null): Promise<Conversion> {
  const session =
    given.request.watched === undefined
      ? given
      : (await import('../session/watched-files.ts')).heldToVersions(given);
  if (session.request.engine === 'spark')
    (await import('../load/spark/load-on-spark.ts')).requireSpark(session);
  const target = new TargetOnDemand(session);
  let hasOthers = false;
  try {
    const settled = await settleSchema(session, target, rows);
    try {
      const plan = await planConversion(settled.session);
      const { request } = settled.session;
      // a document of another root is content that the schema does not know, too
      const session =
        plan.evolves && addsRoots(request)
          ? settledSession(settled.session, { ...request, keepsOtherRoots: true })
          : settled.session;
      return await convertDocuments({ ...settled, session, plan, target });
    } catch (error) {
      hasOthers = error instanceof InputError && (await holdsSeveral(settled.inputs));
      throw error;
    } finally {
      await settled.inputs.dispose();
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const fault = await session.rejects.fatal(error);
    throw hasOthers && session.request.onError === 'fail' ? withSkipAdvice(fault) : fault;
  } finally {
    await target.close();
  }
}

/** Files, or documents of one archive. */
async function holdsSeveral({ fileCount, members }: InputSet): Promise<boolean> {
  if (fileCount > 1) return true;
  let documents = 0;
  try {
    for await (const _ of members()) if ((documents += 1) > 1) return true;
  } catch {
    // the fault that ended the walk has been reported already, or comes after the fault that is
  }
  return false;
}

function withSkipAdvice({ diagnostic }: InputError): InputError {
  const advice = '--on-error skip skips such documents and loads the others';
  return new InputError({ ...diagnostic, message: `${diagnostic.message}; ${advice}` });
}

/** Check, collect, choose or make the schema, load, record. */
async function convertDocuments(context: ConversionContext): Promise<Conversion> {
  const { origin, collects, loads } = context.plan;
  context.session.expectWork({ bytes: context.inputs.totalBytes });
  if (collects) await checkBeforeCollecting(context);
  const collected = collects ? await collectStatistics(context) : null;
  // documents that make their schema themselves are always read before
  const chosen =
    origin === null ? await makeSchema(context, collected!) : await chooseSchema(context, origin, collected);
  if (origin !== null) await recordCollected(context, origin, collected);
  const prints = context.session.request.saveMode === 'print-schema';
  if (prints) await printTables(context, chosen);
  if (prints || !loads) return outcomeOf(context, chosen, collected, null);
  const load = (by: ConversionContext, schema: ChosenSchema): Promise<RowsOrSchema> =>
    fillTarget(by, schema, collected, (result) => recordLoaded(by, result));
  const first = await load(context, chosen);
  if ('loaded' in first) return outcomeOfLoad(context, chosen, collected, first.loaded);
  // the next version of the schema has a place for all that was read
  const { instead } = first;
  await context.target.close();
  const again = { ...context, plan: planAfterDrift(context.plan, instead) };
  const second = await load(again, instead);
  if (!('loaded' in second)) throw new Error('documents drift from the schema that was made of them');
  return outcomeOfLoad(again, instead, collected, second.loaded);
}

async function outcomeOfLoad(
  context: ConversionContext,
  chosen: ChosenSchema,
  collected: CollectedStatistics | null,
  loaded: LoadResult,
): Promise<Conversion> {
  const outcome = outcomeOf(context, chosen, collected, loaded);
  if (loaded.kept.values + loaded.kept.documents === 0) return outcome;
  const { adviceOnDrift } = await import('./drift.ts');
  const merges = (await context.target.open()).currentDocuments !== undefined;
  const advice = adviceOnDrift(context, chosen, merges);
  return advice === null ? outcome : { ...outcome, advice };
}

// Statistics of all documents, in one pass.

/** Share of a job's progress that the pass takes if the rows are loaded after it. */
const shareBeforeLoad = 0.4;

export async function collectStatistics({
  session,
  inputs,
  takesXsd,
  plan,
}: ConversionContext): Promise<CollectedStatistics> {
  const { request, rejects } = session;
  session.steps.begin('statistics');
  const share = request.out === undefined || (plan.origin !== null && !plan.loads) ? 1 : shareBeforeLoad;
  const collect =
    request.engine === 'spark'
      ? (await import('../load/spark/survey-on-spark.ts')).collectOnSpark
      : (await import('../load/collect-statistics.ts')).collectHere;
  const collected = await collect(session, {
    inputs,
    rowTag: plan.rowTag,
    roots: plan.roots,
    source: plan.origin === null || plan.origin.model.inferred === true ? null : plan.origin.model,
    takesXsd,
    rejects,
    progress: (fraction, done) => session.progress(fraction * share, done),
  });
  // the files of a watch may all have been deleted
  if (collected.documents === 0 && request.watched?.files.length !== 0)
    throw noDocumentsLeft(rejects, request.rowTag);
  return collected;
}

// The end of a conversion that loads: rows in the target, or the statements that would create its tables.

/** `-S p`: the statements that would make the tables, in the log. */
export async function printTables({ session }: ConversionContext, { stored }: ChosenSchema): Promise<void> {
  const { renderDdl } = await import('../../engine/sql/ddl.ts');
  const dialect = ddlDialectOf(session.request);
  const { views: withViews = false, codes: choice = 'none' } = session.request;
  const valuesAt = withViews || choice !== 'none' ? await enumerationsOfOrigin(session, stored) : () => null;
  const codes = choice === 'none' ? {} : { codes: { choice, valuesAt } };
  for (const line of renderDdl(stored.model, { dialect, ...codes }).split('\n')) session.print(line);
  if (!withViews) return;
  const { entityViews, viewScript } = await import('../../engine/views/statements.ts');
  const enumeration = (table: number, column: number) => valuesAt(table, column)?.values ?? null;
  const { dialectOf } = await import('../../engine/sql/dialects/every-dialect.ts');
  const views = await entityViews(stored.model, { dialect: dialectOf(dialect), enumeration });
  for (const line of viewScript(views).join('').split('\n')) session.print(line);
}

/**
 * Loads and publishes the rows; `record` is called with the outcome. If that fails, or the documents are to be read by another schema,
 * the load is undone.
 */
export async function fillTarget(
  context: ConversionContext,
  chosen: ChosenSchema,
  collected: CollectedStatistics | null,
  record: (result: LoadResult) => Promise<void>,
): Promise<RowsOrSchema> {
  const { stored, why } = chosen;
  const { session, inputs, takesXsd, plan, target } = context;
  const sink = await target.open();
  await session.report({ outputPath: sink.label });
  try {
    session.log(`loading into ${sink.label}`);
    const result = await loadRows(session, inputs, stored, sink, {
      withStatistics: plan.gathersOnLoad,
      rowTag: plan.rowTag,
      takesXsd,
      rejects: session.rejects,
      // documents that were read for their statistics were checked before that
      check: async () => {
        if (!plan.collects) await validateDocuments(context, stored.idSch);
      },
      chosen: { logical: stored.idLschma, why },
      evolves: plan.evolves,
      filesOf: await filesOfWatchOf(session),
      removedFiles: await findRemovedFiles(session, sink.label),
      settleDrift: async (read) =>
        read.findings.unmapped.length === 0
          ? null
          : (await import('./drift.ts')).settleDrift(context, chosen, {
              ...read,
              statistics: read.statistics ?? collected?.statistics ?? null,
            }),
    });
    if ('loaded' in result) {
      const { loaded } = result;
      await record(loaded);
      if (loaded.statistics !== null && !session.request.prune) {
        const { adviceOnUntyped } = await import('./documents.ts');
        const advice = adviceOnUntyped(stored.model, loaded.statistics);
        if (advice !== null) session.log(advice);
      }
    } else await sink.abort();
    return result;
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

/** Undefined: the job is of no watch, or of one that looks at rows. */
async function filesOfWatchOf(session: ConversionContext['session']): Promise<FilesOfDocuments | undefined> {
  const { watched, from, saveMode } = session.request;
  if (watched?.watch === undefined || from !== undefined || saveMode !== 'merge') return undefined;
  return (await import('../session/watched-files.ts')).filesOfWatch(session, watched.watch);
}

/** Undefined: the job replaces and removes no documents. */
async function findRemovedFiles(
  session: ConversionContext['session'],
  label: string,
): Promise<FindRemovedFiles | undefined> {
  const { saveMode } = session.request;
  if (saveMode !== 'merge' && saveMode !== 'overwrite') return undefined;
  return (await import('../session/watched-files.ts')).removedFilesIn(session, label);
}

// Records the result of a conversion for later ones, and builds its answer.

/** The statistics of documents that were read by a known origin become part of its own. */
export async function recordCollected(
  context: ConversionContext,
  origin: KnownOrigin,
  collected: CollectedStatistics | null,
): Promise<void> {
  const { request } = context.session;
  if (collected !== null && parseModeOf(request) !== 'data' && !storesNothing(request))
    await saveStatistics(context, origin, collected.statistics);
}

/** After the rows are published. */
export async function recordLoaded(
  context: ConversionContext,
  { statistics, documents }: LoadResult,
): Promise<void> {
  const { session, plan } = context;
  if (statistics !== null && plan.origin !== null) await saveStatistics(context, plan.origin, statistics);
  await session.report({ messages: documents, progress: 1 });
}

function saveStatistics(
  { session }: ConversionContext,
  { idSch, ofJobs }: KnownOrigin,
  statistics: DocumentStatistics,
): Promise<void> {
  const { home, idOrg, idJob } = session;
  return home.adapters.catalog.saveStatistics(idOrg, idSch, idJob, statistics, (saved) =>
    [...(saved as DocumentStatistics[]), ...ofJobs, statistics].reduce(mergeStatistics),
  );
}

/** Returns the outcome: `collected` if documents were read for their statistics, `loaded` if their rows were loaded. */
export function outcomeOf(
  { session }: ConversionContext,
  { stored, why }: ChosenSchema,
  collected: CollectedStatistics | null,
  loaded: LoadResult | null,
): Conversion {
  const { rejects } = session;
  const logical = stored.idLschma < 0 ? null : stored.idLschma;
  return {
    origin: stored.idSch < 0 ? null : stored.idSch,
    does: loaded === null ? 'read' : 'loaded',
    logical,
    chosen: { logical, why },
    documents: loaded?.documents ?? collected?.documents ?? 0,
    rejected: rejects.messages.length - rejects.unknownRoots,
    unknownRoots: rejects.unknownRoots,
    kept: loaded?.kept ?? nothingKept,
    tables: loaded?.rows ?? {},
    mapped: factsOf(stored.model).mappedPaths,
    unknown: loaded?.unknownPaths ?? 0,
    bytes: loaded?.bytes ?? collected?.bytes ?? 0,
    details: loaded?.details ?? { ...noDetails, rejects: rejects.details },
  };
}

// Finds documents that must not count before any of them is read for its content.

/** Checks the documents in a separate pass first, because documents that will be skipped must not count. */
export async function checkBeforeCollecting(context: ConversionContext): Promise<void> {
  const { onError, validate, engine } = context.session.request;
  const { origin } = context.plan;
  if (onError === 'skip' && !validate) {
    context.session.steps.begin('check');
    // executors find it with the statistics
    if (engine !== 'spark') await check(context, null);
  } else if (origin !== null) await validateDocuments(context, origin.idSch);
}

/** `--validate`: a document that is not valid is rejected before any is read for its rows. */
export async function validateDocuments(context: ConversionContext, idSch: number): Promise<void> {
  const { session } = context;
  if (!session.request.validate) return;
  session.steps.begin('validate');
  const { openValidator } = await import('./open-validator.ts');
  const validator = await openValidator(session, idSch);
  try {
    session.log(`checking the documents with ${validator.program}`);
    await check(context, validator);
  } finally {
    await validator.close();
  }
}

async function check(
  { session, inputs, plan }: ConversionContext,
  validator: DocumentValidator | null,
): Promise<void> {
  const { checkDocuments } = await import('./check-documents.ts');
  await checkDocuments(session, { inputs, rowTag: plan.rowTag, roots: plan.roots }, validator);
}
