/** DELETE /v2/executions/{id_job}: the record of an ended job goes with its log. */
import { AppError } from '../errors.ts';
import type { Adapters } from '../ports/adapters.ts';

/** Removes the record of an ended job and its log. AppError `not_found`, `job_not_terminal`. */
export async function removeJob(
  { jobs, files }: Pick<Adapters, 'jobs' | 'files'>,
  idOrg: number,
  idJob: number,
): Promise<void> {
  if (!(await jobs.removeJob(idOrg, idJob))) throw new AppError('not_found', 'there is no such job');
  await files.removeLog(idJob);
}
