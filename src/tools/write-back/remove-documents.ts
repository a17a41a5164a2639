/** unload: the rows of a document leave a target. */
import { factsOf } from '../../engine/model/facts.ts';
import {
  noDetails,
  nothingKept,
  type Conversion,
  type ConversionDetails,
} from '../reports/conversion-result.ts';
import { openRemover } from '../targets/kinds.ts';
import { namedLogicalSchema } from '../schemas/logical-schema.ts';
import { settleNames } from '../schemas/choice.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function removeDocuments(given: ToolSession): Promise<Conversion> {
  const session = await settleNames(given);
  const { request, home } = session;
  const remover = await openRemover(session);
  try {
    const { stored, why } = await namedLogicalSchema(session, () => remover.loads());
    const { idSch, idLschma, model, modelHash } = stored;
    const chosen = { logical: idLschma, why };
    await session.report({ idSch, idLschma });
    session.choose(chosen, model);
    session.log(`logical schema ${idLschma}: ${why}`);
    session.steps.begin('remove');
    await session.report({ outputPath: remover.label });
    const { removedFilesIn } = await import('../session/watched-files.ts');
    const files = await removedFilesIn(session, remover.label)(new Map([[request.document!, null]]));
    const details: ConversionDetails =
      files === undefined || request.dryRun ? noDetails : { ...noDetails, removed: files };
    const removed = await remover.removeDocuments(
      {
        model,
        documentName: request.document!,
        idJob: session.idJob,
        jobUuid: session.jobUuid,
        installation: await home.adapters.catalog.installation(),
        idSch,
        idLschma,
        modelHash,
        dryRun: request.dryRun,
      },
      ({ documents, rows }) =>
        session.beginCommit({
          origin: idSch,
          logical: idLschma,
          chosen,
          documents,
          rejected: 0,
          unknownRoots: 0,
          kept: nothingKept,
          tables: rows,
          unknown: 0,
          bytes: 0,
          details,
        }),
    );
    if (removed.already) session.log('an earlier attempt of this job removed the rows');
    if (request.dryRun) session.log('dry run: nothing was removed');
    return {
      origin: idSch,
      logical: idLschma,
      chosen,
      does: null,
      documents: removed.documents,
      rejected: 0,
      unknownRoots: 0,
      kept: nothingKept,
      tables: removed.rows,
      mapped: factsOf(model).mappedPaths,
      unknown: 0,
      bytes: 0,
      details,
    };
  } finally {
    await remover.close();
  }
}
