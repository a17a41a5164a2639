-- The foreign key's own check reads this index when a job is deleted; job_open_rerun holds open jobs only.

create index job_rerun_of on svc.job (rerun_of) where rerun_of is not null;
