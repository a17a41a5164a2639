-- Lists of jobs and workflows are filtered by status, type and time of submission. Each index has the order of its list, newest first, or
-- narrows it to the times that are asked for.
create index job_of_status on svc.job (id_org, status, id_job desc);
create index job_of_type on svc.job (id_org, job_type, id_job desc);
create index job_created on svc.job (id_org, created);
create index workflow_created on svc.workflow (id_org, created);
