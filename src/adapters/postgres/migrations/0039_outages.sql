-- Jobs wait for a server or for room on a disk without losing attempts (docs/decisions/service/outages.md).

alter table svc.job
  -- when the outage began that the job waits for; null: the job waits for none
  add column outage_since timestamptz,
  -- tries of the job since then that found the outage
  add column outage_tries int not null default 0 check (outage_tries >= 0);
create index job_outage on svc.job (id_org) where status = 'W' and outage_since is not null;

-- Servers that took a connection of a job: a server that is not here may be a mistyped address, which no job waits for.
create table svc.reached_server (
  id_org bigint not null references svc.org on delete cascade,
  -- `postgresql://HOST:PORT`
  server text not null check (length(server) <= 1000),
  reached timestamptz not null default clock_timestamp(),
  primary key (id_org, server)
);
