/** POST /v2/executions/kill/{id_job}: asks for the end of a job; its worker ends the process group. */
import { AppError } from '../errors.ts';
import type { JobStore } from '../ports/stores/jobs.ts';
import type { JobRecord } from './record.ts';
import type { Caller } from './submit.ts';

/** The record after the request; a terminal job stays as it is. AppError `not_found`. */
export async function killJob(
  adapters: { readonly jobs: JobStore },
  caller: Caller,
  idJob: number,
): Promise<JobRecord> {
  const record = await adapters.jobs.requestKill(caller.idOrg, idJob);
  if (record === null) throw new AppError('not_found', 'there is no such job');
  return record;
}
