-- What a run came to, in the record of its job.

-- The summary that a tool left, without its details, which may be long; null while the job has not ended as the summary says.
-- Escapes of characters that no text of a database holds are replaced.
create function svc.result_of(summary text, status text) returns text language sql immutable parallel safe as $$
  select '{' || string_agg(to_json(m.key)::text || ':' || m.value::text, ',' order by m.place) || '}'
    from (select regexp_replace(summary, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::json as told) s
   cross join json_each(s.told) with ordinality m (key, value, place)
   where m.key <> 'details' and s.told ->> 'status' = status
$$;

alter table svc.job add column result text generated always as (svc.result_of(summary, status)) stored;

-- Parameters as they are shown, with what came of them.
create function svc.shown_params(params_json text, result text) returns text language sql immutable parallel safe
  return case when result is null then params_json else left(params_json, -1) || ',"result":' || result || '}' end;

create or replace function svc.job_record(j svc.job) returns text language sql stable
  return json_build_object(
    'id_job', j.id_job, 'id_parent_job', j.id_parent_job, 'id_org', j.id_org, 'id_sch', j.id_sch, 'id_lschma', j.id_lschma,
    'id_app', j.id_app, 'job_type', j.job_type, 'status', j.status, 'params', j.params,
    'params_json', svc.shown_params(j.params_json, j.result),
    'host', j.host, 'os_user', j.os_user, 'base_path', j.base_path, 'parm_path_input', j.input_path,
    'parm_path_output', j.output_path, 'msg_proc_qty', j.messages, 'log_file', j.log_file,
    'start_date', svc.epoch_ms(j.start_date), 'end_date', svc.epoch_ms(j.end_date), 'id_workflow', j.id_workflow,
    'attempt', greatest(j.attempts, 1), 'progress', j.progress, 'failure', j.failure)::text;
