/** Statistics of all documents, in one pass. */
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import { noDocumentsLeft } from '../load/document-cut.ts';
import type { ConversionContext } from './context.ts';

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
      ? (await import('../load/spark/collect-on-spark.ts')).collectOnSpark
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
