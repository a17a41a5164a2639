-- A summary beside each packed model, so that lists of thousands of schemas unpack none. It is stored with the model; for models that were stored
-- before, or by a tool of an earlier release that still runs, the first list that needs it stores it.

alter table svc.logical_schema
  -- JSON: [[name, xpath, number of columns, name of the row key or null], …] in load order
  add column table_summaries text,
  add column sequence_count int,
  add column key_count int,
  add constraint logical_schema_summary check (
    num_nulls(table_summaries, sequence_count, key_count) in (0, 3));
