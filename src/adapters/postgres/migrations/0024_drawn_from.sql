-- What a pruned model was drawn from (SHA-256, the latest last): the same statistics, options and program need no drawing.
alter table svc.logical_schema add column drawn_from text[] not null default '{}';
