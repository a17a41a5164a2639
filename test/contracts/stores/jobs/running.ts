/** Jobs on their way: submitted, claimed, tried again. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { minute, newJob, submission, worker, type JobStoreUse } from './submissions.ts';

export function runningJobs(given: JobStoreUse): void {
  test('a submission whose origin is removed meanwhile is refused, and nothing of it is stored', async () => {
    const idOrg = await given.fixture.createOrg();
    const gone = (await given.fixture.createOrigin(idOrg)) + 1_000_000;
    const wanted = submission(idOrg, 2, { jobs: [newJob(), newJob({ idSch: gone })] });
    await expect(given.jobs.submit(wanted)).rejects.toMatchObject({ code: 'not_found' });
    expect((await given.jobs.listJobs(idOrg, 0, 20)).totalElements).toBe(0);
    expect((await given.jobs.listWorkflows(idOrg, 0, 20)).totalElements).toBe(0);
  });

  test('a submitted job is queued, with every field of the record', async () => {
    const idOrg = await given.fixture.createOrg();
    const parent = await given.submitOne(idOrg);
    const { idWorkflow, idJobs, replayed } = await given.jobs.submit(
      submission(idOrg, 1, {
        workflowName: 'nightly',
        jobs: [newJob({ idParentJob: parent, params: 'a\0b' })],
      }),
    );
    expect(replayed).toBe(false);
    expect(await given.jobs.findJob(idOrg, idJobs[0] ?? 0)).toEqual({
      id_job: idJobs[0],
      id_parent_job: parent,
      id_org: idOrg,
      id_sch: null,
      id_lschma: null,
      id_app: null,
      job_type: 'Parse',
      status: 'queued',
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
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    });
    expect(await given.jobs.findJob(idOrg, 2 ** 60)).toBeNull();
    expect(await given.jobs.findJob(idOrg, 0)).toBeNull();
  });

  test('lists are newest first, paged from 0, with the right total, and one organisation’s alone', async () => {
    const idOrg = await given.fixture.createOrg();
    const other = await given.fixture.createOrg();
    const ids: number[] = [];
    for (let i = 0; i < 5; i++) ids.push(await given.submitOne(idOrg));
    const foreign = await given.submitOne(other);
    const page = await given.jobs.listJobs(idOrg, 1, 2);
    expect(page.content.map((job) => job.id_job)).toEqual([ids[2], ids[1]]);
    expect(page).toMatchObject({ page: 1, size: 2, totalElements: 5 });
    expect(await given.jobs.listJobs(idOrg, 3, 2)).toEqual({
      content: [],
      page: 3,
      size: 2,
      totalElements: 5,
    });
    expect(await given.jobs.findJob(idOrg, foreign)).toBeNull();
    expect(await given.jobs.requestKill(idOrg, foreign)).toBeNull();
    await expect(given.jobs.rerunJob(idOrg, foreign)).rejects.toMatchObject({ code: 'not_found' });
    const workflow = (await given.jobs.findJob(other, foreign))?.id_workflow ?? 0;
    expect(await given.jobs.listWorkflowJobs(idOrg, workflow, 0, 20)).toBeNull();
    expect(await given.jobs.findWorkflow(idOrg, workflow)).toBeNull();
  });

  test('the jobs of a workflow are listed in their order', async () => {
    const idOrg = await given.fixture.createOrg();
    const { idWorkflow, idJobs } = await given.jobs.submit(submission(idOrg, 3));
    const page = await given.jobs.listWorkflowJobs(idOrg, idWorkflow, 0, 2);
    expect(page?.content.map((job) => job.id_job)).toEqual([idJobs[0], idJobs[1]]);
    expect(page?.totalElements).toBe(3);
    expect(await given.jobs.listWorkflowJobs(idOrg, idWorkflow, 7, 2)).toMatchObject({
      content: [],
      totalElements: 3,
    });
    expect(idJobs).toEqual(idJobs.toSorted((a, b) => a - b));
  });

  test('a job runs: claimed, reported on, completed', async () => {
    const idOrg = await given.fixture.createOrg();
    const origin = await given.fixture.createOrigin(idOrg);
    const idJob = await given.submitOne(idOrg);
    const before = Date.now();
    const claim = await given.claimJob(idJob);
    expect(claim).toMatchObject({
      idJob,
      idOrg,
      epoch: 1,
      attempt: 1,
      tool: 'xml2er',
      purpose: 'run',
      ranMs: 0,
    });
    const running = await given.jobs.findJob(idOrg, idJob);
    expect(running).toMatchObject({
      status: 'running',
      host: 'etl-1/10.0.0.5',
      os_user: 'svc',
      base_path: '/srv',
      log_file: `logs/job-${idJob}.log`,
      end_date: null,
    });
    expect(Number.isInteger(running?.start_date)).toBe(true);
    expect(Math.abs((running?.start_date ?? 0) - before)).toBeLessThan(minute);
    expect(await given.jobs.heartbeat(claim, minute)).toBe('ok');
    expect(
      await given.jobs.report(claim, {
        progress: 0.5,
        idSch: origin,
        idApp: 'local-1',
        messages: 3,
        summary: { rows: 9 },
      }),
    ).toBe(true);
    expect(await given.jobs.report(claim, { outputPath: 'out' })).toBe(true);
    expect(await given.jobs.findJob(idOrg, idJob)).toMatchObject({
      progress: 0.5,
      id_sch: origin,
      id_app: 'local-1',
      msg_proc_qty: 3,
      parm_path_output: 'out',
    });
    expect(await given.jobs.finish(claim, 'completed', null)).toBe(true);
    const ended = await given.jobs.findJob(idOrg, idJob);
    expect(ended).toMatchObject({
      status: 'completed',
      progress: 1,
      failure: null,
      start_date: running?.start_date,
    });
    expect(ended?.end_date).toBeGreaterThanOrEqual(ended?.start_date ?? Infinity);
    expect(await given.jobs.finish(claim, 'failed', 'late')).toBe(false);
    expect(await given.jobs.report(claim, { progress: 0.1 })).toBe(false);
    expect(await given.jobs.heartbeat(claim, minute)).toBe('lost');
    expect(await given.statusOf(idOrg, idJob)).toBe('completed');
  });

  test('the jobs of a workflow run one after the other', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const { idJobs } = await given.jobs.submit(submission(idOrg, 3));
    for (const idJob of idJobs) {
      const claim = await given.jobs.claimJob(worker, minute);
      expect(claim?.idJob).toBe(idJob);
      expect(await given.jobs.claimJob(worker, minute)).toBeNull();
      if (claim !== null) await given.jobs.finish(claim, 'completed', null);
    }
    expect(await given.jobs.claimJob(worker, minute)).toBeNull();
  });

  test('a job that does not complete ends the later ones of its workflow', async () => {
    const idOrg = await given.fixture.createOrg();
    const { idWorkflow, idJobs } = await given.jobs.submit(submission(idOrg, 4));
    await given.jobs.finish(await given.claimJob(idJobs[0] ?? 0), 'completed', null);
    await given.jobs.finish(await given.claimJob(idJobs[1] ?? 0), 'failed', 'line 1, column 2: bad');
    const records = (await given.jobs.listWorkflowJobs(idOrg, idWorkflow, 0, 20))?.content ?? [];
    expect(records.map((job) => job.status)).toEqual(['completed', 'failed', 'killed', 'killed']);
    expect(records[1]?.failure).toBe('line 1, column 2: bad');
    for (const job of records.slice(2)) {
      expect(job.failure).toContain(`job ${idJobs[1]}`);
      expect(job.end_date).not.toBeNull();
      expect(job.start_date).toBeNull();
    }
  });

  test('organisations with the fewest running jobs come first, within their number', async () => {
    await given.drain();
    const [one, two] = [await given.fixture.createOrg(), await given.fixture.createOrg()];
    const store = given.fixture.store({ maxRunningPerOrg: 2 });
    for (let i = 0; i < 4; i++) await given.submitOne(one);
    const late = await given.submitOne(two);
    const claims = [
      await store.claimJob(worker, minute),
      await store.claimJob(worker, minute),
      await store.claimJob(worker, minute),
    ];
    expect(claims.map((claim) => claim?.idOrg)).toEqual([one, two, one]);
    expect(claims[1]?.idJob).toBe(late);
    expect(await store.claimJob(worker, minute)).toBeNull();
    const first = claims[0];
    if (first !== undefined && first !== null) await store.finish(first, 'completed', null);
    expect((await store.claimJob(worker, minute))?.idOrg).toBe(one);
  });

  test('a slot of each process stays free for other organisations', async () => {
    await given.drain();
    const [one, two] = [await given.fixture.createOrg(), await given.fixture.createOrg()];
    const store = given.fixture.store({ maxRunningPerOrg: 100 });
    const here = { ...worker, workerId: 'w-here', slots: 2 };
    const there = { ...worker, workerId: 'w-there', slots: 3 };
    const alone = { ...worker, workerId: 'w-alone', slots: 1 };
    await given.submitOne(two);
    expect((await store.claimJob(here, minute))?.idOrg).toBe(two);
    for (let i = 0; i < 8; i++) await given.submitOne(one);
    expect((await store.claimJob(here, minute))?.idOrg).toBe(one);
    expect(await store.claimJob(here, minute)).toBeNull();
    expect((await store.claimJob(there, minute))?.idOrg).toBe(one);
    expect((await store.claimJob(there, minute))?.idOrg).toBe(one);
    expect(await store.claimJob(there, minute)).toBeNull();
    const newcomer = await given.submitOne(two);
    expect((await store.claimJob(there, minute))?.idJob).toBe(newcomer);
    expect((await store.claimJob(alone, minute))?.idOrg).toBe(one);
    await given.drain();
  });

  test('beside its slots, a process takes one job of an organisation that runs nothing', async () => {
    await given.drain();
    const [one, two] = [await given.fixture.createOrg(), await given.fixture.createOrg()];
    const here = { ...worker, workerId: 'w-full', slots: 2 };
    await given.submitOne(one);
    expect((await given.jobs.claimJob(here, minute))?.idOrg).toBe(one);
    await given.submitOne(one);
    expect(await given.jobs.claimJob(here, minute, true)).toBeNull();
    const newcomer = await given.submitOne(two);
    expect((await given.jobs.claimJob(here, minute, true))?.idJob).toBe(newcomer);
    await given.submitOne(two);
    expect(await given.jobs.claimJob(here, minute, true)).toBeNull();
    await given.drain();
  });

  test('the running time of all attempts counts, and no time in between', async () => {
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg);
    const first = await given.claimJob(idJob);
    await delay(100);
    await given.jobs.handBack(first, 300, 'an outage');
    await delay(320);
    const second = await given.claimJob(idJob);
    expect(second.attempt).toBe(2);
    expect(second.ranMs).toBeGreaterThanOrEqual(95);
    expect(second.ranMs).toBeLessThan(300);
    await given.jobs.finish(second, 'completed', null);
  });

  test('a job whose worker died is tried again under a new epoch, and the old holder is refused', async () => {
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ retryDelayMs: 0 });
    const idJob = await given.submitOne(idOrg);
    const old = await given.claimJob(idJob, 1);
    const started = (await given.jobs.findJob(idOrg, idJob))?.start_date;
    await delay(20);
    expect(await store.reap()).toBeGreaterThanOrEqual(1);
    expect(await given.jobs.findJob(idOrg, idJob)).toMatchObject({
      status: 'waiting',
      end_date: null,
      failure: 'its worker died',
    });
    expect(await given.jobs.heartbeat(old, minute)).toBe('lost');
    const next = await given.claimJob(idJob);
    expect(next).toMatchObject({ epoch: 2, attempt: 2 });
    expect(await given.jobs.findJob(idOrg, idJob)).toMatchObject({
      status: 'running',
      attempt: 2,
      start_date: started,
      failure: null,
    });
    expect(await given.jobs.report(old, { progress: 0.9 })).toBe(false);
    expect(await given.jobs.finish(old, 'completed', null)).toBe(false);
    expect(await given.jobs.handBack(old, 0, null)).toBe(false);
    expect(await given.jobs.finish(next, 'completed', null)).toBe(true);
  });

  test('a lease that a heartbeat extends in time is not reaped', async () => {
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg);
    const claim = await given.claimJob(idJob, 1);
    expect(await given.jobs.heartbeat(claim, minute)).toBe('ok');
    await delay(20);
    await given.jobs.reap();
    expect(await given.statusOf(idOrg, idJob)).toBe('running');
    await given.jobs.finish(claim, 'completed', null);
  });

  test('a job whose attempts are spent is lost', async () => {
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ maxAttempts: 2, retryDelayMs: 0 });
    const { idJobs } = await store.submit(submission(idOrg, 2));
    const idJob = idJobs[0] ?? 0;
    for (const status of ['waiting', 'lost']) {
      await given.claimJob(idJob, 1, store);
      await delay(20);
      await store.reap();
      expect(await given.statusOf(idOrg, idJob)).toBe(status);
    }
    expect((await given.jobs.findJob(idOrg, idJob))?.end_date).not.toBeNull();
    expect(await given.statusOf(idOrg, idJobs[1] ?? 0)).toBe('killed');
  });

  test('a job handed back waits, then runs again; when its attempts are spent it is lost', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ maxAttempts: 2 });
    const idJob = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
    expect(await store.handBack(await given.claimJob(idJob, minute, store), minute, 'drained')).toBe(true);
    expect(await given.jobs.findJob(idOrg, idJob)).toMatchObject({ status: 'waiting', failure: 'drained' });
    expect(await store.claimJob(worker, minute)).toBeNull();

    const soon = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
    // a draining worker's hand-back is none of the job's fault
    await store.handBack(await given.claimJob(soon, minute, store), 0, null);
    await store.handBack(await given.claimJob(soon, minute, store), 0, null);
    const first = await given.claimJob(soon, minute, store);
    expect(first.attempt).toBe(1);
    await store.handBack(first, 0, 'disk full');
    const again = await given.claimJob(soon, minute, store);
    expect(again.attempt).toBe(2);
    expect(await store.handBack(again, 0, 'disk full')).toBe(true);
    expect(await given.jobs.findJob(idOrg, soon)).toMatchObject({ status: 'lost', failure: 'disk full' });
  });

  test('a job that waits for the end of an outage loses neither attempts nor time', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ maxAttempts: 1 });
    const idJob = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
    const claim = await given.claimJob(idJob, minute, store);
    expect((await store.findStoredJob(idJob)).outage).toMatchObject({ waitedMs: 0, tries: 0 });
    await delay(50);
    expect(await store.handBack(claim, 0, 'no server', true)).toBe(true);
    expect(await given.jobs.findJob(idOrg, idJob)).toMatchObject({ status: 'waiting', failure: 'no server' });
    await delay(30);
    const again = await given.claimJob(idJob, minute, store);
    expect(again).toMatchObject({ attempt: 1, ranMs: 0 });
    const { outage } = await store.findStoredJob(idJob);
    expect(outage.tries).toBe(1);
    expect(outage.waitedMs).toBeGreaterThanOrEqual(25);
    await store.handBack(again, 0, 'no server', true);
    const last = await given.claimJob(idJob, minute, store);
    expect((await store.findStoredJob(idJob)).outage).toMatchObject({ sinceMs: outage.sinceMs, tries: 2 });
    await given.jobs.finish(last, 'completed', null);
  });

  test('a job that waits for a server is due when another job reaches it', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const { jobs: some, ...rest } = submission(idOrg, 1);
    const outputPath = 'postgresql://db.example:5432/lake?schema=x';
    const wanted = { ...rest, jobs: some.map((job) => ({ ...job, outputPath })) };
    const idJob = (await given.jobs.submit(wanted)).idJobs[0] ?? 0;
    await given.jobs.handBack(await given.claimJob(idJob), minute, 'no server', true);
    await given.jobs.noteReachedServer(idOrg, 'postgresql://db.example:5433');
    await given.jobs.noteReachedServer(await given.fixture.createOrg(), 'postgresql://db.example:5432');
    expect(await given.jobs.claimJob(worker, minute)).toBeNull();
    await given.jobs.noteReachedServer(idOrg, 'postgresql://db.example:5432');
    const claim = await given.claimJob(idJob);
    expect(claim).toMatchObject({ idJob, attempt: 1 });
    await given.jobs.finish(claim, 'completed', null);
  });

  test('servers that were reached are known to the organisation alone', async () => {
    const [idOrg, other] = [await given.fixture.createOrg(), await given.fixture.createOrg()];
    const server = 'postgresql://db.example:5432';
    expect(await given.jobs.isReachedServer(idOrg, server)).toBe(false);
    await given.jobs.noteReachedServer(idOrg, server);
    await given.jobs.noteReachedServer(idOrg, server);
    expect(await given.jobs.isReachedServer(idOrg, server)).toBe(true);
    expect(await given.jobs.isReachedServer(idOrg, 'postgresql://db.example:5433')).toBe(false);
    expect(await given.jobs.isReachedServer(other, server)).toBe(false);
  });
}
