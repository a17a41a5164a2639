-- The file system that files of a watched folder lay on: an empty folder on another one is a place where nothing is mounted.
alter table svc.watch add column file_system text;
-- What a changed location or pattern leaves out is loaded as it was, and counts again where it is met there: it is not gone from where it lay.
alter table svc.watch_file drop constraint watch_file_gone;
alter table svc.watch_file add constraint watch_file_gone check (not gone or status in ('ignored', 'loading', 'loaded'));
