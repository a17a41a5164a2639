/** Records the result of a conversion for later ones, and builds its answer. */
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { parseModeOf, storesNothing } from '../../jobs/request/tool-request.ts';
import { noDetails, nothingKept, type Conversion } from '../reports/conversion-result.ts';
import type { ChosenSchema } from '../schemas/logical-schema.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import type { ConversionContext } from './context.ts';
import type { LoadResult } from './load-rows.ts';
import type { KnownOrigin } from './plan.ts';

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
