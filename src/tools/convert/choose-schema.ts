/** The logical schema of a known origin that documents are loaded by. */
import { InputError } from '../../engine/diagnostics.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import { rootsNamed } from '../../engine/map/chosen-roots.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { QName, SourceModel } from '../../engine/model/source-model.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { AppError, isOutage } from '../../errors.ts';
import { parseModeOf } from '../../jobs/request/tool-request.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import { peekRootName } from '../inputs/read-document.ts';
import { findBasis } from '../schemas/choice.ts';
import { chooseLogicalSchema, hasRoot, type ChosenSchema } from '../schemas/logical-schema.ts';
import { elementsOf } from '../schemas/model-choices.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import type { ConversionContext } from './context.ts';
import type { KnownOrigin } from './plan.ts';

/** Reports the schema. `collected` is null if the documents have not been read yet. */
export async function chooseSchema(
  context: ConversionContext,
  origin: KnownOrigin,
  collected: CollectedStatistics | null,
): Promise<ChosenSchema> {
  const { session } = context;
  session.steps.begin('schema');
  const met = await metStatistics(context, origin, collected);
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
async function metStatistics(
  { plan }: ConversionContext,
  { model, statistics, ofJobs }: KnownOrigin,
  collected: CollectedStatistics | null,
): Promise<DocumentStatistics | undefined> {
  if (!plan.prunes || collected === null) return undefined;
  const { decidingStatistics } = await import('../../engine/map/deciding-statistics.ts');
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
    session.log(`the target does not tell what it was loaded by: ${(error as Error).message}`);
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
