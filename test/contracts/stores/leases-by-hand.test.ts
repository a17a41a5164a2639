/** The lease of a run by hand is renewed while its thread computes without a pause: no other process takes its job. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { keepLeaseByHand } from '../../../src/tools/session/lease-by-hand.ts';
import { useTrial } from '../../support/service/trial.ts';
import { newJob, worker } from './jobs/contract.ts';

const leaseMs = 1200;

/** Blocks the event loop, as a long computation does. */
function compute(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('the lease of a run by hand', { timeout: 60_000 }, () => {
  const trial = useTrial();

  const started = async () => {
    const database = await trial.database();
    const jobs = createPostgresJobStore(database.service);
    const claim = await jobs.startByHand(newJob(), 1, worker, leaseMs);
    const ends: string[] = [];
    const installation = {
      databaseUrl: database.url,
      roles: { service: true, loader: true },
      adapters: { jobs },
    };
    const lease = keepLeaseByHand(installation, claim, leaseMs, (why) => ends.push(why));
    return { database, jobs, claim, lease, ends };
  };

  it('outlives a computation that is four times as long', async () => {
    const { jobs, claim, lease, ends } = await started();
    lease.expectWork({ elements: 1000 });
    compute(4 * leaseMs);
    expect(await jobs.reap()).toBe(0);
    expect(await jobs.checkClaim(claim)).toBe('ok');
    // a run that has taken a second has the thread, whatever it was said to do
    await delay(2 * leaseMs);
    expect(ends).toEqual([]);
    await lease.stop();
    await delay(2 * leaseMs);
    expect(await jobs.reap()).toBe(1);
    await jobs.close();
  });

  it('passes when the job is killed while it computes', async () => {
    const { database, jobs, claim, lease, ends } = await started();
    lease.expectWork({ bytes: 1_000_000 });
    await delay(500);
    await jobs.requestKill(1, claim.idJob);
    // the time a worker has to answer is over
    await database.sql`update svc.job set lease_until = clock_timestamp() where id_job = ${claim.idJob}`;
    expect(await jobs.reap()).toBe(1);
    compute(2 * leaseMs);
    expect((await jobs.findJob(1, claim.idJob))?.status).toBe('killed');
    await delay(leaseMs);
    expect(ends).toContain('lost');
    await lease.stop();
    await jobs.close();
  });
});
