-- Rows and their job are two records, often in two databases: `committing` says that the first may be there already. Claims take
-- one step, and kills are heard at once.

-- Set in the last moment before a target commits, cleared once it is known whether it did. While it is set a job cannot end or
-- wait: whoever holds it, or adopts it from a dead worker, looks into the target first.
alter table svc.job add column committing boolean not null default false;
alter table svc.job add constraint job_committing check (not committing or status in ('R', 'T'));
create index job_adoptable on svc.job (lease_until) where committing and not by_hand;

-- The next job of each organisation, looked up once for every claim. `id_job + 0` is an order that the primary key does not have:
-- with a long queue that one looks cheaper than it is, being read from the oldest ended job on.
drop index svc.job_claimable;
create index job_next on svc.job (id_org, (id_job + 0)) where ready and status = 'Q';

create or replace function svc.check_job_transition() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'Q' and not (new.status = 'R' and new.by_hand) then
      raise exception 'a job cannot begin as %', new.status using errcode = 'check_violation', constraint = 'job_transition';
    end if;
    return new;
  end if;
  if new.status is distinct from old.status
     and not exists (select from svc.job_transition where from_status = old.status and to_status = new.status) then
    raise exception 'job % cannot go from % to %', old.id_job, old.status, new.status
      using errcode = 'check_violation', constraint = 'job_transition';
  end if;
  -- Fencing rests on this: no two holders of a job have had the same epoch.
  if new.epoch < old.epoch or (old.status = 'Q' and new.status = 'R' and new.epoch = old.epoch) then
    raise exception 'job % needs a new epoch', old.id_job using errcode = 'check_violation', constraint = 'job_epoch';
  end if;
  if old.start_date is not null and new.start_date is distinct from old.start_date then
    raise exception 'job % keeps its first start', old.id_job using errcode = 'check_violation', constraint = 'job_first_start';
  end if;
  if old.end_date is not null
     and (new.end_date, new.failure, new.summary, new.attempts, new.epoch)
         is distinct from (old.end_date, old.failure, old.summary, old.attempts, old.epoch) then
    raise exception 'job % keeps its end', old.id_job using errcode = 'check_violation', constraint = 'job_end';
  end if;
  return new;
end
$$;

create or replace function svc.follow_job() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.status = old.status and new.ready = old.ready then
    return null;
  end if;
  if new.status = 'C' then
    update svc.job set ready = true where id_workflow = new.id_workflow and position = new.position + 1;
    perform pg_notify('svc_job', '');
  elsif new.end_date is not null then
    update svc.job
       set status = 'K', end_date = clock_timestamp(), next_attempt = null,
           failure = format('not run: job %s of this workflow ended %s', new.id_job, new.status)
     where id_workflow = new.id_workflow and position > new.position and status in ('Q', 'W');
    perform pg_notify('svc_job', '');
  elsif new.status = 'T' then
    perform pg_notify('svc_kill', new.id_job::text);
  elsif new.ready and new.status in ('Q', 'W') then
    perform pg_notify('svc_job', '');
  end if;
  return null;
end
$$;

-- The next job for a worker, leased to it: one that its holder left while rows were published, else of the organisation with the
-- fewest running its oldest. No row when there is none.
create function svc.claim_job(max_running int, lease interval, new_worker text, new_host text, new_user text, new_path text)
returns table (claimed bigint, org bigint, held_epoch bigint, attempt int, run_tool text, adopted boolean) language plpgsql as $$
declare
  candidate record;
  place int;
begin
  update svc.job j
     set epoch = j.epoch + 1, lease_until = clock_timestamp() + lease,
         worker_id = new_worker, host = new_host, os_user = new_user, base_path = new_path
   where j.id_job = (
     select o.id_job from svc.job o where o.committing and not o.by_hand and o.lease_until <= statement_timestamp()
      order by o.lease_until limit 1 for no key update skip locked)
  returning j.id_job, j.id_org, j.epoch, j.attempts, j.tool, true
    into claimed, org, held_epoch, attempt, run_tool, adopted;
  if found then
    return next;
    return;
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
       select count(*) as n from svc.job r where r.id_org = o.id_org and r.status in ('R', 'T') and r.slot is not null
     ) running
     where running.n < max_running
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
             start_date = coalesce(j.start_date, clock_timestamp()), lease_until = clock_timestamp() + lease,
             worker_id = new_worker, host = new_host, os_user = new_user, base_path = new_path,
             log_file = 'logs/job-' || j.id_job || '.log', progress = null, messages = 0, failure = null, summary = null
       where j.id_job = (
         select q.id_job from svc.job q
          where q.id_org = candidate.id_org and q.ready and q.status = 'Q' and q.deadline > statement_timestamp()
          order by q.id_job + 0 limit 1 for no key update skip locked)
      returning j.id_job, j.id_org, j.epoch, j.attempts, j.tool, false
        into claimed, org, held_epoch, attempt, run_tool, adopted;
      if found then
        return next;
        return;
      end if;
      exit;
    end loop;
  end loop;
end
$$;
