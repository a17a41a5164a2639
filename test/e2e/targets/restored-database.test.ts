/** The metadata database is restored from a backup: numbers of jobs and logical schemas are given out again, and targets keep what was loaded. */
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type ToolRun } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let home: ServiceHome;
let folder: string;

const documents: Readonly<Record<string, string>> = {
  a: '<stay id="1"><ward>north</ward><note>first</note></stay>',
  b: '<stay id="2"><ward>south</ward><note>second</note></stay>',
  c: '<stay id="3"><ward>west</ward><note>third</note></stay>',
  wide: '<stay id="4"><ward>east</ward><bed>12</bed><bed>13</bed></stay>',
};

/** The folder of the database as it is between two jobs. */
async function atRest<T>(work: (database: string) => Promise<T>): Promise<T> {
  const database = join(home.directory, 'db');
  await stopEmbeddedPostgres(database);
  return work(database);
}

async function backUp(name: string): Promise<void> {
  await atRest((database) => cp(database, join(folder, name), { recursive: true }));
}

async function restore(name: string): Promise<void> {
  await atRest(async (database) => {
    await rm(database, { recursive: true });
    await cp(join(folder, name), database, { recursive: true });
  });
}

const load = (document: string, target: string, ...options: readonly string[]): Promise<ToolRun> =>
  runTool(home, 'xml2er', [join(folder, `${document}.xml`), '-o', target, ...options, '--json']);

async function expectDocuments(target: string, names: readonly string[]): Promise<ToolRun> {
  const back = join(folder, `back-${target.replaceAll(/\W/g, '-')}`);
  const run = await runTool(home, 'er2xml', ['-i', target, '-o', back]);
  expect(run.code, run.stdout + run.stderr).toBe(0);
  expect((await readdir(back)).toSorted()).toEqual(names.map((name) => `${name}.xml`));
  for (const name of names)
    expect(compareXml(documents[name]!, await readFile(join(back, `${name}.xml`), 'utf8')), name).toEqual([]);
  return run;
}

beforeAll(async () => {
  home = await trial.home();
  folder = await trial.folder('restored-');
  await mkdir(join(folder, 'targets'));
  for (const [name, text] of Object.entries(documents)) await writeFile(join(folder, `${name}.xml`), text);
}, 60_000);

it(
  'a job is loaded, although the ledger of its target has a job of that number',
  { timeout: 300_000 },
  async () => {
    const database = await trial.emptyDatabase();
    const targets: readonly (readonly [target: string, ...options: string[]])[] = [
      [`sqlite:${folder}/targets/x.sqlite`],
      [`duckdb:${folder}/targets/x.duckdb`],
      [`${database.url}?schema=stays`],
      ...some(['jsonl', 'delta,iceberg', 'csv', 'tsv', 'parquet', 'delta', 'iceberg'], 2).map(
        (format) => [join(folder, 'targets', format), '-f', format] as const,
      ),
    ];
    const intoAll = async (document: string): Promise<number[]> => {
      const jobs: number[] = [];
      for (const [target, ...options] of targets) {
        const { code, stdout, stderr, summary } = await load(document, target, ...options);
        expect(code, stdout + stderr).toBe(0);
        expect(summary).toMatchObject({ documents: 1, rows: 1 });
        jobs.push(summary!.job!);
      }
      return jobs;
    };
    await intoAll('a');
    await backUp('after-a');
    const lost = await intoAll('b');
    await restore('after-a');
    expect(await intoAll('c')).toEqual(lost);
    for (const [target] of targets) await expectDocuments(target, ['a', 'b', 'c']);
  },
);

it(
  'a logical schema of the same number is not taken for the one that made the target',
  { timeout: 120_000 },
  async () => {
    const target = `sqlite:${folder}/targets/lost.sqlite`;
    await convert(home, 'xml2er', join(folder, 'a.xml'), '-e', 's');
    await backUp('before-wide');
    const lost = await load('wide', target);
    await restore('before-wide');
    const run = await load('a', target, '--name', 'narrow');
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(run.summary!.logical).toBe(lost.summary!.logical);
    expect(run.summary!.documents).toBe(1);
    expect(run.stdout).toContain(
      `the target was loaded by logical schema ${lost.summary!.logical}, which is not in this metadata database`,
    );
    // beds are in a table that only the lost schema knows
    const back = join(folder, 'back-lost');
    const written = await runTool(home, 'er2xml', ['-i', target, '-o', back]);
    expect(written.code, written.stdout + written.stderr).toBe(0);
    expect(compareXml(documents['a']!, await readFile(join(back, 'a.xml'), 'utf8'))).toEqual([]);
    expect(written.stdout).toContain(
      'documents loaded by logical schemas that are not in this metadata database: 1',
    );
  },
);
