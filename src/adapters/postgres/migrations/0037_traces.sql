-- The trace that a job belongs to (W3C Trace Context). Jobs that no request made begin a trace of their own; jobs of before have none.

alter table svc.job
  add column trace_id text check (trace_id ~ '^[0-9a-f]{32}$'),
  -- `traceparent` of the request that made the job
  add column trace_parent text;
alter table svc.job alter column trace_id set default replace(gen_random_uuid()::text, '-', '');

create or replace function svc.job_record(j svc.job) returns text language sql stable
  return json_build_object(
    'id_job', j.id_job, 'id_parent_job', j.id_parent_job, 'id_org', j.id_org, 'id_sch', j.id_sch, 'id_lschma', j.id_lschma,
    'id_app', j.id_app, 'job_type', j.job_type, 'status', j.status, 'params', j.params,
    'params_json', svc.shown_params(j.params_json, j.result),
    'host', j.host, 'os_user', j.os_user, 'base_path', j.base_path, 'parm_path_input', j.input_path,
    'parm_path_output', j.output_path, 'msg_proc_qty', j.messages, 'log_file', j.log_file,
    'start_date', svc.epoch_ms(j.start_date), 'end_date', svc.epoch_ms(j.end_date), 'id_workflow', j.id_workflow,
    'attempt', greatest(j.attempts, 1), 'progress', j.progress, 'failure', j.failure, 'id_watch', j.id_watch,
    'trace_id', j.trace_id)::text;
