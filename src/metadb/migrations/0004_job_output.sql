-- Finds whether a job of an organisation loaded a target, by the target's name in the job's record. Names may be longer than an entry of an
-- index.
create index job_output on svc.job (id_org, md5(output_path)) where status = 'C' and job_type = 'Parse' and output_path is not null;
