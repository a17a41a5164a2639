/** Keys in targets that hold rows, or held some, on every kind of row sink there is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SinkPlan } from '../../../src/ports/row-sink.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { encodeRows, libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { expectSoundKeys } from './soundness.ts';
import { targetKinds, type TestTarget } from './targets.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let folders = '';
beforeAll(async () => {
  database = await trial.emptyDatabase();
  folders = await mkdtemp(join(tmpdir(), 'row-sink-keys-'));
});

afterAll(async () => {
  await rm(folders, { recursive: true, force: true });
});

describe.each(
  some(
    targetKinds(() => ({ database, folders })),
    1,
  ),
)('%s', (kind, targetOf) => {
  let target: TestTarget;
  let number = 0;
  beforeEach(() => {
    target = targetOf(`keys ${(number += 1)}`);
  });

  async function load(plan: SinkPlan, count = 1): Promise<void> {
    const sink = target.createSink();
    try {
      await loadLibrary(sink, plan, count);
    } finally {
      await sink.close();
    }
  }

  test('no key is given twice, whatever became of the rows that had it', async () => {
    const given = new Map<string, Set<string>>();
    const expectNewKeys = async (): Promise<void> => {
      for (const [table, key] of [
        ['_documents', 'document_key'],
        ...libraryModel.tables.map((one) => [one.name, one.columns[0]!.name]),
      ] as [string, string][]) {
        const keys = (await target.reader.read(table))!.map((row) => row[key]!);
        const known = given.get(table) ?? new Set();
        expect(keys.length).toBeGreaterThan(0);
        expect(keys.filter((one) => known.has(one))).toEqual([]);
        given.set(table, new Set([...known, ...keys]));
      }
      await expectSoundKeys(target.reader);
    };
    await load(libraryPlan(1), 3);
    await expectNewKeys();
    for (const job of [2, 3]) {
      await load(libraryPlan(job, { saveMode: 'overwrite' }), job);
      await expectNewKeys();
    }
    const failing = target.createSink();
    await failing.open(libraryPlan(4, { saveMode: 'overwrite' }));
    await writeLibrary(failing, libraryRows(4, 1, await failing.keyOffsets()));
    await expect(failing.publish(async () => false, new Map())).rejects.toMatchObject({ code: 'conflict' });
    await failing.close();
    // other documents overwrite without a row in most of the tables: their counters stay
    const few = target.createSink();
    await few.open(libraryPlan(5, { saveMode: 'overwrite' }));
    const offsets = await few.keyOffsets();
    const rows = libraryRows(5, 1, offsets);
    await few.writeSide('documents', encodeRows(few.encoding, rows.documents, 'documents'), 1);
    await few.write(at.library, encodeRows(few.encoding, rows.tables.get(at.library)!, at.library), 1);
    await few.publish(
      async () => true,
      new Map(['library', '_documents'].map((name) => [name, (offsets.get(name) ?? 0) + 1])),
    );
    await few.close();
    await load(libraryPlan(6, { saveMode: 'overwrite' }), 1);
    await expectNewKeys();
  });

  test('overwriting jobs that are numbered at once have keys of their own', async () => {
    await load(libraryPlan(1), 2);
    const [first, other] = [target.createSink(), target.createSink()] as const;
    await first.open(libraryPlan(2, { saveMode: 'overwrite' }));
    const rows = libraryRows(2, 2, await first.keyOffsets());
    await writeLibrary(first, rows);
    // a folder has one writer at a time
    const second = (async () => {
      await other.open(libraryPlan(3));
      const more = libraryRows(3, 3, await other.keyOffsets());
      await writeLibrary(other, more);
      await other.publish(async () => true, more.lastKeys);
      await other.close();
    })();
    if (!kind.startsWith('folder')) await second;
    await first.publish(async () => true, rows.lastKeys);
    await first.close();
    await second;
    await load(libraryPlan(4), 1);
    const documents = (await target.reader.read('_documents'))!.map((row) => Number(row.document_key));
    expect(new Set(documents).size).toBe(documents.length);
    expect(Math.min(...documents)).toBeGreaterThan(2);
    await expectSoundKeys(target.reader);
  });

  test.each([
    ['early, late', true],
    ['late, early', false],
  ])('tables whose keys have other names are not mixed (%s)', async (_order, isEarlyFirst) => {
    const [library] = libraryModel.tables;
    const named = (rowKey: string, fileKey: string): RelationalModel => ({
      ...libraryModel,
      tables: [
        {
          ...library!,
          columns: library!.columns.map((column) => ({
            ...column,
            name: { row_key: rowKey, document: fileKey }[column.role as string] ?? column.name,
          })),
        },
        ...libraryModel.tables.slice(1),
      ],
    });
    const early = named('document_key', '_document_key');
    const late = named('document_row_key', 'document_key');
    const [first, second] = isEarlyFirst ? [early, late] : [late, early];
    await load(libraryPlan(1, { model: first }));
    await expect(load(libraryPlan(2, { model: second }))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/library was made by another logical schema.*-l/s),
    });
    await load(libraryPlan(3, { model: first }));
    expect(await target.reader.read('library')).toHaveLength(2);
    await load(libraryPlan(4, { model: second, saveMode: 'overwrite' }));
    await expectSoundKeys(target.reader, second);
  });
});
