/** GET /v2/run/rerun/{id_job}: the same job again, in a workflow of its own. */
import { AppError } from '../errors.ts';
import type { JobRun, JobStore } from '../ports/stores/jobs.ts';
import type { RerunJobResponse } from './request/execution-request.ts';
import { commandLine, requireCommands } from './submit.ts';
import type { Caller } from './submit.ts';

/**
 * Runs a job again. A run that moved rows uses the same logical schema again. AppError `commands_disabled`, `not_found`,
 * `job_not_terminal`; `conflict` for exports and imports, which no queue runs, and if the logical schema no longer exists.
 */
export async function rerunJob(
  adapters: { readonly jobs: JobStore },
  settings: { readonly commandsEnabled: boolean },
  caller: Caller,
  idJob: number,
): Promise<RerunJobResponse> {
  requireCommands(settings);
  const run = await adapters.jobs.findRun(caller.idOrg, idJob);
  const record = run?.record;
  if (record?.job_type === 'Export' || record?.job_type === 'Import')
    throw new AppError('conflict', 'an export or import is run again by sending its request again');
  if (record != null && record.id_watch !== undefined)
    throw new AppError(
      'conflict',
      `job ${idJob} is of watch ${record.id_watch}, which loads each file once: have what it rejected tried again by POST /v2/watches/${record.id_watch}/run with {"retry": true}`,
    );
  const gone = run === null ? null : deletedLogicalSchema(run);
  if (gone !== null)
    throw new AppError(
      'conflict',
      `job ${idJob} ran with logical schema ${gone}, which was deleted since: send its request again, with a schema that is there`,
    );
  const rerun = await adapters.jobs.rerunJob(caller.idOrg, idJob, caller.traceparent);
  return {
    error: false,
    id_job: rerun.idJob,
    id_parent_job: idJob,
    cmds: [commandLine(rerun.tool, rerun.idJob)],
    jobs: [rerun.idJob],
  };
}

/** Returns the logical schema that the run's summary names and the record no longer does; null if it exists, or rows were not moved. */
function deletedLogicalSchema({ record, summary }: JobRun): number | null {
  const movesRows =
    record.job_type === 'Write' || record.job_type === 'Unload' || record.parm_path_output !== null;
  if (!movesRows || record.job_type === 'Schema' || record.id_lschma !== null) return null;
  const { logical } = (summary ?? {}) as { readonly logical?: unknown };
  return typeof logical === 'number' ? logical : null;
}
