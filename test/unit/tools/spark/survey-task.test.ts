/** A task of Spark that looks at documents before they are loaded: their hashes, and what pieces of a file say of its rows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { defaultArchiveLimits } from '../../../../src/inputs/archives/kinds.ts';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { sha256Of } from '../../../../src/storage/staging/durable-file.ts';
import { splitDocument, rangesOfPieces } from '../../../../src/inputs/readable-ranges.ts';
import type { HashReport, PieceReport, SurveyJob } from '../../../../src/tools/load/spark/survey-on-spark.ts';
import { jobFile, makePassFolder, unitFile, type SparkUnit } from '../../../../src/tools/load/spark/work.ts';
import { useTrial } from '../../../support/service/trial.ts';

const trial = useTrial();
const task = fileURLToPath(new URL('../../../../src/tools/load/spark/survey-task.ts', import.meta.url));
const rowTag = { namespaceUri: null, localName: 'order' };
const limits = defaultEngineLimits;
const rangeBytes = 50_000;

it('tells hashes of files and members, and where a file may be cut', async () => {
  const folder = await trial.folder('spark-survey-');
  const work = await makePassFolder(join(folder, 'work'));
  const small = '<orders><order/></orders>';
  const large = `<orders>${'<order><!-- <order> --><name>N</name></order>\n'.repeat(6000)}</orders>`;
  await writeFile(join(folder, 'a.xml'), small);
  await writeFile(join(folder, 'b.xml.gz'), gzipSync(small));
  await writeFile(join(folder, 'c.xml'), large);
  const names = ['a.xml', 'b.xml.gz', 'c.xml'];
  const inputs = await openInputs(
    names.map((name) => join(folder, name)),
    () => true,
  );
  const members = await Array.fromAsync(inputs.members());
  const listed = members.map(({ source, name, path }, inputIndex) => ({
    ...source,
    name,
    path,
    inputIndex,
    sha256: '',
  }));
  const job: SurveyJob = {
    rowTag,
    takesXsd: false,
    limits,
    archiveLimits: defaultArchiveLimits,
    links: 'follow',
    rangeBytes,
  };
  await writeFile(jobFile(work), JSON.stringify(job));
  const pieces = Math.ceil(large.length / rangeBytes);
  const units: SparkUnit[] = [
    { members: listed, keys: null },
    ...Array.from({ length: pieces }, (_, piece) => ({ members: [listed[2]!], keys: null, piece })),
  ];
  for (const [number, unit] of units.entries()) await writeFile(unitFile(work, number), JSON.stringify(unit));
  const child = spawn(process.execPath, [task, work], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  for (const [unit] of units.entries()) {
    child.stdin.write(`${unit}\n`);
    // a unit's report is there before its answer is
    expect(JSON.parse(String((await answers.next()).value))).toEqual({ unit, last: false });
  }
  // it ends with its requests, when it is idle
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);

  const reportOf = async <Report>(unit: number): Promise<Report> =>
    JSON.parse(await readFile(join(work, 'done', String(unit), 'report.json'), 'utf8')) as Report;
  const { mtimeMs } = await stat(join(folder, 'c.xml'));
  expect(await reportOf<HashReport>(0)).toEqual({
    hashes: [
      [sha256Of(small), null],
      [sha256Of(small), null],
      [sha256Of(large), mtimeMs],
    ],
  });
  const reports = await Promise.all(
    Array.from({ length: pieces }, (_, piece) => reportOf<PieceReport>(piece + 1)),
  );
  expect(new Set(reports.map(({ modified }) => modified))).toEqual(new Set([mtimeMs]));
  const surveyed = reports.map(({ piece }) => piece);
  const surveying = { rows: { rowTag }, rangeBytes };
  const ranges = await rangesOfPieces(members[2]!, surveyed, surveying, mtimeMs);
  const kernels = createTokenizerKernels();
  const expected = await splitDocument(members[2]!, { rowTag, rangeBytes, limits, kernels });
  expect(expected!.length).toBeGreaterThan(3);
  expect(ranges).toEqual(expected!.map((range) => ({ ...range, sha256: '' })));
});
