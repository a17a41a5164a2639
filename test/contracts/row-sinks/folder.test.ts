/** What only files can do: manifests, load scripts, steps that are cut short, folders that others use. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFolderRowSink, type FolderRowSinkOptions } from '../../../src/targets/files/folder/sink.ts';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import { freeFileName, fileNamePart } from '../../../src/targets/files/folder/place.ts';
import type { RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { duckDbRows } from './readers.ts';
import { needs, programOf } from '../../support/needs.ts';

let folders = '';
let directory = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'folder-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, String((number += 1)), 'deep');
});

function createSink(more: Partial<FolderRowSinkOptions> = {}): RowSink {
  return createFolderRowSink({ directory, format: 'csv', ...more });
}

async function load(plan: SinkPlan, count = 1, more: Partial<FolderRowSinkOptions> = {}): Promise<void> {
  const sink = createSink(more);
  try {
    await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

async function manifest(): Promise<TargetManifest> {
  return JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as TargetManifest;
}

test('the manifest lists every file with its rows, bytes and hash', async () => {
  await load(libraryPlan(1), 2);
  await load(libraryPlan(2), 1);
  const { tables, jobs, keys } = await manifest();
  expect(jobs.map(({ job, documents, rows }) => [job, documents, rows])).toEqual([
    [1, 2, 42],
    [2, 1, 21],
  ]);
  expect(keys).toMatchObject({ _documents: 3, book: 6 });
  expect(tables.find((table) => table.name === 'book')!.files.map((file) => file.name)).toEqual([
    'book.csv',
    'book.2.csv',
  ]);
  const listed = tables.flatMap((table) => table.files);
  for (const file of listed) {
    const bytes = await readFile(join(directory, file.name));
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
      file.bytes,
      file.sha256,
    ]);
  }
  const expected = [...listed.map((file) => file.name), 'datapackage.json', 'manifest.json', 'load.sql'];
  expect((await readdir(directory)).toSorted()).toEqual(expected.toSorted());
});

test('an overwrite removes only what the manifest lists', async () => {
  await load(libraryPlan(1));
  await load(libraryPlan(2));
  await writeFile(join(directory, 'mine.csv'), 'x');
  await load(libraryPlan(3, { saveMode: 'overwrite' }));
  const names = await readdir(directory);
  expect(names).toContain('mine.csv');
  expect(names.filter((name) => name.startsWith('book'))).toEqual(['book.csv']);
});

test('a file that no job wrote is never replaced', async () => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'book.csv'), 'precious');
  for (const saveMode of ['append', 'overwrite'] as const) {
    await expect(load(libraryPlan(1, { saveMode }))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('book.csv'),
    });
  }
  expect(await readdir(directory)).toEqual(['book.csv']);
  expect(await readFile(join(directory, 'book.csv'), 'utf8')).toBe('precious');
});

test('a folder keeps one format', async () => {
  await load(libraryPlan(1));
  await expect(load(libraryPlan(2), 1, { format: 'tsv' })).rejects.toMatchObject({ code: 'conflict' });
  await load(libraryPlan(3, { saveMode: 'overwrite' }), 1, { format: 'tsv' });
  expect((await readdir(directory)).filter((name) => name.endsWith('.csv'))).toEqual([]);
});

test('a step that was cut short after it was decided is finished by the next job', async () => {
  await load(libraryPlan(1));
  const before = await manifest();
  const staging = '.svc-staging-2-00000000';
  await mkdir(join(directory, staging));
  await writeFile(join(directory, staging, 'note.csv'), 'note_key,group_key,position,label\n7,1,1,new\n');
  const job = { ...before.jobs[0]!, job_uuid: libraryPlan(2).jobUuid, job: 2 };
  const next: TargetManifest = { ...before, jobs: [...before.jobs, job] };
  const journal = {
    staging,
    files: ['note.csv', 'moved-already.csv'],
    remove: ['group.csv'],
    manifest: next,
  };
  await writeFile(join(directory, '.svc-publish.json'), JSON.stringify(journal));
  const sink = createSink();
  expect(await sink.open(libraryPlan(2))).toBe('skip');
  expect((await sink.publish(async () => true, new Map())).already).toBe(true);
  await sink.close();
  expect(await readFile(join(directory, 'note.csv'), 'utf8')).toContain('7,1,1,new');
  expect(existsSync(join(directory, 'group.csv'))).toBe(false);
  expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a file of others stays, and so does a link that leads nowhere', async () => {
  await mkdir(directory, { recursive: true });
  await symlink(join(directory, 'nowhere'), join(directory, 'book.csv'));
  await expect(load(libraryPlan(1))).rejects.toThrow('book.csv exists and was not written by a job');
  expect(await readdir(directory)).toEqual(['book.csv']);
});

test('what a dead attempt staged, and its lock, do not stay', async () => {
  await mkdir(join(directory, '.svc-staging-9-00000000'), { recursive: true });
  await writeFile(join(directory, '.svc-staging-9-00000000', 'book.csv'), 'half');
  await writeFile(join(directory, '.svc-staging-9-00000000', '.svc-staging'), '.svc-staging-9-00000000');
  const dead = { token: 'x', host: hostname(), pid: process.pid, started: 'another process with this id' };
  await writeFile(join(directory, '.svc-lock'), JSON.stringify(dead));
  await load(libraryPlan(1));
  expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('neither does what died before it was marked, and what is another’s stays', async () => {
  for (const [name, files] of [
    ['.svc-staging-8-00000000', {}],
    ['.svc-staging-9-00000000', { '.svc-staging': '' }],
    ['.svc-staging-mine', { notes: 'mine' }],
  ] as const) {
    await mkdir(join(directory, name), { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(join(directory, name, file), text);
  }
  await writeFile(join(directory, '.svc-staging-file'), 'mine');
  await load(libraryPlan(1));
  expect((await readdir(directory)).filter((name) => name.startsWith('.')).toSorted()).toEqual([
    '.svc-staging-file',
    '.svc-staging-mine',
  ]);
});

test('a job that waits too long for another gives up, retryably, and leaves the other alone', async () => {
  const first = createSink();
  await first.open(libraryPlan(1));
  const second = createSink({ lockTimeoutMs: 50 });
  await expect(second.open(libraryPlan(2))).rejects.toMatchObject({ code: 'service_unavailable' });
  await second.close();
  const rows = libraryRows(1);
  await writeLibrary(first, rows);
  await first.publish(async () => true, rows.lastKeys);
  await first.close();
  expect((await manifest()).jobs.map((job) => job.job)).toEqual([1]);
});

test('an abort removes the folders that the job made', async () => {
  const sink = createSink();
  await sink.open(libraryPlan(1));
  await writeLibrary(sink, libraryRows(1));
  await sink.abort();
  await sink.close();
  expect(existsSync(join(directory, '..'))).toBe(false);
  expect(existsSync(folders)).toBe(true);
});

test.each([
  ['/proc/rows', 'nothing can be created there because the folder does not exist or a link is broken'],
  ['/dev/null', 'there is a file where a folder is needed'],
])('a place where no folder can be ends the job with what to do: %s', async (place, why) => {
  const sink = createFolderRowSink({ directory: place, format: 'csv' });
  await expect(sink.open(libraryPlan(1))).rejects.toMatchObject({
    code: 'target_not_allowed',
    message: expect.stringMatching(`^${place}: cannot be written: ${why}; name another`),
  });
  await sink.close();
});

test('names of tables become names of files, and one pattern finds the files of one table', () => {
  expect(fileNamePart('a/../b.c')).toBe('a%2F%2E%2E%2Fb%2Ec');
  expect(fileNamePart('stäys_2')).toBe('stäys_2');
  expect(Buffer.byteLength(fileNamePart('😀'.repeat(60)))).toBeLessThanOrEqual(200);
  expect(freeFileName('a', 7, 'csv', new Set(['a.csv', 'a.7.csv']))).toBe('a.7-2.csv');
});

test.each([
  ['csv', 'load.sql'],
  ['tsv', 'load.sql'],
  ['tsv', 'load.mysql.sql'],
  ['jsonl', 'load.sql'],
  ['jsonl', 'load.sqlite.sql'],
  ['parquet', 'load.sql'],
] as const)('of %s, %s makes the tables with rows, or all that were asked for', async (format, script) => {
  const loaded = async (plan: SinkPlan): Promise<string[]> => {
    const sink = createSink({ format });
    await sink.open(plan);
    const rows = libraryRows(plan.idJob, 1);
    const tables = new Map([...rows.tables].filter(([table]) => table === at.library || table === at.book));
    await writeLibrary(sink, { ...rows, tables });
    await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    const text = await readFile(join(directory, script), 'utf8');
    return libraryModel.tables
      .map(({ name }) => name)
      .filter((name) => new RegExp(`CREATE TABLE IF NOT EXISTS ["\`]${name}["\`]`).test(text));
  };
  expect((await loaded(libraryPlan(1))).toSorted()).toEqual(['book', 'library']);
  const all = await loaded(libraryPlan(2, { allTables: true, saveMode: 'overwrite' }));
  expect(all.length).toBeGreaterThan(5);
});

test('Parquet tells pandas of columns that would be floats where a row has none', async () => {
  await load(libraryPlan(1), 1, { format: 'parquet' });
  const { tables } = await manifest();
  for (const { files } of tables) {
    for (const { name, columns, types } of files) {
      const [row] = await duckDbRows(
        ':memory:',
        `(SELECT decode(value) AS text FROM parquet_kv_metadata('${join(directory, name).replaceAll("'", "''")}') WHERE decode(key) = 'pandas')`,
      );
      const told = JSON.parse(row!['text'] as string) as { columns: { name: string; numpy_type: string }[] };
      const numpy = { SMALLINT: 'Int16', INTEGER: 'Int32', BIGINT: 'Int64', BOOLEAN: 'boolean' };
      expect(told.columns.map((one) => [one.name, one.numpy_type])).toEqual(
        columns.flatMap((column, index) => {
          const type = numpy[types![index] as keyof typeof numpy];
          return type === undefined ? [] : [[column, type]];
        }),
      );
    }
  }
});

test('pandas reads keys and numbers as they are, where rows have none of them', needs('pandas'), async () => {
  const sink = createSink({ format: 'parquet' });
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1, 2);
  const huge = '9007199254740993';
  rows.tables.get(at.book)![0]![1] = huge;
  rows.tables.get(at.book)![1]![1] = null;
  await writeLibrary(sink, rows);
  sink.allowNull(at.book, 1);
  await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  const program = `import pandas, sys
d = pandas.read_parquet(sys.argv[1])
c = d[d.columns[1]]
print(c.dtype, c.iloc[0], c.iloc[1] is pandas.NA)`;
  const [book] = (await manifest()).tables.find((table) => table.name === 'book')!.files;
  const { stdout } = await promisify(execFile)(programOf('pandas')!, [
    '-c',
    program,
    join(directory, book!.name),
  ]);
  expect(stdout).toBe(`Int64 ${huge} True\n`);
});

test('Parquet has the types of the dialect', async () => {
  await load(libraryPlan(1), 1, { format: 'parquet' });
  const { tables } = await manifest();
  const [book] = tables.find((table) => table.name === 'book')!.files;
  expect(Object.fromEntries(book!.columns.map((name, index) => [name, book!.types![index]]))).toMatchObject({
    book_key: 'BIGINT',
    price: 'DECIMAL(10,2)',
    weight: 'DECIMAL(38,25)',
    closes: 'TIME',
    printed: 'TIMESTAMP',
    keywords: 'VARCHAR[]',
    years: 'INTEGER[]',
    serial: 'VARCHAR',
  });
  const [described] = await duckDbRows(
    ':memory:',
    `(DESCRIBE SELECT weight, years FROM read_parquet('${join(directory, book!.name)}'))`,
  );
  expect(described).toMatchObject({ column_name: 'weight', column_type: 'DECIMAL(38,25)' });
});

interface Described {
  readonly resources: readonly {
    readonly name: string;
    readonly path: string | readonly string[];
    readonly bytes?: number;
    readonly hash?: string;
    readonly schema: {
      readonly fields: readonly { readonly name: string; readonly type: string }[];
      readonly foreignKeys?: readonly { readonly reference: { readonly resource: string } }[];
    };
  }[];
}

async function dataPackage(): Promise<Described> {
  return JSON.parse(await readFile(join(directory, 'datapackage.json'), 'utf8')) as Described;
}

test.for(['csv', 'tsv'] as const)('a data package describes the %s files of all jobs', async (format) => {
  await load(libraryPlan(1), 2, { format });
  const first = await dataPackage();
  const { tables } = await manifest();
  expect(first.resources).toHaveLength(tables.length);
  const book = first.resources.find(({ name }) => name === 'book')!;
  const { files } = tables.find(({ name }) => name === 'book')!;
  expect(book).toMatchObject({
    path: `book.${format}`,
    bytes: files[0]!.bytes,
    hash: `sha256:${files[0]!.sha256}`,
  });
  expect(book.schema.fields.map(({ name }) => name)).toEqual(files[0]!.columns);
  const names = new Set(['', ...first.resources.map(({ name }) => name)]);
  for (const { schema } of first.resources)
    for (const { reference } of schema.foreignKeys ?? []) expect(names).toContain(reference.resource);
  await load(libraryPlan(2), 1, { format });
  const second = (await dataPackage()).resources.find(({ name }) => name === 'book')!;
  expect(second.path).toEqual([`book.${format}`, `book.2.${format}`]);
  expect(second).not.toHaveProperty('hash');
});

test('a data package that somebody else put there stays, and other formats have none', async () => {
  await mkdir(directory, { recursive: true });
  const own = join(directory, 'datapackage.json');
  await writeFile(own, 'mine');
  await load(libraryPlan(1));
  await load(libraryPlan(2));
  expect(await readFile(own, 'utf8')).toBe('mine');
  expect(await manifest()).not.toHaveProperty('data_package');
  await rm(own);
  await load(libraryPlan(3));
  expect(await readFile(own, 'utf8')).toContain('"resources"');
  await load({ ...libraryPlan(4), saveMode: 'overwrite' }, 1, { format: 'jsonl' });
  expect(existsSync(own)).toBe(false);
});
