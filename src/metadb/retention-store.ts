/** The retention store on PostgreSQL: removes jobs, idempotency keys and events that were kept long enough. */
import type { RetentionStore } from '../ports/stores/jobs.ts';
import type { Sql } from '../postgres/connect.ts';

/** Held by the one process that sweeps. */
const sweepLock = 730_521;

/** `sql` goes across organisations. */
export function createPostgresRetentionStore(sql: Sql): RetentionStore {
  const before = (ageMs: number) => sql`statement_timestamp() - ${ageMs}::float8 * interval '1 millisecond'`;
  return {
    async alone(work) {
      // The lock ends with its transaction, which ends with the connection of a process that dies; it locks nothing else
      return sql.begin(async (tx) => {
        const [lock] = await tx<
          { taken: boolean }[]
        >`select pg_try_advisory_xact_lock(${sweepLock}) as taken`;
        if (lock?.taken !== true) return false;
        await work();
        return true;
      });
    },

    async nowMs() {
      const [row] = await sql<{ now: number }[]>`select svc.epoch_ms(clock_timestamp()) as now`;
      return row!.now;
    },

    async removeEndedJobs(ageMs, afterWorkflow, limit, forget) {
      return sql.begin(async (tx) => {
        // A batch costs the same whatever the number of records: every statement finds its rows by an index.
        const examined = await tx<{ id: number; ended: boolean }[]>`
          select w.id_workflow as id,
                 not exists (select from svc.job j where j.id_workflow = w.id_workflow
                                and (j.end_date is null or j.end_date > ${before(ageMs)}) offset 0) as ended
            from svc.workflow w
           where w.id_workflow > ${afterWorkflow} and w.created <= ${before(ageMs)}
           order by w.id_workflow limit ${limit} for update skip locked`;
        const lastWorkflow = examined.at(-1)?.id;
        if (lastWorkflow === undefined) return null;
        const ended = examined.filter((workflow) => workflow.ended).map(({ id }) => id);
        if (ended.length === 0) return { jobs: 0, lastWorkflow };
        const ids = tx`array(select json_array_elements_text(${JSON.stringify(ended)}::text::json)::bigint)`;
        const jobs = await tx<{ id: number }[]>`
          select id_job as id from svc.job where id_workflow = any(${ids})`;
        await forget(jobs.map(({ id }) => id));
        await tx`delete from svc.job where id_workflow = any(${ids})`;
        await tx`delete from svc.workflow where id_workflow = any(${ids})`;
        return { jobs: jobs.length, lastWorkflow };
      });
    },

    async removeIdempotencyKeys(ageMs) {
      return (await sql`delete from svc.idempotency where created <= ${before(ageMs)}`).count;
    },

    async removeSettledEvents(ageMs) {
      const removed = await sql`
        delete from svc.event
         where (state <> 'waiting' and settled <= ${before(ageMs)})
            or (state = 'waiting' and occurred <= ${before(ageMs)} and kind not in (select kind from svc.event_kind))`;
      return removed.count;
    },

    async inputsInUse() {
      return sql<{ idOrg: number; path: string }[]>`
        select distinct id_org as "idOrg", input_path as path from svc.job where end_date is null and input_path is not null`;
    },
  };
}
