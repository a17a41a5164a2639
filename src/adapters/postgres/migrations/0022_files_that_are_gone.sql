-- A loaded file that is gone waits again, for a job that removes what it brought (--delete-missing).
alter table svc.watch_file add column removes boolean not null default false;
