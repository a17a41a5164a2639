/** Jobs on Spark on a real YARN, in both modes of deployment: `npm run test:spark` with SPARK_SUBMIT and HADOOP_MINICLUSTER. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, startTool } from '../../support/service/tools.ts';
import { eventually } from '../../support/service/waiting.ts';
import { needs } from '../../support/needs.ts';
import { passUnderWay, sparkSettings, submit } from '../settings.ts';
import { useTrial } from '../../support/service/trial.ts';
import { expectFaultRows, faultRow, writeFaultDocument } from '../fault-document.ts';
import { writeEngineProxy } from '../engine-proxy.ts';
import { keysAsRanks, loadedTables, targetArguments } from '../loaded-tables.ts';
import { startYarnCluster, type YarnCluster } from './cluster.ts';

const kinds = ['metadb', 'parquet', 'delta', 'iceberg'] as const;
const parts = ['whole run', 'spark', 'hadoop minicluster'] as const;

describe('jobs on YARN', { timeout: 300_000, ...needs(parts) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let cluster: YarnCluster;
  let work: string;
  let input: string;
  let origin: string;

  beforeAll(async () => {
    work = await trial.folder('spark-yarn-');
    home = await trial.home();
    await mkdir(join(home.directory, 'documents'));
    input = join(home.directory, 'documents', 'orders.xml');
    await writeFaultDocument(input);
    const [first, ...others] = kinds;
    origin = String((await convert(home, 'xml2er', ...argv(first, 'here'))).origin);
    for (const kind of others) await convert(home, 'xml2er', ...argv(kind, 'here'), '-x', origin);
    cluster = await startYarnCluster(submit!, process.env['HADOOP_MINICLUSTER']!, 2);
  }, 200_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  function argv(kind: (typeof kinds)[number], name: string, keys: 'hash' | 'sequence' = 'hash'): string[] {
    const target = targetArguments(home, kind, `${name}_${kind}`);
    return [input, '--row-tag', faultRow, '--keys', keys, ...target];
  }

  /** Node as the executors start it, which does all units but the first when that path is there. */
  function nodeAfter(mark: string): Promise<string> {
    const path = join(home.directory, `${basename(mark)}.sh`);
    return writeEngineProxy(
      path,
      `[[ "$2 $unit" != *-load' '[1-9]* ]] || until [ -e '${mark}' ]; do sleep 0.1; done`,
    );
  }

  it.each([
    ...(['client', 'cluster'] as const).flatMap((mode) => kinds.map((kind) => [mode, kind, 'hash'] as const)),
    ['cluster', 'metadb', 'sequence'] as const,
  ])(
    'in mode %s, an executor of which is killed, give the rows of the local engine in %s (keys: %s)',
    async (mode, kind, keys) => {
      const mark = join(home.directory, `killed-${mode}-${kind}-${keys}`);
      await home.configure(
        sparkSettings(work, {
          'svc.spark.node': await nodeAfter(mark),
          'svc.spark.range_bytes': '300 KiB',
          'svc.spark.master': 'yarn',
          'svc.spark.memory': '512m',
          'svc.spark.conf': [...cluster.conf, `spark.submit.deployMode=${mode}`].join(' '),
        }),
      );
      const [there, here] = [`${mode}_${keys}`, keys === 'hash' ? 'here' : `here_${keys}`];
      if (keys !== 'hash') await convert(home, 'xml2er', ...argv(kind, here, keys), '-x', origin);
      const arguments_ = [...argv(kind, there, keys), '-x', origin, '--engine', 'spark', '--json'];
      const started = startTool(home, 'xml2er', arguments_, '', cluster.environment);
      await Promise.race([eventually('a unit is done', () => passUnderWay(work, 'load')), started.ended]);
      const [executor] = await cluster.executors();
      if (executor !== undefined) process.kill(executor, 'SIGKILL');
      await writeFile(mark, '');
      const run = await started.ended;
      const output = run.stdout + run.stderr;
      expect(run.code, output).toBe(0);
      expect(executor, output).toBeDefined();
      expect(output).toMatch(/Spark application application_\d+_\d+ on yarn/);
      expect(Number(/(\d+) units of work for Spark$/m.exec(output)?.[1])).toBeGreaterThan(2);
      const found = await loadedTables(home, kind, `${there}_${kind}`);
      expectFaultRows(found);
      const expected = await loadedTables(home, kind, `${here}_${kind}`);
      if (keys === 'hash') expect(found).toEqual(expected);
      else expect(keysAsRanks(found)).toEqual(keysAsRanks(expected));
      expect(await readdir(work)).toEqual([]);
    },
  );
});
