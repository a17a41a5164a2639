-- How far a watch over the rows of a database has come goes with the watch.
alter table svc.query_mark add column id_watch bigint references svc.watch on delete cascade;
create index query_mark_watch on svc.query_mark (id_watch) where id_watch is not null;
