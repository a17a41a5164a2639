/** Attempts, executors and drivers that die or linger on a real Spark: nothing is lost, nothing doubled. `npm run test:spark` with SPARK_SUBMIT. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { execution } from '../support/service/client.ts';
import { needs } from '../support/needs.ts';
import { startService } from '../support/service/start.ts';
import { startTool } from '../support/service/tools.ts';
import { eventually } from '../support/service/waiting.ts';
import { writeEngineProxy } from './engine-proxy.ts';
import { endOf, parentOf, processesWith, useFaultTrial } from './fault-trial.ts';
import { loadedTables } from './loaded-tables.ts';

const kinds = ['metadb', 'parquet', 'delta', 'iceberg', 'csv'] as const;

describe('what fails on Spark', { timeout: 300_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useFaultTrial(kinds);

  it.each(kinds)(
    'are attempts into %s: one dies when it has written, one when it has been taken, one lingers beside its copy',
    async (kind) => {
      const marks = join(trial.home.directory, `marks-${kind}`);
      await mkdir(marks);
      const node = await writeEngineProxy(
        join(trial.home.directory, 'node.sh'),
        `first() { mkdir '${marks}'/"$1" 2>/dev/null; }
case "$2 $unit" in
*-load' 0') if first slow; then sleep 20 & wait $!; fi ;;
*-load' 1') if first killed; then
     give
     until [ -e "$2"/attempts/1-* ] || [ -e "$2/done/1" ]; do sleep 0.01; done; sleep 0.2
     kill -9 $engine; touch '${marks}/killed-when-written'; exit 9
   fi ;;
*-load' 2') if first taken; then give; take; touch '${marks}/failed-when-taken'; exit 9; fi ;;
esac`,
      );
      const eager =
        'spark.log.level=INFO spark.speculation=true spark.speculation.interval=100ms spark.speculation.quantile=0.3';
      const conf = `spark.driver.host=127.0.0.1 spark.ui.enabled=false ${eager} spark.speculation.minTaskRuntime=200ms`;
      await trial.configure({ 'svc.spark.node': node, 'svc.spark.conf': conf });
      const run = await startTool(trial.home, 'xml2er', trial.job(kind, `attempts_${kind}`)).ended;
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect((await readdir(marks)).toSorted()).toEqual([
        'failed-when-taken',
        'killed',
        'killed-when-written',
        'slow',
        'taken',
      ]);
      expect(run.stdout).toMatch(/Lost task 1\.\d in stage/);
      expect(run.stdout).toMatch(/Marking task 0 in stage .* as speculatable/);
      expect(await loadedTables(trial.home, kind, `attempts_${kind}`)).toEqual(trial.expected(kind));
      await eventually('nothing is left', async () =>
        (await readdir(trial.work)).length === 0 ? true : null,
      );
    },
  );

  it.each(kinds)('is an executor, killed while it writes into %s', async (kind) => {
    const mark = await trial.holdUnits(`executor-${kind}`);
    const started = startTool(trial.home, 'xml2er', trial.job(kind, `executor_${kind}`));
    expect(await trial.underWay(started.ended)).not.toBeNull();
    const [executor] = await trial.cluster.executors();
    process.kill(executor!, 'SIGKILL');
    await writeFile(mark, '');
    const run = await started.ended;
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(run.stdout).toMatch(/Lost executor \d/);
    expect(await loadedTables(trial.home, kind, `executor_${kind}`)).toEqual(trial.expected(kind));
    expect(await readdir(trial.work)).toEqual([]);
  });

  it('is a worker of Python, killed with an engine that is stuck, which goes with it', async () => {
    const mark = await trial.holdUnits('worker');
    const started = startTool(trial.home, 'xml2er', trial.job('metadb', 'worker'));
    const folder = await trial.underWay(started.ended);
    expect(folder).not.toBeNull();
    const engine = await eventually('an engine is there', async () => {
      const [pid] = await processesWith('spark/load.mjs', folder!);
      return pid ?? null;
    });
    process.kill(engine, 'SIGSTOP');
    process.kill(await parentOf(engine), 'SIGKILL');
    await writeFile(mark, '');
    const run = await started.ended;
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(await loadedTables(trial.home, 'metadb', 'worker')).toEqual(trial.expected('metadb'));
    await eventually('no engine is left', async () =>
      (await processesWith('spark/load.mjs', folder!)).length === 0 ? true : null,
    );
    expect(await readdir(trial.work)).toEqual([]);
  });

  it.each(kinds)(
    'is the driver, on the way to %s: the job says so, leaves nothing, and a service runs it again',
    async (kind) => {
      const name = `driver_${kind}`;
      const mark = await trial.holdUnits(name);
      const service = await startService(trial.home);
      try {
        const { client } = service;
        const { jobs } = await client.run([execution('xml2er', trial.input, trial.options(kind, name))]);
        const ended = endOf(client, jobs[0]!);
        const folder = await trial.underWay(ended);
        expect(folder).not.toBeNull();
        const [driver] = await processesWith('org.apache.spark.deploy.SparkSubmit', folder!);
        process.kill(driver!, 'SIGKILL');
        await writeFile(mark, '');
        await eventually('the attempt has ended', async () => {
          const { status } = await client.job(jobs[0]!);
          expect(['R', 'W']).toContain(status);
          return status === 'W' ? true : null;
        });
        expect((await loadedTables(trial.home, kind, name))['_documents'] ?? []).toEqual([]);
        expect(await ended).toMatchObject({ status: 'C', failure: null });
        expect(await client.log(jobs[0]!)).toMatch(/spark-submit ended by SIGKILL/);
        expect(await loadedTables(trial.home, kind, name)).toEqual(trial.expected(kind));
        expect(await readdir(trial.work)).toEqual([]);
        await eventually('no executor is left', async () =>
          (await trial.cluster.executors()).length === 0 ? true : null,
        );
      } finally {
        await service.end('SIGTERM');
      }
    },
  );
});
