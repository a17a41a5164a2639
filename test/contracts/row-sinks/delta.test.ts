/** What only tables of Delta do: versions, commits of others between ours, steps that are cut short, features that others switch on. */
import { existsSync } from 'node:fs';
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commitVersion, readDeltaTable } from '../../../src/targets/files/lake/delta/log.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { Published, SinkPlan } from '../../../src/ports/row-sink.ts';
import { uuidOfJob } from '../../support/models/job-names.ts';
import { at, libraryModel, oddTable } from '../../unit/engine/sql/library-model.ts';
import { needs } from '../../support/needs.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { deltalakeReader, runDeltalake } from '../targets/readers/deltalake.ts';
import { deltaFiles, deltaReader } from './readers.ts';

let folders = '';
let directory = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'delta-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, `it's ${(number += 1)}`, 'deep');
});

async function load(plan: SinkPlan, count = 1): Promise<Published> {
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'delta' });
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

/** Loads, with something that happens in the moment before the job is published. */
async function loadWhile(plan: SinkPlan, work: () => Promise<void>): Promise<void> {
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'delta' });
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

type Line = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

async function commit(table: string, version: number): Promise<Line[]> {
  const name = `${String(version).padStart(20, '0')}.json`;
  const text = await readFile(join(directory, table, '_delta_log', name), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Its path. */
function firstCommit(table: string): string {
  return join(directory, table, '_delta_log', `${'0'.repeat(20)}.json`);
}

async function versions(table: string): Promise<number> {
  const names = await readdir(join(directory, table, '_delta_log'));
  return names.filter((name) => /^\d+\.json$/.test(name)).length;
}

async function keys(table: string): Promise<(string | null)[]> {
  const rows = await deltaReader(directory).read(table);
  return rows!.map((row) => Object.values(row)[0]!);
}

/** A commit of another program: it adds a copy of a file that is there. */
async function commitOther(table: string, version: number, more: readonly object[] = []): Promise<string> {
  const folder = join(directory, table);
  const [path] = await deltaFiles(folder);
  const copy = `part-${version}.parquet`;
  await copyFile(join(folder, path!), join(folder, copy));
  // a checksum, as Spark writes it, and its hidden companion
  await writeFile(join(folder, '_delta_log', `${String(version).padStart(20, '0')}.crc`), '{}');
  await writeFile(join(folder, '_delta_log', `.${String(version).padStart(20, '0')}.json.crc`), 'crc');
  const add = { path: copy, partitionValues: {}, size: 1, modificationTime: 1, dataChange: true };
  const log = join(folder, '_delta_log', `${String(version).padStart(20, '0')}.json`);
  await writeFile(log, [{ add }, ...more].map((line) => `${JSON.stringify(line)}\n`).join(''), {
    flag: 'wx',
  });
  return copy;
}

test('a table has its schema with comments, what the job did, and what readers skip files by', async () => {
  await load(libraryPlan(7, { installation: 'here' }), 2);
  const lines = await commit('book', 0);
  const one = (kind: string): Readonly<Record<string, unknown>> => lines.find((line) => kind in line)![kind]!;
  expect(one('txn')).toMatchObject({ appId: `conversion-job-service/${uuidOfJob(7, 'here')}`, version: 7 });
  // without a zone: a feature of its own
  expect(one('protocol')).toEqual({
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: ['timestampNtz'],
    writerFeatures: ['appendOnly', 'invariants', 'timestampNtz'],
  });
  const { fields } = JSON.parse(one('metaData')['schemaString'] as string) as { fields: { name: string }[] };
  const field = Object.fromEntries(fields.map((each) => [each.name, each]));
  expect(field).toMatchObject({
    book_key: { type: 'long', nullable: false },
    isbn: {
      type: 'string',
      nullable: false,
      metadata: { comment: expect.stringContaining('/library/book/@isbn') },
    },
    price: { type: 'decimal(10,2)', nullable: true },
    closes: { type: 'string' },
    printed: { type: 'timestamp_ntz' },
    years: { type: { type: 'array', elementType: 'integer' } },
    serial: { type: 'string' },
  });
  expect(JSON.parse(one('add')['stats'] as string)).toMatchObject({
    numRecords: 4,
    minValues: { book_key: 1, pages: 320 },
    maxValues: { book_key: 4 },
    nullCount: { book_key: 0, serial: 4 },
  });
  expect((await commit('library', 0)).find((line) => 'protocol' in line)!.protocol).toEqual({
    minReaderVersion: 1,
    minWriterVersion: 2,
  });
  const manifest = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as {
    tables: { name: string }[];
  };
  expect(manifest).toMatchObject({ formats: ['delta'], jobs: [{ job: 7, documents: 2 }] });
  expect(manifest.tables.find(({ name }) => name === 'book')).toEqual({
    name: 'book',
    directory: 'book',
    version: 0,
  });
  expect(await deltaReader(directory).read('_loads')).toMatchObject([
    { job: '7', installation: 'here', documents: '2' },
  ]);
});

test('an overwrite is one version, and the rows before it are still there for who asks for theirs', async () => {
  await load(libraryPlan(1), 2);
  const before = await deltaFiles(join(directory, 'book'));
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
  expect(await versions('book')).toBe(2);
  const lines = await commit('book', 1);
  expect(lines.flatMap(({ remove }) => remove?.path ?? [])).toEqual(before);
  expect(lines.filter(({ add }) => add !== undefined)).toHaveLength(1);
  expect(existsSync(join(directory, 'book', before[0]!))).toBe(true);
  expect(await keys('book')).toEqual(['5', '6']);
});

test('what somebody else commits meanwhile stays', async () => {
  await load(libraryPlan(1));
  let other = '';
  await loadWhile(libraryPlan(2), async () => {
    other = await commitOther('book', 1);
  });
  expect(await keys('book')).toEqual(['1', '1', '2', '2', '3', '4']);
  expect(await deltaFiles(join(directory, 'book'))).toContain(other);
  expect(await versions('book')).toBe(3);
});

test('a version is made once: who comes second leaves it as it is', async () => {
  await load(libraryPlan(1));
  const before = await commit('book', 0);
  const make = (version: number): Promise<boolean | null> =>
    diskLake({ directory }).look((place) => commitVersion(place, 'book', version, [{ commitInfo: {} }]));
  expect(await make(0)).toBe(false);
  expect(await commit('book', 0)).toEqual(before);
  expect(await make(1)).toBe(true);
  expect((await readdir(directory)).filter((name) => name.includes('.commit'))).toEqual([]);
});

test('a step that is cut short is finished by the next one, and leaves no files that no version has', async () => {
  await load(libraryPlan(1));
  const log = join(directory, '_loads', '_delta_log');
  await expect(
    loadWhile(libraryPlan(2), async () => {
      await rm(log, { recursive: true });
      await writeFile(log, 'in the way');
    }),
  ).rejects.toMatchObject({ code: 'target_not_allowed' });
  await rm(log);
  const data = join(directory, 'book', 'data');
  await writeFile(join(data, '2-00000001-0123456789abcdef.parquet'), 'of a dead attempt');
  await writeFile(join(data, '2-00000002-0123456789abcdef.parquet'), 'of another job of that number');
  await writeFile(join(data, 'theirs.parquet'), 'of somebody else');
  const again = await load(libraryPlan(2));
  expect(again).toMatchObject({ already: true, rows: {} });
  expect(await keys('book')).toEqual(['1', '2', '3', '4']);
  expect(await versions('book')).toBe(2);
  const names = await readdir(data);
  expect(names).not.toContain('2-00000001-0123456789abcdef.parquet');
  expect(names).toContain('2-00000002-0123456789abcdef.parquet');
  expect(names).toContain('theirs.parquet');
  expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a later version of a model adds columns and tables, and rewrites nothing', async () => {
  const [note] = libraryModel.tables.slice(at.note, at.note + 1);
  const earlier: RelationalModel = {
    ...libraryModel,
    tables: libraryModel.tables.map((table) =>
      table === note ? { ...note, columns: note.columns.slice(0, -1) } : table,
    ),
  };
  const plan = libraryPlan(1, { model: earlier });
  const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'delta' });
  await sink.open(plan);
  await sink.write(at.note, new TextEncoder().encode('1\t1\t1\n'), 1);
  await sink.publish(async () => true, new Map([['note', 1]]));
  await sink.close();
  const files = await deltaFiles(join(directory, 'note'));
  expect((await load(libraryPlan(2))).changes).toEqual([`note.${note!.columns.at(-1)!.name}: added`]);
  expect((await deltaFiles(join(directory, 'note'))).slice(0, 1)).toEqual(files);
  const { metaData } = (await commit('note', 1)).find((line) => 'metaData' in line)!;
  const first = (await commit('note', 0)).find((line) => 'metaData' in line)!;
  expect(metaData!.id).toBe(first.metaData!.id);
  expect(metaData!.schemaString).toContain(note!.columns.at(-1)!.name);
});

test.each(['part-1.parquet', 'data/1-00000001-00112233445566aa.parquet'])(
  'keys go on after those of rows of others, also once a job wrote these anew: %s',
  async (file) => {
    await load(libraryPlan(1));
    const [path] = await deltaFiles(join(directory, 'note'));
    const quoted = (name: string): string => join(directory, 'note', name).replaceAll("'", "''");
    const stats = '{"minValues":{"note_key":1000},"maxValues":{"note_key":1000}}';
    const add = { path: file, partitionValues: {}, size: 1, modificationTime: 1, stats };
    await commitOther('note', 1, file[0] === 'p' ? [] : [{ remove: { path: 'part-1.parquet' } }, { add }]);
    await writeOther(
      `COPY (SELECT * REPLACE (1000 AS note_key) FROM read_parquet('${quoted(path!)}')) TO '${quoted(file)}' (FORMAT parquet)`,
    );
    await load(libraryPlan(2));
    expect(await keys('note')).toEqual(['1', '1000', '1001']);
  },
);

async function writeOther(sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

describe('what is refused, and changes nothing', () => {
  test.each([
    [
      'column mapping',
      { protocol: { minReaderVersion: 2, minWriterVersion: 5 } },
      { 'delta.columnMapping.mode': 'name' },
    ],
    [
      'deletionVectors-2',
      {
        protocol: {
          minReaderVersion: 3,
          minWriterVersion: 7,
          readerFeatures: ['deletionVectors-2'],
          writerFeatures: ['deletionVectors-2'],
        },
      },
      {},
    ],
    [
      'constraints',
      { protocol: { minReaderVersion: 1, minWriterVersion: 3 } },
      { 'delta.constraints.a': 'note_key > 0' },
    ],
    ['a change data feed', {}, { 'delta.enableChangeDataFeed': 'true' }],
  ])('%s', async (what, protocol, configuration) => {
    await load(libraryPlan(1));
    const { metaData } = (await commit('note', 0)).find((line) => 'metaData' in line)!;
    const lines = [protocol, { metaData: { ...metaData, configuration } }];
    await appendFile(firstCommit('note'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await expect(load(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(what),
    });
    expect(await versions('book')).toBe(1);
  });

  test.each(['../outside.parquet', '/etc/passwd', 'file:///etc/passwd', 'data/%2e%2e/%2e%2e/x', 's3://b/c'])(
    'a file outside of the table: %s',
    async (path) => {
      await load(libraryPlan(1));
      await appendFile(firstCommit('note'), `${JSON.stringify({ add: { path, size: 1 } })}\n`);
      await expect(
        diskLake({ directory }).look((place) => readDeltaTable(place, 'note', 'note')),
      ).rejects.toMatchObject({ code: 'conflict' });
      await expect(load(libraryPlan(2))).rejects.toMatchObject({ code: 'conflict' });
    },
  );

  test.each(['note', 'note/_delta_log', 'note/data', 'note/data/*'])('a link at %s', async (place) => {
    await load(libraryPlan(1));
    const [path] = await deltaFiles(join(directory, 'note'));
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

  test('a folder of another format, either way', async () => {
    await load(libraryPlan(1));
    const csv = createFolderRowSink({ directory, format: 'csv' });
    await expect(csv.open(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('-f delta'),
    });
    await csv.close();
    directory = join(folders, 'csv');
    const first = createFolderRowSink({ directory, format: 'csv' });
    await loadLibrary(first, libraryPlan(1), 1);
    await first.close();
    await expect(load(libraryPlan(2))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('-f csv'),
    });
  });

  test('a folder that no job made where a table is to lie', async () => {
    await mkdir(join(directory, 'book'), { recursive: true });
    await expect(load(libraryPlan(1))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('book'),
    });
    expect(await readdir(directory)).toEqual(['book']);
  });

  test('names that Delta has not', async () => {
    const tables = libraryModel.tables.map((table, index) =>
      index === at.note
        ? { ...table, columns: table.columns.map((column) => ({ ...column, name: `${column.name} (x)` })) }
        : table,
    );
    await expect(load(libraryPlan(1, { model: { ...libraryModel, tables } }))).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('(x)'),
    });
    expect(existsSync(directory)).toBe(false);
  });
});

describe('beside the library of delta-rs', needs('deltalake'), () => {
  test('it reads tables of any name', async () => {
    await load(libraryPlan(1), 2);
    const reader = deltalakeReader(directory);
    expect(await reader.read(oddTable)).toHaveLength(20);
    const [first] = (await reader.read('book'))!.toSorted((a, b) => Number(a.book_key) - Number(b.book_key));
    expect(first).toMatchObject({
      book_key: '1',
      closes: '10:00:00',
      printed: '2026-01-01 00:00:00',
      years: '{1,2}',
    });
  });

  test('a table that it changed, and whose log it shortened, takes further rows', async () => {
    await load(libraryPlan(1), 3);
    const script = `
import os, sys
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
table.delete("note_key = 2")
table.create_checkpoint()
os.remove(os.path.join(sys.argv[1], "_delta_log", "%020d.json" % 0))
`;
    await runDeltalake(script, join(directory, 'note'));
    await load(libraryPlan(2));
    const rows = (await deltalakeReader(directory).read('note'))!;
    expect(rows.map((row) => row.note_key).toSorted()).toEqual(['1', '3', '4']);
  });
});
