/** The worker on a real queue with real processes. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresJobStore } from '../../../../src/metadb/job-store.ts';
import { terminalStatuses, type JobRecord, type JobStatus } from '../../../../src/service/jobs/record.ts';
import { createWorker, type Worker } from '../../../../src/service/jobs/worker/run-jobs.ts';
import type { JobStore } from '../../../../src/ports/stores/jobs.ts';
import type { TestDatabase } from '../../../support/servers/postgres.ts';
import { useTrial } from '../../../support/service/trial.ts';
import { createTestRunner, eventually, runs, temporaryFolder, type TestRunner } from './tool-runner.ts';
import type { JobStoreSettings } from '../../../../src/metadb/job-queue.ts';
import type { WorkerOptions } from '../../../../src/service/jobs/worker/supervise-job.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function startWorker(jobs: JobStore, test: TestRunner, options: Partial<WorkerOptions> = {}): Worker {
  const worker = createWorker({
    jobs,
    runner: test.runner,
    logger: quiet,
    identity: { workerId: 'w1', host: 'h/127.0.0.1', osUser: 'u', basePath: test.directory },
    concurrency: 2,
    leaseMs: 2000,
    heartbeatMs: 50,
    pollMs: 50,
    killGraceMs: 100,
    maxAttempts: 3,
    ...options,
  });
  onTestFinished(() => worker.drain(0));
  worker.start();
  return worker;
}

async function queue(jobs: JobStore, ...tools: string[]): Promise<readonly number[]> {
  const submission = tools.map((tool) => ({
    jobType: 'Parse' as const,
    tool,
    params: '',
    paramsJson: '{}',
    request: JSON.stringify({ tool }),
    inputPath: null,
    outputPath: null,
    idSch: null,
    idParentJob: null,
  }));
  return (await jobs.submit({ idOrg: 1, workflowName: null, jobs: submission, idempotency: null })).idJobs;
}

/** As if the tool of that job had reported why it fails, before it ends. */
function reporting(jobs: JobStore, idJob: number, failure: string): JobStore {
  return {
    ...jobs,
    claimJob: async (...options) => {
      const claim = await jobs.claimJob(...options);
      if (claim?.idJob === idJob) await jobs.report(claim, { failure });
      return claim;
    },
  };
}

async function find(jobs: JobStore, idJob: number): Promise<JobRecord> {
  const record = await jobs.findJob(1, idJob);
  if (record === null) throw new Error(`job ${idJob} is gone`);
  return record;
}

const pidIn = (test: TestRunner, idJob: number): Promise<number> =>
  eventually(async () => Number(/^(\d+)\n/.exec(await test.log(idJob))?.[1]) || null);

const status = (jobs: JobStore, idJob: number, wanted: JobStatus): Promise<JobRecord> =>
  eventually(async () => {
    const record = await find(jobs, idJob);
    return record.status === wanted ? record : null;
  });

const ended = (jobs: JobStore, idJob: number): Promise<JobRecord> =>
  eventually(async () => {
    const record = await find(jobs, idJob);
    return terminalStatuses.has(record.status) ? record : null;
  });

describe('worker', () => {
  const trial = useTrial();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await trial.database();
  });

  beforeEach(async () => {
    await database.sql`truncate svc.workflow cascade`;
  });

  function openStore(settings: Partial<JobStoreSettings> = {}): JobStore {
    const jobs = createPostgresJobStore(database.sql, { retryDelayMs: 1, ...settings });
    onTestFinished(() => jobs.close());
    return jobs;
  }

  it('ends a job that runs for longer than it may', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [sleeps, ignores] = [(await queue(jobs, 'sleeps'))[0]!, (await queue(jobs, 'ignores-sigterm'))[0]!];
    startWorker(jobs, test, { runLimitMs: 600 });
    for (const idJob of [sleeps, ignores]) {
      const record = await ended(jobs, idJob);
      expect(record).toMatchObject({
        status: 'expired',
        failure: 'it ran for longer than 0.6 s (svc.limits.job_seconds)',
      });
      expect(record.end_date! - record.start_date!).toBeLessThan(3000);
      expect(await test.log(idJob)).toContain('svc.limits.job_seconds');
    }
  });

  it('runs the jobs of a workflow in order, and ends the rest after a failure', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [first, second, third] = await queue(jobs, 'exits-0', 'exits-1', 'exits-0');
    startWorker(reporting(jobs, second!, 'line 3, column 4: no such thing'), test);
    expect((await ended(jobs, third!)).status).toBe('killed');
    expect(await find(jobs, first!)).toMatchObject({
      status: 'completed',
      attempt: 1,
      progress: 1,
      failure: null,
      host: 'h/127.0.0.1',
    });
    expect(await find(jobs, second!)).toMatchObject({
      status: 'failed',
      attempt: 1,
      failure: 'line 3, column 4: no such thing',
    });
    expect(await test.log(first!)).toBe('done\n');
    expect(await test.log(third!)).toBe('');
  });

  it('gives the tool its job and the epoch of its claim, nothing else', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, 'shows-itself');
    startWorker(jobs, test);
    await ended(jobs, idJob!);
    const shown = JSON.parse(await test.log(idJob!)) as {
      argv: string[];
      environment: Record<string, string>;
    };
    expect(shown.argv).toEqual(['-j', String(idJob)]);
    expect(shown.environment['SVC_JOB_EPOCH']).toBe('1');
  });

  it('tries again what ended without a reason, until the attempts are spent', async () => {
    const [jobs, test] = [openStore({ maxAttempts: 1 }), await createTestRunner()];
    const [idJob] = await queue(jobs, 'exits-7');
    startWorker(jobs, test);
    expect(await ended(jobs, idJob!)).toMatchObject({
      status: 'lost',
      failure: expect.stringContaining('exit code 7'),
    });

    const more = openStore({ maxAttempts: 2 });
    const [other] = await queue(more, 'exits-7');
    expect(await status(more, other!, 'waiting')).toMatchObject({ attempt: 1, end_date: null });
  });

  it('ends a tool that holds more memory than it may, and does not try again', async () => {
    const [jobs, test] = [
      openStore({ maxAttempts: 3 }),
      await createTestRunner({}, undefined, null, 200 * 1024 ** 2),
    ];
    const [idJob] = await queue(jobs, 'hoards-bytes');
    startWorker(jobs, test);
    expect(await ended(jobs, idJob!)).toMatchObject({
      status: 'failed',
      attempt: 1,
      failure: expect.stringMatching(
        /^the job was ended: it held \d+ MB of memory, more than the 210 MB of svc\.limits\.tool_memory$/,
      ),
    });
  });

  it('is soon back after the first failure, and then waits as long as a server takes to come back', async () => {
    const [store, test] = [openStore({ maxAttempts: 5 }), await createTestRunner()];
    const delays: number[] = [];
    const jobs: JobStore = {
      ...store,
      handBack: (claim, delayMs, failure) => {
        delays.push(delayMs);
        return store.handBack(claim, 1, failure);
      },
    };
    const [idJob] = await queue(store, 'exits-7');
    startWorker(jobs, test, { maxAttempts: 5 });
    await ended(store, idJob!);
    expect(delays).toEqual([2_000, 15_000, 30_000, 30_000]);
  });

  it('waits for the end of an outage without charging attempts, less and less often, until the time is up', async () => {
    const [store, test] = [openStore({ maxAttempts: 1 }), await createTestRunner()];
    const [idJob] = await queue(store, 'exits-69');
    const delays: number[] = [];
    const jobs: JobStore = {
      ...reporting(store, idJob!, 'no server listens'),
      handBack: (claim, delayMs, failure, outage) => {
        expect([failure, outage]).toEqual([
          expect.stringMatching(/^waiting since \S+Z, until \S+Z at the latest: no server listens$/),
          true,
        ]);
        delays.push(delayMs);
        return store.handBack(claim, 1, failure, outage);
      },
      findStoredJob: async (id) => {
        const stored = await store.findStoredJob(id);
        return { ...stored, outage: { ...stored.outage, waitedMs: stored.outage.tries * 1000 } };
      },
    };
    startWorker(jobs, test, { maxAttempts: 1, outageWaitMs: 10_000 });
    expect(await ended(store, idJob!)).toMatchObject({
      status: 'failed',
      attempt: 1,
      failure: expect.stringMatching(
        /^no server listens; the job has waited since \S+Z, which is as long as svc\.limits\.outage_wait allows$/,
      ),
    });
    const expected = [5, 10, 20, 40, 80, 160, 300, 300, 300, 300].map((seconds) => seconds * 1000);
    expect(delays).toHaveLength(expected.length);
    for (const [at, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(0.75 * expected[at]!);
      expect(delay).toBeLessThanOrEqual(1.25 * expected[at]!);
    }
    expect(await test.log(idJob!)).toMatch(
      /^waiting since .* \(svc\.limits\.outage_wait\): no server listens; next try in \d+ s or later$/m,
    );
  });

  it('tries again when a tool fails without having said why', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, 'exits-1');
    startWorker(jobs, test);
    expect(await status(jobs, idJob!, 'waiting')).toMatchObject({
      failure: expect.stringContaining('gave no reason'),
    });
  });

  it('says that memory was short, at which limit, and what to do', async () => {
    const [jobs, test] = [openStore(), await createTestRunner({}, undefined, 40 * 1024 ** 2)];
    const [idJob] = await queue(jobs, 'hoards');
    startWorker(jobs, test);
    expect(await ended(jobs, idJob!)).toMatchObject({
      status: 'failed',
      attempt: 1,
      failure: expect.stringMatching(
        /^out of memory in attempt 1: its JavaScript needed more than 42 MB \(svc\.worker\.memory\); give it more/,
      ),
    });
  });

  it('ends a wrong request as failed without another attempt', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, 'exits-2');
    startWorker(jobs, test);
    expect(await ended(jobs, idJob!)).toMatchObject({
      status: 'failed',
      attempt: 1,
      failure: expect.stringContaining('options'),
    });
  });

  it.each(['ignores-sigterm', 'starts-grandchild'])('kills on request, with all that %s', async (tool) => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, tool);
    startWorker(jobs, test);
    const pid = await pidIn(test, idJob!);
    expect(await jobs.requestKill(1, idJob!)).toMatchObject({ status: 'terminating' });
    expect(await ended(jobs, idJob!)).toMatchObject({ status: 'killed' });
    expect(await runs(pid)).toBe(false);
    expect(await test.log(idJob!)).toMatch(/^killed on request$/m);
  });

  it('ends a job past its deadline', async () => {
    const [jobs, test] = [openStore({ deadlineMs: 700 }), await createTestRunner()];
    const [idJob] = await queue(jobs, 'sleeps');
    startWorker(jobs, test);
    const pid = await pidIn(test, idJob!);
    expect(await ended(jobs, idJob!)).toMatchObject({ status: 'expired' });
    expect(await runs(pid)).toBe(false);
    expect(await test.log(idJob!)).toMatch(/^its deadline passed$/m);
  });

  it('stops a process whose job another worker has got, and leaves the job to that one', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, 'sleeps');
    startWorker(jobs, test);
    const pid = await pidIn(test, idJob!);
    await database.sql`update svc.job set epoch = epoch + 1 where id_job = ${idJob!}`;
    await eventually(async () => ((await runs(pid)) ? null : true));
    expect((await find(jobs, idJob!)).status).toBe('running');
  });

  it('drains: lets a job end within the grace, hands back what does not, and takes nothing new', async () => {
    const [jobs, test] = [openStore(), await createTestRunner()];
    const [idJob] = await queue(jobs, 'sleeps');
    const worker = startWorker(jobs, test);
    const pid = await pidIn(test, idJob!);
    await worker.drain(50);
    expect(await runs(pid)).toBe(false);
    expect(await find(jobs, idJob!)).toMatchObject({ status: 'waiting', end_date: null });
    const [later] = await queue(jobs, 'exits-0');
    expect((await find(jobs, later!)).status).toBe('queued');

    const [quick] = await queue(jobs, 'exits-0');
    const next = startWorker(jobs, test);
    await status(jobs, quick!, 'completed');
    await status(jobs, later!, 'completed');
    await next.drain(0);
  });

  it('goes on after an outage of the database', async () => {
    const [store, test] = [openStore(), await createTestRunner()];
    let broken = true;
    const asked = new Set<string>();
    const jobs = new Proxy(store, {
      get: (target, name: keyof JobStore) =>
        name !== 'findJob' && broken
          ? async () => {
              asked.add(name);
              throw new Error('connection refused');
            }
          : target[name],
    });
    const [idJob] = await queue(store, 'exits-0');
    startWorker(jobs, test);
    await eventually(() => (asked.has('claimJob') && asked.has('reap') ? true : null));
    broken = false;
    expect((await ended(store, idJob!)).status).toBe('completed');
  });

  it('writes the end of a job once the database is back', async () => {
    const [store, test] = [openStore(), await createTestRunner()];
    let refused = 0;
    const jobs: JobStore = {
      ...store,
      finish: async (claim, end, failure) => {
        refused += 1;
        if (refused <= 3) throw new Error('connection refused');
        return store.finish(claim, end, failure);
      },
    };
    const [idJob] = await queue(store, 'exits-0');
    startWorker(jobs, test);
    expect((await ended(store, idJob!)).status).toBe('completed');
    expect(refused).toBe(4);
  });

  it('killed with its process takes the tool along, and another worker ends the job', async () => {
    const [jobs, test] = [openStore({ maxAttempts: 1 }), await createTestRunner()];
    const [idJob] = await queue(jobs, 'sleeps');
    const script = fileURLToPath(new URL('../../../fixtures/processes/runs-a-worker.ts', import.meta.url));
    const folder = await temporaryFolder();
    const parent = spawn(process.execPath, [script, database.url, folder], { stdio: 'inherit' });
    const pid = await eventually(
      async () => Number(await readFile(join(folder, `job-${idJob}.log`), 'utf8').catch(() => '')) || null,
    );
    parent.kill('SIGKILL');
    await eventually(async () => ((await runs(pid)) ? null : true));
    expect((await find(jobs, idJob!)).status).toBe('running');
    startWorker(jobs, test);
    expect(await ended(jobs, idJob!)).toMatchObject({
      status: 'lost',
      failure: expect.stringContaining('worker died'),
    });
  });
});
