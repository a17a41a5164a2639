/** `-S m` into tables of Delta and Iceberg that ends in the middle: whoever comes next ends it, and a repeated attempt adds nothing. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type HeldLakePlace, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import { deltaReader, icebergReader } from '../row-sinks/readers.ts';
import {
  createDice,
  expectSame,
  mergeFolder,
  orderModel,
  orderOf,
  written,
  type MergeTarget,
} from './orders.ts';

let folders: string;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'merge-cut-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));

const target = (lake: LakeTarget): MergeTarget => ({
  createSink: () => createLakeRowSink({ target: lake, format: 'delta,iceberg' }),
  createSource: () => createLakeRowSource({ target: lake }),
  count: () => Promise.reject(new Error('not asked')),
});

/** A place whose versions cannot be made any more after so many. */
function dyingAfter(target: LakeTarget, versions: number): LakeTarget {
  let left = versions;
  const dying = (place: HeldLakePlace): HeldLakePlace =>
    new Proxy(place, {
      get: (of, member) => {
        const value: unknown = Reflect.get(of, member, of);
        if (typeof value !== 'function') return value;
        if (member !== 'create') return (value as (...args: unknown[]) => unknown).bind(of);
        return (path: string, content: string) => {
          if ((left -= 1) < 0) throw new Error('the process has ended');
          return of.create(path, content);
        };
      },
    });
  return { ...target, label: target.label, hold: async (makes) => dying(await target.hold(makes)) };
}

describe.each([['replaced'], ['kept']] as const)('documents that are %s', (what) => {
  // a version of each format for order, line, part, _unmapped, _documents and _loads
  it.each([0, 1, 4, 7, 9, 11])('are there once, after %d versions of tables', async (versions) => {
    const directory = join(folders, `${what}-${versions}`);
    const more = what === 'kept' ? { history: true as const } : {};
    const whole = target(diskLake({ directory }));
    const dice = createDice(5);
    const merge = async (of: MergeTarget, idJob: number, documents: ReadonlyMap<string, string>) => {
      const inbox = join(folders, `inbox-${what}-${versions}-${idJob}`);
      await mkdir(inbox, { recursive: true });
      for (const [at, text] of [...documents.values()].entries())
        await writeFile(join(inbox, `${at}.xml`), text);
      return mergeFolder(of, orderModel, inbox, idJob, more);
    };
    const ids = Array.from({ length: 12 }, (_, at) => `order ${at}`);
    const first = new Map(ids.map((id) => [id, orderOf(id, dice)]));
    await merge(whole, 1, first);
    const second = new Map(ids.slice(4).map((id) => [id, orderOf(id, dice)]));
    const dying = target(dyingAfter(diskLake({ directory }), versions));
    await expect(merge(dying, 2, second)).rejects.toThrow('the process has ended');
    expect(await merge(whole, 2, second)).toMatchObject({ already: true });
    const current = new Map([...first, ...second]);
    expectSame(await written(whole.createSource(), orderModel), current);
    const lines = [...current.values()].join('').split('<line>').length - 1;
    const before = [...first].flatMap(([id, text]) => (second.has(id) ? [text] : []));
    const kept = what === 'kept' ? before.join('').split('<line>').length - 1 : 0;
    for (const reader of [deltaReader(directory), icebergReader(directory)]) {
      expect(await reader.read('_loads')).toHaveLength(2);
      expect(await reader.read('line')).toHaveLength(lines + kept);
    }
  });
});
