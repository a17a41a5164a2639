/** xml2er: documents become statistics, an origin with its model, and rows in a target. Rarely needed modules are imported lazily. */
import { InputError } from '../../engine/diagnostics.ts';
import type { InputSet } from '../inputs/list-files.ts';
import { nothingToLoad, type Conversion } from '../reports/conversion-result.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';
import { checkBeforeCollecting } from './check.ts';
import { chooseSchema } from './choose-schema.ts';
import { collectStatistics } from './collect.ts';
import { TargetOnDemand, type ConversionContext } from './context.ts';
import { fillTarget, printTables } from './fill-target.ts';
import { makeSchema } from './make-schema.ts';
import { addsRoots, planAfterDrift, planConversion } from './plan.ts';
import { settleSchema } from './settle-schema.ts';
import type { ChosenSchema } from '../schemas/logical-schema.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import type { LoadResult, RowsOrSchema } from './load-rows.ts';
import { outcomeOf, recordCollected, recordLoaded } from './record.ts';

export async function convertXml(given: ToolSession): Promise<Conversion> {
  if (given.request.from === undefined) return convertInputs(given, null);
  const { spooledRows } = await import('../row-inputs/spooled.ts');
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
    given.request.watched === undefined ? given : (await import('../watched/files.ts')).heldToVersions(given);
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
  const advice = '--on-error skip leaves out such documents and loads the others';
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
