/** Jobs that are killed, and what may be published. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim, JobStore, NewJob } from '../../../../src/ports/stores/jobs.ts';
import { minute, newJob, submission, worker, type JobStoreFixture } from './submissions.ts';

export function describeKilling(name: string, open: () => Promise<JobStoreFixture>): void {
  describe(`${name} as a job store`, () => {
    let fixture: JobStoreFixture;
    let jobs: JobStore;
    beforeAll(async () => {
      fixture = await open();
      jobs = fixture.store();
    });
    afterAll(() => fixture.close());

    const submitOne = async (idOrg: number, more: Partial<NewJob> = {}): Promise<number> => {
      const { idJobs } = await jobs.submit(submission(idOrg, 1, { jobs: [newJob(more)] }));
      return idJobs[0] ?? 0;
    };
    /** Claims until it gets the job: other tests of this file may have left some that wait. */
    const claimJob = async (idJob: number, leaseMs = minute, store = jobs): Promise<Claim> => {
      for (;;) {
        const claim = await store.claim(worker, leaseMs);
        if (claim === null) throw new Error(`job ${idJob} cannot be claimed`);
        if (claim.idJob === idJob) return claim;
        await store.finish(claim, 'C', null);
      }
    };
    const statusOf = async (idOrg: number, idJob: number): Promise<string | undefined> =>
      (await jobs.find(idOrg, idJob))?.status;
    /** Ends what other tests left queued, so that claims are this test's alone. */
    const drain = async (): Promise<void> => {
      for (
        let claim = await jobs.claim(worker, minute);
        claim !== null;
        claim = await jobs.claim(worker, minute)
      ) {
        await jobs.finish(claim, 'C', null);
      }
    };

    test('kill ends what waits at once, and asks what runs', async () => {
      const idOrg = await fixture.createOrg();
      const { idJobs } = await jobs.submit(submission(idOrg, 2));
      const [queued = 0, after = 0] = idJobs;
      expect(await jobs.requestKill(idOrg, queued)).toMatchObject({
        status: 'K',
        failure: 'killed on request',
        start_date: null,
      });
      expect(await statusOf(idOrg, after)).toBe('K');

      const running = await submitOne(idOrg);
      const claim = await claimJob(running);
      expect(await jobs.requestKill(idOrg, running)).toMatchObject({ status: 'T', end_date: null });
      expect(await jobs.requestKill(idOrg, running)).toMatchObject({ status: 'T' });
      expect(await jobs.heartbeat(claim, minute)).toBe('kill');
      expect(await jobs.finish(claim, 'F', null)).toBe(true);
      expect(await jobs.find(idOrg, running)).toMatchObject({ status: 'K', failure: 'killed on request' });
      expect(await jobs.requestKill(idOrg, running)).toMatchObject({ status: 'K' });

      const waiting = await submitOne(idOrg);
      await jobs.handBack(await claimJob(waiting), minute, null);
      expect(await jobs.requestKill(idOrg, waiting)).toMatchObject({ status: 'K' });

      const published = await submitOne(idOrg);
      const last = await claimJob(published);
      await jobs.requestKill(idOrg, published);
      expect(await jobs.finish(last, 'C', null)).toBe(true);
      expect(await jobs.find(idOrg, published)).toMatchObject({ status: 'C', failure: null });
      expect(await jobs.requestKill(idOrg, published)).toMatchObject({ status: 'C' });
    });

    test('a killed job is never revived: not by its worker’s death, nor by handing it back', async () => {
      const idOrg = await fixture.createOrg();
      const dead = await submitOne(idOrg);
      await claimJob(dead, 1);
      await jobs.requestKill(idOrg, dead);
      await delay(20);
      await jobs.reap();
      expect(await statusOf(idOrg, dead)).toBe('K');

      const drained = await submitOne(idOrg);
      const claim = await claimJob(drained);
      await jobs.requestKill(idOrg, drained);
      expect(await jobs.handBack(claim, 0, null)).toBe(true);
      expect(await statusOf(idOrg, drained)).toBe('K');

      const direct = await submitOne(idOrg);
      expect(await jobs.finish(await claimJob(direct), 'K', null)).toBe(true);
      expect(await statusOf(idOrg, direct)).toBe('K');
    });

    test('a kill is heard at once, and a worker that does not answer is not waited for', async () => {
      const idOrg = await fixture.createOrg();
      const idJob = await submitOne(idOrg);
      const claim = await claimJob(idJob);
      const never = new AbortController();
      await jobs.waitForKill(idJob, 20, never.signal);
      let heard = false;
      const waiting = jobs.waitForKill(idJob, 2000, never.signal).then(() => (heard = true));
      expect(await jobs.checkClaim(claim)).toBe('ok');
      await jobs.requestKill(idOrg, idJob);
      await waiting;
      expect(heard).toBe(true);
      expect(await jobs.checkClaim(claim)).toBe('kill');
      await jobs.finish(claim, 'K', null);
      expect(await jobs.checkClaim(claim)).toBe('lost');
    });

    test('what may be published is asked for before the job ends: by its worker, or by the one that adopts it', async () => {
      await drain();
      const idOrg = await fixture.createOrg();
      const idJob = await submitOne(idOrg);
      const dead = await claimJob(idJob, 50);
      expect(await jobs.beginCommit(dead, { rows: 7 })).toBe(true);
      expect(await jobs.request(idJob)).toMatchObject({ committing: true, summary: { rows: 7 } });
      await delay(80);
      await jobs.reap();
      expect(await statusOf(idOrg, idJob)).toBe('R');
      const adopted = await jobs.claim(worker, minute);
      expect(adopted).toMatchObject({ idJob, epoch: 2, attempt: 1, purpose: 'reconcile' });
      expect(await jobs.beginCommit(dead, null)).toBe(false);
      expect(await jobs.finish(dead, 'C', null)).toBe(false);
      if (adopted === null) return;
      expect(await jobs.settleCommit(adopted)).toBe(true);
      expect(await jobs.request(idJob)).toMatchObject({ committing: false, summary: null });
      expect(await jobs.handBack(adopted, 0, 'its worker died')).toBe(true);
      const again = await claimJob(idJob);
      expect(again).toMatchObject({ epoch: 3, attempt: 2, purpose: 'run' });
      expect(await jobs.beginCommit(again, { rows: 8 })).toBe(true);
      expect(await jobs.finish(again, 'C', null)).toBe(true);
      expect(await jobs.request(idJob)).toMatchObject({ committing: false, summary: { rows: 8 } });
    });

    test('a killed job may not publish', async () => {
      const idOrg = await fixture.createOrg();
      const idJob = await submitOne(idOrg);
      const claim = await claimJob(idJob);
      await jobs.requestKill(idOrg, idJob);
      expect(await jobs.beginCommit(claim, null)).toBe(false);
      await jobs.finish(claim, 'K', null);
    });
  });
}
