/** Actions on a job: kill it, or run it again. */
import { call, getJson, type ShownJob } from '../shell/client.ts';
import { confirm, h, hasEnded } from '../parts/controls.ts';

/** Asks first. Returns whether the job was asked to end. */
export async function killJob(id: number): Promise<boolean> {
  if (!(await confirm(`Kill job ${id}?`, 'Kill', h('p', {}, 'Nothing of it is published.')))) return false;
  await call(`v2/executions/kill/${id}`, { method: 'POST' });
  return true;
}

/** Returns the id of the new job. */
export async function rerunJob(id: number): Promise<number> {
  return (await getJson<{ id_job: number }>(`v2/run/rerun/${id}`)).id_job;
}

/** Exports, imports and jobs of watches cannot be run again. */
export function canRunAgain({ status, job_type: type, id_watch: watch }: ShownJob): boolean {
  return hasEnded(status) && type !== 'Export' && type !== 'Import' && watch === undefined;
}
