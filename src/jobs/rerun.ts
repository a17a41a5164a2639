/** GET /v2/run/rerun/{id_job}: the same job again, in a workflow of its own. */
import { AppError } from '../errors.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { RerunJobResponse } from './execution-request.ts';
import { commandLine, requireCommands } from './submit.ts';
import type { Caller } from './submit.ts';

/** AppError `commands_disabled`, `not_found`, `job_not_terminal`; `conflict` for exports and imports, which no queue runs. */
export async function rerunJob(
  adapters: { readonly jobs: JobStore },
  settings: { readonly commandsEnabled: boolean },
  caller: Caller,
  idJob: number,
): Promise<RerunJobResponse> {
  requireCommands(settings);
  const record = await adapters.jobs.find(caller.idOrg, idJob);
  if (record?.job_type === 'Export' || record?.job_type === 'Import')
    throw new AppError('conflict', 'an export or import is run again by sending its request again');
  const rerun = await adapters.jobs.rerun(caller.idOrg, idJob);
  return {
    error: false,
    id_job: rerun.idJob,
    id_parent_job: idJob,
    cmds: [commandLine(rerun.tool, rerun.idJob)],
    jobs: [rerun.idJob],
  };
}
