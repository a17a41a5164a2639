-- Models are kept packed (engine/model/packed-json.ts) and deflated. What was stored as JSON is packed after this file
-- (pack-stored-models.ts); 0008 drops what it stood in.

alter table svc.origin add column packed_model bytea;
alter table svc.origin alter column packed_model set storage external;

alter table svc.logical_schema
  -- tables, columns, and the plan that leads to them
  add column packed_plan bytea,
  -- the model's part of the source-to-target map
  add column packed_mappings bytea,
  -- the lines of the map for keys and positions, which are no content
  add column packed_structure bytea,
  -- ids in the order of the model, as JSON: [[first, count], …]
  add column table_ids text,
  add column column_ids text,
  add column mapping_ids text;
alter table svc.logical_schema
  alter column packed_plan set storage external,
  alter column packed_mappings set storage external,
  alter column packed_structure set storage external;

-- Lines of a map that are switched off.
create table svc.inactive_mapping (
  id_lschma bigint not null references svc.logical_schema on delete cascade,
  -- place among the lines of the map, from 0
  place int not null check (place >= 0),
  primary key (id_lschma, place)
);

-- The ids that are next; one row.
create table svc.next_model_id (
  only_row boolean primary key default true check (only_row),
  id_tab bigint not null,
  id_col bigint not null,
  id_map bigint not null
);
insert into svc.next_model_id (id_tab, id_col, id_map)
select coalesce((select max(id_tab) from svc.logical_table), 0) + 1,
       coalesce((select max(id_col) from svc.logical_column), 0) + 1,
       coalesce((select max(id_map) from svc.mapping), 0) + 1;

-- What an XSD set was compiled to: the same files, options and program need no compiling.
create table svc.compiled_set (
  id_org bigint not null references svc.org on delete cascade,
  -- SHA-256 of files, options and program
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  id_lschma bigint not null references svc.logical_schema on delete cascade,
  -- JSON
  diagnostics text not null,
  primary key (id_org, fingerprint)
);
create index compiled_set_id_lschma on svc.compiled_set (id_lschma);
