-- The rows and texts that packed models took the place of.

drop table svc.mapping, svc.logical_column, svc.logical_table;

alter table svc.origin drop column model;
alter table svc.origin alter column packed_model set not null;

alter table svc.logical_schema drop column model;
alter table svc.logical_schema
  alter column packed_plan set not null,
  alter column packed_mappings set not null,
  alter column packed_structure set not null,
  alter column table_ids set not null,
  alter column column_ids set not null,
  alter column mapping_ids set not null;
