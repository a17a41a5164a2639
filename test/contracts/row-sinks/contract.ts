/** What every row sink must do: tests for a place that rows go to. */
import { beforeEach, expect, test } from 'vitest';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import { at, libraryModel, oddColumns, oddTable } from '../../unit/engine/sql/library-model.ts';
import {
  awkwardValues,
  encodeRows,
  libraryPlan,
  libraryRows,
  loadLibrary,
  writeLibrary,
} from '../targets/library-rows.ts';
import { expectSoundKeys } from './soundness.ts';
import type { TestTarget } from './targets.ts';
import { uuidOfJob } from '../../support/models/job-names.ts';

/** of the library's books: how many they have */
const pages = 7;

const withRequiredPages: RelationalModel = {
  ...libraryModel,
  tables: libraryModel.tables.map((table, index) => ({
    ...table,
    columns: table.columns.map((column, number) =>
      index === at.book && number === pages ? { ...column, nullable: false } : column,
    ),
  })),
};

function pagesPlan(job: number): SinkPlan {
  return libraryPlan(job, { model: withRequiredPages });
}

/** `targetOf`: an empty target of that name, `lib N`; N counts from 1. */
export function everyRowSink(targetOf: (name: string) => TestTarget): void {
  let target: TestTarget;
  let number = 0;
  beforeEach(() => {
    target = targetOf(`lib ${(number += 1)}`);
  });

  async function load(plan: SinkPlan, count = 1): Promise<Awaited<ReturnType<RowSink['publish']>>> {
    const sink = target.createSink();
    try {
      return await loadLibrary(sink, plan, count);
    } finally {
      await sink.close();
    }
  }

  test('a new target holds the rows as they were, awkward values too', async () => {
    const published = await load(libraryPlan(1), 2);
    expect(published.already).toBe(false);
    expect(published.rows).toEqual({
      library: 2,
      book: 4,
      person: 4,
      section: 4,
      section_text: 2,
      group: 4,
      note: 2,
      [oddTable]: 2 * awkwardValues.length,
    });
    const expected = libraryRows(1, 2).tables.get(at.odd)!;
    const rows = (await target.reader.read(oddTable))!;
    expect(rows.map((row) => oddColumns.map((name) => row[name]))).toEqual(
      expected.map((row) => row.slice(3)),
    );
    const books = (await target.reader.read('book'))!;
    expect(books.map((row) => [row.price, row.weight, row.keywords, row.serial])).toEqual(
      Array.from({ length: 4 }, () => ['12.50', '0.1234567890123456789012345', '{a,b}', null]),
    );
    await expectSoundKeys(target.reader);
  });

  test('appended rows get keys of their own, and keep their relations', async () => {
    await load(libraryPlan(1), 2);
    const published = await load(libraryPlan(2), 3);
    expect(published.rows.book).toBe(6);
    expect(await target.reader.read('library')).toHaveLength(5);
    expect((await target.reader.read('_documents'))!.map((row) => row.document_key)).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    const sections = (await target.reader.read('section'))!;
    expect(sections.map((row) => row.parent_section_key)).toEqual([
      null,
      '1',
      null,
      '3',
      null,
      '5',
      null,
      '7',
      null,
      '9',
    ]);
    await expectSoundKeys(target.reader);
  });

  test('a job that was published is not published again; another job of the same number is', async () => {
    await load(libraryPlan(1));
    expect(await load(libraryPlan(1))).toEqual({ rows: {}, already: true, changes: [] });
    expect(await target.reader.read('library')).toHaveLength(1);
    const other = await load(libraryPlan(1, { installation: 'elsewhere' }));
    expect(other.already).toBe(false);
    expect(await target.reader.read('library')).toHaveLength(2);
    // as after a restore of the metadata database, which gives out the number again
    const restored = await load(libraryPlan(1, { jobUuid: uuidOfJob(1, 'restored') }));
    expect(restored.already).toBe(false);
    expect(await target.reader.read('library')).toHaveLength(3);
    await expectSoundKeys(target.reader);
  });

  test('save mode e refuses tables with rows', async () => {
    await load(libraryPlan(1, { saveMode: 'error' }));
    await expect(load(libraryPlan(2, { saveMode: 'error' }))).rejects.toMatchObject({ code: 'conflict' });
    expect(await target.reader.read('library')).toHaveLength(1);
  });

  test('save mode i leaves tables with rows alone', async () => {
    await load(libraryPlan(1, { saveMode: 'ignore' }));
    const sink = target.createSink();
    expect(await sink.open(libraryPlan(2, { saveMode: 'ignore' }))).toBe('skip');
    expect((await sink.publish(async () => true, new Map())).rows).toEqual({});
    await sink.close();
    expect(await target.reader.read('_documents')).toHaveLength(1);
  });

  test('save mode w makes every table without rows, and a load fills them', async () => {
    await load(libraryPlan(1, { saveMode: 'write-schema' }));
    for (const table of libraryModel.tables) expect(await target.reader.read(table.name)).toEqual([]);
    await load(libraryPlan(2));
    expect(await target.reader.read('library')).toHaveLength(1);
    await expectSoundKeys(target.reader);
  });

  test('save mode p touches nothing', async () => {
    await load(libraryPlan(1, { saveMode: 'print-schema' }));
    expect(await target.list()).toEqual([]);
  });

  test('without --tables all only tables with rows are made', async () => {
    const sink = target.createSink();
    await sink.open(libraryPlan(1));
    await sink.writeSide('documents', encodeRows(sink.encoding, libraryRows(1).documents, 'documents'), 1);
    await sink.write(
      at.library,
      encodeRows(sink.encoding, libraryRows(1).tables.get(at.library)!, at.library),
      1,
    );
    await sink.publish(async () => true, libraryRows(1).lastKeys);
    await sink.close();
    expect(await target.reader.read('library')).toHaveLength(1);
    expect(await target.reader.read('book')).toBeNull();
    await load(libraryPlan(2, { allTables: true }));
    expect(await target.reader.read('book')).toHaveLength(2);
    await expectSoundKeys(target.reader);
  });

  test('save mode o replaces the rows, and what lies beside them', async () => {
    await load(libraryPlan(1), 3);
    const published = await load(libraryPlan(2, { saveMode: 'overwrite' }), 1);
    expect(published.rows.library).toBe(1);
    expect((await target.reader.read('book'))!.map((row) => [row.book_key, row.isbn])).toEqual([
      ['7', '2-1-1'],
      ['8', '2-1-2'],
    ]);
    expect((await target.reader.read('_documents'))!.map((row) => row.name)).toEqual(['job 2 file 1.xml']);
    await expectSoundKeys(target.reader);
    await load(libraryPlan(3), 1);
    expect((await target.reader.read('library'))!.map((row) => row.library_key)).toEqual(['4', '5']);
    await expectSoundKeys(target.reader);
  });

  test('save mode o leaves the tables of other models alone', async () => {
    const other: RelationalModel = {
      ...libraryModel,
      tables: [{ ...libraryModel.tables[at.library]!, name: 'archive' }],
    };
    const otherRows = libraryRows(1);
    const sink = target.createSink();
    await sink.open(libraryPlan(1, { model: other, idLschma: 9 }));
    await sink.writeSide('documents', encodeRows(sink.encoding, otherRows.documents, 'documents'), 1);
    await sink.write(0, encodeRows(sink.encoding, otherRows.tables.get(at.library)!, 0, other), 1);
    await sink.publish(
      async () => true,
      new Map([
        ['archive', 1],
        ['_documents', 1],
      ]),
    );
    await sink.close();
    await load(libraryPlan(2), 2);
    await load(libraryPlan(3, { saveMode: 'overwrite' }), 1);
    expect(await target.reader.read('archive')).toHaveLength(1);
    expect((await target.reader.read('_documents'))!.map((row) => row.job)).toEqual(['1', '3']);
    expect(await target.reader.read('library')).toHaveLength(1);
    await expectSoundKeys(target.reader);
    await expectSoundKeys(target.reader, other);
  });

  test('what is aborted was never there', async () => {
    const before = await target.list();
    const sink = target.createSink();
    await sink.open(libraryPlan(1));
    await writeLibrary(sink, libraryRows(1, 3));
    await sink.abort();
    await sink.close();
    expect(await target.list()).toEqual(before);
    await load(libraryPlan(1));
    const filled = await target.list();
    const again = target.createSink();
    await again.open(libraryPlan(2));
    await writeLibrary(again, libraryRows(2, 3, await again.keyOffsets()));
    await again.close();
    expect((await target.list()).toSorted()).toEqual(filled.toSorted());
    expect(await target.reader.read('library')).toHaveLength(1);
  });

  test('a job that is no longer its worker’s publishes nothing', async () => {
    const sink = target.createSink();
    await sink.open(libraryPlan(1));
    await writeLibrary(sink, libraryRows(1));
    await expect(sink.publish(async () => false, libraryRows(1).lastKeys)).rejects.toMatchObject({
      code: 'conflict',
    });
    await sink.abort();
    await sink.close();
    expect(await target.list()).toEqual([]);
    expect((await load(libraryPlan(1))).already).toBe(false);
  });

  test('two jobs at once both arrive whole', async () => {
    await Promise.all([load(libraryPlan(1), 3), load(libraryPlan(2), 2)]);
    expect(await target.reader.read('library')).toHaveLength(5);
    expect(new Set((await target.reader.read('_documents'))!.map((row) => row.job))).toEqual(
      new Set(['1', '2']),
    );
    await expectSoundKeys(target.reader);
  });

  test.each([false, true])(
    'a value that its column cannot hold keeps its text (rows there before: %s)',
    async (before) => {
      if (before) await load(libraryPlan(1));
      const sink = target.createSink();
      await sink.open(libraryPlan(2));
      const rows = libraryRows(2, 1, await sink.keyOffsets());
      const library = rows.tables.get(at.library)![0]!;
      const key = library[0] as number;
      library[3] = sink.widensInPlace ? null : 'some\tday';
      await writeLibrary(sink, rows);
      await sink.unconverted({ table: at.library, column: 3, rowKey: key, text: 'some\tday' });
      const { changes } = await sink.publish(async () => true, rows.lastKeys);
      await sink.close();
      expect(changes.filter((change) => change.startsWith('library.founded:')).length).toBeGreaterThan(0);
      const founded = (await target.reader.read('library'))!.map((row) => row.founded);
      expect(founded).toEqual(before ? ['2020-02-29', 'some\tday'] : ['some\tday']);
      await load(libraryPlan(3));
      expect((await target.reader.read('library'))!.at(-1)!.founded).toBe('2020-02-29');
    },
  );

  test.each([false, true])(
    'a whole number beyond its column makes that wider, and leaves it required (rows there before: %s)',
    async (before) => {
      if (before) await load(pagesPlan(1));
      const sink = target.createSink();
      await sink.open(pagesPlan(2));
      const rows = libraryRows(2, 1, await sink.keyOffsets());
      const many = '-12345678901234567890123456789012345600';
      const [first, second] = rows.tables.get(at.book)!;
      for (const [book, text] of [
        [first!, many],
        [second!, '98765432109876543210'],
      ] as const) {
        book[pages] = sink.widensInPlace ? null : text;
        await sink.unconverted({ table: at.book, column: pages, rowKey: book[0] as number, text });
      }
      if (sink.widensInPlace) sink.allowNull(at.book, pages);
      await writeLibrary(sink, rows);
      const { changes } = await sink.publish(async () => true, rows.lastKeys);
      await sink.close();
      expect(changes.filter((change) => change.startsWith('book.pages:')).length).toBeGreaterThan(0);
      expect(changes).not.toContain('book.pages: NOT NULL dropped');
      await load(pagesPlan(3));
      const read = (await target.reader.read('book'))!.map((row) => String(row.pages));
      const usual = ['320', '320'];
      expect(read.toSorted()).toEqual(
        [...usual, ...(before ? usual : []), many, '98765432109876543210'].toSorted(),
      );
    },
  );

  test.each([false, true])('a required value may be missing (rows there before: %s)', async (before) => {
    if (before) await load(libraryPlan(1));
    const sink = target.createSink();
    await sink.open(libraryPlan(2));
    const rows = libraryRows(2, 1, await sink.keyOffsets());
    rows.tables.get(at.library)![0]![2] = null;
    await writeLibrary(sink, rows);
    sink.allowNull(at.library, 2);
    const { changes } = await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    expect(changes).toContain('library.name: NOT NULL dropped');
    expect((await target.reader.read('library'))!.at(-1)!.name).toBeNull();
  });

  test('content beside the data names the rows it belongs to', async () => {
    for (const job of [1, 2]) {
      const sink = target.createSink();
      await sink.open(libraryPlan(job));
      const offsets = await sink.keyOffsets();
      const rows = libraryRows(job, 1, offsets);
      await writeLibrary(sink, rows);
      const document = rows.documents[0]![0]!;
      const [book, odd] = [at.book, at.odd].map((table) => rows.tables.get(table)!.at(-1)![0]!) as [
        number,
        number,
      ];
      await sink.writeSide(
        'unmapped',
        encodeRows(
          sink.encoding,
          [[document, 'book', book, 3, '/library/book/x', 'element', '<x a="1">\n</x>']],
          'unmapped',
        ),
        1,
      );
      await sink.writeSide(
        'lexical',
        encodeRows(sink.encoding, [[document, oddTable, odd, 'select', ' 1 ']], 'lexical'),
        1,
      );
      await sink.publish(async () => true, rows.lastKeys);
      await sink.close();
    }
    const [books, odds] = await Promise.all(['book', oddTable].map((table) => target.reader.read(table)));
    const unmapped = (await target.reader.read('_unmapped'))!;
    expect(unmapped.map((row) => [row.document_key, row.parent_key])).toEqual([
      ['1', books![1]!.book_key],
      ['2', books![3]!.book_key],
    ]);
    expect(unmapped[1]!.content).toBe('<x a="1">\n</x>');
    const lexical = (await target.reader.read('_lexical'))!;
    expect(lexical.map((row) => row.row_key)).toEqual(
      [awkwardValues.length, 2 * awkwardValues.length].map((at) => odds![at - 1]!.odd_key),
    );
    await load(libraryPlan(3, { saveMode: 'overwrite' }));
    expect(await target.reader.read('_unmapped').then((rows) => rows ?? [])).toEqual([]);
    expect(await target.reader.read('_lexical').then((rows) => rows ?? [])).toEqual([]);
  });

  test('many chunks of many tables, written without waiting, arrive in full', async () => {
    const sink = target.createSink();
    await sink.open(libraryPlan(1));
    const offsets = await sink.keyOffsets();
    const rows = libraryRows(1, 2000, offsets);
    await sink.writeSide(
      'documents',
      encodeRows(sink.encoding, rows.documents, 'documents'),
      rows.documents.length,
    );
    const writes: Promise<void>[] = [];
    for (let from = 0; from < 20_000; from += 500) {
      for (const [table, values] of rows.tables) {
        const part = values.slice(from, from + 500);
        if (part.length > 0)
          writes.push(sink.write(table, encodeRows(sink.encoding, part, table), part.length));
      }
    }
    await Promise.all(writes);
    const published = await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    for (const [table, values] of rows.tables)
      expect(published.rows[libraryModel.tables[table]!.name]).toBe(values.length);
    expect(await target.reader.read(oddTable)).toHaveLength(rows.tables.get(at.odd)!.length);
  });
}
