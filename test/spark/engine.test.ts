/** `--engine spark` on a real Spark: `npm run test:spark` with SPARK_SUBMIT, the path of spark-submit. */
import { cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import { folderReader, postgresReader, type TargetReader } from '../contracts/row-sinks/readers.ts';
import type { ServiceHome } from '../support/service/start.ts';
import { convert, runTool, startTool } from '../support/service/tools.ts';
import { startSparkCluster } from './cluster.ts';
import { needs } from '../support/needs.ts';
import { passUnderWay, sparkSettings, submit } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

const fixtures = fileURLToPath(new URL('../fixtures/targets/', import.meta.url));
const tables = ['item', '_documents', '_lexical', '_unmapped'];
/** documents of the folder: more than one unit has */
const count = 900;

async function contents(reader: TargetReader): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = (await reader.read(table)) ?? [];
    // when and by which job a document was loaded is all that may differ
    const values = rows.map((row) =>
      Object.entries(row).filter(([name]) => !['loaded_at', 'job', 'job_uuid'].includes(name)),
    );
    found[table] = values.map((row) => JSON.stringify(row)).toSorted();
  }
  return found;
}

describe('jobs on Spark', { timeout: 200_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let sql: Sql;
  let origin: string;
  let inputs: string;
  let work: string;

  beforeAll(async () => {
    work = await trial.folder('spark-work-');
    home = await trial.home(sparkSettings(work));
    origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
    sql = await trial.metadb(home);
    inputs = join(home.directory, 'documents');
    await mkdir(inputs);
    const text = await readFile(join(fixtures, 'first.xml'), 'utf8');
    for (let number = 0; number < count; number += 1)
      await writeFile(join(inputs, `d${String(number).padStart(4, '0')}.xml`), `${text}<!-- ${number} -->`);
    await cp(join(fixtures, 'second.xml'), join(inputs, 'second.xml'));
    await cp(join(fixtures, 'third.xml'), join(inputs, 'third.xml'));
  }, 120_000);

  const arguments_ = (target: readonly string[]) => [inputs, '-x', origin, '--keys', 'hash', ...target];

  it('writes the rows of the local engine to PostgreSQL', async () => {
    await convert(home, 'xml2er', ...arguments_(['-o', 'metadb:local_rows']));
    const summary = await convert(
      home,
      'xml2er',
      ...arguments_(['-o', 'metadb:spark_rows']),
      '--engine',
      'spark',
    );
    expect(summary.documents).toBe(count + 2);
    expect(summary.steps.map(({ name }) => name)).toEqual([
      'start',
      'schema',
      'inputs',
      'target',
      'load',
      'publish',
      'record',
    ]);
    const rows = await contents(postgresReader(sql, 'spark_rows'));
    expect(rows['_documents']).toHaveLength(count + 2);
    expect(rows).toEqual(await contents(postgresReader(sql, 'local_rows')));
    expect(await readdir(work)).toEqual([]);
  });

  it('writes the rows of the local engine to a folder', async () => {
    const folder = (name: string) => join(home.directory, 'out', name);
    await convert(home, 'xml2er', ...arguments_(['-o', folder('local'), '-f', 'csv']));
    await convert(home, 'xml2er', ...arguments_(['-o', folder('spark'), '-f', 'csv']), '--engine', 'spark');
    const rows = await contents(folderReader(folder('spark'), 'csv'));
    expect(rows['_documents']).toHaveLength(count + 2);
    expect(rows).toEqual(await contents(folderReader(folder('local'), 'csv')));
    // what made the folder loads it, wherever a job runs
    const level = ['-o', folder('level'), '-f', 'csv'];
    const made = await convert(home, 'xml2er', ...arguments_([...level, '-g', '0']));
    const more = await convert(home, 'xml2er', ...arguments_(level), '--engine', 'spark');
    expect([more.logical, more.schema_chosen!.why]).toEqual([made.logical, 'it made what the target holds']);
  });

  it('fails with the reason and without a row when a document is broken', async () => {
    const broken = join(home.directory, 'broken.xml');
    await writeFile(broken, '<list>');
    const target = ['-o', 'metadb:broken_rows', '--engine', 'spark'];
    const run = await runTool(home, 'xml2er', [broken, ...arguments_(target)]);
    expect(run.code).toBe(1);
    expect(run.stdout + run.stderr).toMatch(/broken\.xml: line 1/);
    expect((await contents(postgresReader(sql, 'broken_rows')))['_documents']).toEqual([]);
    const [record] = await sql<{ result: string }[]>`select result from svc.job order by id_job desc limit 1`;
    expect(JSON.parse(record!.result)).toMatchObject({
      origin: Number(origin),
      status: 'F',
      documents: 0,
      unknown_root: 1,
      bytes: null,
      steps: expect.arrayContaining([expect.objectContaining({ name: 'load' })]),
    });
    expect(await readdir(work)).toEqual([]);
  });

  it('refuses what it does not do', async () => {
    const run = await runTool(home, 'xml2er', ['-', '-x', origin, '-o', 'metadb:r', '--engine', 'spark']);
    expect(run.code).toBe(2);
    expect(run.stdout + run.stderr).toContain('do not see the standard input');
  });

  /** Resolves when the load's first unit is done; answers how many are. */
  async function underWay(): Promise<number> {
    for (;;) {
      const pass = await passUnderWay(work, 'load');
      if (pass !== null) return pass.done;
      await delay(50);
    }
  }

  it('loses and doubles nothing when a worker of a cluster is killed', async () => {
    const cluster = await startSparkCluster(submit!, 2);
    try {
      const target = ['-o', 'metadb:cluster_rows', '--engine', 'spark'];
      const master = ['--spark-conf', `spark.master=${cluster.master}`];
      const local = [
        '--spark-conf',
        'spark.driver.host=127.0.0.1',
        '--spark-conf',
        'spark.executor.memory=512m',
      ];
      const started = startTool(home, 'xml2er', [...arguments_(target), ...master, ...local, '--json']);
      expect(await Promise.race([underWay(), started.ended])).toBeLessThan(5);
      await cluster.killWorker();
      const run = await started.ended;
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(run.stdout + run.stderr).toMatch(/Spark application app-\d+-\d+ on spark:/);
      expect(await contents(postgresReader(sql, 'cluster_rows'))).toEqual(
        await contents(postgresReader(sql, 'local_rows')),
      );
    } finally {
      await cluster.stop();
    }
  });

  it('leaves no row and no driver when the tool is killed, and the next run is whole', async () => {
    const target = ['-o', 'metadb:killed_rows', '--engine', 'spark'];
    const started = startTool(home, 'xml2er', arguments_(target));
    await underWay();
    process.kill(started.pid, 'SIGKILL');
    const [folder] = await readdir(work);
    for (;;) {
      const drivers = await Promise.all(
        (await readdir('/proc')).map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
      );
      if (!drivers.some((command) => command.includes(folder!))) break;
      await delay(100);
    }
    expect(await readdir(work)).toEqual([]);
    expect((await contents(postgresReader(sql, 'killed_rows')))['_documents']).toEqual([]);
    await convert(home, 'xml2er', ...arguments_(target));
    expect(await contents(postgresReader(sql, 'killed_rows'))).toEqual(
      await contents(postgresReader(sql, 'local_rows')),
    );
  });
});
