/** Jobs on their way: submitted, claimed, tried again. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim, JobStore, NewJob } from '../../../../src/ports/stores/jobs.ts';
import { minute, newJob, submission, worker, type JobStoreFixture } from './submissions.ts';

export function describeRunning(name: string, open: () => Promise<JobStoreFixture>): void {
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

    test('a submitted job is queued, with every field of the record', async () => {
      const idOrg = await fixture.createOrg();
      const parent = await submitOne(idOrg);
      const { idWorkflow, idJobs, replayed } = await jobs.submit(
        submission(idOrg, 1, {
          workflowName: 'nightly',
          jobs: [newJob({ idParentJob: parent, params: 'a\0b' })],
        }),
      );
      expect(replayed).toBe(false);
      expect(await jobs.find(idOrg, idJobs[0] ?? 0)).toEqual({
        id_job: idJobs[0],
        id_parent_job: parent,
        id_org: idOrg,
        id_sch: null,
        id_lschma: null,
        id_app: null,
        job_type: 'Parse',
        status: 'Q',
        params: 'a\u{FFFD}b',
        params_json: '{"spark":{},"action":{}}',
        host: null,
        os_user: null,
        base_path: null,
        parm_path_input: 'donut.xml',
        parm_path_output: null,
        msg_proc_qty: 0,
        log_file: null,
        start_date: null,
        end_date: null,
        id_workflow: idWorkflow,
        attempt: 1,
        progress: null,
        failure: null,
      });
      expect(await jobs.find(idOrg, 2 ** 60)).toBeNull();
      expect(await jobs.find(idOrg, 0)).toBeNull();
    });

    test('lists are newest first, paged from 0, with the right total, and one organisation’s alone', async () => {
      const idOrg = await fixture.createOrg();
      const other = await fixture.createOrg();
      const ids: number[] = [];
      for (let i = 0; i < 5; i++) ids.push(await submitOne(idOrg));
      const foreign = await submitOne(other);
      const page = await jobs.list(idOrg, 1, 2);
      expect(page.content.map((job) => job.id_job)).toEqual([ids[2], ids[1]]);
      expect(page).toMatchObject({ page: 1, size: 2, totalElements: 5 });
      expect(await jobs.list(idOrg, 3, 2)).toEqual({ content: [], page: 3, size: 2, totalElements: 5 });
      expect(await jobs.find(idOrg, foreign)).toBeNull();
      expect(await jobs.requestKill(idOrg, foreign)).toBeNull();
      await expect(jobs.rerun(idOrg, foreign)).rejects.toMatchObject({ code: 'not_found' });
      const workflow = (await jobs.find(other, foreign))?.id_workflow ?? 0;
      expect(await jobs.listOfWorkflow(idOrg, workflow, 0, 20)).toBeNull();
      expect(await jobs.findWorkflow(idOrg, workflow)).toBeNull();
    });

    test('the jobs of a workflow are listed in their order', async () => {
      const idOrg = await fixture.createOrg();
      const { idWorkflow, idJobs } = await jobs.submit(submission(idOrg, 3));
      const page = await jobs.listOfWorkflow(idOrg, idWorkflow, 0, 2);
      expect(page?.content.map((job) => job.id_job)).toEqual([idJobs[0], idJobs[1]]);
      expect(page?.totalElements).toBe(3);
      expect(await jobs.listOfWorkflow(idOrg, idWorkflow, 7, 2)).toMatchObject({
        content: [],
        totalElements: 3,
      });
      expect(idJobs).toEqual(idJobs.toSorted((a, b) => a - b));
    });

    test('a job runs: claimed, reported on, completed', async () => {
      const idOrg = await fixture.createOrg();
      const origin = await fixture.createOrigin(idOrg);
      const idJob = await submitOne(idOrg);
      const before = Date.now();
      const claim = await claimJob(idJob);
      expect(claim).toEqual({ idJob, idOrg, epoch: 1, attempt: 1, tool: 'xml2er', purpose: 'run' });
      const running = await jobs.find(idOrg, idJob);
      expect(running).toMatchObject({
        status: 'R',
        host: 'etl-1/10.0.0.5',
        os_user: 'svc',
        base_path: '/srv',
        log_file: `logs/job-${idJob}.log`,
        end_date: null,
      });
      expect(Number.isInteger(running?.start_date)).toBe(true);
      expect(Math.abs((running?.start_date ?? 0) - before)).toBeLessThan(minute);
      expect(await jobs.heartbeat(claim, minute)).toBe('ok');
      expect(
        await jobs.report(claim, {
          progress: 0.5,
          idSch: origin,
          idApp: 'local-1',
          messages: 3,
          summary: { rows: 9 },
        }),
      ).toBe(true);
      expect(await jobs.report(claim, { outputPath: 'out' })).toBe(true);
      expect(await jobs.find(idOrg, idJob)).toMatchObject({
        progress: 0.5,
        id_sch: origin,
        id_app: 'local-1',
        msg_proc_qty: 3,
        parm_path_output: 'out',
      });
      expect(await jobs.finish(claim, 'C', null)).toBe(true);
      const ended = await jobs.find(idOrg, idJob);
      expect(ended).toMatchObject({
        status: 'C',
        progress: 1,
        failure: null,
        start_date: running?.start_date,
      });
      expect(ended?.end_date).toBeGreaterThanOrEqual(ended?.start_date ?? Infinity);
      expect(await jobs.finish(claim, 'F', 'late')).toBe(false);
      expect(await jobs.report(claim, { progress: 0.1 })).toBe(false);
      expect(await jobs.heartbeat(claim, minute)).toBe('lost');
      expect(await statusOf(idOrg, idJob)).toBe('C');
    });

    test('the jobs of a workflow run one after the other', async () => {
      await drain();
      const idOrg = await fixture.createOrg();
      const { idJobs } = await jobs.submit(submission(idOrg, 3));
      for (const idJob of idJobs) {
        const claim = await jobs.claim(worker, minute);
        expect(claim?.idJob).toBe(idJob);
        expect(await jobs.claim(worker, minute)).toBeNull();
        if (claim !== null) await jobs.finish(claim, 'C', null);
      }
      expect(await jobs.claim(worker, minute)).toBeNull();
    });

    test('a job that does not complete ends the later ones of its workflow', async () => {
      const idOrg = await fixture.createOrg();
      const { idWorkflow, idJobs } = await jobs.submit(submission(idOrg, 4));
      await jobs.finish(await claimJob(idJobs[0] ?? 0), 'C', null);
      await jobs.finish(await claimJob(idJobs[1] ?? 0), 'F', 'line 1, column 2: bad');
      const records = (await jobs.listOfWorkflow(idOrg, idWorkflow, 0, 20))?.content ?? [];
      expect(records.map((job) => job.status)).toEqual(['C', 'F', 'K', 'K']);
      expect(records[1]?.failure).toBe('line 1, column 2: bad');
      for (const job of records.slice(2)) {
        expect(job.failure).toContain(`job ${idJobs[1]}`);
        expect(job.end_date).not.toBeNull();
        expect(job.start_date).toBeNull();
      }
    });

    test('organisations with the fewest running jobs come first, within their number', async () => {
      await drain();
      const [one, two] = [await fixture.createOrg(), await fixture.createOrg()];
      const store = fixture.store({ maxRunningPerOrg: 2 });
      for (let i = 0; i < 4; i++) await submitOne(one);
      const late = await submitOne(two);
      const claims = [
        await store.claim(worker, minute),
        await store.claim(worker, minute),
        await store.claim(worker, minute),
      ];
      expect(claims.map((claim) => claim?.idOrg)).toEqual([one, two, one]);
      expect(claims[1]?.idJob).toBe(late);
      expect(await store.claim(worker, minute)).toBeNull();
      const first = claims[0];
      if (first !== undefined && first !== null) await store.finish(first, 'C', null);
      expect((await store.claim(worker, minute))?.idOrg).toBe(one);
    });

    test('a slot of each process stays free for other organisations', async () => {
      await drain();
      const [one, two] = [await fixture.createOrg(), await fixture.createOrg()];
      const store = fixture.store({ maxRunningPerOrg: 100 });
      const here = { ...worker, workerId: 'w-here', slots: 2 };
      const there = { ...worker, workerId: 'w-there', slots: 3 };
      const alone = { ...worker, workerId: 'w-alone', slots: 1 };
      await submitOne(two);
      expect((await store.claim(here, minute))?.idOrg).toBe(two);
      for (let i = 0; i < 8; i++) await submitOne(one);
      expect((await store.claim(here, minute))?.idOrg).toBe(one);
      expect(await store.claim(here, minute)).toBeNull();
      expect((await store.claim(there, minute))?.idOrg).toBe(one);
      expect((await store.claim(there, minute))?.idOrg).toBe(one);
      expect(await store.claim(there, minute)).toBeNull();
      const newcomer = await submitOne(two);
      expect((await store.claim(there, minute))?.idJob).toBe(newcomer);
      expect((await store.claim(alone, minute))?.idOrg).toBe(one);
      await drain();
    });

    test('a job whose worker died is tried again under a new epoch, and the old holder is refused', async () => {
      const idOrg = await fixture.createOrg();
      const store = fixture.store({ retryDelayMs: 0 });
      const idJob = await submitOne(idOrg);
      const old = await claimJob(idJob, 1);
      const started = (await jobs.find(idOrg, idJob))?.start_date;
      await delay(20);
      expect(await store.reap()).toBeGreaterThanOrEqual(1);
      expect(await jobs.find(idOrg, idJob)).toMatchObject({
        status: 'W',
        end_date: null,
        failure: 'its worker died',
      });
      expect(await jobs.heartbeat(old, minute)).toBe('lost');
      const next = await claimJob(idJob);
      expect(next).toMatchObject({ epoch: 2, attempt: 2 });
      expect(await jobs.find(idOrg, idJob)).toMatchObject({
        status: 'R',
        attempt: 2,
        start_date: started,
        failure: null,
      });
      expect(await jobs.report(old, { progress: 0.9 })).toBe(false);
      expect(await jobs.finish(old, 'C', null)).toBe(false);
      expect(await jobs.handBack(old, 0, null)).toBe(false);
      expect(await jobs.finish(next, 'C', null)).toBe(true);
    });

    test('a lease that a heartbeat extends in time is not reaped', async () => {
      const idOrg = await fixture.createOrg();
      const idJob = await submitOne(idOrg);
      const claim = await claimJob(idJob, 1);
      expect(await jobs.heartbeat(claim, minute)).toBe('ok');
      await delay(20);
      await jobs.reap();
      expect(await statusOf(idOrg, idJob)).toBe('R');
      await jobs.finish(claim, 'C', null);
    });

    test('a job whose attempts are spent is lost', async () => {
      const idOrg = await fixture.createOrg();
      const store = fixture.store({ maxAttempts: 2, retryDelayMs: 0 });
      const { idJobs } = await store.submit(submission(idOrg, 2));
      const idJob = idJobs[0] ?? 0;
      for (const status of ['W', 'L']) {
        await claimJob(idJob, 1, store);
        await delay(20);
        await store.reap();
        expect(await statusOf(idOrg, idJob)).toBe(status);
      }
      expect((await jobs.find(idOrg, idJob))?.end_date).not.toBeNull();
      expect(await statusOf(idOrg, idJobs[1] ?? 0)).toBe('K');
    });

    test('a job handed back waits, then runs again; when its attempts are spent it is lost', async () => {
      await drain();
      const idOrg = await fixture.createOrg();
      const store = fixture.store({ maxAttempts: 2 });
      const idJob = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
      expect(await store.handBack(await claimJob(idJob, minute, store), minute, 'drained')).toBe(true);
      expect(await jobs.find(idOrg, idJob)).toMatchObject({ status: 'W', failure: 'drained' });
      expect(await store.claim(worker, minute)).toBeNull();

      const soon = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
      // a draining worker's hand-back is none of the job's fault
      await store.handBack(await claimJob(soon, minute, store), 0, null);
      await store.handBack(await claimJob(soon, minute, store), 0, null);
      const first = await claimJob(soon, minute, store);
      expect(first.attempt).toBe(1);
      await store.handBack(first, 0, 'disk full');
      const again = await claimJob(soon, minute, store);
      expect(again.attempt).toBe(2);
      expect(await store.handBack(again, 0, 'disk full')).toBe(true);
      expect(await jobs.find(idOrg, soon)).toMatchObject({ status: 'L', failure: 'disk full' });
    });
  });
}
