/** The end of a conversion that loads: rows in the target, or the statements that would create its tables. */
import { ddlDialectOf } from '../targets/kinds.ts';
import type { CollectedStatistics } from '../load/collect-statistics.ts';
import type { ChosenSchema } from '../schemas/logical-schema.ts';
import { validateDocuments } from './check.ts';
import type { ConversionContext } from './context.ts';
import type { FilesOfDocuments } from '../watched/later-files.ts';
import { enumerationsOfOrigin, loadRows, type LoadResult, type RowsOrSchema } from './load-rows.ts';

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
        const { adviceOnUntyped } = await import('../reports/untyped-texts.ts');
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
  return (await import('../watched/later-files.ts')).filesOfWatch(session, watched.watch);
}
