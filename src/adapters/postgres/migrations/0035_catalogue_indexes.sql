-- The integration catalogue asks for the runs of schemas: the loads of one schema, newest first, and all runs of an organisation.

create index job_of_schema on svc.job (id_sch, id_job desc) where id_sch is not null;
create index job_runs on svc.job (id_org, id_job desc) where id_sch is not null;
-- the first serves its questions, too
drop index svc.job_id_sch;
