/**
 * The operator, hook, trigger and sensor of the Python client in a real Apache Airflow, whose dag is that of examples/airflow.
 * `AIRFLOW=1 npm test -- test/e2e/clients/airflow.test.ts`; needs Python and the packages of Airflow.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lackOf, needs } from '../../support/needs.ts';
import { pythonWithClient } from '../../support/python-client.ts';
import { projectRoot, type RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const execute = promisify(execFile);

describe('Apache Airflow', { timeout: 900_000, ...needs('airflow') }, () => {
  const trial = useTrial();
  let service: RunningService;
  let folder: string;
  let python: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    if (lackOf('airflow') !== null) return;
    python = await pythonWithClient('airflow', ['apache-airflow==3.3.2']);
    service = await trial.service(await trial.home());
    folder = await mkdtemp(join(tmpdir(), 'airflow-'));
    const dags = join(folder, 'dags');
    await mkdir(dags);
    await copyFile(join(projectRoot, 'examples/airflow/load_orders.py'), join(dags, 'load_orders.py'));
    environment = {
      PATH: process.env['PATH'],
      HOME: folder,
      AIRFLOW_HOME: join(folder, 'home'),
      AIRFLOW__CORE__DAGS_FOLDER: dags,
      AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
      AIRFLOW_CONN_CONVERSION_JOB_SERVICE: JSON.stringify({
        conn_type: 'conversion_job_service',
        host: service.url,
        password: service.key,
      }),
    };
    for (const command of [
      ['db', 'migrate'],
      ['dags', 'reserialize'],
    ])
      await execute(python, ['-m', 'airflow', ...command], { env: environment });
  }, 900_000);

  afterAll(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('runs the dag of the example; a repeated try makes no second job; ended tasks end their jobs', async () => {
    const document = join(folder, 'orders.xml');
    const broken = join(folder, 'broken.xml');
    await copyFile(join(projectRoot, 'scripts/demo/documents/orders-2026-03-04-a.xml'), document);
    await writeFile(broken, '<orders><order></orders>');
    const program = join(projectRoot, 'test/fixtures/clients/airflow_dags.py');
    const { stdout } = await execute(python, [program, join(folder, 'dags'), document, broken], {
      env: environment,
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
      run: 'success',
      failed: 'failed',
      states: { upload: 'success', load: 'failed', loaded: 'upstream_failed' },
      repeated: true,
      deferred: true,
      other_files: true,
      reasons: [true, true],
      anew: true,
      killed: true,
    });
  });

  it('lists what the package brings', async () => {
    const listed = await execute(python, ['-m', 'airflow', 'providers', 'hooks'], { env: environment });
    expect(listed.stdout).toMatch(
      /conversion_job_service.*conversion_job_service\.airflow\.ConversionJobHook/,
    );
  });
});
