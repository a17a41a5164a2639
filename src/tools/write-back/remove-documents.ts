/** unload: the rows of a document leave a target. */
import { noDetails, nothingKept, type Conversion } from '../reports/conversion-result.ts';
import { chooseRowRemover } from './open-source.ts';
import { namedLogicalSchema } from '../schemas/logical-schema.ts';
import { settleNames } from '../schemas/settled-names.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function removeDocuments(given: ToolSession): Promise<Conversion> {
  const session = await settleNames(given);
  const { request, home } = session;
  const started = performance.now();
  const remover = await chooseRowRemover(session);
  try {
    const { stored, why } = await namedLogicalSchema(session, () => remover.loads());
    const { idSch, idLschma, model } = stored;
    const chosen = { logical: idLschma, why };
    await session.report({ idSch, idLschma });
    session.log(`logical schema ${idLschma}: ${why}`);
    await session.report({ outputPath: remover.label });
    const removed = await remover.remove(
      {
        model,
        documentName: request.document!,
        idJob: session.idJob,
        installation: await home.adapters.catalog.installation(),
        idSch,
        idLschma,
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
          unknownPaths: 0,
          bytes: 0,
          details: noDetails,
        }),
    );
    if (removed.already) session.log('an earlier attempt of this job had removed the rows');
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
      rows: removed.rows,
      mapped: new Set(model.mappings.map(({ xpath }) => xpath)).size,
      unknown: 0,
      bytes: 0,
      details: noDetails,
      steps: [['remove', (performance.now() - started) / 1000]],
    };
  } finally {
    await remover.close();
  }
}
