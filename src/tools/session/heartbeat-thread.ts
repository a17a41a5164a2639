/** The thread of src/tools/session/lease-by-hand.ts: it sends the heartbeat of a job while the main thread sends none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { Claim } from '../../ports/stores/jobs.ts';

/** Connection settings of the thread for the job table. */
export interface HeartbeatOrder {
  readonly databaseUrl: string;
  /** whether connections take on the role of the service */
  readonly hasServiceRole: boolean;
  readonly claim: Claim;
  readonly leaseMs: number;
  /** an Int32Array of one element: grows with each heartbeat of the timer */
  readonly beats: SharedArrayBuffer;
}

/**
 * Opens one connection and returns a function that sends a heartbeat over it. The modules are loaded when needed: most threads send
 * none.
 */
async function connect({
  databaseUrl,
  hasServiceRole,
  claim,
  leaseMs,
}: HeartbeatOrder): Promise<() => Promise<'ok' | 'kill' | 'lost'>> {
  const { connectPostgres } = await import('../../postgres/connect.ts');
  const { everyOrganisation } = await import('../../postgres/organisation-pools.ts');
  const { createSocketOpener } = await import('../../postgres/checked-socket.ts');
  const { heartbeat } = await import('../../metadb/job-queue.ts');
  const { serviceRole } = await import('../../postgres/roles.ts');
  const sql = connectPostgres(databaseUrl, {
    applicationName: 'conversion-job-service tool',
    max: 1,
    idOrg: everyOrganisation,
    // a connection without answers is reopened within the lease
    openSocket: createSocketOpener(leaseMs / 3),
    ...(hasServiceRole ? { role: serviceRole } : {}),
  });
  return () => heartbeat(sql, claim, leaseMs);
}

/** Runs until the main thread ends this one, or the job must stop; then its lease expires. */
async function keepLease(order: HeartbeatOrder): Promise<void> {
  const count = new Int32Array(order.beats);
  let beat: Awaited<ReturnType<typeof connect>> | null = null;
  let known = Atomics.load(count, 0);
  for (;;) {
    await sleep(order.leaseMs / 6);
    const now = Atomics.load(count, 0);
    const isSilent = now === known;
    known = now;
    if (!isSilent) continue;
    beat ??= await connect(order);
    const answer = await beat().catch(() => null);
    if (answer === 'kill' || answer === 'lost') process.exit();
  }
}

void keepLease(workerData as HeartbeatOrder);
