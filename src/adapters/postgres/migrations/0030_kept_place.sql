-- A place of each process is kept for organisations that run nothing, and the running time of a job is known.

-- when the attempt that runs was claimed; null: claimed by an earlier version
alter table svc.job add column claimed_at timestamptz;
-- how long earlier attempts ran; time in the queue does not count
alter table svc.job add column ran interval not null default '0';

drop function svc.claim_job(int, interval, text, text, text, text, int);

-- As in migration 0014. `extra`: all places of the process are taken, and the claim is for the one that is kept beside them, which only
-- an organisation gets that runs nothing anywhere.
create function svc.claim_job(max_running int, lease interval, new_worker text, new_host text, new_user text, new_path text,
                              places int default null, extra boolean default false)
returns table (claimed bigint, org bigint, held_epoch bigint, attempt int, run_tool text, adopted boolean, ran_ms bigint) language plpgsql as $$
declare
  candidate record;
  place int;
begin
  if not extra then
    update svc.job j
       set epoch = j.epoch + 1, lease_until = clock_timestamp() + lease,
           worker_id = new_worker, host = new_host, os_user = new_user, base_path = new_path
     where j.id_job = (
       select o.id_job from svc.job o where o.committing and not o.by_hand and o.lease_until <= statement_timestamp()
        order by o.lease_until limit 1 for no key update skip locked)
    returning j.id_job, j.id_org, j.epoch, j.attempts, j.tool, true, 0
      into claimed, org, held_epoch, attempt, run_tool, adopted, ran_ms;
    if found then
      return next;
      return;
    end if;
  end if;

  update svc.job set status = 'Q', next_attempt = null
   where id_job = any (array(
     select id_job from svc.job where status = 'W' and next_attempt <= statement_timestamp() for no key update skip locked));

  for candidate in
    select o.id_org, running.n
      from svc.org o
     cross join lateral (
       select j.id_job from svc.job j
        where j.id_org = o.id_org and j.ready and j.status = 'Q' and j.deadline > statement_timestamp() order by j.id_job + 0 limit 1
     ) oldest
     cross join lateral (
       select count(*) as n, count(*) filter (where r.worker_id = new_worker) as here
         from svc.job r where r.id_org = o.id_org and r.status in ('R', 'T') and r.slot is not null
     ) running
     where running.n < max_running and (running.n = 0 or not extra)
       and (places is null or running.here < greatest(1, places - 1)
            or not exists (select from svc.org other where other.id_org <> o.id_org))
     order by running.n, oldest.id_job
  loop
    for place in
      select n from generate_series(1, max_running) n
       where not exists (select from svc.job r where r.id_org = candidate.id_org and r.slot = n and r.status in ('R', 'T'))
       order by random()
    loop
      -- Who takes the same place at this moment holds its lock until commit: another place is looked for instead of waiting.
      continue when not pg_try_advisory_xact_lock(hashtextextended(format('svc.job place %s of %s', place, candidate.id_org), 0));
      continue when exists (
        select from svc.job r where r.id_org = candidate.id_org and r.slot = place and r.status in ('R', 'T'));
      update svc.job j
         set status = 'R', slot = place, attempts = j.attempts + 1, epoch = j.epoch + 1,
             start_date = coalesce(j.start_date, clock_timestamp()), claimed_at = clock_timestamp(), lease_until = clock_timestamp() + lease,
             worker_id = new_worker, host = new_host, os_user = new_user, base_path = new_path,
             log_file = 'logs/job-' || j.id_job || '.log', progress = null, messages = 0, failure = null, summary = null
       where j.id_job = (
         select q.id_job from svc.job q
          where q.id_org = candidate.id_org and q.ready and q.status = 'Q' and q.deadline > statement_timestamp()
          order by q.id_job + 0 limit 1 for no key update skip locked)
      returning j.id_job, j.id_org, j.epoch, j.attempts, j.tool, false, (extract(epoch from j.ran) * 1000)::bigint
        into claimed, org, held_epoch, attempt, run_tool, adopted, ran_ms;
      if found then
        return next;
        return;
      end if;
      exit;
    end loop;
  end loop;
end
$$;
