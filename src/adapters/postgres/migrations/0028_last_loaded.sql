-- The logical schema that the last load of an origin used: what is shown of the origin, until a newer one is made. NULL: its default.
alter table svc.origin add column loaded_lschma bigint references svc.logical_schema on delete set null;
create index origin_loaded_lschma on svc.origin (loaded_lschma);

create function svc.note_load() returns trigger language plpgsql as $$
begin
  update svc.origin s set loaded_lschma = new.id_lschma
    from svc.logical_schema l
   where l.id_lschma = new.id_lschma and s.id_sch = l.id_sch and s.loaded_lschma is distinct from new.id_lschma;
  return null;
end
$$;

create trigger job_load after update of status on svc.job
  for each row when (new.status = 'C' and old.status <> 'C' and new.job_type = 'Parse'
                     and new.id_lschma is not null and new.output_path is not null)
  execute function svc.note_load();
