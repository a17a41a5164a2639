/** The counts of mixed cycles: documents of a folder of CSV files, and the sum of several reports. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countDocuments } from '../../scripts/faults/mix/census.ts';
import { isSound, sumOf, tableOf, type FaultCounts, type MixReport } from '../../scripts/faults/mix/run.ts';
import { makeTargets } from '../../scripts/faults/mix/targets.ts';
import { useTrial } from '../support/service/trial.ts';

const trial = useTrial();

const documents = new Map([
  ['0.xml', { path: '', bytes: 0, shipments: 1, packages: 2, goods: 2, weightMillionths: 0n }],
]);

/** The files of one job, whose document has a shipment, a package in a package, and goods in both. */
const filesOf = (job: number): Record<string, string> => ({
  _documents: `document_key,name,job\n${job},0.xml,${job}\n`,
  manifest: `manifest_key,document_key\n${job},${job}\n`,
  shipment: `shipment_key,manifest_key,ref\n${job},${job},"a, ""quoted""\nvalue"\n`,
  // the second job has its columns in another order
  package:
    job === 1
      ? `package_key,shipment_key,parent_package_key\n10,1,\n11,,10\n`
      : `shipment_key,package_key,parent_package_key\n${job},${job}0,\n,${job}1,${job}0\n`,
  goods: `goods_key,package_key\n${job}00,${job}0\n${job}01,${job}1\n`,
});

describe('the documents of a CSV target', () => {
  it.each<[string, (files: Record<string, string>) => void, number, number]>([
    ['are all there once', () => undefined, 0, 0],
    ['are lost if a row is absent', (files) => (files['goods'] = files['goods']!.replace(/.*\n$/, '')), 1, 0],
    ['are doubled if a row is there twice', (files) => (files['goods'] += '203,21\n'), 0, 1],
    ['are doubled if they are listed twice', (files) => (files['_documents'] += '2,0.xml,2\n'), 0, 1],
    ['are doubled if rows belong to none', (files) => (files['goods'] += '999,999\n'), 0, 1],
  ])('%s', async (_, change, lost, doubled) => {
    const folder = await trial.folder('mix-counts-');
    const places = { sql: undefined as never, pooled: null, mariadb: null, folder };
    const target = (await makeTargets(places, 'batch')).find(({ kind }) => kind === 'csv')!;
    const [, path] = target.options[0]!;
    await mkdir(path);
    const second = filesOf(2);
    change(second);
    const jobs = [filesOf(1), second];
    for (const [at, files] of jobs.entries())
      for (const [table, text] of Object.entries(files))
        await writeFile(join(path, `${table}.${at}.csv`), text);
    const tables = Object.keys(second).map((name) => ({
      name,
      files: jobs.map((_files, at) => ({ name: `${name}.${at}.csv` })),
    }));
    await writeFile(join(path, 'manifest.json'), JSON.stringify({ tables }));
    const findings = await countDocuments(target, documents, [
      { idJob: 1, status: 'C' },
      { idJob: 2, status: 'C' },
    ]);
    expect([findings.lost.length, findings.doubled.length], JSON.stringify(findings)).toEqual([
      lost,
      doubled,
    ]);
  });
});

const counts = (fault: string, cycles: number, recoveriesMs: number[], lost = 0): FaultCounts => ({
  fault,
  cycles,
  missed: 1,
  documents: 36 * cycles,
  failedJobs: 0,
  lost,
  doubled: 0,
  stuck: 0,
  leftovers: 0,
  recoveriesMs,
});
const report = (...all: FaultCounts[]): MixReport => ({ counts: all, skipped: ['a: b'], error: null });

describe('the sum of reports', () => {
  it('adds the counts of each fault and joins their recovery times', () => {
    const sum = sumOf([
      report(counts('kill', 2, [1000, 3000])),
      report(counts('kill', 1, [2000]), counts('stall', 1, [9000])),
    ]);
    expect(sum.skipped).toEqual(['a: b']);
    expect(isSound(sum)).toBe(true);
    const rows = tableOf(sum)
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(rows[0]!.slice(1, 5)).toEqual(['fault', 'cycles', 'no victim', 'documents']);
    expect(rows.slice(2).map((row) => row.slice(1, -1))).toEqual([
      ['kill', '3', '2', '108', '0', '0', '0', '0', '0', '2.0 s', '3.0 s', '3.0 s'],
      ['stall', '1', '1', '36', '0', '0', '0', '0', '0', '9.0 s', '9.0 s', '9.0 s'],
      ['all', '4', '3', '144', '0', '0', '0', '0', '0', '2.0 s', '9.0 s', '9.0 s'],
    ]);
  });

  it('is not sound if one report lost a document or ended early', () => {
    expect(isSound(sumOf([report(counts('kill', 1, [1])), report(counts('kill', 1, [1], 1))]))).toBe(false);
    expect(
      isSound(sumOf([report(counts('kill', 1, [1])), { ...report(), error: new Error('no disk') }])),
    ).toBe(false);
  });
});
