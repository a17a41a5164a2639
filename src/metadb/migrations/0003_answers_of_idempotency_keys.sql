-- Keys of requests that make no workflow: their answer is stored, so that a repeated request gets it again.
alter table svc.idempotency
  -- sealed; null: the request made a workflow, or has not been answered
  add column answer text,
  -- who processes the request now
  add column holder uuid,
  -- end of the lease, after which the request may be made again: its process has died
  add column held_until timestamptz,
  add constraint idempotency_hold check ((holder is null) = (held_until is null) and (holder is null or answer is null));
