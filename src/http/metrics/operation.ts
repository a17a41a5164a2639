/** Metrics of the installation: outbox, connections, retention, and waiting organisations. */
import type { OperationFigureSource, OperationFigures } from '../../ports/operation-figures.ts';
import { gauge, type Family } from './families.ts';

const none: OperationFigures = {
  outbox: [],
  connections: 0,
  maxConnections: 0,
  retentionLagMs: 0,
  queues: [],
  outageJobs: 0,
  outageMs: 0,
};

/** Reads figures from the database; `source` absent: the runtime has no such figures. */
export async function operationFamilies(source: OperationFigureSource | undefined): Promise<Family[]> {
  const { outbox, connections, maxConnections, retentionLagMs, queues, outageJobs, outageMs } =
    (await source?.read()) ?? none;
  return [
    gauge(
      'svc_outbox_events',
      'Events that wait for their receiver, and dead ones that were given up.',
      outbox.flatMap(({ kind, waiting, dead }) => [
        { labels: { kind, state: 'waiting' }, value: waiting },
        { labels: { kind, state: 'dead' }, value: dead },
      ]),
    ),
    gauge(
      'svc_outbox_age_seconds',
      'How long the event that waits longest has waited for its receiver.',
      outbox.map(({ kind, oldestMs }) => ({ labels: { kind }, value: oldestMs / 1000 })),
    ),
    gauge('svc_database_connections', 'Connections of all clients to the metadata database.', connections),
    gauge('svc_database_max_connections', 'Connections that the database server accepts.', maxConnections),
    gauge(
      'svc_retention_lag_seconds',
      'How long ago the oldest record of ended jobs should have been removed.',
      retentionLagMs / 1000,
    ),
    gauge(
      'svc_outage_waiting_jobs',
      'Jobs that wait for a server or for room on a disk (svc.limits.outage_wait).',
      outageJobs,
    ),
    gauge(
      'svc_outage_wait_seconds',
      'How long the job that waits longest has waited for a server or for room on a disk.',
      outageMs / 1000,
    ),
    gauge(
      'svc_org_queue_age_seconds',
      'How long the oldest queued job of an organisation has waited; the 20 organisations that wait longest.',
      queues.map(({ idOrg, ageMs }) => ({ labels: { org: String(idOrg) }, value: ageMs / 1000 })),
    ),
  ];
}

/** Returns the metrics of this process's connection pools, without querying the database. */
export function poolFamilies(source: OperationFigureSource | undefined): Family[] {
  const pools = Object.entries(source?.pools() ?? {});
  return [
    gauge(
      'svc_pool_connections',
      'Connections to the metadata database that this process has open, by pool.',
      pools.map(([pool, { open }]) => ({ labels: { pool }, value: open })),
    ),
    gauge(
      'svc_pool_max_connections',
      'Connections that a pool of this process opens at most.',
      pools.map(([pool, { max }]) => ({ labels: { pool }, value: max })),
    ),
  ];
}
