/**
 * `-S m` on every target that knows it: a thousand replacements, compared with a model in memory, by what is written back; and with `--history` at
 * ten moments.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isHere, needs } from '../../support/needs.ts';
import { mariadbParts } from '../../support/servers/mariadb.ts';
import { createDice, expectSame, mergeFolder, orderModel, orderOf, written } from './orders.ts';
import { mergeTargetKinds, openMergeTargets, type MergeTargets } from './targets.ts';

/** 1,000 documents in all, or a few of them */
const [rounds, documentsPerRound] = isHere('whole run') ? [25, 40] : [4, 12];

describe('merges', { timeout: 600_000 }, () => {
  let targets: MergeTargets;
  let folders: string;
  const model = orderModel;

  beforeAll(async () => {
    folders = await mkdtemp(join(tmpdir(), 'merged-'));
    targets = await openMergeTargets(['replaced', 'kept']);
  });
  afterAll(async () => {
    await targets?.end();
    await rm(folders, { recursive: true, force: true });
  });

  for (const kind of mergeTargetKinds)
    it.each([['replaced'], ['kept']] as const)(
      `of ${kind} are as a model in memory says: %s`,
      kind === 'MariaDB' ? needs(mariadbParts) : {},
      async (what) => {
        const target = targets.target(kind, what);
        const more = what === 'kept' ? { history: true as const } : {};
        const dice = createDice(17);
        const current = new Map<string, string>();
        const moments: { readonly at: string; readonly documents: ReadonlyMap<string, string> }[] = [];
        let versions = 0;
        for (let round = 0; round < rounds; round += 1) {
          const folder = await mkdtemp(join(folders, 'inbox-'));
          const isWhole = round % 4 === 3;
          const documents = new Map<string, string>(isWhole ? current : []);
          for (let count = 0; count < documentsPerRound; count += 1) {
            const id = `order ${dice(documentsPerRound * 1.5)}`;
            const old = current.get(id);
            documents.set(id, old !== undefined && dice(4) === 0 ? old : orderOf(id, dice));
          }
          if (isWhole) for (const id of [...documents.keys()].slice(0, 5)) documents.delete(id);
          // another name each time, as the key is what counts
          let number = 0;
          for (const text of documents.values())
            await writeFile(join(folder, `${round}-${(number += 1)}.xml`), text);
          const expected = {
            inserted: [...documents.keys()].filter((id) => !current.has(id)).length,
            unchanged: [...documents].filter(([id, text]) => current.get(id) === text).length,
            deleted: isWhole ? [...current.keys()].filter((id) => !documents.has(id)).length : 0,
          };
          const replaced = documents.size - expected.inserted - expected.unchanged;
          const missing = isWhole ? { deleteMissing: true as const } : {};
          const merged = await mergeFolder(target, model, folder, round + 1, {
            ...more,
            ...missing,
          });
          expect({
            ...merged.merged,
            inserted: merged.loaded - replaced,
            unchanged: merged.unchanged,
          }).toEqual({
            ...expected,
            replaced,
          });
          if (isWhole) for (const id of current.keys()) if (!documents.has(id)) current.delete(id);
          for (const [id, text] of documents) current.set(id, text);
          versions += expected.inserted + replaced;
          await sleep(5);
          moments.push({ at: new Date().toISOString(), documents: new Map(current) });
          await sleep(5);
          await rm(folder, { recursive: true });
        }
        expectSame(await written(target.createSource(), model), current);
        if (what === 'replaced') return;
        const lines = [...current.values()].join('').split('<line>').length - 1;
        expect([await target.count('order_current'), await target.count('line_current')]).toEqual([
          current.size,
          lines,
        ]);
        for (const { at, documents } of moments.slice(-10))
          expectSame(await written(target.createSource(), model, { at }), documents);
        const all = await written(target.createSource(), model, 'all');
        expect([...all.values()].flat()).toHaveLength(versions);
        expect(await written(target.createSource(), model, { at: '2001-01-01T00:00:00.000Z' })).toEqual(
          new Map(),
        );
      },
    );
});
