-- How many rows each table of an origin holds by what its completed jobs loaded, kept up to date by the end of each job: the catalogue reads
-- one row per origin, whatever the number of jobs. The sums outlive the records of the jobs.

create table svc.loaded_rows (
  id_sch bigint primary key references svc.origin on delete cascade,
  id_org bigint not null references svc.org on delete cascade,
  -- rows by table
  tables jsonb not null
);
create index loaded_rows_id_org on svc.loaded_rows (id_org);

-- The part of it that lies in one target, which the next job with `-S o` replaces.
create table svc.target_rows (
  id_sch bigint not null references svc.origin on delete cascade,
  -- of the target as `-o` names it, which may be longer than an index takes
  target_sha256 bytea not null,
  tables jsonb not null,
  primary key (id_sch, target_sha256)
);

-- Sums by key: one, and the other times `factor`.
create function svc.add_rows(one jsonb, other jsonb, factor int) returns jsonb language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(name, rows), '{}')
    from (select name, sum(rows)::bigint as rows
            from (select key as name, value::bigint as rows from jsonb_each_text(one)
                  union all
                  select key, factor * value::bigint from jsonb_each_text(other)) every
           group by name) summed
$$;

create function svc.add_loaded_rows(of_org bigint, of_sch bigint, of_type text, params_json text, summary text)
returns void language plpgsql as $$
declare
  told jsonb := coalesce((summary::json -> 'tables')::text::jsonb, '{}');
  action json := params_json::json -> 'action';
  target bytea := sha256(convert_to(action ->> case of_type when 'Unload' then 'in' else 'out' end, 'UTF8'));
  sign int := case of_type when 'Unload' then -1 else 1 end;
  replaced jsonb := '{}';
begin
  insert into svc.loaded_rows as l (id_sch, id_org, tables)
  select s.id_sch, s.id_org, '{}' from svc.origin s where s.id_sch = of_sch and s.id_org = of_org for key share
  on conflict (id_sch) do update set tables = l.tables; -- locks the row: jobs of an origin end one after the other
  if not found then
    return;
  end if;
  if target is not null then
    if of_type = 'Parse' and action ->> 'savemode' = 'o' then
      delete from svc.target_rows t where t.id_sch = of_sch and t.target_sha256 = target returning t.tables into replaced;
    end if;
    insert into svc.target_rows as t (id_sch, target_sha256, tables) values (of_sch, target, svc.add_rows('{}', told, sign))
    on conflict (id_sch, target_sha256) do update set tables = svc.add_rows(t.tables, told, sign);
  end if;
  update svc.loaded_rows
     set tables = svc.add_rows(svc.add_rows(tables, coalesce(replaced, '{}'), -1), told, sign)
   where id_sch = of_sch;
end
$$;

create function svc.note_loaded_rows() returns trigger language plpgsql as $$
begin
  perform svc.add_loaded_rows(new.id_org, new.id_sch, new.job_type, new.params_json, new.summary);
  return null;
end
$$;

create trigger job_loaded_rows after update of status on svc.job
  for each row when (new.status = 'C' and old.status <> 'C' and new.job_type in ('Parse', 'Unload')
                     and new.id_sch is not null and new.summary is not null)
  execute function svc.note_loaded_rows();

-- The jobs that there are.
with run as (
  select j.id_job, j.id_org, j.id_sch, case j.job_type when 'Unload' then -1 else 1 end as sign, j.summary::json -> 'tables' as tables,
         sha256(convert_to(a.action ->> case j.job_type when 'Unload' then 'in' else 'out' end, 'UTF8')) as target,
         j.job_type = 'Parse' and a.action ->> 'savemode' = 'o' as overwrites
    from svc.job j cross join lateral (select j.params_json::json -> 'action' as action) a
   where j.status = 'C' and j.job_type in ('Parse', 'Unload') and j.summary is not null
     and exists (select from svc.origin s where s.id_sch = j.id_sch)
), overwritten as (
  select id_sch, target, max(id_job) as id_job from run where overwrites group by id_sch, target
), summed as (
  select r.id_org, r.id_sch, r.target, t.key as name, sum(r.sign * t.value::bigint)::bigint as rows
    from run r
    left join overwritten o on o.id_sch = r.id_sch and o.target = r.target
    cross join lateral json_each_text(coalesce(r.tables, '{}')) t
   where o.id_job is null or r.id_job >= o.id_job
   group by r.id_org, r.id_sch, r.target, t.key
), targets as (
  insert into svc.target_rows (id_sch, target_sha256, tables)
  select id_sch, target, jsonb_object_agg(name, rows) from summed where target is not null group by id_sch, target
)
insert into svc.loaded_rows (id_sch, id_org, tables)
select id_sch, id_org, jsonb_object_agg(name, rows)
  from (select id_org, id_sch, name, sum(rows)::bigint as rows from summed group by id_org, id_sch, name) every
 group by id_sch, id_org;
