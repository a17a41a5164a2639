/** What only tables of Iceberg do: numbers of columns, versions, commits of others between ours, folders that move, what others switch on. */
import { copyFile, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseExact, exactText } from '../../../src/targets/files/json.ts';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { Published, SinkPlan } from '../../../src/ports/row-sink.ts';
import { needs } from '../../support/needs.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { deltaReader, icebergFiles, icebergReader } from '../row-sinks/readers.ts';
import { uuidOfJob } from '../../support/models/job-names.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { pyicebergReader, runPyiceberg } from '../targets/readers/pyiceberg.ts';

let folders = '';
let directory = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'iceberg-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, `it's ${(number += 1)}`, 'deep');
});

async function load(plan: SinkPlan, count = 1, format: LakeFormatName = 'iceberg'): Promise<Published> {
  const sink = createLakeRowSink({ target: diskLake({ directory }), format });
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

/** Loads, with something that happens in the moment before the job is published. */
async function loadWhile(plan: SinkPlan, work: () => Promise<void>): Promise<void> {
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'iceberg' });
  try {
    await sink.open(plan);
    const rows = libraryRows(plan.idJob, 1, await sink.keyOffsets());
    await writeLibrary(sink, rows);
    await sink.publish(async () => {
      await work();
      return true;
    }, rows.lastKeys);
  } finally {
    await sink.close();
  }
}

interface Field {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: unknown;
  readonly doc?: string;
}

interface Metadata {
  readonly 'current-schema-id': number;
  readonly schemas: { readonly 'schema-id': number; readonly fields: Field[] }[];
  readonly snapshots: { readonly summary: Readonly<Record<string, string>> }[];
  readonly [member: string]: unknown;
}

async function metadataOf(table: string, version: number): Promise<Metadata> {
  const path = join(directory, table, 'metadata', `v${version}.metadata.json`);
  return parseExact(await readFile(path, 'utf8')) as Metadata;
}

/** A version of another program, made of the newest one. */
async function commitOther(
  table: string,
  version: number,
  change: (metadata: Metadata) => object,
): Promise<void> {
  const metadata = await metadataOf(table, version - 1);
  const path = join(directory, table, 'metadata', `v${version}.metadata.json`);
  await writeFile(path, exactText({ ...metadata, ...change(metadata) }), { flag: 'wx' });
}

async function versions(table: string): Promise<number> {
  const names = await readdir(join(directory, table, 'metadata'));
  return names.filter((name) => name.endsWith('.metadata.json')).length;
}

async function keys(table: string): Promise<(string | null)[]> {
  const rows = await icebergReader(directory).read(table);
  return rows!.map((row) => Object.values(row)[0]!);
}

test('a table has its schema with numbers, comments and its key, and what the job did', async () => {
  await load(libraryPlan(7, { installation: 'here' }), 2);
  const metadata = await metadataOf('book', 1);
  expect(metadata).toMatchObject({
    'format-version': 2,
    'last-sequence-number': 1,
    properties: { 'conversion-job-service/last-job': uuidOfJob(7, 'here') },
    snapshots: [
      {
        summary: {
          operation: 'append',
          'added-records': '4',
          'svc.job': '7',
          'svc.job-uuid': uuidOfJob(7, 'here'),
        },
      },
    ],
  });
  const { fields } = metadata.schemas[0]!;
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  const field = Object.fromEntries(fields.map((each) => [each.name, each]));
  expect(metadata.schemas[0]).toMatchObject({ 'identifier-field-ids': [field['book_key']!.id] });
  expect(field).toMatchObject({
    book_key: { type: 'long', required: true },
    isbn: { type: 'string', required: true, doc: expect.stringContaining('/library/book/@isbn') },
    price: { type: 'decimal(10, 2)', required: false },
    closes: { type: 'string' },
    printed: { type: 'timestamp' },
    years: { type: { type: 'list', element: 'int', 'element-required': false } },
  });
  expect(await icebergReader(directory).read('_loads')).toMatchObject([
    { job: '7', installation: 'here', documents: '2' },
  ]);
});

test('an overwrite is one version, and the rows before it are still there for who asks for theirs', async () => {
  await load(libraryPlan(1), 2);
  const before = await icebergFiles(join(directory, 'book'));
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
  expect(await versions('book')).toBe(2);
  expect((await metadataOf('book', 2)).snapshots.map(({ summary }) => summary)).toMatchObject([
    { 'total-records': '4' },
    { operation: 'overwrite', 'deleted-records': '4', 'total-records': '2' },
  ]);
  expect(await readdir(join(directory, 'book', 'data'))).toContain(before[0]!.slice('data/'.length));
  expect(await keys('book')).toEqual(['5', '6']);
});

test('what somebody else commits meanwhile stays', async () => {
  await load(libraryPlan(1));
  await loadWhile(libraryPlan(2), () =>
    commitOther('book', 2, () => ({ properties: { theirs: 'stays', 'conversion-job-service/': '1' } })),
  );
  expect(await keys('book')).toEqual(['1', '2', '3', '4']);
  expect(await versions('book')).toBe(3);
  expect(await metadataOf('book', 3)).toMatchObject({ properties: { theirs: 'stays' } });
});

test('numbers of 64 bits, as other programs draw them, keep all digits', () => {
  const text = '{"snapshot-id":3051729675574597004,"small":5,"text":"9223372036854775807"}';
  expect(exactText(parseExact(text))).toBe(text);
});

test('a step that is cut short is finished by the next one, and leaves nothing that no version has', async () => {
  await load(libraryPlan(1));
  const metadata = join(directory, '_loads', 'metadata');
  const aside = join(folders, `aside ${number}`);
  await expect(
    loadWhile(libraryPlan(2), async () => {
      await rename(metadata, aside);
      await writeFile(metadata, 'in the way');
    }),
  ).rejects.toMatchObject({ code: 'target_not_allowed' });
  await rm(metadata);
  await rename(aside, metadata);
  const data = join(directory, 'book', 'data');
  await writeFile(join(data, '2-00000001-0123456789abcdef.parquet'), 'of a dead attempt');
  await writeFile(join(data, 'theirs.parquet'), 'of somebody else');
  expect(await load(libraryPlan(2))).toMatchObject({ already: true, rows: {} });
  expect(await keys('book')).toEqual(['1', '2', '3', '4']);
  expect(await keys('_loads')).toEqual([1, 2].map((job) => uuidOfJob(job)));
  expect(await versions('book')).toBe(2);
  const names = await readdir(data);
  expect(names).not.toContain('2-00000001-0123456789abcdef.parquet');
  expect(names).toContain('theirs.parquet');
  expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a later version of a model adds columns under new numbers, and rewrites nothing', async () => {
  const note = libraryModel.tables[at.note]!;
  const earlier: RelationalModel = {
    ...libraryModel,
    tables: libraryModel.tables.map((table) =>
      table === note ? { ...note, columns: note.columns.slice(0, -1) } : table,
    ),
  };
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'iceberg' });
  await sink.open(libraryPlan(1, { model: earlier }));
  await sink.write(at.note, new TextEncoder().encode('1\t1\t1\n'), 1);
  await sink.publish(async () => true, new Map([['note', 1]]));
  await sink.close();
  const files = await icebergFiles(join(directory, 'note'));
  const added = note.columns.at(-1)!.name;
  expect((await load(libraryPlan(2))).changes).toEqual([`note.${added}: added`]);
  expect((await icebergFiles(join(directory, 'note'))).slice(0, 1)).toEqual(files);
  const [before, after] = (await metadataOf('note', 2)).schemas;
  expect(after!.fields.slice(0, -1)).toEqual(before!.fields);
  expect(after!.fields.at(-1)).toMatchObject({ name: added, required: false });
  expect(before!.fields.map(({ id }) => id)).not.toContain(after!.fields.at(-1)!.id);
});

test('a folder that moved is read where it lies, and its next version lies there', async () => {
  await load(libraryPlan(1));
  const moved = join(folders, `moved ${number}`);
  await rename(directory, moved);
  directory = moved;
  const source = createLakeRowSource({ target: diskLake({ directory }) });
  await source.open(libraryModel);
  await source.close();
  await load(libraryPlan(2));
  expect(await metadataOf('book', 2)).toMatchObject({ location: join(moved, 'book') });
  expect(await keys('book')).toEqual(['1', '2', '3', '4']);
});

test('both formats stand over the same files', async () => {
  await load(libraryPlan(1), 2, 'delta,iceberg');
  await load(libraryPlan(2), 1, 'delta,iceberg');
  const [delta, iceberg] = [deltaReader(directory), icebergReader(directory)];
  for (const table of ['book', 'note', '_documents', '_loads']) {
    const rows = await delta.read(table);
    expect(rows!.length).toBeGreaterThan(0);
    expect(await iceberg.read(table)).toEqual(rows);
  }
  expect(await readdir(join(directory, 'book', 'data'))).toHaveLength(2);
});

describe('what is refused, and changes nothing', () => {
  test.each([
    ['changed partitioning', () => ({ 'partition-specs': [{ 'spec-id': 0, fields: [{ name: 'p' }] }] })],
    ['has version 3 of the format', () => ({ 'format-version': 3 })],
    [
      'a renamed column note_key',
      (metadata: Metadata) => {
        const [schema] = metadata.schemas;
        const [first, ...others] = schema!.fields;
        const renamed = { ...schema, 'schema-id': 1, fields: [{ ...first, name: 'id' }, ...others] };
        return { schemas: [schema, renamed], 'current-schema-id': 1 };
      },
    ],
  ])('%s', async (what, change) => {
    await load(libraryPlan(1));
    await commitOther('note', 2, change);
    await expect(load(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(what),
    });
    expect(await versions('book')).toBe(1);
  });

  test.each(['/etc/passwd', 'file:///etc/passwd', '../outside.avro', 's3://b/c'])(
    'a file outside of the table: %s',
    async (path) => {
      await load(libraryPlan(1));
      await commitOther('note', 2, ({ snapshots }) => ({
        snapshots: snapshots.map((snapshot) => ({ ...snapshot, 'manifest-list': path })),
      }));
      await expect(load(libraryPlan(2))).rejects.toMatchObject({ code: 'conflict' });
    },
  );

  test.each(['note', 'note/metadata', 'note/data', 'note/data/*'])('a link at %s', async (place) => {
    await load(libraryPlan(1));
    const [path] = await icebergFiles(join(directory, 'note'));
    const link = join(directory, place.replace('data/*', path!));
    const elsewhere = join(folders, `elsewhere ${number}`);
    await rename(link, elsewhere);
    await symlink(elsewhere, link);
    const refused = { code: 'target_not_allowed' };
    const source = createLakeRowSource({ target: diskLake({ directory }) });
    await expect(source.open(libraryModel)).rejects.toMatchObject(refused);
    await source.close();
    await expect(load(libraryPlan(2, { saveMode: 'overwrite' }))).rejects.toMatchObject(refused);
  });

  test('what is no manifest', async () => {
    await load(libraryPlan(1));
    const metadata = join(directory, 'note', 'metadata');
    const list = (await readdir(metadata)).find((name) => name.startsWith('snap-'))!;
    await copyFile(join(metadata, 'version-hint.text'), join(metadata, list));
    await expect(load(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('cannot be read as Avro'),
    });
  });

  test('a folder of another format of tables', async () => {
    await load(libraryPlan(1), 1, 'delta');
    await expect(load(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('-f delta'),
    });
  });
});

test(
  'PyIceberg reads appends, a wider column and an overwrite, and prunes by what is told of files',
  needs('pyiceberg'),
  async () => {
    for (const job of [1, 2]) await load(libraryPlan(job));
    for (const table of ['book', 'note', '_documents', '_loads']) {
      const rows = await pyicebergReader(directory).read(table);
      expect(rows).toHaveLength((await icebergReader(directory).read(table))!.length);
    }
    const planned = await runPyiceberg(
      `import sys
table = opened(sys.argv[1])
print(len(list(table.scan(row_filter="book_key > 2").plan_files())), table.scan(row_filter="book_key > 2").to_arrow().num_rows)`,
      join(directory, 'book'),
    );
    expect(planned.trim()).toBe('1 2');
    await load(libraryPlan(3, { saveMode: 'overwrite' }));
    expect(await pyicebergReader(directory).read('book')).toHaveLength(2);
  },
);
