-- How far loads of rows have come (--from, --after): the highest value of the column that rows are ordered by. `source`: hash of what was asked,
-- and of where rows go. It is written before the rows are committed; `settled` once they are known to be.
create table svc.query_mark (
  id_org bigint not null references svc.org on delete cascade,
  source text not null,
  id_job bigint not null,
  mark text not null,
  seen text[] not null,
  settled boolean not null default false,
  primary key (id_org, source, id_job)
);
