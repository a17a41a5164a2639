/** A worker that is told to end while it runs a job, as `kubectl drain` does: the job loses no attempt, and another worker completes it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { execution } from '../../support/service/client.ts';
import { projectRoot, serviceEnvironment } from '../../support/service/start.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
const rows = 800_000;

describe('a worker that drains', { timeout: 240_000 }, () => {
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home, { SVC_WORKER_CONCURRENCY: '0' });
    sql = await trial.metadb(home);
  });

  async function startWorker(): Promise<{ readonly child: ChildProcess; readonly ended: Promise<unknown> }> {
    const child = spawn(process.execPath, ['scripts/guard.mjs', 'src/runtime/worker-main.ts'], {
      cwd: projectRoot,
      env: serviceEnvironment(home, {
        SVC_CMD_ENABLED: 'true',
        SVC_METADB_URL: await home.databaseUrl(),
        SVC_WORKER_DRAIN: '10 ms',
      }),
      stdio: 'ignore',
    });
    trial.keep(child, async (one) => void one.kill('SIGKILL'));
    return { child, ended: new Promise((resolve) => child.once('close', resolve)) };
  }

  it('hands its job back without a charge', async () => {
    const { client } = service;
    const document = `<orders>${Array.from({ length: rows }, (_, at) => `<order><id>${at}</id><name>name ${at}</name></order>`).join('')}</orders>`;
    const path = await client.upload('xml', 'orders.xml', new TextEncoder().encode(document));
    const { jobs } = await client.run([execution('xml2er', path, [['-o', 'metadb:drained']])]);
    const idJob = jobs[0]!;
    const stored = async () => {
      const [row] = await sql<{ status: string; attempts: number; failure: string | null }[]>`
        select status, attempts, failure from svc.job where id_job = ${idJob}`;
      return row!;
    };

    const first = await startWorker();
    await client.running(idJob);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(await stored()).toEqual({ status: 'W', attempts: 0, failure: null });

    await startWorker();
    expect(await client.ended(idJob)).toMatchObject({ status: 'C', attempt: 1 });
    expect(await stored()).toMatchObject({ attempts: 1 });
  });
});
