/**
 * A kill ends a job in every state, with all that its tool has started; a worker's clock does not matter; a worker that is stopped
 * does not keep a job.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import { projectRoot, serviceEnvironment, type RunningService } from '../support/service/start.ts';
import type { JobAnswer } from '../support/service/client.ts';
import {
  createLargeLoad,
  expectLoadedOnce,
  expectNothingLoaded,
  type LargeLoad,
} from '../support/documents/large-target.ts';
import { toolProcesses } from '../support/service/processes.ts';
import { eventually } from '../support/service/waiting.ts';
import { needs, some } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const megabytes = Number(process.env['FAULT_MEGABYTES'] ?? 30);

describe('kills, stops and clocks', { timeout: 180_000 }, () => {
  let load: LargeLoad;
  const trial = useTrial();
  let service: RunningService;
  let worker: ChildProcess | null = null;
  let sql: Sql;

  beforeAll(async () => {
    load = trial.keep(await createLargeLoad(megabytes, { 'svc.worker.concurrency': '0' }), ({ remove }) =>
      remove(),
    );
    service = await trial.service(load.home);
    sql = await trial.metadb(load.home);
  });

  afterAll(async () => {
    await endWorker();
  });

  async function startWorker(environment: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    await endWorker();
    worker = spawn(process.execPath, ['scripts/guard.mjs', 'src/runtime/worker-main.ts'], {
      cwd: projectRoot,
      env: serviceEnvironment(load.home, { SVC_METADB_URL: await load.home.databaseUrl(), ...environment }),
      stdio: 'ignore',
    });
    return worker;
  }

  async function endWorker(): Promise<void> {
    if (worker === null || worker.exitCode !== null || worker.signalCode !== null) return;
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }

  const kill = async (idJob: number): Promise<JobAnswer> =>
    (await service.client.post<JobAnswer>(`/v2/executions/kill/${idJob}`)).body;

  it('Q: at once; W: at once; R: with its process; and none is revived', async () => {
    const { client } = service;
    const queued = await load.submit(client, 'killed_in_q');
    expect(await kill(queued)).toMatchObject({ status: 'K', start_date: null });

    await startWorker();
    const waiting = await load.submit(client, 'killed_in_w');
    await client.running(waiting);
    const [tool] = await toolProcesses(load.home, waiting);
    process.kill(tool!.pid, 'SIGKILL');
    await eventually('the job waiting', async () =>
      (await client.job(waiting)).status === 'W' ? true : null,
    );
    expect(await kill(waiting)).toMatchObject({ status: 'K' });

    const running = await load.submit(client, 'killed_in_r');
    await client.running(running);
    await kill(running);
    const ended = await client.ended(running);
    expect(ended).toMatchObject({ status: 'K', failure: 'killed on request' });
    expect(await toolProcesses(load.home)).toEqual([]);
    for (const name of ['killed_in_q', 'killed_in_w', 'killed_in_r']) await expectNothingLoaded(sql, name);
    for (const idJob of [queued, waiting, running]) expect((await client.job(idJob)).status).toBe('K');
  });

  it(
    'R, its worker dead or stopped: ended for it within the time, no process left',
    needs('whole run'),
    async () => {
      for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
        const child = await startWorker();
        const { client } = service;
        const idJob = await load.submit(client, `worker_${signal.toLowerCase()}`);
        await client.running(idJob);
        child.kill(signal);
        const asked = performance.now();
        await kill(idJob);
        // A service without workers ends nothing: whoever comes next does
        if (signal === 'SIGKILL') await startWorker();
        else await beside(() => client.ended(idJob));
        const job = await client.ended(idJob);
        expect(['K', 'C'], JSON.stringify(job)).toContain(job.status);
        console.log(
          `${signal} of the worker: ${job.status} after ${Math.round(performance.now() - asked)} ms`,
        );
        await eventually('the end of the processes', async () =>
          (await toolProcesses(load.home)).length === 0 ? true : null,
        );
        child.kill('SIGCONT');
        child.kill('SIGKILL');
      }
    },
  );

  /** A second worker for as long as something takes. */
  async function beside(work: () => Promise<unknown>): Promise<void> {
    const other = spawn(process.execPath, ['scripts/guard.mjs', 'src/runtime/worker-main.ts'], {
      cwd: projectRoot,
      env: serviceEnvironment(load.home, { SVC_METADB_URL: await load.home.databaseUrl() }),
      stdio: 'ignore',
    });
    try {
      await work();
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  }

  it.each(some([3_600_000, -3_600_000], 1))(
    'a clock that is %i ms off: the job completes at its first attempt',
    needs('whole run'),
    async (off) => {
      const skew = join(load.home.directory, `skew-${off}.mjs`);
      await writeFile(
        skew,
        `const now = Date.now; Date.now = () => now() + (${off});
       globalThis.Date = class extends Date { constructor(...args) { if (args.length === 0) super(now() + (${off})); else super(...args); } };`,
      );
      await startWorker({ NODE_OPTIONS: `--import=file://${skew}` });
      const name = off > 0 ? 'clock_fast' : 'clock_slow';
      const idJob = await load.submit(service.client, name);
      const job = await service.client.ended(idJob);
      expect(job, await service.client.log(idJob)).toMatchObject({ status: 'C', attempt: 1 });
      await expectLoadedOnce(sql, name, load.document);
    },
  );
});
