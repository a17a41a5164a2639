/** Jobs whose process dies, that somebody ends, or whose service is told to stop. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import type { RunningService } from '../support/service/start.ts';
import type { JobAnswer } from '../support/service/client.ts';
import {
  createLargeLoad,
  expectLoadedOnce,
  expectNothingLoaded,
  type LargeLoad,
} from '../support/documents/large-target.ts';
import { toolProcesses } from '../support/service/processes.ts';
import { leftovers } from '../support/service/schema.ts';
import { eventually } from '../support/service/waiting.ts';
import { needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const megabytes = Number(process.env['FAULT_MEGABYTES'] ?? 60);

describe('jobs that are ended', { timeout: 180_000, ...needs('whole run') }, () => {
  let load: LargeLoad;
  const trial = useTrial();
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    const settings = {
      'svc.limits.attempts': '2',
      'svc.worker.concurrency': '1',
      'svc.worker.drain': '60 s',
    };
    load = trial.keep(await createLargeLoad(megabytes, settings), ({ remove }) => remove());
    service = await trial.service(load.home);
    sql = await trial.metadb(load.home);
  });

  /** Waits until a process of this attempt writes rows, then ends it the hard way. */
  async function killTool(idJob: number, attempt: number): Promise<void> {
    await eventually(`attempt ${attempt} loading`, async () => {
      const loading = (await service.client.log(idJob)).match(/^loading into/gm)?.length ?? 0;
      return loading >= attempt ? true : null;
    });
    const [tool] = await toolProcesses(load.home, idJob);
    process.kill(tool!.pid, 'SIGKILL');
  }

  it('kill -9 of the tool alone: tried again, and its rows are there once', async () => {
    const idJob = await load.submit(service.client, 'tool_killed');
    await killTool(idJob, 1);
    const waiting = await eventually('the job waiting', async () => {
      const job = await service.client.job(idJob);
      return job.status === 'W' ? job : null;
    });
    expect(waiting).toMatchObject({
      attempt: 1,
      end_date: null,
      failure: expect.stringContaining('SIGKILL'),
    });
    const job = await service.client.ended(idJob);
    expect(job).toMatchObject({ status: 'C', attempt: 2, failure: null, start_date: waiting.start_date });
    await expectLoadedOnce(sql, 'tool_killed', load.document);
    expect(await leftovers(sql)).toEqual([]);
  });

  it('kill -9 of the tool in every attempt: F with the reason, and no rows', async () => {
    const idJob = await load.submit(service.client, 'always_killed');
    await killTool(idJob, 1);
    await killTool(idJob, 2);
    const job = await service.client.ended(idJob);
    expect(job).toMatchObject({ status: 'F', attempt: 2, failure: expect.stringContaining('SIGKILL') });
    await expectNothingLoaded(sql, 'always_killed');
    expect(await toolProcesses(load.home)).toEqual([]);
  });

  it('kill of a running and of a queued job: K, no process left, and no rows', async () => {
    const { client } = service;
    const running = await load.submit(client, 'killed');
    const queued = await load.submit(client, 'killed_queued');
    await client.running(running);
    const kill = async (idJob: number): Promise<JobAnswer> => {
      const { status, body } = await client.post<JobAnswer>(`/v2/executions/kill/${idJob}`);
      expect(status).toBe(202);
      return body;
    };
    expect(await kill(queued)).toMatchObject({ status: 'K', start_date: null, end_date: expect.any(Number) });
    expect(await kill(running)).toMatchObject({ status: 'T', end_date: null });
    const ended = await client.ended(running);
    expect(ended).toMatchObject({ status: 'K', failure: 'killed on request' });
    expect(await toolProcesses(load.home)).toEqual([]);
    await expectNothingLoaded(sql, 'killed');
    await expectNothingLoaded(sql, 'killed_queued');
    expect(await kill(running)).toEqual(ended);
    expect((await client.post(`/v2/executions/kill/${running + 1000}`)).status).toBe(404);
    expect((await client.job(queued)).status).toBe('K');
  });

  it('SIGTERM: not ready meanwhile, the job finishes, then exit 0', async () => {
    const idJob = await load.submit(service.client, 'finished');
    await service.client.running(idJob);
    const { client } = service;
    const ended = service.end('SIGTERM');
    const readiness = await eventually('an answer of 503', async () => {
      const response = await client.fetch('/actuator/health/readiness');
      return response.status === 503 ? response : null;
    });
    expect(await readiness.json()).toMatchObject({ status: 'OUT_OF_SERVICE' });
    expect((await client.fetch('/actuator/health/liveness')).status).toBe(200);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await toolProcesses(load.home)).toEqual([]);

    service = await trial.service(load.home, { SVC_WORKER_DRAIN: '1 ms' });
    expect(await service.client.job(idJob)).toMatchObject({ status: 'C', attempt: 1, failure: null });
    await reconnect();
    await expectLoadedOnce(sql, 'finished', load.document);
  });

  it(
    'SIGTERM without time to finish: the job is handed back, and another service runs it',
    needs('whole run'),
    async () => {
      const idJob = await load.submit(service.client, 'handed_back');
      await service.client.running(idJob);
      expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(await toolProcesses(load.home)).toEqual([]);
      service = await trial.service(load.home);
      const job = await service.client.ended(idJob);
      expect(job).toMatchObject({ status: 'C', failure: null });
      await reconnect();
      await expectLoadedOnce(sql, 'handed_back', load.document);
      expect(await leftovers(sql)).toEqual([]);
    },
  );

  /** The embedded database ends with its service; the next one may have another port. */
  async function reconnect(): Promise<void> {
    await sql.end({ timeout: 1 });
    sql = await trial.metadb(load.home);
  }
});
