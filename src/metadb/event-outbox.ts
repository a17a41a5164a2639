/** Events of jobs on PostgreSQL; triggers of `svc.job` write them. */
import type { EventOutbox, StoredEvent } from '../ports/stores/event-outbox.ts';
import { storable, type Sql } from '../postgres/connect.ts';
import { idList } from './watch-schedule.ts';

const longestReason = 500;

/** `sql` goes across organisations. */
export function createPostgresEventOutbox(sql: Sql): EventOutbox {
  return {
    async recordKinds(kinds) {
      const wanted = sql`select json_array_elements_text(${JSON.stringify(kinds)}::text::json)`;
      await sql.begin(async (tx) => {
        await tx`delete from svc.event_kind where kind not in (${wanted})`;
        await tx`insert into svc.event_kind (kind) ${wanted} on conflict do nothing`;
      });
    },

    async claimEvents(kind, limit, leaseMs, { without, served } = { without: [], served: [] }) {
      const rows = await sql<StoredEvent[]>`
        with first as (
          select id_org from svc.event
           where state = 'waiting' and kind = ${kind} and next_attempt <= statement_timestamp()
             and not id_org = any (${idList(without)}::bigint[])
           order by coalesce(array_position(${idList(served)}::bigint[], id_org), 0), next_attempt, id_event
           limit 1 for no key update skip locked
        ), due as (
          select id_event from svc.event
           where state = 'waiting' and kind = ${kind} and next_attempt <= statement_timestamp() and id_org = (select id_org from first)
           order by next_attempt, id_event limit ${limit} for no key update skip locked
        )
        update svc.event e
           set attempts = e.attempts + 1, next_attempt = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
          from due where due.id_event = e.id_event
        returning e.id_event as "idEvent", e.id_org as "idOrg", e.message, e.moment, e.job, svc.epoch_ms(e.occurred) as occurred, e.attempts as attempt`;
      return rows.toSorted((a, b) => a.idEvent - b.idEvent);
    },

    async release(idEvents) {
      await sql`
        update svc.event set attempts = attempts - 1, next_attempt = clock_timestamp()
         where id_event = any (${idList(idEvents)}::bigint[]) and state = 'waiting'`;
    },

    async delivered(idEvent) {
      await sql`
        update svc.event set state = 'delivered', next_attempt = null, settled = clock_timestamp(), last_error = null
         where id_event = ${idEvent} and state = 'waiting'`;
    },

    async failed(idEvent, reason, retryMs) {
      const text = storable(reason).slice(0, longestReason);
      await sql`
        update svc.event
           set state = case when ${retryMs}::float8 is null then 'dead' else 'waiting' end,
               settled = case when ${retryMs}::float8 is null then clock_timestamp() end,
               next_attempt = clock_timestamp() + ${retryMs}::float8 * interval '1 millisecond', last_error = ${text}
         where id_event = ${idEvent} and state = 'waiting'`;
    },
  };
}
