-- A job that does not complete leaves no schema behind: what it has made of its documents goes when it ends.

create function svc.drop_schemas_of_failed_job() returns trigger language plpgsql as $$
declare
  gone bigint;
  contents bigint[];
begin
  -- Jobs that have completed with it, or may yet, keep a schema; so does a next version.
  for gone in
    select o.id_sch from svc.origin o
     where o.id_job = new.id_job
       and not exists (select from svc.job j where j.id_sch = o.id_sch and j.id_job <> new.id_job and (j.end_date is null or j.status = 'C'))
       and not exists (select from svc.origin v where v.id_parent_sch = o.id_sch)
  loop
    select array_agg(distinct f.id_content) into contents from svc.origin_file f where f.id_sch = gone and f.id_content is not null;
    delete from svc.origin where id_sch = gone;
    delete from svc.file_content c
     where c.id_content in (select k.id_content from svc.file_content k where k.id_content = any (contents) order by k.sha256 for update skip locked)
       and not exists (select from svc.origin_file f where f.id_content = c.id_content);
    delete from svc.origin_name n where n.id_family = gone and not exists (select from svc.origin s where s.id_family = gone);
  end loop;
  delete from svc.logical_schema l
   where l.id_job = new.id_job
     and not exists (select from svc.job j where j.id_lschma = l.id_lschma and j.id_job <> new.id_job and (j.end_date is null or j.status = 'C'));
  return null;
end
$$;

-- While a job commits, its rows may be in the target: only the target knows, and their schema stays.
create trigger job_drop_schemas after update of end_date on svc.job
  for each row when (old.end_date is null and new.end_date is not null and new.status <> 'C' and new.tool = 'xml2er' and not old.committing)
  execute function svc.drop_schemas_of_failed_job();
