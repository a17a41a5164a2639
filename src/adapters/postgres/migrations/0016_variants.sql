-- A logical schema that one load shaped for its own target: the default of an origin is the newest of the others.
alter table svc.logical_schema add column variant boolean not null default false;

-- Of those that are there: what a load with options that shape tables made of an origin that had one already.
update svc.logical_schema l set variant = true
  from svc.job j
 where j.id_job = l.id_job and j.tool = 'xml2er'
   and exists (select from svc.logical_schema earlier where earlier.id_sch = l.id_sch and earlier.id_lschma < l.id_lschma)
   and case when position('\u0000' in j.request) > 0 then false
            else j.request::json ->> 'prune' = 'true' or j.request::json ->> 'extraColumns' <> '[]'
              or exists (select from json_object_keys(j.request::json) given (name)
                          where given.name in ('mapLevel', 'nameMode', 'prefix', 'suffix', 'nameMaxLen', 'defaultVarcharLen',
                                               'rename', 'root', 'rowTag')) end;
