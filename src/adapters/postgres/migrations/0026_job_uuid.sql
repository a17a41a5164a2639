-- Numbers of jobs and of logical schemas are given out again after the database was restored from a backup, while targets keep what
-- later jobs wrote. A target knows a job by its UUID, and a logical schema by the hash of its model.

alter table svc.job add column uuid uuid not null default gen_random_uuid();
-- Marks outlive the records of their jobs.
alter table svc.query_mark add column job_uuid uuid not null default gen_random_uuid();
create index logical_schema_model_hash on svc.logical_schema (model_hash);
