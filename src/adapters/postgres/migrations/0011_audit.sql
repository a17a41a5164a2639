-- Who changed what: written once, never changed or removed.

create table svc.audit (
  id_audit bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- of whoever acted; no reference, as the line outlives everything it tells of
  id_org bigint not null,
  actor text not null,
  action text not null,
  subject text,
  status int,
  request_id text
);
create index audit_id_org on svc.audit (id_org, id_audit desc);

create function svc.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_append_only before update or delete on svc.audit
  for each row execute function svc.refuse_change();
create trigger audit_keep before truncate on svc.audit
  for each statement execute function svc.refuse_change();
