/** Finds documents that must not count before any of them is read for its content. */
import type { DocumentValidator } from '../../ports/processes.ts';
import type { ConversionContext } from './context.ts';

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
  const { openValidator } = await import('../validation/open-validator.ts');
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
  const { checkDocuments } = await import('../validation/check-documents.ts');
  await checkDocuments(session, { inputs, rowTag: plan.rowTag, roots: plan.roots }, validator);
}
