/** Figures of the installation from the metadata database; each statement reads a bounded number of rows or an index. */
import type { OperationFigures } from '../ports/environment.ts';
import type { Sql } from '../postgres/connect.ts';

/** organisations that have a figure of their own, so that the number of time series is bounded */
const maxOrganisations = 20;
/** number of workflows searched for one that should have been removed */
const maxWorkflows = 1_000;

/** `sql` goes across organisations; `keepJobsMs`: age at which records of ended jobs are removed. */
export async function readOperationFigures(sql: Sql, keepJobsMs: number): Promise<OperationFigures> {
  const [outbox, [server], [retention], queues, [outage]] = await Promise.all([
    sql<OperationFigures['outbox'][number][]>`
      select k.kind, count(*) filter (where e.state = 'waiting') as waiting, count(*) filter (where e.state = 'dead') as dead,
             coalesce(max(svc.epoch_ms(statement_timestamp()) - svc.epoch_ms(e.occurred)) filter (where e.state = 'waiting'), 0) as "oldestMs"
        from svc.event_kind k left join svc.event e on e.kind = k.kind and e.state in ('waiting', 'dead')
       group by k.kind`,
    sql<{ open: number; max: number }[]>`
      select numbackends as open, current_setting('max_connections')::int as max
        from pg_stat_database where datname = current_database()`,
    sql<{ lag: number }[]>`
      select greatest(0, svc.epoch_ms(statement_timestamp()) - ${keepJobsMs}::float8 - min(ended)) as lag
        from (select (select svc.epoch_ms(max(coalesce(j.end_date, 'infinity'))) from svc.job j where j.id_workflow = w.id_workflow
                         having bool_and(j.end_date is not null)) as ended
                from (select id_workflow from svc.workflow
                       where created <= statement_timestamp() - ${keepJobsMs}::float8 * interval '1 millisecond'
                       order by id_workflow limit ${maxWorkflows}) w) due`,
    sql<OperationFigures['queues'][number][]>`
      select o.id_org as "idOrg", svc.epoch_ms(statement_timestamp()) - svc.epoch_ms(oldest.since) as "ageMs"
        from svc.org o
       cross join lateral (
         select greatest(j.created, j.claimed_at) as since from svc.job j where j.id_org = o.id_org and j.ready and j.status = 'Q' order by j.id_job + 0 limit 1) oldest
       order by 2 desc limit ${maxOrganisations}`,
    sql<{ jobs: number; ms: number }[]>`
      select count(*) as jobs, coalesce(svc.epoch_ms(statement_timestamp()) - svc.epoch_ms(min(outage_since)), 0) as ms
        from svc.job where status = 'W' and outage_since is not null`,
  ]);
  return {
    outbox,
    connections: server?.open ?? 0,
    maxConnections: server?.max ?? 0,
    retentionLagMs: retention?.lag ?? 0,
    queues,
    outageJobs: outage?.jobs ?? 0,
    outageMs: outage?.ms ?? 0,
  };
}
