-- What inputs elsewhere are read with. `sealed` opens with the key of the service alone, which no database holds.
create table svc.credential (
  id_org bigint not null references svc.org on delete cascade,
  name text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  kind text not null,
  sealed text not null,
  created timestamptz not null default clock_timestamp(),
  primary key (id_org, name)
);
