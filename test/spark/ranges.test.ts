/**
 * Ranges of large files, and documents at fault, on a real Spark: `npm run test:spark` with SPARK_SUBMIT; SPARK_LONG=1: every kind of
 * target.
 */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceHome } from '../support/service/start.ts';
import { convert, runTool, type Summary } from '../support/service/tools.ts';
import { keysAsRanks, loadedTables, targetArguments, type TargetKind } from './loaded-tables.ts';
import { needs } from '../support/needs.ts';
import { sparkSettings } from './settings.ts';
import { useTrial } from '../support/service/trial.ts';

const isLong = process.env['SPARK_LONG'] !== undefined;

const fixtures = fileURLToPath(new URL('../fixtures/targets/', import.meta.url));

/** What a job says of itself, but for its number and its time. */
function facts({ documents, rejected, rows, tables, xpaths, bytes }: Summary): unknown {
  return { documents, rejected, rows, tables, xpaths, bytes };
}

const around = (content: string): string =>
  `<?xml version="1.0"?>\n<values xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" made="2026-11-05T10:00:00Z">${content}</values>`;

/** Lines of the log that speak of documents. */
function findings(output: string): string[] {
  return output
    .split('\n')
    .filter((line) =>
      /unmapped|do not fit|outside of the row|rejected|left out|identity|unique|key/.test(line),
    )
    .filter((line) => !/^\{|Spark|^\d[\d,]* documents? loaded/.test(line))
    .map((line) => line.replace(/\d+\.\d+ s\b/, '(time)'));
}

describe('ranges on Spark', { timeout: 200_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let origin: string;
  let large: string;
  let work: string;
  /** items of the fixtures, some of which deviate */
  let items: string;

  beforeAll(async () => {
    work = await trial.folder('spark-ranges-');
    home = await trial.home(sparkSettings(work, { 'svc.spark.range_bytes': '350 KiB' }));
    origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
    const text = await readFile(join(fixtures, 'first.xml'), 'utf8');
    const found = text.slice(text.indexOf('<item'), text.lastIndexOf('</item>') + '</item>'.length);
    const odd = '<item id="odd" more="1"><int>many</int><strange><item/></strange><flag>1</flag></item>';
    items = Array.from(
      { length: 500 },
      (_, index) => `${found}\n<!-- <item id="no${index}"> -->${odd}<![CDATA[<item>]]>`,
    ).join('\n');
    large = join(home.directory, 'large.xml');
    await writeFile(large, around(items));
  }, 120_000);

  /** Runs the job by both engines, and answers what the one on Spark wrote. */
  async function onBoth(kind: TargetKind, name: string, argv: readonly string[]): Promise<string> {
    const [local, spark] = [`${name}_local`, `${name}_spark`];
    const here = await runTool(home, 'xml2er', [...argv, ...targetArguments(home, kind, local), '--json']);
    expect(here.code, here.stdout + here.stderr).toBe(0);
    const there = await runTool(home, 'xml2er', [
      ...argv,
      ...targetArguments(home, kind, spark),
      '--engine',
      'spark',
      '--json',
    ]);
    expect(there.code, there.stdout + there.stderr).toBe(0);
    expect(await loadedTables(home, kind, spark)).toEqual(await loadedTables(home, kind, local));
    expect(facts(there.summary!)).toEqual(facts(here.summary!));
    expect(findings(there.stdout + there.stderr)).toEqual(findings(here.stdout + here.stderr));
    expect(await readdir(work)).toEqual([]);
    return there.stdout + there.stderr;
  }
  const rows = () => [large, '-x', origin, '--keys', 'hash', '--row-tag', 'item'];

  it.each(
    isLong
      ? (['metadb', 'csv', 'jsonl', 'parquet', 'delta', 'iceberg', 'duckdb'] as const)
      : (['metadb', 'delta'] as const),
  )('give the rows of the local engine in %s', async (kind) => {
    const output = await onBoth(kind, `range_${kind}`, rows());
    const units = Number(/(\d+) units of work for Spark$/m.exec(output)?.[1]);
    expect(units).toBeGreaterThan(2);
    expect(output).toMatch(/^\d+ units of work for Spark: hashes of documents$/m);
    expect(output).toMatch(/^\d+ units of work for Spark: places to cut files at$/m);
    expect(output).toMatch(/texts are outside the row elements/);
    expect(output).toMatch(/unmapped element/);
  });

  it('keep rows of partitions apart', async () => {
    await onBoth('delta', 'partitioned', [...rows(), '--partition', 'item.flag']);
    const log = join(home.directory, 'out', 'partitioned_spark', 'item', '_delta_log');
    const version = await readFile(join(log, '00000000000000000000.json'), 'utf8');
    const partitions = [...version.matchAll(/"partitionValues":(\{[^}]*\})/g)].map(([, values]) => values);
    expect(new Set(partitions).size).toBeGreaterThan(1);
    // of each unit
    expect(partitions.length).toBeGreaterThan(new Set(partitions).size);
  });

  it('give the schema of the local engine where there is none, and its rows', async () => {
    await onBoth('csv', 'inferred', [large, '--keys', 'hash', '--row-tag', 'item']);
  });

  it.each(isLong ? (['metadb', 'parquet', 'delta', 'iceberg', 'duckdb'] as const) : (['metadb'] as const))(
    'of one document, without a row tag, are one document in %s',
    async (kind) => {
      const one = join(home.directory, 'one.xml');
      // text between rows would end what may be cut
      await writeFile(one, around(items.replaceAll('<![CDATA[<item>]]>', '')));
      const argv = [one, '-x', origin, '--keys', 'sequence'];
      const [local, spark] = [`one_${kind}_local`, `one_${kind}_spark`];
      const here = await runTool(home, 'xml2er', [...argv, ...targetArguments(home, kind, local), '--json']);
      const to = [...targetArguments(home, kind, spark), '--engine', 'spark', '--json'];
      const there = await runTool(home, 'xml2er', [...argv, ...to]);
      expect(there.code, there.stdout + there.stderr).toBe(0);
      expect(facts(there.summary!)).toEqual(facts(here.summary!));
      expect(there.summary).toMatchObject({ documents: 1 });
      const output = there.stdout + there.stderr;
      expect(Number(/(\d+) units of work for Spark$/m.exec(output)?.[1])).toBeGreaterThan(2);
      expect(output).toMatch(/^\d+ units of work for Spark: places to cut files at$/m);
      expect(findings(output)).toEqual(findings(here.stdout + here.stderr));
      const rows = async (name: string) => keysAsRanks(await loadedTables(home, kind, name));
      expect(await rows(spark)).toEqual(await rows(local));
    },
  );

  it('leave out what is there already', async () => {
    const target = targetArguments(home, 'metadb', 'range_metadb_spark');
    const before = await loadedTables(home, 'metadb', 'range_metadb_spark');
    const again = await convert(home, 'xml2er', ...rows(), ...target, '--skip-loaded', '--engine', 'spark');
    expect(again.documents).toBe(0);
    expect(await loadedTables(home, 'metadb', 'range_metadb_spark')).toEqual(before);
  });

  describe('with documents at fault', () => {
    let folder: string;
    beforeAll(async () => {
      folder = join(home.directory, 'mixed');
      await mkdir(folder);
      const half = items.length >> 1;
      const files: Record<string, string | Uint8Array> = {
        'a.xml': around('<item id="a"/>'),
        'b-broken.xml': around('<item id="b"></itm>'),
        'c-broken-late.xml': `${around(items)}<`,
        'd-broken-midway.xml': around(`${items.slice(0, half)}</item></item></item>${items.slice(half)}`),
        'e-large.xml': around(items),
        'f-packed.xml.gz': gzipSync(around('<item id="f"/>')),
        'g-broken-packed.xml.gz': gzipSync(around('<item>')),
        'h-wide.xml': Buffer.from(`\uFEFF${around(items)}`, 'utf16le'),
        'i-as-b.xml': around('<item id="b"></itm>'),
        'j-as-a.xml': around('<item id="a"/>'),
      };
      for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    });

    it('skips those that the local engine skips, and says why alike', async () => {
      const argv = [folder, '-x', origin, '--keys', 'hash', '--row-tag', 'item', '--on-error', 'skip'];
      const output = await onBoth('metadb', 'skipped', argv);
      expect(output).toMatch(/rejected: d-broken-midway\.xml: line \d{3,}, column \d+/);
    });

    it('fails with the reason of the local engine', async () => {
      const argv = [folder, '-x', origin, '--keys', 'hash', '--row-tag', 'item'];
      const reason = async (...more: string[]): Promise<string> => {
        const run = await runTool(home, 'xml2er', [
          ...argv,
          ...targetArguments(home, 'metadb', 'failed'),
          ...more,
        ]);
        expect(run.code).toBe(1);
        return /failed: .*/.exec(run.stdout + run.stderr)![0];
      };
      expect(await reason('--engine', 'spark')).toBe(await reason());
    });
  });
});
