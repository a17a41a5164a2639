/** The contract of job stores, on PostgreSQL and in memory, and what the job table itself refuses. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { legalTransitions, type JobStatus, statusLetters } from '../../../src/service/jobs/record.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { emptySourceModel } from './catalog/contract.ts';
import { relational } from './catalog/models.ts';
import { describeJobStore, submission, worker } from './jobs/contract.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

describeJobStore('PostgreSQL', async () => {
  const database = await createTestDatabase();
  const stores: { close(): Promise<void> }[] = [];
  const catalog = createPostgresCatalogStore(database.service);
  let serial = 0;
  return {
    store: (limits) => {
      // The tests of the queue are not about how many may run.
      const store = createPostgresJobStore(database.service, { maxRunningPerOrg: 1000, ...limits });
      stores.push(store);
      return store;
    },
    createOrg: async () => {
      const [row] = await database.sql<
        { id_org: number }[]
      >`insert into svc.org (name) values (${`org ${++serial}`}) returning id_org`;
      return row?.id_org ?? 0;
    },
    createOrigin: async (idOrg) => {
      const origin = {
        idOrg,
        idParentSch: null,
        idJob: null,
        name: `origin ${++serial}`,
        sourceType: 'xml',
        model: emptySourceModel,
        files: [],
      } as const;
      return (await catalog.createOrigin(origin)).id_sch;
    },
    close: async () => {
      for (const store of stores) await store.close();
      await database.drop();
    },
  };
});

/** Columns as the state wants them, so that only the step itself can be at fault. */
const columnsOf = (status: JobStatus): string => {
  const ended = legalTransitions[status].length === 0;
  return (
    `status = '${statusLetters[status]}', end_date = ${ended ? 'coalesce(end_date, clock_timestamp())' : 'null'}, ` +
    `lease_until = ${status === 'running' || status === 'terminating' ? 'clock_timestamp()' : 'null'}, next_attempt = ${status === 'waiting' ? 'clock_timestamp()' : 'null'}, ` +
    `start_date = ${status === 'queued' ? 'start_date' : 'coalesce(start_date, clock_timestamp())'}` +
    (status === 'running' ? ', epoch = epoch + 1' : '')
  );
};

describe('the job table', () => {
  const trial = useTrial();
  let database: TestDatabase;
  beforeAll(async () => void (database = await trial.database()));

  test('shows the origin that a reference came to mean, in the job and in its rerun', async () => {
    const jobs = createPostgresJobStore(database.service);
    const catalog = createPostgresCatalogStore(database.service);
    const { id_sch: idSch } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'referred to',
      sourceType: 'xml',
      model: emptySourceModel,
      files: [],
    });
    const wanted = submission(1, 2);
    const [made, reading] = wanted.jobs as [(typeof wanted.jobs)[0], (typeof wanted.jobs)[0]];
    const shown = {
      params: `a.xml -x '$0' --name '$0'`,
      paramsJson: '{"spark":{},"action":{"origin":"$0","name":"$0"}}',
    };
    const request = '{"tool":"xml2er","originId":{"ref":0}}';
    const { idJobs } = await jobs.submit({ ...wanted, jobs: [made, { ...reading, ...shown, request }] });
    const claim = (await jobs.claimJob(worker, 60_000))!;
    await jobs.report(claim, { idSch });
    await jobs.finish(claim, 'completed', null);
    const next = (await jobs.claimJob(worker, 60_000))!;
    const expected = {
      params: `a.xml -x ${idSch} --name '$0'`,
      params_json: JSON.stringify({ spark: {}, action: { origin: String(idSch), name: '$0' } }),
    };
    expect((await jobs.findStoredJob(next.idJob)).record).toMatchObject(expected);
    expect(await jobs.findJob(1, idJobs[1]!)).toMatchObject(expected);
    await jobs.finish(next, 'failed', 'no');
    const again = await jobs.rerunJob(1, next.idJob);
    expect(await jobs.findJob(1, again.idJob)).toMatchObject(expected);
    await jobs.requestKill(1, again.idJob);
    await jobs.close();
  });

  test('an origin that is removed while something refers to it is one that is not there', async () => {
    const jobs = createPostgresJobStore(database.service);
    const catalog = createPostgresCatalogStore(database.service);
    const { id_sch: idSch } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'removed meanwhile',
      sourceType: 'xml',
      model: emptySourceModel,
      files: [],
    });
    const { idLschma } = await catalog.createLogicalSchema(1, idSch, relational, null);
    const [job] = submission(1, 1).jobs;
    let drawing: Promise<unknown> = Promise.resolve();
    let starting: Promise<{ readonly idJob: number }> | null = null;
    await database.sql.begin(async (removing) => {
      await removing`delete from svc.origin where id_sch = ${idSch}`;
      drawing = catalog.saveDiagram(1, idLschma, '<svg/>').catch((error: unknown) => error);
      starting = jobs.startByHand({ ...job!, idSch }, 1, worker, 60_000);
      for (let waiting = 0; waiting < 2; await delay(10))
        waiting = Number(
          (
            await database.sql<{ n: number }[]>`
              select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          )[0]!.n,
        );
    });
    expect(await drawing).toMatchObject({ code: 'not_found' });
    const { idJob } = await starting!;
    expect(await jobs.findJob(1, idJob)).toMatchObject({ id_sch: null, status: 'running' });
    await jobs.close();
  });

  const statuses = Object.keys(legalTransitions) as JobStatus[];
  const pathTo: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
    queued: [],
    running: ['running'],
    waiting: ['running', 'waiting'],
    terminating: ['running', 'terminating'],
    completed: ['running', 'completed'],
    failed: ['running', 'failed'],
    killed: ['killed'],
    expired: ['expired'],
    lost: ['running', 'lost'],
  };

  test.each(statuses)('from %s goes only where it may', async (from) => {
    const jobs = createPostgresJobStore(database.service);
    for (const to of statuses.filter((status) => status !== from)) {
      const idJob = (await jobs.submit(submission(1, 1))).idJobs[0] ?? 0;
      for (const step of pathTo[from])
        await database.sql.unsafe(`update svc.job set ${columnsOf(step)} where id_job = ${idJob}`);
      const attempt = database.sql.unsafe(`update svc.job set ${columnsOf(to)} where id_job = ${idJob}`);
      if (legalTransitions[from].includes(to)) await attempt;
      else await expect(attempt).rejects.toMatchObject({ code: '23514', constraint_name: 'job_transition' });
    }
  });

  test('refuses an end without an end state, a lease without a worker, and a second start', async () => {
    const jobs = createPostgresJobStore(database.service);
    const idJob = (await jobs.submit(submission(1, 1))).idJobs[0] ?? 0;
    const change = (columns: string) =>
      database.sql.unsafe(`update svc.job set ${columns} where id_job = ${idJob}`);
    await expect(change('end_date = clock_timestamp()')).rejects.toMatchObject({
      constraint_name: 'job_end_date',
    });
    await expect(change('lease_until = clock_timestamp()')).rejects.toMatchObject({
      constraint_name: 'job_lease',
    });
    await change(columnsOf('running'));
    await expect(change("start_date = clock_timestamp() + interval '1 second'")).rejects.toMatchObject({
      constraint_name: 'job_first_start',
    });
    await expect(
      database.sql`insert into svc.workflow (id_org) values (1)`.then(
        () => database.sql`
          insert into svc.job (id_org, id_workflow, position, ready, job_type, tool, params, params_json, request, deadline, max_attempts, status, start_date, end_date)
          values (1, 1, 9, true, 'Parse', 'xml2er', '', '', '', 'infinity', 1, 'C', clock_timestamp(), clock_timestamp())`,
      ),
    ).rejects.toMatchObject({ constraint_name: 'job_transition' });
  });

  test('keeps epochs apart, an ended record as it was, and a job open whose rows may be published', async () => {
    const jobs = createPostgresJobStore(database.sql);
    const idJob = (await jobs.submit(submission(1, 1))).idJobs[0] ?? 0;
    const change = (columns: string) =>
      database.sql.unsafe(`update svc.job set ${columns} where id_job = ${idJob}`);
    const refused = (columns: string, constraint: string) =>
      expect(change(columns)).rejects.toMatchObject({ code: '23514', constraint_name: constraint });
    await refused(`${columnsOf('running')}, epoch = epoch`.replace(', epoch = epoch + 1', ''), 'job_epoch');
    await refused('committing = true', 'job_committing');
    await change(columnsOf('running'));
    await refused('epoch = 0', 'job_epoch');
    await change('committing = true');
    await refused(columnsOf('waiting'), 'job_committing');
    await refused(columnsOf('lost'), 'job_committing');
    await change(`${columnsOf('completed')}, committing = false`);
    for (const member of ["failure = 'late'", "summary = '{}'", 'attempts = 2', 'epoch = 9'])
      await refused(member, 'job_end');
  });

  test('a kill that no worker answers ends the job all the same, and soon', async () => {
    const jobs = createPostgresJobStore(database.sql, { maxRunningPerOrg: 1000 });
    const idJob = (await jobs.submit(submission(1, 1))).idJobs[0] ?? 0;
    for (let claim = await jobs.claimJob(worker, 3_600_000); claim?.idJob !== idJob;)
      claim = await jobs.claimJob(worker, 3_600_000);
    await jobs.requestKill(1, idJob);
    const [left] = await database.sql<{ seconds: number }[]>`
      select extract(epoch from lease_until - clock_timestamp())::int as seconds from svc.job where id_job = ${idJob}`;
    expect(left!.seconds).toBeLessThanOrEqual(10);
    await database.sql`update svc.job set lease_until = clock_timestamp() where id_job = ${idJob}`;
    await jobs.reap();
    expect(await jobs.findJob(1, idJob)).toMatchObject({ status: 'killed' });
    await jobs.close();
  });

  test('workers hear of work again after their connection broke', async () => {
    const jobs = createPostgresJobStore(database.service);
    const never = new AbortController();
    await jobs.waitForWork(50, never.signal);
    await jobs.waitForWork(50, never.signal);
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await delay(50);
    // The wait after the break listens again and says so.
    await jobs.waitForWork(60_000, never.signal);
    const waiting = jobs.waitForWork(60_000, never.signal);
    await delay(20);
    await jobs.submit(submission(1, 1));
    await waiting;
    await jobs.close();
  });

  test('queries stay on indexes when there are many jobs', needs('whole run'), async () => {
    const jobs = createPostgresJobStore(database.service, {
      maxQueuedPerOrg: 20_000,
      maxRunningPerOrg: 1000,
    });
    for (let i = 0; i < 110; i++) await jobs.submit(submission(1, 100));
    await database.sql`analyze svc.job`;
    const plan = await database.sql<{ 'QUERY PLAN': string }[]>`
      explain select id_job from svc.job where id_org = 1 and ready and status = 'Q' order by id_job + 0 limit 1`;
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(/Index.*job_next/);
    const listed = await jobs.listJobs(1, 400, 20);
    expect(listed.totalElements).toBeGreaterThan(11_000);
    expect(listed.content).toHaveLength(20);
    expect(await jobs.claimJob(worker, 60_000)).not.toBeNull();
  });
});
