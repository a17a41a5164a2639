/** Keys in sequence, and documents that replace those of their keys, on a real Spark: SPARK_LONG=1 has every kind of target. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceHome } from '../support/service/start.ts';
import { runTool, convert, type Summary } from '../support/service/tools.ts';
import { keysAsRanks, loadedTables, targetArguments, type TargetKind } from './loaded-tables.ts';
import { needs } from '../support/needs.ts';
import { sparkSettings } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

const isLong = process.env['SPARK_LONG'] !== undefined;
const fixtures = fileURLToPath(new URL('../fixtures/targets/', import.meta.url));
const items = 900;

const around = (content: string): string =>
  `<?xml version="1.0"?>\n<values xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" made="2026-11-05T10:00:00Z">${content}</values>`;

/** What a job says of itself, but for its number and its time. */
function facts({ documents, rejected, rows, tables, merged }: Summary): unknown {
  return { documents, rejected, rows, tables, merged };
}

describe('keys in sequence on Spark', { timeout: 300_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let origin: string;
  let work: string;
  /** an item of the fixtures, as text with another id and note */
  let itemOf: (number: number, note?: string) => string;

  beforeAll(async () => {
    work = await trial.folder('spark-keys-');
    home = await trial.home(sparkSettings(work, { 'svc.spark.range_bytes': '350 KiB' }));
    origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
    const text = await readFile(join(fixtures, 'first.xml'), 'utf8');
    const found = text.slice(text.indexOf('<item'), text.indexOf('<item id="zoned"'));
    itemOf = (number, note = 'noted') =>
      found.replace('id="plain"', `id="i${number}"`).replace('>noted<', `>${note}<`);
  }, 120_000);

  const inFolder = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const folder = join(home.directory, name);
    await mkdir(folder, { recursive: true });
    for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content);
    return folder;
  };

  /** Runs each job by both engines, one after the other into the same target, and compares what is there after each. */
  async function onBoth(kind: TargetKind, name: string, jobs: readonly (readonly string[])[]): Promise<void> {
    const [local, spark] = [`${name}_local`, `${name}_spark`];
    for (const argv of jobs) {
      const load = async (target: string, ...more: string[]): Promise<unknown> => {
        const all = [...argv, '-x', origin, ...targetArguments(home, kind, target), ...more, '--json'];
        const run = await runTool(home, 'xml2er', all);
        expect(run.code, run.stdout + run.stderr).toBe(0);
        return facts(run.summary!);
      };
      const there = await load(spark, '--engine', 'spark');
      expect(there).toEqual(await load(local));
      const rows = await loadedTables(home, kind, spark);
      expect(keysAsRanks(rows)).toEqual(keysAsRanks(await loadedTables(home, kind, local)));
      expect(await readdir(work)).toEqual([]);
    }
  }

  const kinds = isLong
    ? (['metadb', 'csv', 'jsonl', 'parquet', 'delta', 'iceberg', 'duckdb'] as const)
    : (['metadb', 'delta'] as const);

  it.each(kinds)(
    'number rows in the order of the documents, behind those that are there: %s',
    async (kind) => {
      const numbers = Array.from({ length: items }, (_, number) => number);
      const content = numbers.map((number) => itemOf(number)).join('\n');
      const large = await inFolder('large', {
        'a-large.xml': around(content),
        'b-small.xml': around(itemOf(items)),
      });
      const small = await inFolder(
        'small',
        Object.fromEntries(
          numbers
            .slice(0, 450)
            .map((number) => [`s${number}.xml`, around(itemOf(number).repeat(1 + (number % 3)))]),
        ),
      );
      const packed = join(home.directory, 'small.tgz');
      execFileSync('tar', ['-czf', packed, '-C', small, '.']);
      const keys = ['--keys', 'sequence'];
      await onBoth(kind, `sequence_${kind}`, [
        [large, '--row-tag', 'item', ...keys],
        [small, ...keys],
        [packed, '--row-tag', 'item', ...keys],
      ]);
    },
  );

  it.each(isLong ? (['metadb', 'delta', 'iceberg', 'duckdb'] as const) : (['metadb', 'delta'] as const))(
    'replace documents, and parts of a file, by their keys: %s',
    async (kind) => {
      const numbers = Array.from({ length: items }, (_, number) => number);
      const merging = ['-S', 'm', '--row-tag', 'item', '--key', '/item/@id'];
      const before = await inFolder('before', {
        'all.xml': around(numbers.map((number) => itemOf(number)).join('\n')),
      });
      const after = await inFolder('after', {
        'all.xml': around(
          numbers.map((number) => itemOf(number + 2, number % 100 === 7 ? 'changed' : 'noted')).join('\n'),
        ),
      });
      await onBoth(kind, `merged_${kind}`, [
        [before, ...merging],
        [after, ...merging],
        [after, ...merging, '--delete-missing'],
      ]);
    },
  );

  it('refuses to replace documents whose rows are numbered by hashes', async () => {
    const folder = await inFolder('hashed', { 'a.xml': around(itemOf(1)) });
    const target = targetArguments(home, 'metadb', 'hashed');
    const argv = [folder, '-x', origin, ...target, '--engine', 'spark', '-S', 'm', '--keys', 'hash'];
    const run = await runTool(home, 'xml2er', argv);
    expect(run.code).not.toBe(0);
    expect(run.stdout + run.stderr).toContain('omit one of the two');
  });

  it('ends with the reason where a document has more rows than bytes', async () => {
    const entity = `<!DOCTYPE values [<!ENTITY i '<item id="e"/>'><!ENTITY j '${'&i;'.repeat(60)}'>]>`;
    const folder = await inFolder('entities', {
      'a.xml': `${entity}<values made="2026-11-05T10:00:00Z">${'&j;'.repeat(35)}</values>`,
    });
    const target = targetArguments(home, 'metadb', 'entities');
    const argv = [folder, '-x', origin, ...target, '--engine', 'spark', '--keys'];
    const run = await runTool(home, 'xml2er', [...argv, 'sequence']);
    expect(run.code).toBe(1);
    expect(run.stdout + run.stderr).toMatch(/has more rows than bytes; load it with --keys hash/);
    expect(await loadedTables(home, 'metadb', 'entities')).toEqual({});
    await convert(home, 'xml2er', ...argv, 'hash');
  });
});
