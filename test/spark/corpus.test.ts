/** Real documents by both engines, of an XSD and without one, some of them broken: `npm run test:spark` with SPARK_SUBMIT and SPARK_LONG=1. */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { corpusFiles } from '../support/corpus.ts';
import type { ServiceHome } from '../support/service/start.ts';
import { convert, runTool, type Summary } from '../support/service/tools.ts';
import { loadedTables, targetArguments } from './loaded-tables.ts';
import { corpusDirectory, needs } from '../support/needs.ts';
import { sparkSettings } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

describe('the corpus on Spark', { timeout: 200_000, ...needs(['spark', 'spark, long', 'corpus']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let work: string;

  beforeAll(async () => {
    work = await trial.folder('spark-corpus-');
    home = await trial.home(sparkSettings(work, { 'svc.spark.range_bytes': '300 KiB' }));
  });

  async function bothAreAlike(name: string, argv: readonly string[]): Promise<Summary> {
    const by = async (engine: 'local' | 'spark'): Promise<[Summary, unknown]> => {
      const target = targetArguments(home, 'metadb', `${name}_${engine}`);
      const run = await runTool(home, 'xml2er', [...argv, ...target, '--engine', engine, '--json']);
      expect(run.code, run.stdout + run.stderr).toBe(0);
      const { documents, rejected, rows, tables, xpaths, bytes } = run.summary!;
      const rejects = run.stdout.split('\n').filter((line) => line.startsWith('rejected: '));
      expect(rejects).toHaveLength(rejected);
      const found = await loadedTables(home, 'metadb', `${name}_${engine}`);
      return [run.summary!, { documents, rejected, rows, tables, xpaths, bytes, rejects, found }];
    };
    const [, local] = await by('local');
    const [summary, spark] = await by('spark');
    expect(spark).toEqual(local);
    return summary;
  }

  it('gives the rows of the local engine of an XSD, of each row element in ranges', async () => {
    const { origin } = await convert(home, 'xsd2er', join(corpusDirectory, 'xmark/auction.xsd'), '-g', '1');
    const argv = [join(corpusDirectory, 'xmark/auction-f0.01.xml'), '-x', String(origin), '--keys', 'hash'];
    const { documents } = await bothAreAlike('xmark', [...argv, '--row-tag', 'item']);
    expect(documents).toBeGreaterThan(200);
  });

  it('gives them of no schema, of files and archives with broken members among them', async () => {
    const folder = join(home.directory, 'mixed');
    const packed = join(home.directory, 'packed');
    await mkdir(folder);
    await mkdir(packed);
    const files = ['siri', 'sumo', 'entsoe'].flatMap((set) =>
      corpusFiles(set, '.xml').map((name) => join(corpusDirectory, set, name)),
    );
    for (const [index, file] of files.entries()) {
      const to = join(index % 2 === 0 ? folder : packed, `${index}-${basename(file)}`);
      if (index % 5 !== 3) await cp(file, to);
      else await writeFile(to, (await readFile(file)).subarray(0, -30));
    }
    execFileSync('tar', ['-czf', join(folder, 'packed.tar.gz'), '-C', packed, '.']);
    const { documents, rejected } = await bothAreAlike('mixed', [
      folder,
      '--keys',
      'hash',
      '--on-error',
      'skip',
    ]);
    expect(rejected).toBeGreaterThan(3);
    expect(documents).toBeGreaterThan(20);
  });
});
