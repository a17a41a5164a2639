-- Who waits for the jobs of a workflow is told that one has ended (payload: the workflow's id).

create function svc.tell_job_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('svc_end', new.id_workflow::text);
  return null;
end
$$;

create trigger job_end after update of end_date on svc.job
  for each row when (old.end_date is null and new.end_date is not null)
  execute function svc.tell_job_end();
