/** Jobs by hand, reruns, waiting, and the records that are kept of jobs. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { terminalStatuses } from '../../../../src/service/jobs/record.ts';
import type { JobFilter, ListPosition, NewJob } from '../../../../src/ports/stores/jobs.ts';
import { minute, newJob, submission, worker, type JobStoreUse } from './submissions.ts';

export function recordsOfJobs(given: JobStoreUse): void {
  test('past its deadline a waiting job expires and a running one is told to end', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ deadlineMs: 300 });
    const running = (await store.submit(submission(idOrg, 1))).idJobs[0] ?? 0;
    const claim = await store.claimJob(worker, minute);
    expect(claim?.idJob).toBe(running);
    const { idJobs } = await store.submit(submission(idOrg, 2));
    await delay(350);
    expect(await store.claimJob(worker, minute)).toBeNull();
    await store.reap();
    expect(await given.statusOf(idOrg, idJobs[0] ?? 0)).toBe('expired');
    expect(['killed', 'expired']).toContain(await given.statusOf(idOrg, idJobs[1] ?? 0));
    expect(await given.statusOf(idOrg, running)).toBe('running');
    if (claim === null) return;
    expect(await store.heartbeat(claim, minute)).toBe('kill');
    expect(await store.finish(claim, 'expired', 'its deadline passed')).toBe(true);
    expect(await given.jobs.findJob(idOrg, running)).toMatchObject({
      status: 'expired',
      failure: 'its deadline passed',
    });
  });

  test('a job by hand runs at once, outside the queue, with one attempt', async () => {
    const idOrg = await given.fixture.createOrg();
    const claim = await given.jobs.startByHand(
      newJob({ tool: 'xsd2er', jobType: 'Schema' }),
      idOrg,
      worker,
      1,
    );
    expect(claim).toMatchObject({ epoch: 1, attempt: 1, tool: 'xsd2er', idOrg });
    expect(await given.jobs.findJob(idOrg, claim.idJob)).toMatchObject({
      status: 'running',
      job_type: 'Schema',
      log_file: null,
      os_user: 'svc',
    });
    await delay(20);
    await given.jobs.reap();
    expect(await given.statusOf(idOrg, claim.idJob)).toBe('lost');
  });

  test('a reference to an earlier job becomes the origin that it made', async () => {
    const idOrg = await given.fixture.createOrg();
    const origin = await given.fixture.createOrigin(idOrg);
    const { idJobs } = await given.jobs.submit(
      submission(idOrg, 2, {
        jobs: [newJob(), newJob({ request: '{"tool":"xml2er","originId":{"ref":0},"n":[1]}' })],
      }),
    );
    const [first = 0, second = 0] = idJobs;
    expect(JSON.parse((await given.jobs.findStoredJob(second)).request)).toEqual({
      tool: 'xml2er',
      originId: { ref: 0 },
      n: [1],
    });
    const claim = await given.claimJob(first);
    await given.jobs.report(claim, { idSch: origin });
    await given.jobs.finish(claim, 'completed', null);
    const next = await given.claimJob(second);
    const { request, record, epoch } = await given.jobs.findStoredJob(second);
    expect(JSON.parse(request)).toEqual({ tool: 'xml2er', originId: { id: origin }, n: [1] });
    expect(record).toEqual(await given.jobs.findJob(idOrg, second));
    expect(epoch).toBe(next.epoch);
    await given.jobs.finish(next, 'failed', 'no');
    const again = await given.jobs.rerunJob(idOrg, second);
    const repeated = await given.jobs.findStoredJob(again.idJob);
    expect(JSON.parse(repeated.request)).toEqual({ tool: 'xml2er', originId: { id: origin }, n: [1] });
    expect(repeated.record).toMatchObject({ id_sch: origin, status: 'queued' });
    await expect(given.jobs.findStoredJob(987_654_321)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a rerun repeats a job in a workflow of its own; until it has ended it is given again', async () => {
    const idOrg = await given.fixture.createOrg();
    const idJob = await given.submitOne(idOrg, { params: 'x.xml' });
    await expect(given.jobs.rerunJob(idOrg, idJob)).rejects.toMatchObject({ code: 'job_not_terminal' });
    await given.jobs.finish(await given.claimJob(idJob), 'failed', 'bad');
    const [one, two] = await Promise.all([
      given.jobs.rerunJob(idOrg, idJob),
      given.jobs.rerunJob(idOrg, idJob),
    ]);
    expect(two).toEqual(one);
    expect(one.tool).toBe('xml2er');
    const record = await given.jobs.findJob(idOrg, one.idJob);
    expect(record).toMatchObject({
      id_parent_job: idJob,
      status: 'queued',
      params: 'x.xml',
      id_workflow: one.idWorkflow,
      start_date: null,
      failure: null,
    });
    expect(one.idWorkflow).not.toBe((await given.jobs.findJob(idOrg, idJob))?.id_workflow);
    await given.jobs.finish(await given.claimJob(one.idJob), 'completed', null);
    expect((await given.jobs.rerunJob(idOrg, idJob)).idJob).not.toBe(one.idJob);
    await expect(given.jobs.rerunJob(idOrg, 987_654_321)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an idempotency key gives the first answer again, also to requests at the same time', async () => {
    const idOrg = await given.fixture.createOrg();
    const request = submission(idOrg, 2, { idempotency: { key: 'k1', bodyHash: 'h1' } });
    const answers = await Promise.all([
      given.jobs.submit(request),
      given.jobs.submit(request),
      given.jobs.submit(request),
    ]);
    expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
    expect(new Set(answers.map((answer) => JSON.stringify([answer.idWorkflow, answer.idJobs]))).size).toBe(1);
    expect((await given.jobs.listJobs(idOrg, 0, 20)).totalElements).toBe(2);
    await expect(
      given.jobs.submit({ ...request, idempotency: { key: 'k1', bodyHash: 'h2' } }),
    ).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    const other = await given.fixture.createOrg();
    expect((await given.jobs.submit({ ...request, idOrg: other })).replayed).toBe(false);
    const forgetful = given.fixture.store({ idempotencyKeyMs: 0 });
    await delay(5);
    expect((await forgetful.submit(request)).replayed).toBe(false);
  });

  test('an organisation may have only so many jobs waiting', async () => {
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ maxQueuedPerOrg: 3 });
    await store.submit(submission(idOrg, 2));
    await expect(store.submit(submission(idOrg, 2))).rejects.toMatchObject({ code: 'too_many_requests' });
    expect((await given.jobs.listJobs(idOrg, 0, 20)).totalElements).toBe(2);
    await store.submit(submission(idOrg, 1));
  });

  test('many workers take many jobs, each once', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store({ maxRunningPerOrg: 3 });
    const wanted: number[] = [];
    for (let i = 0; i < 40; i++) wanted.push(...(await given.jobs.submit(submission(idOrg, 5))).idJobs);
    const taken: number[] = [];
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      while (taken.length < wanted.length) {
        const claim = await store.claimJob(worker, minute);
        if (claim === null) {
          await delay(2);
          continue;
        }
        taken.push(claim.idJob);
        most = Math.max(most, ++running);
        await delay(1);
        running--;
        expect(await store.finish(claim, 'completed', null)).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(taken.toSorted((a, b) => a - b)).toEqual(wanted);
    expect(most).toBeLessThanOrEqual(3);
    const page = await given.jobs.listJobs(idOrg, 0, 500);
    expect(page.content.every((job) => job.status === 'completed' && job.attempt === 1)).toBe(true);
  });

  test('waiting for work ends with a submission, an abort or the time-out', async () => {
    await given.drain();
    const idOrg = await given.fixture.createOrg();
    const store = given.fixture.store();
    const never = new AbortController();
    // The first wait may end early, as the store begins to listen.
    await store.waitForWork(50, never.signal);
    await store.waitForWork(50, never.signal);
    let woken = false;
    const waiting = store.waitForWork(60_000, never.signal).then(() => (woken = true));
    await delay(30);
    expect(woken).toBe(false);
    await given.submitOne(idOrg);
    await waiting;
    const ending = new AbortController();
    const aborted = store.waitForWork(60_000, ending.signal);
    ending.abort();
    await aborted;
    await store.waitForWork(60_000, ending.signal);
    await given.drain();
    await store.waitForWork(20, never.signal);
  });

  test('a workflow sums up its jobs', async () => {
    const idOrg = await given.fixture.createOrg();
    const named = await given.jobs.submit(submission(idOrg, 3, { workflowName: 'monthly' }));
    const other = await given.jobs.submit(submission(idOrg, 1));
    expect(await given.jobs.findWorkflow(idOrg, named.idWorkflow)).toMatchObject({
      id_workflow: named.idWorkflow,
      name: 'monthly',
      status: 'queued',
      start_date: null,
      end_date: null,
      job_count: 3,
      completed_count: 0,
      failed_count: 0,
    });
    await given.jobs.finish(await given.claimJob(named.idJobs[0] ?? 0), 'completed', null);
    const begun = await given.jobs.findWorkflow(idOrg, named.idWorkflow);
    expect(begun).toMatchObject({ status: 'running', completed_count: 1, end_date: null });
    expect(begun?.start_date).toBe(begun?.jobs[0]?.start_date);
    await given.jobs.finish(await given.claimJob(named.idJobs[1] ?? 0), 'failed', 'bad');
    const ended = await given.jobs.findWorkflow(idOrg, named.idWorkflow);
    expect(ended).toMatchObject({ status: 'failed', completed_count: 1, failed_count: 2 });
    expect(ended?.jobs.map((job) => job.id_job)).toEqual(named.idJobs);
    expect(ended?.end_date).toBe(Math.max(...(ended?.jobs ?? []).map((job) => job.end_date ?? 0)));
    const list = await given.jobs.listWorkflows(idOrg, 0, 20);
    expect(list.totalElements).toBe(2);
    expect(list.content.map((workflow) => workflow.id_workflow)).toEqual([
      other.idWorkflow,
      named.idWorkflow,
    ]);
    expect(list.content[1]?.jobs).toEqual(named.idJobs);
    expect(list.content[0]?.name).not.toBe('');
    expect(await given.jobs.findWorkflow(idOrg, 987_654_321)).toBeNull();
  });

  test('lists are filtered', async () => {
    const idOrg = await given.fixture.createOrg();
    const origin = await given.fixture.createOrigin(idOrg);
    const begun = Date.now();
    const [failed, completed, early] = [
      await given.submitOne(idOrg),
      await given.submitOne(idOrg),
      await given.submitOne(idOrg),
    ];
    const bad = await given.claimJob(failed);
    await given.jobs.report(bad, { idSch: origin });
    await given.jobs.finish(bad, 'failed', 'bad');
    await given.jobs.finish(await given.claimJob(completed), 'completed', null);
    await given.claimJob(early);
    await delay(20);
    const middle = Date.now();
    await delay(20);
    const three = submission(idOrg, 3);
    const late = await given.jobs.submit({
      ...three,
      jobs: three.jobs.map((job, at) => ({ ...job, jobType: at === 0 ? 'Schema' : job.jobType })),
    });
    await given.jobs.finish(await given.claimJob(late.idJobs[0]!), 'completed', null);
    const jobs = async (filter: JobFilter) => {
      const { content, totalElements } = await given.jobs.listJobs(idOrg, 0, 20, { filter });
      expect(totalElements).toBe(content.length);
      return content.map(({ id_job: idJob }) => idJob);
    };
    const [first, second, third] = late.idJobs as [number, number, number];
    expect(await jobs({})).toEqual([third, second, first, early, completed, failed]);
    expect(await jobs({ status: 'queued' })).toEqual([third, second]);
    expect(await jobs({ status: 'running' })).toEqual([early]);
    expect(await jobs({ status: 'completed' })).toEqual([first, completed]);
    expect(await jobs({ status: 'lost' })).toEqual([]);
    expect(await jobs({ jobType: 'Schema' })).toEqual([first]);
    expect(await jobs({ jobType: 'Schema', status: 'queued' })).toEqual([]);
    expect(await jobs({ idSchs: [origin] })).toEqual([failed]);
    expect(await jobs({ idSchs: [] })).toEqual([]);
    expect(await jobs({ since: middle })).toEqual([third, second, first]);
    expect(await jobs({ until: middle })).toEqual([early, completed, failed]);
    expect(await jobs({ since: begun, until: middle, status: 'completed' })).toEqual([completed]);

    const workflows = async (filter: JobFilter) => {
      const { content, totalElements } = await given.jobs.listWorkflows(idOrg, 0, 20, { filter });
      expect(totalElements).toBe(content.length);
      return content.map((one) => one.jobs[0]);
    };
    expect(await workflows({})).toEqual([first, early, completed, failed]);
    expect(await workflows({ status: 'running' })).toEqual([first, early]);
    expect(await workflows({ status: 'queued' })).toEqual([]);
    expect(await workflows({ status: 'completed' })).toEqual([completed]);
    expect(await workflows({ status: 'failed' })).toEqual([failed]);
    expect(await workflows({ status: 'killed' })).toEqual([]);
    expect(await workflows({ jobType: 'Schema' })).toEqual([first]);
    expect(await workflows({ idSchs: [origin] })).toEqual([failed]);
    expect(await workflows({ idSchs: [origin], jobType: 'Schema' })).toEqual([]);
    expect(await workflows({ since: middle })).toEqual([first]);
    expect(await workflows({ until: middle, status: 'running' })).toEqual([early]);

    const runs = async (filter: JobFilter) =>
      (await given.jobs.listRuns(idOrg, null, 0, 20, { filter })).content.map(({ record }) => record.id_job);
    expect(await runs({ status: 'failed' })).toEqual([failed]);
    expect(await runs({ status: 'completed' })).toEqual([]);
    expect(await runs({ since: middle })).toEqual([]);
  });

  test('lists go on from a record, whatever is added meanwhile', async () => {
    const idOrg = await given.fixture.createOrg();
    const ids: number[] = [];
    for (let at = 0; at < 5; at += 1) ids.unshift(await given.submitOne(idOrg));
    const list = async (position: ListPosition, size = 2) => {
      const found = await given.jobs.listJobs(idOrg, 1, size, { position });
      expect(found).toMatchObject({ page: 1, size });
      return [found.totalElements, found.content.map(({ id_job: idJob }) => idJob)];
    };
    expect(await list({ side: 'after', id: ids[1]! })).toEqual([5, [ids[2], ids[3]]]);
    const added = await given.submitOne(idOrg);
    expect(await list({ side: 'after', id: ids[3]! })).toEqual([6, [ids[4]]]);
    expect(await list({ side: 'after', id: ids[4]! })).toEqual([6, []]);
    expect(await list({ side: 'before', id: ids[4]! })).toEqual([6, [ids[2], ids[3]]]);
    expect(await list({ side: 'before', id: ids[1]! }, 5)).toEqual([6, [added, ids[0]]]);
    const filtered = await given.jobs.listJobs(idOrg, 0, 2, {
      filter: { status: 'queued' },
      position: { side: 'after', id: added },
    });
    expect(filtered.content.map(({ id_job: idJob }) => idJob)).toEqual([ids[0], ids[1]]);

    const all = (await given.jobs.listWorkflows(idOrg, 0, 20)).content.map((one) => one.id_workflow);
    const after = await given.jobs.listWorkflows(idOrg, 0, 2, {
      position: { side: 'after', id: all[1]! },
    });
    expect(after.content.map((one) => one.id_workflow)).toEqual([all[2], all[3]]);
    const before = await given.jobs.listWorkflows(idOrg, 0, 2, {
      filter: { status: 'queued' },
      position: { side: 'before', id: all[3]! },
    });
    expect(before.content.map((one) => one.id_workflow)).toEqual([all[1], all[2]]);
    expect(
      (await given.jobs.listRuns(idOrg, null, 0, 2, { position: { side: 'after', id: added } })).content,
    ).toEqual([]);
  });

  test('runs come with their summaries, and rows are summed by table', async () => {
    const idOrg = await given.fixture.createOrg();
    const other = await given.fixture.createOrg();
    const [one, two] = [await given.fixture.createOrigin(idOrg), await given.fixture.createOrigin(idOrg)];
    const run = async (idSch: number, tables: Record<string, number>, status: 'completed' | 'failed') => {
      const claim = await given.claimJob(await given.submitOne(idOrg));
      await given.jobs.report(claim, { idSch, summary: { tables, documents: 1 } });
      await given.jobs.finish(claim, status, null);
      return claim.idJob;
    };
    const first = await run(one, { item: 3, topping: 5 }, 'completed');
    const second = await run(one, { item: 4 }, 'completed');
    const third = await run(two, { item: 100 }, 'failed');
    const waiting = await given.submitOne(idOrg);
    const all = await given.jobs.listRuns(idOrg, null, 0, 2);
    expect(all.totalElements).toBe(3);
    expect(all.content.map(({ record }) => record.id_job)).toEqual([third, second]);
    expect(all.content[1]?.summary).toEqual({ tables: { item: 4 }, documents: 1 });
    expect(
      (await given.jobs.listRuns(idOrg, [one], 0, 20)).content.map(({ record }) => record.id_job),
    ).toEqual([second, first]);
    expect(await given.jobs.listRuns(idOrg, [], 0, 20)).toMatchObject({ content: [], totalElements: 0 });
    expect(await given.jobs.listRuns(other, null, 0, 20)).toMatchObject({ content: [], totalElements: 0 });
    expect(await given.jobs.findRun(idOrg, first)).toMatchObject({ record: { id_job: first, id_sch: one } });
    expect(await given.jobs.findRun(idOrg, waiting)).toMatchObject({ summary: null });
    expect(await given.jobs.findRun(other, first)).toBeNull();
    expect(await given.jobs.sumLoadedRows(idOrg)).toEqual(new Map([[one, { item: 7, topping: 5 }]]));
    expect(await given.jobs.sumLoadedRows(other)).toEqual(new Map());
  });

  test('the record of an ended job has what came of it, and nothing that is not so', async () => {
    const idOrg = await given.fixture.createOrg();
    const end = async (summary: unknown, status: 'completed' | 'failed' | 'killed'): Promise<number> => {
      const claim = await given.claimJob(await given.submitOne(idOrg));
      await given.jobs.report(claim, { summary });
      expect(JSON.parse((await given.jobs.findJob(idOrg, claim.idJob))!.params_json)).toEqual(asked);
      await given.jobs.finish(claim, status, status === 'completed' ? null : 'why');
      return claim.idJob;
    };
    const asked = { spark: {}, action: {} };
    const shown = async (idJob: number): Promise<unknown> =>
      JSON.parse((await given.jobs.findJob(idOrg, idJob))!.params_json) as unknown;
    const result = {
      status: 'C',
      tables: { zebra: 2, a: 1 },
      steps: [{ name: 'start "x"', seconds: 0.1, cpu_seconds: 0.25 }],
      schema_chosen: null,
    };
    const done = await end({ ...result, details: { rejects: [{ message: '\0\ud800' }] } }, 'completed');
    expect(await shown(done)).toEqual({ ...asked, result });
    const [listed] = (await given.jobs.listJobs(idOrg, 0, 1)).content;
    expect(JSON.parse(listed!.params_json)).toEqual({ ...asked, result });
    const failed = await end({ status: 'F', rows: 0 }, 'failed');
    expect(await shown(failed)).toEqual({ ...asked, result: { status: 'F', rows: 0 } });
    // what it had told of itself is not how it ended
    expect(await shown(await end(result, 'killed'))).toEqual(asked);
    const { idJob: again } = await given.jobs.rerunJob(idOrg, done);
    expect(await shown(again)).toEqual(asked);
  });

  test('rows that were overwritten or unloaded are summed no more', async () => {
    const idOrg = await given.fixture.createOrg();
    const idSch = await given.fixture.createOrigin(idOrg);
    const run = async (job: Partial<NewJob>, action: object, rows: number) => {
      const { jobs: jobsOf, ...rest } = submission(idOrg, 1);
      const [idJob = 0] = (
        await given.jobs.submit({
          ...rest,
          jobs: [{ ...jobsOf[0]!, ...job, paramsJson: JSON.stringify({ spark: {}, action }) }],
        })
      ).idJobs;
      const claim = await given.claimJob(idJob);
      await given.jobs.report(claim, { idSch, summary: { tables: { item: rows } } });
      await given.jobs.finish(claim, 'completed', null);
    };
    await run({}, { out: 'metadb:a' }, 1);
    await run({}, { out: 'metadb:b' }, 20);
    await run({}, { out: 'metadb:a', savemode: 'o' }, 300);
    await run({}, { out: 'metadb:a' }, 4000);
    await run({ jobType: 'Unload', tool: 'unload' }, { in: 'metadb:a' }, 1000);
    await run({ jobType: 'Write', tool: 'er2xml' }, { in: 'metadb:a' }, 50_000);
    expect(await given.jobs.sumLoadedRows(idOrg)).toEqual(new Map([[idSch, { item: 3320 }]]));
  });

  test('the record of an ended job is removed, and its workflow with the last', async () => {
    const idOrg = await given.fixture.createOrg();
    const { idJobs, idWorkflow } = await given.jobs.submit(submission(idOrg, 2));
    const [one = 0, two = 0] = idJobs;
    await expect(given.jobs.removeJob(idOrg, one)).rejects.toMatchObject({ code: 'job_not_terminal' });
    await given.jobs.finish(await given.claimJob(one), 'completed', null);
    await expect(given.jobs.removeJob(idOrg, one)).rejects.toMatchObject({ code: 'job_not_terminal' });
    await given.jobs.finish(await given.claimJob(two), 'completed', null);
    expect(await given.jobs.removeJob(await given.fixture.createOrg(), one)).toBe(false);
    expect(await given.jobs.removeJob(idOrg, one)).toBe(true);
    expect(await given.jobs.removeJob(idOrg, one)).toBe(false);
    expect(await given.jobs.findJob(idOrg, one)).toBeNull();
    expect(await given.jobs.findWorkflow(idOrg, idWorkflow)).toMatchObject({ job_count: 1 });
    expect(await given.jobs.removeJob(idOrg, two)).toBe(true);
    expect(await given.jobs.findWorkflow(idOrg, idWorkflow)).toBeNull();
  });

  test('what figures are made of: jobs that ended since a time, and how long the queue has waited', async () => {
    await given.drain();
    const before = Date.now() - minute;
    const idOrg = await given.fixture.createOrg();
    const { idJobs } = await given.jobs.submit(submission(idOrg, 2));
    const age = await given.jobs.queueAgeMs();
    expect(age).toBeGreaterThanOrEqual(0);
    expect(await given.jobs.queueAgeMs()).toBeGreaterThanOrEqual(age);
    const done = await given.claimJob(idJobs[0]!);
    await given.jobs.report(done, { summary: { documents: 3, rows: 50, bytes: 7000, tables: {} } });
    await given.jobs.finish(done, 'completed', null);
    const failed = await given.claimJob(idJobs[1]!);
    await given.jobs.finish(failed, 'failed', 'line 3, column 7: what');
    const ended = await given.jobs.listEnded(before);
    const [first, second] = idJobs.map((id) => ended.find(({ idJob }) => idJob === id)!);
    const { start_date: startMs, end_date: endMs } = (await given.jobs.findJob(idOrg, idJobs[0]!))!;
    expect({ ...first, startMs, endMs }).toEqual({
      idJob: idJobs[0],
      type: 'Parse',
      status: 'completed',
      failure: null,
      startMs,
      endMs,
      documents: 3,
      rows: 50,
      bytes: 7000,
    });
    // times of the database are finer than milliseconds
    expect(Math.abs(first!.endMs - endMs!)).toBeLessThanOrEqual(1);
    expect(Math.abs(first!.startMs! - startMs!)).toBeLessThanOrEqual(1);
    expect(second).toMatchObject({ status: 'failed', failure: 'line 3, column 7: what', rows: 0 });
    expect(ended.map((one) => one.endMs)).toEqual(ended.map((one) => one.endMs).toSorted((a, b) => a - b));
    expect((await given.jobs.listEnded(Math.max(...ended.map((one) => one.endMs)) + 1000)).length).toBe(0);
    await given.drain();
  });

  test('the end is set exactly in the states that are an end', async () => {
    const idOrg = await given.fixture.createOrg();
    const { idJobs } = await given.jobs.submit(submission(idOrg, 2));
    const claim = await given.claimJob(idJobs[0] ?? 0);
    for (const step of [
      () => given.jobs.requestKill(idOrg, claim.idJob),
      () => given.jobs.finish(claim, 'killed', null),
    ]) {
      await step();
      for (const job of (await given.jobs.listJobs(idOrg, 0, 20)).content) {
        expect(job.end_date !== null).toBe(terminalStatuses.has(job.status));
      }
    }
  });
}
