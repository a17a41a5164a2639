/** A task of Spark as its executors start it: attempts at units beside each other, cut off, and repeated. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { defaultArchiveLimits } from '../../../../src/tools/inputs/archives/limits.ts';
import { splitDocument } from '../../../../src/tools/inputs/readable-ranges.ts';
import { openInputs } from '../../../../src/tools/inputs/list-files.ts';
import { hashDocument } from '../../../../src/tools/inputs/read-document.ts';
import {
  makeWorkFolder,
  type SparkJob,
  type UnitMember,
  type UnitReport,
} from '../../../../src/tools/load/spark/work.ts';
import { inferred, modelOf } from '../../../support/models/shredding.ts';
import { needs } from '../../../support/needs.ts';
import { useTrial } from '../../../support/service/trial.ts';

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
    await mkdir(work);
    await makeWorkFolder(work);
    const model = modelOf(inferred([order(1)]), 1);
    const job: Omit<SparkJob, 'name' | 'command' | 'units'> = {
      probe: false,
      rowTag,
      takesXsd: false,
      limits,
      archiveLimits: defaultArchiveLimits,
      links: 'follow',
      logical: { idSch: 1, idLschma: 1, model, modelHash: '', variant: false },
      idJob: 1,
      byHand: true,
      request: {
        keys: 'hash',
        unmapped: 'capture',
        keepsOtherRoots: false,
        extraColumns: [],
        noSamples: false,
        rowTag: 'order',
      },
      encoding: 'copy-text',
      widensInPlace: true,
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
        await writeFile(join(work, 'units', `${number}.json`), JSON.stringify([only]));
      units = all.length;
    }
    expect(units).toBeGreaterThan(3);
  });

  /** An attempt; `stdin` ends when its executor does. */
  function attempt(unit: number) {
    const child = spawn(process.execPath, [task, work, String(unit)], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    return { child, ended };
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
      const orphan = attempt(1);
      orphan.child.stdin.end();
      expect((await orphan.ended)[1]).toBe('SIGKILL');
      expect(await readdir(join(work, 'done'))).toEqual([]);

      // this one is killed when it has written
      const killed = attempt(0);
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
      for (const number of [0, ...ranges]) {
        const twice = number === 2 ? [attempt(number), attempt(number)] : [attempt(number)];
        for (const { ended } of twice) expect((await ended)[0]).toBe(0);
      }
      const left = await readdir(join(work, 'attempts'));
      expect(left.every((name) => name.startsWith('0-') || name.startsWith('1-'))).toBe(true);
      expect(left.length).toBeLessThanOrEqual(2);
      const whole = await rowsOf([0]);
      expect(whole['documents']).toHaveLength(9000);
      expect(await rowsOf(ranges)).toEqual(whole);
    },
  );
});
