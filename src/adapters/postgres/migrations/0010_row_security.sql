-- Row-level security: what belongs to an organisation is seen by transactions that speak for it, and by those that say
-- that they go across organisations. It binds every role but the owner of the tables: the service takes on one that is not.

-- The organisation that the transaction speaks for; null: none.
create function svc.current_organisation() returns bigint
  language sql stable parallel safe
  return case when current_setting('svc.id_org', true) ~ '^[0-9]{1,18}$' then current_setting('svc.id_org', true)::bigint end;

-- Whether it goes across them, as workers do that look for the next job, and whoever looks up a key.
create function svc.across_organisations() returns boolean
  language sql stable parallel safe
  return coalesce(current_setting('svc.id_org', true) = '*', false);

-- Puts policies on every table that has none yet: one with an `id_org` by it, any other by the required foreign key that
-- leads to a table with policies. Tables without either are nobody's. Run after each migration.
create function svc.bind_rows() returns void language plpgsql
  set search_path = pg_catalog as $$
declare
  bound record;
begin
  loop
    select found.* into bound from (
      select distinct on (c.oid) c.relname as name, format('id_org = (select svc.current_organisation())') as condition
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'id_org' and a.attnotnull
       where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
      union all
      select distinct on (c.oid) c.relname,
             format('exists (select from svc.%I p where p.%I = %I.%I)', p.relname, pa.attname, c.relname, ca.attname)
        from pg_class c
        join pg_constraint k on k.conrelid = c.oid and k.contype = 'f' and cardinality(k.conkey) = 1
        join pg_class p on p.oid = k.confrelid and p.relrowsecurity and p.oid <> c.oid
        join pg_attribute ca on ca.attrelid = c.oid and ca.attnum = k.conkey[1] and ca.attnotnull
        join pg_attribute pa on pa.attrelid = p.oid and pa.attnum = k.confkey[1]
       where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
         and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'id_org' and a.attnotnull)
    ) found
    order by found.name collate "C" limit 1;
    exit when not found;
    execute format('alter table svc.%I enable row level security', bound.name);
    execute format('create policy organisation on svc.%I using (%s)', bound.name, bound.condition);
    execute format('create policy across_organisations on svc.%I using ((select svc.across_organisations()))', bound.name);
  end loop;
end
$$;
