/** Jobs that are killed, and what may be published. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { minute, submission, worker, type JobStoreUse } from './submissions.ts';

export function killedJobs(given: JobStoreUse): void {
  test('kill ends what waits at once, and asks what runs', async () => {
    const idOrg = await given.fixture.createOrg();
    const { idJobs } = await given.jobs.submit(submission(idOrg, 2));
    const [queued = 0, after = 0] = idJobs;
    expect(await given.jobs.requestKill(idOrg, queued)).toMatchObject({
      status: 'killed',
      failure: 'killed on request',
      start_date: null,
    });
    expect(await given.statusOf(idOrg, after)).toBe('killed');

    const running = await given.submitOne(idOrg);
    const claim = await given.claimJob(running);
    expect(await given.jobs.requestKill(idOrg, running)).toMatchObject({
      status: 'terminating',
      end_date: null,
    });
    expect(await given.jobs.requestKill(idOrg, running)).toMatchObject({ status: 'terminating' });
    expect(await given.jobs.heartbeat(claim, minute)).toBe('kill');
    expect(await given.jobs.finish(claim, 'failed', null)).toBe(true);
    expect(await given.jobs.findJob(idOrg, running)).toMatchObject({
      status: 'killed',
      failure: 'killed on request',
    });
    expect(await given.jobs.requestKill(idOrg, running)).toMatchObject({ status: 'killed' });

    const waiting = await given.submitOne(idOrg);
    await given.jobs.handBack(await given.claimJob(waiting), minute, null);
    expect(await given.jobs.requestKill(idOrg, waiting)).toMatchObject({ status: 'killed' });

    const published = await given.submitOne(idOrg);
    const last = await given.claimJob(published);
    await given.jobs.requestKill(idOrg, published);
    expect(await given.jobs.finish(last, 'completed', null)).toBe(true);
    expect(await given.jobs.findJob(idOrg, published)).toMatchObject({ status: 'completed', failure: null });
    expect(await given.jobs.requestKill(idOrg, published)).toMatchObject({ status: 'completed' });
  });

  test('a killed job is never revived: not by its worker’s death, nor by handing it back', async () => {
    const idOrg = await given.fixture.createOrg();
    const dead = await given.submitOne(idOrg);
    await given.claimJob(dead, 1);
    await given.jobs.requestKill(idOrg, dead);
    await delay(20);
    await given.jobs.reap();
    expect(await given.statusOf(idOrg, dead)).toBe('killed');

    const drained = await given.submitOne(idOrg);
    const claim = await given.claimJob(drained);
    await given.jobs.requestKill(idOrg, drained);
    expect(await given.jobs.handBack(claim, 0, null)).toBe(true);
    expect(await given.statusOf(idOrg, drained)).toBe('killed');

    const direct = await given.submitOne(idOrg);
    expect(await given.jobs.finish(await given.claimJob(direct), 'killed', null)).toBe(true);
    expect(await given.statusOf(idOrg, direct)).toBe('killed');
  });

  test('a kill is heard at once, and a worker that does not answer is not waited for', async () => {
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg);
    const claim = await given.claimJob(idJob);
    const never = new AbortController();
    await given.jobs.waitForKill(idJob, 20, never.signal);
    let heard = false;
    const waiting = given.jobs.waitForKill(idJob, 2000, never.signal).then(() => (heard = true));
    expect(await given.jobs.checkClaim(claim)).toBe('ok');
    await given.jobs.requestKill(idOrg, idJob);
    await waiting;
    expect(heard).toBe(true);
    expect(await given.jobs.checkClaim(claim)).toBe('kill');
    await given.jobs.finish(claim, 'killed', null);
    expect(await given.jobs.checkClaim(claim)).toBe('lost');
  });

  test('the end of a job is heard at once by who waits for its workflow', async () => {
    const idOrg = await given.fixture.createOrg();
    const never = new AbortController();
    const { idWorkflow, idJobs } = await given.jobs.submit(submission(idOrg, 2));
    // The first wait may end early, as the store begins to listen.
    await given.jobs.waitForEnd(idWorkflow, 50, never.signal);
    for (const idJob of idJobs) {
      const heard = given.jobs.waitForEnd(idWorkflow, 3_600_000, never.signal);
      await given.jobs.finish(await given.claimJob(idJob), 'completed', null);
      await heard;
    }
    const ending = new AbortController();
    const aborted = given.jobs.waitForEnd(idWorkflow, 3_600_000, ending.signal);
    ending.abort();
    await aborted;
  });

  test('what may be published is asked for before the job ends: by its worker, or by the one that adopts it', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg);
    const dead = await given.claimJob(idJob, 50);
    expect(await given.jobs.beginCommit(dead, { rows: 7 })).toBe(true);
    expect(await given.jobs.findStoredJob(idJob)).toMatchObject({ committing: true, summary: { rows: 7 } });
    await delay(80);
    await given.jobs.reap();
    expect(await given.statusOf(idOrg, idJob)).toBe('running');
    const adopted = await given.jobs.claimJob(worker, minute);
    expect(adopted).toMatchObject({ idJob, epoch: 2, attempt: 1, purpose: 'reconcile' });
    expect(await given.jobs.beginCommit(dead, null)).toBe(false);
    expect(await given.jobs.finish(dead, 'completed', null)).toBe(false);
    if (adopted === null) return;
    expect(await given.jobs.settleCommit(adopted)).toBe(true);
    expect(await given.jobs.findStoredJob(idJob)).toMatchObject({ committing: false, summary: null });
    expect(await given.jobs.handBack(adopted, 0, 'its worker died')).toBe(true);
    const again = await given.claimJob(idJob);
    expect(again).toMatchObject({ epoch: 3, attempt: 2, purpose: 'run' });
    expect(await given.jobs.beginCommit(again, { rows: 8 })).toBe(true);
    expect(await given.jobs.finish(again, 'completed', null)).toBe(true);
    expect(await given.jobs.findStoredJob(idJob)).toMatchObject({ committing: false, summary: { rows: 8 } });
  });

  test('a killed job may not publish', async () => {
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg);
    const claim = await given.claimJob(idJob);
    await given.jobs.requestKill(idOrg, idJob);
    expect(await given.jobs.beginCommit(claim, null)).toBe(false);
    await given.jobs.finish(claim, 'killed', null);
  });
}
