/** The plan of a conversion, made from its request and the catalog before any document is read. */
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { isSameName, type SourceModel } from '../../engine/model/source-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { RootRule } from '../../engine/shred/open-document.ts';
import { knownOrigins } from '../../service/catalog/named.ts';
import { AppError } from '../../errors.ts';
import { parseModeOf } from '../../service/jobs/request/tool-request.ts';
import { pinnedLogicalSchema, elementName, elementsOf, rowElement } from '../schemas/choice.ts';
import { documentRoots, type ChosenSchema } from '../schemas/logical-schema.ts';

// Statistics of documents from earlier jobs.

/** `-a`: returns the statistics from earlier jobs; the origin's own statistics already include its jobs. */
export async function storedStatistics(
  { request, home, idOrg }: ToolSession,
  idSch: number | null,
): Promise<readonly DocumentStatistics[]> {
  const { catalog } = home.adapters;
  if (request.useStats === undefined) return [];
  const found = await catalog.loadStatistics(idOrg, request.useStats);
  const isOwn = await Promise.all(
    request.useStats.map(
      async (idJob) => idSch !== null && (await catalog.loadJobStatistics(idOrg, idSch, idJob)) !== null,
    ),
  );
  return found.filter((_, at) => !isOwn[at]) as DocumentStatistics[];
}

// The plan.

/** An origin that documents are read by. */
export interface KnownOrigin {
  readonly idSch: number;
  readonly model: SourceModel;
  /** its own statistics; null: none are stored */
  readonly statistics: DocumentStatistics | null;
  /** `-a`: statistics from other jobs */
  readonly ofJobs: readonly DocumentStatistics[];
  /** the logical schema that the request names; null: the target and the origin decide */
  readonly pinned: ChosenSchema | null;
}

export interface ConversionPlan {
  /** null: the documents make their own schema */
  readonly origin: KnownOrigin | null;
  /** `--row-tag` */
  readonly rowTag: RowElementName | null;
  /** root elements that documents may have */
  readonly roots: RootRule;
  /** all documents are read for their statistics before any is read for its rows */
  readonly collects: boolean;
  /** the schema leaves out elements that no document uses */
  readonly prunes: boolean;
  /** rows go to a target, or its tables are printed; false: the run only makes the schema */
  readonly loads: boolean;
  /** statistics of documents are gathered while their rows are loaded */
  readonly gathersOnLoad: boolean;
  /** content that the schema has no place for makes the next version of the origin */
  readonly evolves: boolean;
}

/** Reports the origin if it is known. */
export async function planConversion(session: ToolSession): Promise<ConversionPlan> {
  const { request, repeats } = session;
  const { rowTag, root, keepsOtherRoots } = request;
  const mode = parseModeOf(request);
  const loads = request.out !== undefined && mode !== 'statistics' && !request.dryRun;
  const keepsOthers = keepsOtherRoots && root === undefined;
  // a repeated load of documents that made a schema uses that schema; a run that read them only reads them again
  const hasSchema =
    request.originId !== undefined || request.logicalId !== undefined || (repeats !== null && loads);
  if (!hasSchema) {
    if (request.validate) throw (await import('./open-validator.ts')).noXsdSet('no origin is named');
    return {
      origin: null,
      // prefixes are resolved (src/tools/convert/settle-schema.ts)
      rowTag: rowTag === undefined ? null : elementName(rowTag, {})!,
      roots: { known: root === undefined ? null : [elementName(root, {})!], keepsOthers },
      collects: true,
      prunes: false,
      loads,
      gathersOnLoad: false,
      evolves: false,
    };
  }
  const origin = await findOrigin(session);
  const { model, pinned } = origin;
  if (pinned !== null && rowTag !== undefined) requireRowsAsRoots(pinned, rowTag, origin);
  const prunes = request.prune && pinned === null;
  const collects = !loads || prunes;
  const evolves = request.onDrift === 'evolve' && loads && pinned === null && isOfDocuments(origin);
  return {
    origin,
    rowTag: rowTag === undefined ? null : rowElement(rowTag, model),
    roots: {
      known: pinned?.stored.model.roots.map(({ name }) => name) ?? documentRoots(request, model),
      keepsOthers: keepsOthers || (evolves && addsRoots(request)),
    },
    collects,
    prunes,
    loads,
    gathersOnLoad: (mode === 'all' || evolves) && !collects,
    evolves,
  };
}

/** The plan of the load by the next version of the origin, whose statistics are stored with it. */
export function planAfterDrift(plan: ConversionPlan, { stored }: ChosenSchema): ConversionPlan {
  return {
    ...plan,
    roots: { ...plan.roots, known: stored.model.roots.map(({ name }) => name) },
    gathersOnLoad: false,
    evolves: false,
  };
}

/**
 * Returns whether the origin was inferred from documents whose statistics are known. A schema that was made from an XSD is changed by
 * people.
 */
function isOfDocuments({ model, statistics }: KnownOrigin): boolean {
  return model.inferred === true && statistics !== null;
}

/**
 * Returns whether an evolving schema also gets new root elements. A watch has files of one kind: a document with another root is a
 * stray.
 */
export function addsRoots({ watched, root }: ToolSession['request']): boolean {
  return watched === undefined && root === undefined;
}

/** AppError `invalid_option`: the documents of the logical schema that `-l` names do not start with the row element. */
function requireRowsAsRoots({ stored }: ChosenSchema, rowTag: string, { idSch, model }: KnownOrigin): void {
  const rows = elementsOf('--row-tag', rowTag, model);
  const roots = stored.model.roots.map(({ name }) => name);
  if (rows.some((row) => roots.some((root) => isSameName(root, row)))) return;
  const known = roots.slice(0, 10).map(({ localName }) => localName);
  throw new AppError(
    'invalid_option',
    `-l ${stored.idLschma} has the tables of whole documents, which start with ${known.join(', ')}: -x ${idSch} --row-tag ${rowTag} makes a logical schema whose documents start with ${rowTag}`,
  );
}

async function findOrigin(session: ToolSession): Promise<KnownOrigin> {
  const { request, home, idOrg } = session;
  const pinned = await pinnedLogicalSchema(session);
  let idSch: number;
  if (pinned !== null) idSch = pinned.stored.idSch;
  else if (request.originId !== undefined && 'id' in request.originId) idSch = request.originId.id;
  else throw new AppError('invalid_option', '-x $N: refers only to a schema of the same request');
  const origin = await home.adapters.catalog.loadOrigin(idOrg, idSch);
  if (origin === null) {
    const known = await knownOrigins(home.adapters.catalog, idOrg);
    throw new AppError('not_found', `-x ${idSch}: there is no such origin${known}`);
  }
  await session.report({ idSch });
  return {
    idSch,
    model: origin.model,
    statistics: origin.statistics as DocumentStatistics | null,
    ofJobs: await storedStatistics(session, idSch),
    pinned,
  };
}
