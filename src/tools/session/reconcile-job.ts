/** Whether the rows of a job that died while it published are in its target: asked by its worker (src/service/jobs/worker/supervise-job.ts). */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import { openSink } from '../targets/kinds.ts';
import type { ToolSession } from './tool-session.ts';

const noTables: RelationalModel = {
  mapLevel: 0,
  nameMaxLength: 63,
  tables: [],
  nodes: [],
  roots: [],
  mappings: [],
  namespaces: {},
};

/**
 * Begins to publish nothing under the job's name, and aborts: the target then tells, under the lock that all publishers take, whether
 * it has that job already. Faults of the target are thrown, because they are no answer.
 */
export async function isPublished(session: ToolSession): Promise<boolean> {
  const sink = await openSink(session);
  try {
    await sink.open({
      model: noTables,
      saveMode: 'append',
      idJob: session.idJob,
      jobUuid: session.jobUuid,
      installation: await session.home.adapters.catalog.installation(),
      idSch: null,
      idLschma: null,
      modelHash: null,
      allTables: false,
      keys: 'hash',
    });
    const { already } = await sink.publish(() => Promise.resolve(false), new Map());
    return already;
  } catch (error) {
    // the refused fence, or a target that is no more
    if (error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')) return false;
    throw error;
  } finally {
    // the answer is known; the next load removes the staged rows
    await sink.abort().catch(() => undefined);
    await sink.close();
  }
}
