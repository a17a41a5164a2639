/** A task of Spark as its executors start it: attempts at units after and beside each other, cut off, and repeated. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { defaultArchiveLimits } from '../../../../src/inputs/archives/kinds.ts';
import { splitDocument } from '../../../../src/inputs/readable-ranges.ts';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { hashDocument } from '../../../../src/inputs/read-document.ts';
import {
  makePassFolder,
  unitFile,
  type SparkJob,
  type SparkUnit,
  type UnitMember,
  type UnitReport,
} from '../../../../src/tools/load/spark/work.ts';
import { inferred, modelOf } from '../../../support/models/shredding.ts';
import { needs } from '../../../support/needs.ts';
import { useTrial } from '../../../support/service/trial.ts';
import { uuidOfJob } from '../../../support/models/job-names.ts';

const task = fileURLToPath(new URL('../../../../src/tools/load/spark/load-task.ts', import.meta.url));
const limits = defaultEngineLimits;
const rowTag = { namespaceUri: null, localName: 'order' };
const order = (id: number): string =>
  `<order id="${id}"><name>N${id}</name><line>1</line><line>2</line></order>`;

describe('a task', () => {
  const trial = useTrial();
  let folder: string;
  let work: string;
  let units = 0;

  beforeAll(async () => {
    folder = await trial.folder('spark-task-');
    work = join(folder, 'work');
    const file = join(folder, 'orders.xml');
    const orders = Array.from({ length: 9000 }, (_, id) => order(id));
    await writeFile(file, `<orders>${orders.join('\n')}</orders>`);
    await makePassFolder(work);
    const model = modelOf(inferred([order(1)]), 1);
    const job: SparkJob = {
      probe: false,
      rowTag,
      takesXsd: false,
      limits,
      archiveLimits: defaultArchiveLimits,
      links: 'follow',
      logical: { idSch: 1, idLschma: 1, model, modelHash: '', variant: false },
      idJob: 1,
      jobUuid: uuidOfJob(1),
      byHand: true,
      request: {
        keys: 'hash',
        saveMode: 'append',
        unmapped: 'capture',
        keepsOtherRoots: false,
        extraColumns: [],
        noSamples: false,
        rowTag: 'order',
      },
      encoding: 'copy-text',
      widensInPlace: true,
      scalesDecimals: false,
      keyOffsets: [],
      withStatistics: false,
    };
    await writeFile(join(work, 'job.json'), JSON.stringify(job));
    for await (const member of (await openInputs([file], () => true)).members()) {
      const { source, name, path } = member;
      const sha256 = await hashDocument(member);
      const kernels = createTokenizerKernels();
      const ranges = await splitDocument(member, { rowTag, limits, kernels, rangeBytes: 300_000 });
      const unit: UnitMember = { ...source, name, path, inputIndex: 0, sha256 };
      const all: UnitMember[] = [unit, ...ranges!.map((range) => ({ ...unit, range }))];
      for (const [number, only] of all.entries())
        await writeFile(
          join(work, 'units', `${number}.json`),
          JSON.stringify({ members: [only], keys: null } satisfies SparkUnit),
        );
      units = all.length;
    }
    expect(units).toBeGreaterThan(3);
  });

  /** A process that makes attempts; its stdin ends when its executor does. */
  function engine(jobFolder = work) {
    const child = spawn(process.execPath, [task, jobFolder], { stdio: 'pipe' });
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const complaint = text(child.stderr);
    /** Null: it has ended. */
    const give = async (unit: number): Promise<{ unit: number; last: boolean } | null> => {
      child.stdin.write(`${unit}\n`);
      const { value, done } = await answers.next();
      return done === true ? null : (JSON.parse(value) as { unit: number; last: boolean });
    };
    return { child, ended, complaint, give };
  }

  /** Rows of a unit as text, by table, sorted; without the time of loading. */
  async function rowsOf(numbers: readonly number[]): Promise<Record<string, string[]>> {
    const rows: Record<string, string[]> = {};
    for (const number of numbers) {
      const done = join(work, 'done', String(number));
      const report = JSON.parse(await readFile(join(done, 'report.json'), 'utf8')) as UnitReport;
      if (report.rows === null || !('file' in report.rows)) throw new Error(`unit ${number} has no rows`);
      const { chunks } = report.rows.file;
      const bytes = await readFile(join(done, 'rows'));
      let at = 0;
      for (const [table, size] of chunks) {
        const lines = bytes
          .subarray(at, at + size)
          .toString()
          .split('\n')
          .slice(0, -1);
        (rows[table] ??= []).push(...lines.map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '')));
        at += size;
      }
      expect(at).toBe(bytes.length);
    }
    return Object.fromEntries(Object.entries(rows).map(([table, lines]) => [table, lines.toSorted()]));
  }

  it(
    'gives a unit once, however many attempts there are, also of some that are cut off',
    needs('whole run'),
    async () => {
      // the executor of this one is gone at once
      const orphan = engine();
      orphan.child.stdin.end('1\n');
      expect((await orphan.ended)[1]).toBe('SIGKILL');
      expect(await readdir(join(work, 'done'))).toEqual([]);

      // this one is killed when it has written
      const killed = engine();
      void killed.give(0);
      for (;;) {
        const [name] = (await readdir(join(work, 'attempts'))).filter((entry) => entry.startsWith('0-'));
        const rows =
          name === undefined ? null : await readFile(join(work, 'attempts', name, 'rows')).catch(() => null);
        if ((rows?.length ?? 0) > 0) break;
      }
      killed.child.kill('SIGKILL');
      await killed.ended;
      // all of it, or nothing
      expect(['', '0']).toContain((await readdir(join(work, 'done'))).join());

      const ranges = Array.from({ length: units - 1 }, (_, index) => index + 1);
      let [one, other] = [engine(), engine()];
      for (const number of [0, ...ranges]) {
        const given = number === 2 ? [one.give(number), other.give(number)] : [one.give(number)];
        const [answer, twin = answer] = await Promise.all(given);
        expect([answer, twin]).toMatchObject([{ unit: number }, { unit: number }]);
        // memory is counted, and differs
        [one, other] = [twin!.last ? engine() : other, answer!.last ? engine() : one];
      }
      for (const { child, ended } of [one, other]) {
        child.stdin.end();
        expect(await ended).toEqual([0, null]);
      }
      const left = await readdir(join(work, 'attempts'));
      expect(left.every((name) => name.startsWith('0-') || name.startsWith('1-'))).toBe(true);
      expect(left.length).toBeLessThanOrEqual(2);
      const whole = await rowsOf([0]);
      expect(whole['documents']).toHaveLength(9000);
      expect(await rowsOf(ranges)).toEqual(whole);
    },
  );

  it('numbers rows within the range of a unit, hashes what nobody has, and leaves out what is there', async () => {
    const numbered = join(folder, 'numbered');
    await mkdir(numbered);
    await makePassFolder(numbered);
    const job = JSON.parse(await readFile(join(work, 'job.json'), 'utf8')) as SparkJob;
    const request = { ...job.request, keys: 'sequence' };
    await writeFile(join(numbered, 'job.json'), JSON.stringify({ ...job, request }));
    const file = join(folder, 'three.xml');
    const content = `<orders>${order(1)}${order(2)}${order(3)}</orders>`;
    await writeFile(file, content);
    const source = { file, member: 0, packed: false, direct: true, name: 'three.xml', path: file };
    const member: UnitMember = { ...source, inputIndex: 0, sha256: '', leftOut: [2] };
    const [inFile] = await Array.fromAsync((await openInputs([file], () => true)).members());
    const kernels = createTokenizerKernels();
    const ranges = await splitDocument(inFile!, {
      rowTag,
      limits,
      kernels,
      rangeBytes: content.lastIndexOf('<order '),
    });
    expect(ranges).toHaveLength(2);
    const [range, last] = ranges!.map((one): UnitMember => ({
      ...source,
      inputIndex: 0,
      sha256: '',
      range: { ...one, sha256: '' },
    }));
    const units = [
      [member, 1000],
      [range!, 1000],
      [last!, 1000],
      [member, 101],
    ] as const;
    for (const [number, [only, lastKey]] of units.entries()) {
      const unit: SparkUnit = { members: [only], keys: { key: 100, document: 100, lastKey } };
      await writeFile(unitFile(numbered, number), JSON.stringify(unit));
    }
    const reportOf = async (unit: number): Promise<UnitReport> =>
      JSON.parse(await readFile(join(numbered, 'done', `${unit}`, 'report.json'), 'utf8')) as UnitReport;
    const executor = engine(numbered);
    await executor.give(0);
    const { lastKeys, rows, failure } = await reportOf(0);
    expect(failure).toBeUndefined();
    expect(Object.fromEntries(lastKeys)).toMatchObject({ order: 102, _documents: 102 });
    const hash = createHash('sha256').update(content).digest('hex');
    const first = createHash('sha256').update(`${hash}#1`).digest('hex');
    if (rows === null || !('file' in rows)) throw new Error('the unit has no rows');
    const documentsOf = async (unit: number): Promise<string[][]> => {
      const lines = (await readFile(join(numbered, 'done', `${unit}`, 'rows'), 'utf8')).split('\n');
      const documents = lines.filter((line) => line.includes('three.xml#'));
      return documents.map((line) => line.split('\t').slice(0, 3));
    };
    expect(await documentsOf(0)).toEqual([
      ['101', 'three.xml#1', first],
      ['102', 'three.xml#3', '\\N'],
    ]);
    // the first range of a file tells the hash of all of it
    await executor.give(1);
    await executor.give(2);
    expect(await documentsOf(1)).toEqual([
      ['101', 'three.xml#1', first],
      ['102', 'three.xml#2', '\\N'],
    ]);
    expect(await documentsOf(2)).toEqual([['101', 'three.xml#3', '\\N']]);
    // it has more rows than the range has keys
    await executor.give(3);
    expect((await reportOf(3)).failure).toMatch(/more rows than bytes; load it with --keys hash/);
    await executor.ended;
  });

  it('ends with the process where a document is at fault, and where the executor is', async () => {
    const file = join(folder, 'broken.xml');
    await writeFile(file, '<orders><order id="1"><name>N1</orders>');
    const lost: UnitMember = {
      file: join(folder, 'nowhere.xml'),
      member: 0,
      packed: false,
      direct: true,
      name: 'nowhere.xml',
      path: 'nowhere.xml',
      inputIndex: 0,
      sha256: '',
    };
    const broken = { ...lost, file, name: 'broken.xml', path: 'broken.xml' };
    for (const [number, unit] of [
      [1000, broken],
      [1001, lost],
    ] as const)
      await writeFile(
        join(work, 'units', `${number}.json`),
        JSON.stringify({ members: [unit], keys: null } satisfies SparkUnit),
      );

    const first = engine();
    expect(await first.give(1000)).toEqual({ unit: 1000, last: true });
    expect(await first.ended).toEqual([0, null]);
    const report = JSON.parse(
      await readFile(join(work, 'done', '1000', 'report.json'), 'utf8'),
    ) as UnitReport;
    expect(report.failure).toMatchObject({ line: 1, column: expect.any(Number) });

    const second = engine();
    expect(await second.give(1001)).toBeNull();
    expect(await second.ended).toEqual([1, null]);
    expect(await second.complaint).toMatch(/nowhere\.xml: ENOENT: the inputs must lie where all executors/);
    expect(await readdir(join(work, 'done'))).not.toContain('1001');
    const left = await readdir(join(work, 'attempts'));
    expect(left.filter((name) => name.startsWith('100'))).toEqual([]);
  });
});
