/** The scripts that lie in folders of rows: each fills a database of the kind that it is for, every value as it is. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFolderRowSink, type FolderRowSinkOptions } from '../../../../src/targets/files/folder/sink.ts';
import type { RowSink, SinkPlan } from '../../../../src/ports/row-sink.ts';
import { mariadbParts, startMariadb } from '../../../support/servers/mariadb.ts';
import { createEmptyDatabase } from '../../../support/servers/postgres.ts';
import { at, libraryModel, oddColumns, oddTable } from '../../../unit/engine/sql/library-model.ts';
import {
  awkwardValues,
  libraryPlan,
  libraryRows,
  loadLibrary,
  writeLibrary,
} from '../../targets/library-rows.ts';
import { duckDbReader, postgresReader } from '../readers.ts';
import { mysqlReader } from '../../targets/readers/mysql.ts';
import { sqliteReader } from '../../targets/readers/sqlite.ts';
import { needs, programOf } from '../../../support/needs.ts';

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

test.each(['csv', 'tsv', 'jsonl'] as const)(
  'load.sql fills a database with the %s files',
  needs('psql'),
  async (format) => {
    await load(libraryPlan(1), 2, { format });
    const sink = createSink({ format });
    await sink.open(libraryPlan(2));
    const rows = libraryRows(2, 1, await sink.keyOffsets());
    rows.tables.get(at.library)![0]![3] = 'some day';
    rows.tables.get(at.library)![0]![2] = null;
    await writeLibrary(sink, rows);
    await sink.unconverted({ table: at.library, column: 3, rowKey: 3, text: 'some day' });
    sink.allowNull(at.library, 2);
    await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    const database = await createEmptyDatabase();
    try {
      await promisify(execFile)(programOf('psql')!, ['-X', '-q', '-f', 'load.sql', database.url], {
        cwd: directory,
      });
      const reader = postgresReader(database.sql, 'public');
      expect((await reader.read('library'))!.map((row) => [row.name, row.founded])).toEqual([
        ['Library 1', '2020-02-29'],
        ['Library 2', '2020-02-29'],
        [null, 'some day'],
      ]);
      const odd = (await reader.read(oddTable))!;
      expect(odd).toHaveLength(3 * awkwardValues.length);
      const written = [...libraryRows(1, 2).tables.get(at.odd)!, ...rows.tables.get(at.odd)!];
      expect(odd.map((row) => oddColumns.map((name) => row[name]))).toEqual(
        written.map((row) => row.slice(3)),
      );
      const [book] = (await reader.read('book'))!;
      expect([book!.weight, book!.keywords, book!.years]).toEqual([
        '0.1234567890123456789012345',
        '{a,b}',
        '{1,2}',
      ]);
      const keys = await database.sql`select from pg_constraint where contype = 'f' and convalidated`;
      expect(keys).toHaveLength(11);
      expect(await reader.read('_loads')).toHaveLength(2);
      expect((await reader.read('_keys'))!.find((row) => row.table_name === 'book')!.last_value).toBe('6');
    } finally {
      await database.drop();
    }
  },
);

/** A list that is no list of numbers, a decimal too long for its column, a required value that is missing. */
async function loadUnconverted(format: FolderRowSinkOptions['format']): Promise<void> {
  await load(libraryPlan(1), 2, { format });
  const sink = createSink({ format });
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2, 1, await sink.keyOffsets());
  const book = rows.tables.get(at.book)![0]!;
  book[14] = '1 two';
  book[6] = `0.${'3'.repeat(40)}`;
  rows.tables.get(at.library)![0]![4] = 'noon';
  await writeLibrary(sink, rows);
  await sink.unconverted({ table: at.book, column: 14, rowKey: 5, text: '1 two' });
  await sink.unconverted({ table: at.library, column: 4, rowKey: 3, text: 'noon' });
  await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
}

test('load.sql of Parquet fills a database of DuckDB', async () => {
  await loadUnconverted('parquet');
  const file = join(directory, 'loaded.duckdb');
  const instance = await DuckDBInstance.create(file, { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  // what `duckdb -f` does inside the folder
  await connection.run(`SET file_search_path = '${directory}'`);
  await connection.run(await readFile(join(directory, 'load.sql'), 'utf8'));
  connection.closeSync();
  instance.closeSync();
  const reader = duckDbReader(file);
  const books = (await reader.read('book'))!;
  expect(books.map((row) => row.years)).toEqual(['1 2', '1 2', '1 2', '1 2', '1 two', '1 2']);
  expect(books.map((row) => row.weight)).toEqual([
    ...Array.from({ length: 4 }, () => '0.1234567890123456789012345'),
    `0.${'3'.repeat(40)}`,
    '0.1234567890123456789012345',
  ]);
  expect((await reader.read('library'))!.map((row) => row.opened_at)).toEqual([
    '2026-11-05T08:00:00Z',
    '2026-11-05T08:00:00Z',
    'noon',
  ]);
  const written = [...libraryRows(1, 2).tables.get(at.odd)!, ...libraryRows(2, 1).tables.get(at.odd)!];
  expect((await reader.read(oddTable))!.map((row) => oddColumns.map((name) => row[name]))).toEqual(
    written.map((row) => row.slice(3)),
  );
  expect(await reader.read('_loads')).toHaveLength(2);
});

test('load.sql of JSON Lines fills a database, lists that became text', needs('psql'), async () => {
  await loadUnconverted('jsonl');
  const database = await createEmptyDatabase();
  try {
    await promisify(execFile)(programOf('psql')!, ['-X', '-q', '-f', 'load.sql', database.url], {
      cwd: directory,
    });
    const reader = postgresReader(database.sql, 'public');
    const books = (await reader.read('book'))!;
    expect(books.map((row) => row.years)).toEqual(['1 2', '1 2', '1 2', '1 2', '1 two', '1 2']);
    expect(books[4]!.weight).toBe(`0.${'3'.repeat(40)}`);
  } finally {
    await database.drop();
  }
});

test(
  'load.sqlite.sql of JSON Lines fills SQLite, items in tables of their own',
  needs('sqlite3'),
  async () => {
    await load(libraryPlan(1), 2, { format: 'jsonl' });
    await load(libraryPlan(2), 1, { format: 'jsonl' });
    const file = join(directory, 'loaded.sqlite');
    await promisify(execFile)(programOf('sqlite3')!, [file, '.read load.sqlite.sql'], { cwd: directory });
    const reader = sqliteReader(file, libraryModel);
    const written = [...libraryRows(1, 2).tables.get(at.odd)!, ...libraryRows(2, 1).tables.get(at.odd)!];
    const odd = (await reader.read(oddTable))!;
    expect(odd.map((row) => oddColumns.map((name) => row[name]))).toEqual(written.map((row) => row.slice(3)));
    const [book] = (await reader.read('book'))!;
    expect([book!.weight, book!.keywords, book!.years]).toEqual([
      '0.1234567890123456789012345',
      '{"a","b"}',
      '{"1","2"}',
    ]);
    const items = (await reader.read('book_years'))!;
    expect(items.map((row) => row.book_years_key)).toEqual(items.map((_, index) => String(index + 1)));
    expect((await reader.read('_loads'))!).toHaveLength(2);
    const broken = await promisify(execFile)(programOf('sqlite3')!, [file, 'PRAGMA foreign_key_check']);
    expect(broken.stdout).toBe('');
  },
);

test.each([
  ['jsonl', 'load.sqlite.sql'],
  ['tsv', 'load.mysql.sql'],
] as const)(
  '%s has %s, which goes with the format, and is never put over a file that no job wrote',
  async (format, script) => {
    await load(libraryPlan(1), 1, { format });
    expect(await readdir(directory)).toContain(script);
    await load(libraryPlan(2, { saveMode: 'overwrite' }), 1, { format: 'csv' });
    expect(await readdir(directory)).not.toContain(script);
    await writeFile(join(directory, script), 'precious');
    await expect(load(libraryPlan(3, { saveMode: 'overwrite' }), 1, { format })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(script),
    });
    expect(await readFile(join(directory, script), 'utf8')).toBe('precious');
  },
);

test('load.mysql.sql of TSV fills MariaDB, awkward values as they are', needs(mariadbParts), async () => {
  await load(libraryPlan(1), 2, { format: 'tsv' });
  await load(libraryPlan(2), 1, { format: 'tsv' });
  const script = await readFile(join(directory, 'load.mysql.sql'), 'utf8');
  const server = await startMariadb();
  try {
    await server.run('CREATE DATABASE loaded CHARACTER SET latin1; CREATE DATABASE refused;');
    await server.run(script, directory, 'loaded');
    const reader = mysqlReader(server, 'loaded', libraryModel);
    const written = [...libraryRows(1, 2).tables.get(at.odd)!, ...libraryRows(2, 1).tables.get(at.odd)!];
    const odd = (await reader.read(oddTable))!;
    expect(odd.map((row) => oddColumns.map((name) => row[name]))).toEqual(written.map((row) => row.slice(3)));
    const [book] = (await reader.read('book'))!;
    expect([book!.keywords, book!.years]).toEqual(['{"a","b"}', '{"1","2"}']);
    expect(book!.weight).toMatch(/^0\.12345678901234567890123450*$/);
    expect(await reader.read('_loads')).toHaveLength(2);
    const keys = await server.run(
      `SELECT count(*) FROM information_schema.referential_constraints WHERE constraint_schema = 'loaded';`,
    );
    expect(Number(keys.split('\n')[1])).toBeGreaterThan(5);
    // what the loader would only warn of
    const file = join(directory, 'book.tsv');
    await writeFile(file, (await readFile(file, 'utf8')).replace('\t12.50\t', '\ta dozen\t'));
    await expect(server.run(script, directory, 'refused')).rejects.toThrow('svc_refused_for_warnings');
  } finally {
    await server.stop();
  }
});
