/** Jobs on Spark as a service runs them: record, log, kill, rerun, and what is said when Spark cannot run: `npm run test:spark`. */
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execution, type Options } from '../support/service/client.ts';
import { createServiceHome, startService, type ServiceHome } from '../support/service/start.ts';
import { runTool, startTool } from '../support/service/tools.ts';
import { eventually } from '../support/service/waiting.ts';
import { startSparkCluster, type SparkCluster } from './cluster.ts';
import { needs } from '../support/needs.ts';
import { passUnderWay, sparkSettings, submit } from './settings.ts';

/** the one that has the package that spark-submit belongs to */
const python = join(dirname(submit ?? ''), 'python3');

const secret = 'c4n4ry-of-the-store';

/** Command lines of this machine's processes that hold the text. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
  );
  return lines.filter((line) => line.includes(text));
}

describe('a job on Spark', { timeout: 150_000, ...needs(['whole run', 'spark']) }, () => {
  let home: ServiceHome;
  let work: string;
  let documents: string;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'spark-control-'));
    home = await createServiceHome();
    documents = join(home.directory, 'documents');
    await mkdir(documents);
    for (let number = 0; number < 1600; number += 1)
      await writeFile(join(documents, `d${String(number).padStart(4, '0')}.xml`), `<r><n>${number}</n></r>`);
  });

  afterAll(async () => {
    await home?.remove();
    if (work !== undefined) await rm(work, { recursive: true, force: true });
  });

  const settings = (more: Readonly<Record<string, string>> = {}) =>
    sparkSettings(work, {
      'svc.spark.master': 'local[2]',
      'svc.spark.conf': `spark.ui.enabled=false spark.hadoop.fs.s3a.secret.key=${secret}`,
      'svc.files.roots': documents,
      ...more,
    });

  describe('of the service, on a cluster', () => {
    let cluster: SparkCluster;

    beforeAll(async () => {
      cluster = await startSparkCluster(submit!, 1);
      const conf = `spark.driver.host=127.0.0.1 spark.ui.enabled=false spark.hadoop.fs.s3a.secret.key=${secret}`;
      const master = cluster.master;
      await home.configure(
        settings({ 'svc.spark.master': master, 'svc.spark.memory': '512m', 'svc.spark.conf': conf }),
      );
    });

    afterAll(() => cluster?.stop());

    it('ends there when it is killed, and runs again', async () => {
      const service = await startService(home);
      try {
        const { client } = service;
        const options: Options = [
          ['-e', 's'],
          ['--engine', 'spark'],
          ['--spark-conf', 'spark.executor.cores=1'],
        ];
        const { jobs } = await client.run([execution('xml2er', documents, options)]);
        const idJob = jobs[0]!;
        const started = await eventually('a unit is done', async () => {
          const record = await client.job(idJob);
          expect(record.failure).toBeNull();
          if (record.id_app !== null) expect(record.id_app).toMatch(/^app-/);
          return (record.progress ?? 0) > 0 ? record : null;
        });
        expect(started.progress).toBeLessThan(1);
        expect(JSON.parse(started.params_json)).toEqual({
          spark: {
            master: cluster.master,
            'executor.memory': '512m',
            'executor.cores': '1',
            'driver.host': '127.0.0.1',
            'ui.enabled': 'false',
            'hadoop.fs.s3a.secret.key': '***',
          },
          action: { in: documents, parsemode: 's', engine: 'spark' },
        });
        const app = started.id_app!;
        expect(await processesWith(app)).not.toEqual([]);
        expect(await processesWith(secret)).toEqual([]);

        expect((await client.post(`/v2/executions/kill/${idJob}`)).status).toBe(202);
        expect(await client.ended(idJob)).toMatchObject({ status: 'K', id_app: app });
        await eventually('the master knows', () =>
          cluster.log().includes(`Removing app ${app}`) ? true : null,
        );
        await eventually('no executor is left', async () =>
          (await processesWith(app)).length === 0 ? true : null,
        );
        expect(await processesWith(work)).toEqual([]);
        expect(await readdir(work)).toEqual([]);

        const rerun = await client.get<{ id_job: number }>(`/v2/run/rerun/${idJob}`);
        const ended = await client.ended(rerun.id_job);
        expect(ended).toMatchObject({ status: 'C', failure: null, progress: 1, msg_proc_qty: 1600 });
        expect(ended.id_app).not.toBe(app);
        const log = await client.log(rerun.id_job);
        const places = [
          'xml2er started',
          'Running Spark version 4.',
          `Spark application ${ended.id_app} on ${cluster.master}`,
          'SparkContext',
          'completed',
        ].map((text) => log.indexOf(text, log.indexOf('xml2er started')));
        expect(places).not.toContain(-1);
        expect(log.indexOf('Running Spark version')).toBeLessThan(log.indexOf('Spark application app-'));
        expect(log).not.toContain('@spark');
        expect(log).not.toContain(secret);
      } finally {
        await service.end('SIGTERM');
      }
    });
  });

  it('whose driver runs elsewhere tells as much, and ends with its tool', async () => {
    // what a resource manager does in cluster mode: the driver has neither our pipes nor our group
    const elsewhere = join(home.directory, 'elsewhere.sh');
    await writeFile(
      elsewhere,
      `#!/bin/bash
args=("\${@/deployMode=cluster/deployMode=client}")
export PYSPARK_PYTHON='${python}'
setsid '${submit!}' "\${args[@]}" </dev/null >/dev/null 2>&1 &
wait $!
`,
    );
    await chmod(elsewhere, 0o755);
    const conf = 'spark.submit.deployMode=cluster spark.ui.enabled=false';
    await home.configure(settings({ 'svc.spark.submit': elsewhere, 'svc.spark.conf': conf }));
    const started = startTool(home, 'xml2er', [documents, '-e', 's', '--engine', 'spark']);
    const underWay = eventually('a unit is done', () => passUnderWay(work, 'statistics'));
    expect(await Promise.race([underWay, started.ended])).toHaveProperty('folder');
    process.kill(started.pid, 'SIGTERM');
    const run = await started.ended;
    expect(run.code).toBe(143);
    expect(run.stdout).toMatch(/Spark application local-\d+ on local\[2\]/);
    await eventually('no driver is left', async () =>
      (await processesWith(work)).length === 0 ? true : null,
    );
    expect(await readdir(work)).toEqual([]);
  });

  /** Why a run with these settings failed, as its log says. */
  const failing = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const own = await mkdtemp(join(work, 'failing-'));
    await home.configure(settings({ 'svc.spark.work': own, ...more }));
    const run = await runTool(home, 'xml2er', [documents, '-e', 's', '--engine', 'spark']);
    expect(run.code).toBe(1);
    expect(await readdir(own)).toEqual([]);
    return /^failed: (.*)$/m.exec(run.stdout)?.[1] ?? run.stdout.slice(-2000);
  };

  describe('that cannot run says what to do', () => {
    it('without Spark', async () => {
      expect(await failing({ 'svc.spark.submit': '' })).toContain('set svc.spark.submit');
      expect(await failing({ 'svc.spark.submit': '/nowhere/spark-submit' })).toContain(
        'install Apache Spark 4',
      );
    });

    it('without Java', async () => {
      const noJava = join(home.directory, 'no-java.sh');
      await writeFile(
        noJava,
        `#!/bin/sh\nexport PYSPARK_PYTHON='${python}'\nJAVA_HOME=/nowhere exec '${submit!}' "$@"\n`,
      );
      await chmod(noJava, 0o755);
      expect(await failing({ 'svc.spark.submit': noJava })).toContain('install a Java 17 runtime');
    });

    it('without its master', async () => {
      expect(await failing({ 'svc.spark.master': 'spark://127.0.0.1:1' })).toMatch(
        /spark:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED\): start it/,
      );
    });

    it('without Node on the executors', async () => {
      expect(await failing({ 'svc.spark.node': '/nowhere/node' })).toMatch(
        /\/nowhere\/node: No such file or directory: install Node on all executors, and set svc\.spark\.node/,
      );
    });
  });
});
