-- Drawings that were saved, and natural keys that people declared.

create table svc.diagram (
  id_lschma bigint primary key references svc.logical_schema on delete cascade,
  svg text not null,
  saved timestamptz not null default clock_timestamp()
);

-- By the names of the target, so that they outlive the logical schema they were declared on.
create table svc.natural_key (
  id_org bigint not null references svc.org on delete cascade,
  id_family bigint not null,
  table_name text not null,
  column_name text not null,
  -- place within the table's key, from 1
  position int not null check (position >= 1),
  primary key (id_org, id_family, table_name, column_name)
);
