/** Converts rows of `svc.job` to job records. */
import type { JobRecord } from '../../../../jobs/record.ts';
import { withStatusName, type StatusLetter } from '../../../../jobs/status-letters.ts';
import type { Sql, TransactionSql } from '../../client/connect.ts';

/** A row of the columns in `jobColumns`. */
export type JobRow = Omit<JobRecord, 'status' | 'id_watch'> & {
  readonly status: StatusLetter;
  readonly id_watch: number | null;
};

export function jobRecord({ id_watch: idWatch, ...row }: JobRow): JobRecord {
  return withStatusName({ ...row, ...(idWatch === null ? {} : { id_watch: idWatch }) });
}

/** The select list of a `JobRow`; the table must be called `j`. */
export function jobColumns(sql: Sql | TransactionSql) {
  return sql`
    j.id_job, j.id_parent_job, j.id_org, j.id_sch, j.id_lschma, j.id_app, j.job_type, j.status, j.params, svc.shown_params(j.params_json, j.result) as params_json,
    j.host, j.os_user, j.base_path, j.input_path as parm_path_input, j.output_path as parm_path_output,
    j.messages as msg_proc_qty, j.log_file, svc.epoch_ms(j.start_date) as start_date, svc.epoch_ms(j.end_date) as end_date,
    j.id_workflow, greatest(j.attempts, 1) as attempt, j.progress, j.failure, j.id_watch, j.trace_id`;
}
