/** Attempts, executors and drivers that die or linger on a real Spark: nothing is lost, nothing doubled. `npm run test:spark` with SPARK_SUBMIT. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execution, type ServiceClient } from '../support/service/client.ts';
import { startService, type ServiceHome } from '../support/service/start.ts';
import { convert, startTool } from '../support/service/tools.ts';
import { eventually } from '../support/service/waiting.ts';
import { startSparkCluster, type SparkCluster } from './cluster.ts';
import { writeEngineProxy } from './engine-proxy.ts';
import { loadedTables, targetArguments, type LoadedTables, type TargetKind } from './loaded-tables.ts';
import { needs } from '../support/needs.ts';
import { passUnderWay, sparkSettings, submit } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

const kinds = ['metadb', 'delta', 'csv'] as const;

/** Processes of this machine whose command lines hold all of the texts. */
async function processesWith(...texts: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (texts.every((text) => line.includes(text))) found.push(Number(name));
  }
  return found;
}

/** The record of a job that has ended; as long as the test may take. */
async function endOf(client: ServiceClient, idJob: number): Promise<unknown> {
  for (;;) {
    const record = await client.job(idJob);
    if (['C', 'F', 'K', 'E', 'L'].includes(record.status)) return record;
    await delay(200);
  }
}

describe('what fails on Spark', { timeout: 300_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let cluster: SparkCluster;
  let work: string;
  let input: string;
  let origin: string;
  const expected = new Map<TargetKind, LoadedTables>();

  beforeAll(async () => {
    work = await trial.folder('spark-faults-');
    home = await trial.home();
    await configure();
    const folder = join(home.directory, 'documents');
    await mkdir(folder);
    await mkdir(join(home.directory, 'out'));
    input = join(folder, 'orders.xml');
    const orders = Array.from(
      { length: 16_000 },
      (_, index) =>
        `<order id="${index}"><customer>C${index % 97}</customer><line>${index}</line><line/></order>\n`,
    );
    await writeFile(input, `<orders>${orders.join('')}</orders>`);
    const argv = [input, '--row-tag', 'order', '--keys', 'hash'];
    const local = await convert(home, 'xml2er', ...argv, ...targetArguments(home, kinds[0], 'here'));
    origin = String(local.origin);
    for (const kind of kinds.slice(1))
      await convert(home, 'xml2er', ...argv, '-x', origin, ...targetArguments(home, kind, `here_${kind}`));
    for (const kind of kinds) {
      const found = await loadedTables(home, kind, kind === kinds[0] ? 'here' : `here_${kind}`);
      expect(found['_documents']).toHaveLength(16_000);
      expected.set(kind, found);
    }
    cluster = await startSparkCluster(submit!, 2);
  }, 200_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  function configure(more: Readonly<Record<string, string>> = {}): Promise<void> {
    return home.configure({
      ...sparkSettings(work, { 'svc.spark.range_bytes': '300 KiB' }),
      'svc.spark.memory': '512m',
      'svc.files.roots': ['documents', 'out'].map((name) => join(home.directory, name)).join(','),
      ...(cluster === undefined ? {} : { 'svc.spark.master': cluster.master }),
      'svc.spark.conf': 'spark.driver.host=127.0.0.1 spark.ui.enabled=false',
      ...more,
    });
  }

  /** The units of the next loads, but for their first, are done when the file of the path that is answered is there. */
  async function holdUnits(name: string): Promise<string> {
    const mark = join(home.directory, `mark-${name}`);
    const script = `[[ "$2 $unit" != *-load' '[1-9]* ]] || until [ -e '${mark}' ]; do sleep 0.1; done`;
    await configure({ 'svc.spark.node': await writeEngineProxy(join(home.directory, `${name}.sh`), script) });
    return mark;
  }

  const options = (kind: TargetKind, name: string): [string, string][] => {
    const [flag, target, ...format] = targetArguments(home, kind, name);
    return [
      ['-x', origin],
      ['--row-tag', 'order'],
      ['--keys', 'hash'],
      [flag!, target!],
      ...(format.length === 0 ? [] : [[format[0]!, format[1]!] as [string, string]]),
      ['--engine', 'spark'],
    ];
  };
  const job = (kind: TargetKind, name: string): string[] => [input, ...options(kind, name).flat(), '--json'];

  /** The work folder of the job that runs, once a unit of its load is done; null when it has ended before. */
  async function underWay(ended: Promise<unknown>): Promise<string | null> {
    const over = ended.then(() => true);
    while (!(await Promise.race([over, delay(50)]))) {
      const pass = await passUnderWay(work, 'load');
      if (pass !== null) return pass.job;
    }
    return null;
  }

  it.each(kinds)(
    'are attempts into %s: one dies when it has written, one when it has been taken, one lingers beside its copy',
    async (kind) => {
      const marks = join(home.directory, `marks-${kind}`);
      await mkdir(marks);
      const node = await writeEngineProxy(
        join(home.directory, 'node.sh'),
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
      const eager = 'spark.speculation=true spark.speculation.interval=100ms spark.speculation.quantile=0.3';
      const conf = `spark.driver.host=127.0.0.1 spark.ui.enabled=false ${eager} spark.speculation.minTaskRuntime=200ms`;
      await configure({ 'svc.spark.node': node, 'svc.spark.conf': conf });
      const run = await startTool(home, 'xml2er', job(kind, `attempts_${kind}`)).ended;
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
      expect(await loadedTables(home, kind, `attempts_${kind}`)).toEqual(expected.get(kind));
      await eventually('nothing is left', async () => ((await readdir(work)).length === 0 ? true : null));
    },
  );

  it.each(kinds)('is an executor, killed while it writes into %s', async (kind) => {
    const mark = await holdUnits(`executor-${kind}`);
    const started = startTool(home, 'xml2er', job(kind, `executor_${kind}`));
    expect(await underWay(started.ended)).not.toBeNull();
    const [executor] = await cluster.executors();
    process.kill(executor!, 'SIGKILL');
    await writeFile(mark, '');
    const run = await started.ended;
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(run.stdout).toMatch(/Lost executor \d/);
    expect(await loadedTables(home, kind, `executor_${kind}`)).toEqual(expected.get(kind));
    expect(await readdir(work)).toEqual([]);
  });

  it('is a worker of Python, killed with an engine that is stuck, which goes with it', async () => {
    const mark = await holdUnits('worker');
    const started = startTool(home, 'xml2er', job('metadb', 'worker'));
    const folder = await underWay(started.ended);
    expect(folder).not.toBeNull();
    const engine = await eventually('an engine is there', async () => {
      const [pid] = await processesWith('spark/load.mjs', folder!);
      return pid ?? null;
    });
    process.kill(engine, 'SIGSTOP');
    const status = await readFile(`/proc/${engine}/status`, 'latin1');
    process.kill(Number(/^PPid:\s+(\d+)/m.exec(status)![1]), 'SIGKILL');
    await writeFile(mark, '');
    const run = await started.ended;
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(await loadedTables(home, 'metadb', 'worker')).toEqual(expected.get('metadb'));
    await eventually('no engine is left', async () =>
      (await processesWith('spark/load.mjs', folder!)).length === 0 ? true : null,
    );
    expect(await readdir(work)).toEqual([]);
  });

  it.each(kinds)(
    'is the driver, on the way to %s: the job says so, leaves nothing, and a service runs it again',
    async (kind) => {
      const name = `driver_${kind}`;
      const mark = await holdUnits(name);
      const service = await startService(home);
      try {
        const { client } = service;
        const { jobs } = await client.run([execution('xml2er', input, options(kind, name))]);
        const ended = endOf(client, jobs[0]!);
        const folder = await underWay(ended);
        expect(folder).not.toBeNull();
        const [driver] = await processesWith('org.apache.spark.deploy.SparkSubmit', folder!);
        process.kill(driver!, 'SIGKILL');
        await writeFile(mark, '');
        await eventually('the attempt has ended', async () => {
          const { status } = await client.job(jobs[0]!);
          expect(['R', 'W']).toContain(status);
          return status === 'W' ? true : null;
        });
        expect((await loadedTables(home, kind, name))['_documents'] ?? []).toEqual([]);
        expect(await ended).toMatchObject({ status: 'C', failure: null });
        expect(await client.log(jobs[0]!)).toMatch(/spark-submit ended by SIGKILL/);
        expect(await loadedTables(home, kind, name)).toEqual(expected.get(kind));
        expect(await readdir(work)).toEqual([]);
        await eventually('no executor is left', async () =>
          (await cluster.executors()).length === 0 ? true : null,
        );
      } finally {
        await service.end('SIGTERM');
      }
    },
  );
});
