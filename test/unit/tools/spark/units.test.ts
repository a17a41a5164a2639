/** Units of work for Spark: which documents they have, whose hash is known, and the keys that they may give out. */
import { createHash } from 'node:crypto';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { openInputs } from '../../../../src/inputs/list-files.ts';
import { KeyRanges } from '../../../../src/tools/load/document-cut.ts';
import { noneSurveyed, writeUnits, type UnitPlan } from '../../../../src/tools/load/spark/units.ts';
import { makePassFolder, unitFile, type SparkUnit } from '../../../../src/tools/load/spark/work.ts';
import type { ToolSession } from '../../../../src/tools/session/tool-session.ts';
import { useTrial } from '../../../support/service/trial.ts';

const trial = useTrial();
const rowTag = { namespaceUri: null, localName: 'order' };
const rangeBytes = 100_000;
const session = {
  home: { config: { spark: { conf: {}, rangeBytes } } },
  request: {},
  limits: defaultEngineLimits,
  kernels: createTokenizerKernels(),
} as unknown as ToolSession;

let folder: string;
let work: string;
let large: string;

beforeEach(async () => {
  folder = await trial.folder('spark-units-');
  work = join(folder, 'work');
  await makePassFolder(work);
  large = `<orders>${'<order><name>N</name></order>\n'.repeat(10_000)}</orders>`;
  await writeFile(join(folder, 'a.xml'), '<orders/>');
  await writeFile(join(folder, 'b.xml'), large);
  await writeFile(join(folder, 'c.xml'), '<orders><order/></orders>');
});

async function unitsOf(plan: Omit<UnitPlan, 'inputs' | 'surveyed'>): Promise<SparkUnit[]> {
  const inputs = await openInputs(
    ['a', 'b', 'c'].map((name) => join(folder, `${name}.xml`)),
    () => true,
  );
  const count = await writeUnits(session, work, { inputs, surveyed: noneSurveyed, ...plan });
  return Promise.all(
    Array.from(
      { length: count },
      async (_, unit) => JSON.parse(await readFile(unitFile(work, unit), 'utf8')) as SparkUnit,
    ),
  );
}

it('a hash that nobody has taken is that of the file that is cut, and is left to who reads another', async () => {
  const units = await unitsOf({
    rowTag,
    chosen: () => ({ sha256: null, modified: null }),
    keyRanges: new KeyRanges(new Map([['order', 50]]), true, ''),
  });
  expect(units.length).toBeGreaterThan(4);
  const hash = createHash('sha256').update(large).digest('hex');
  for (const { members } of units.slice(1, -1)) {
    expect(members).toHaveLength(1);
    expect([members[0]!.sha256, members[0]!.range!.sha256]).toEqual([hash, hash]);
  }
  expect([units[0]!.members[0]!.sha256, units.at(-1)!.members[0]!.sha256]).toEqual(['', '']);
  const ranges = units.map(({ keys }) => keys!);
  expect(ranges[0]!.key).toBe(50);
  for (const [at, { key }] of ranges.slice(1).entries()) expect(key).toBe(ranges[at]!.lastKey);
});

it('documents that are left out have numbers all the same, and parts that are stay named', async () => {
  const units = await unitsOf({
    rowTag: null,
    chosen: (index) => (index < 2 ? null : { sha256: 'c', leftOut: [1] }),
    keyRanges: new KeyRanges(new Map(), false, ''),
  });
  const passed = (await stat(join(folder, 'a.xml'))).size + large.length;
  expect(units).toMatchObject([
    { members: [{ name: 'c.xml', sha256: 'c', leftOut: [1] }], keys: { key: 0, document: 2 } },
  ]);
  expect(units[0]!.keys!.lastKey).toBeGreaterThan(passed);
});

it('a file that was changed since its hash was taken ends the job', async () => {
  const file = join(folder, 'b.xml');
  const { mtimeMs } = await stat(file);
  const chosen = (index: number) => (index === 1 ? { sha256: 'b', modified: mtimeMs } : null);
  const plan = { rowTag, chosen, keyRanges: null };
  for (const { keys, members } of await unitsOf(plan))
    expect([keys, members[0]!.sha256, members[0]!.range!.sha256]).toEqual([null, 'b', 'b']);
  await utimes(file, 1, 1);
  await expect(unitsOf(plan)).rejects.toThrow('the file changed while it was read');
});
