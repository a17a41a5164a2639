-- Metrics ask for the jobs that ended lately and for the number of jobs in each state: both read this index, not the table.

create index job_ended on svc.job (end_date, status) where end_date is not null;
