-- A name of a target is its organisation's while a job loads into it, and while its SQL schema holds tables.
alter table svc.target_schema add column jobs bigint[] not null default '{}';
