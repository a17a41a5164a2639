/** Makes a schema from the documents themselves: inferred, drawn as tables, and stored with its statistics. */
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import { storesNothing } from '../../jobs/request/tool-request.ts';
import { choicesAfterParent, storeModel, type ChosenSchema } from '../schemas/logical-schema.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import type { ConversionContext } from './context.ts';
import { storedStatistics } from './stored-statistics.ts';

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
  // a further attempt goes on with this origin
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
