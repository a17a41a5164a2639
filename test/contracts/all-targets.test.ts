/** The same documents into every target, and folders loaded by their own `load.sql`: the rows must be the same by value. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres, type Sql } from '../../src/adapters/postgres/connect.ts';
import type { RelationalModel } from '../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../src/engine/model/side-tables.ts';
import { missingMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { createServiceHome, type ServiceHome } from '../support/service.ts';
import { convert } from '../support/service-tools.ts';
import { compiled, modelOf } from '../support/shredding.ts';
import { mysqlReader } from './mysql-reader.ts';
import { duckDbReader, folderReader, postgresReader, type TargetReader } from './row-sink-readers.ts';
import { sqliteReader } from './sqlite-reader.ts';
import { canonicalValue } from './target-values.ts';

const fixtures = fileURLToPath(new URL('../fixtures/targets/', import.meta.url));
const documents = ['first.xml', 'second.xml', 'third.xml'];
const formats = ['csv', 'tsv', 'jsonl', 'parquet'] as const;

const psql = [
  process.env.PSQL ?? '',
  '/usr/bin/psql',
  ...[15, 16, 17, 18].map((version) => `/usr/lib/postgresql/${version}/bin/psql`),
].find((path) => path !== '' && existsSync(path));
if (psql === undefined)
  console.warn('psql is not there (Debian: postgresql-client): load.sql of csv, tsv and jsonl was not run');

const sqlite = [process.env.SQLITE3 ?? '', '/usr/bin/sqlite3'].find(
  (path) => path !== '' && existsSync(path),
);
if (sqlite === undefined) console.warn('sqlite3 is not there (Debian: sqlite3): load.sqlite.sql was not run');

if (missingMariadb !== null) console.warn(`${missingMariadb}: load.mysql.sql was not run`);

/** folders that are loaded somewhere by the script that lies in them */
const runnable = [
  'load.sql of parquet',
  ...(psql === undefined ? [] : ['load.sql of csv', 'load.sql of tsv', 'load.sql of jsonl']),
  ...(sqlite === undefined ? [] : ['load.sqlite.sql of jsonl']),
  ...(missingMariadb === null ? ['load.mysql.sql of tsv'] : []),
];

let home: ServiceHome;
const databases: TestDatabase[] = [];
let mariadb: TestMariadb | null = null;
let sql: Sql;
let model: RelationalModel;
let origin: string;
const readers = new Map<string, TargetReader>();

type CanonicalRow = Readonly<Record<string, string | null>>;

beforeAll(async () => {
  home = await createServiceHome();
  model = modelOf(compiled(await readFile(join(fixtures, 'values.xsd'), 'utf8')), 3);
  origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
  sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 2 });
  const file = join(home.directory, 'out', 'values.duckdb');
  const targets: [name: string, argv: string[], reader: TargetReader][] = [
    ['postgresql', ['-o', 'metadb:targets'], postgresReader(sql, 'targets')],
    ['duckdb', ['-o', `duckdb:${file}`], duckDbReader(file)],
    ...formats.map((format): [string, string[], TargetReader] => {
      const directory = join(home.directory, 'out', format);
      return [format, ['-o', directory, '-f', format], folderReader(directory, format)];
    }),
  ];
  for (const [name, argv, reader] of targets) {
    // one job each: keys go on where the last one ended, columns widen on the way
    for (const document of documents)
      await convert(home, 'xml2er', join(fixtures, document), '-x', origin, ...argv);
    readers.set(name, reader);
  }
  for (const format of psql === undefined ? [] : (['csv', 'tsv', 'jsonl'] as const)) {
    const database = await createEmptyDatabase();
    databases.push(database);
    const cwd = join(home.directory, 'out', format);
    await promisify(execFile)(psql!, ['-X', '-q', '-f', 'load.sql', database.url], { cwd });
    readers.set(`load.sql of ${format}`, postgresReader(database.sql, 'public'));
  }
  if (sqlite !== undefined) {
    const file = join(home.directory, 'loaded.sqlite');
    const cwd = join(home.directory, 'out', 'jsonl');
    await promisify(execFile)(sqlite, [file, '.read load.sqlite.sql'], { cwd });
    readers.set('load.sqlite.sql of jsonl', sqliteReader(file, model));
  }
  if (missingMariadb === null) {
    mariadb = await startMariadb();
    await mariadb.run('CREATE DATABASE loaded;');
    const cwd = join(home.directory, 'out', 'tsv');
    await mariadb.run(await readFile(join(cwd, 'load.mysql.sql'), 'utf8'), cwd, 'loaded');
    readers.set('load.mysql.sql of tsv', mysqlReader(mariadb, 'loaded', model));
  }
  readers.set('load.sql of parquet', await parquetLoaded(join(home.directory, 'out', 'parquet')));
}, 240_000);

/** What `duckdb -f load.sql FILE` does inside the folder. */
async function parquetLoaded(folder: string): Promise<TargetReader> {
  const file = join(home.directory, 'loaded.duckdb');
  const instance = await DuckDBInstance.create(file, { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  try {
    await connection.run(`SET file_search_path = '${folder}'`);
    await connection.run(await readFile(join(folder, 'load.sql'), 'utf8'));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  return duckDbReader(file);
}

afterAll(async () => {
  await mariadb?.stop();
  for (const database of databases) await database.drop();
  await sql?.end({ timeout: 1 });
  await home?.remove();
});

/** Rows by what they are, not by where they stand: keys count, the times and numbers of the loads do not. */
async function canonicalRows(target: string, table: string): Promise<CanonicalRow[] | null> {
  const rows = await readers.get(target)!.read(table);
  const side = Object.values(sideTableDefinitions).find((definition) => definition.name === table);
  const columns = side?.columns ?? model.tables.find((candidate) => candidate.name === table)!.columns;
  const types = new Map(columns.map((column) => [column.name, column.type]));
  return (
    rows
      ?.map((row) =>
        Object.fromEntries(
          Object.entries(row)
            .filter(([name]) => table !== '_documents' || (name !== 'loaded_at' && name !== 'job'))
            .map(([name, value]) => [name, canonicalValue(types.get(name)!, value)]),
        ),
      )
      .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))) ?? null
  );
}

async function item(id: string): Promise<CanonicalRow> {
  return (await canonicalRows('duckdb', 'item'))!.find((row) => row.id === id)!;
}

const others = ['duckdb', ...formats];

describe.each([...others, ...runnable])('%s', (target) => {
  test('holds the rows that PostgreSQL holds', async () => {
    for (const { name } of model.tables) {
      const expected = await canonicalRows('postgresql', name);
      const rows = await canonicalRows(target, name);
      // a script makes the tables without rows, too
      if (rows === null || rows.length > 0) expect(rows, name).toEqual(expected);
      else expect(expected ?? [], name).toEqual([]);
    }
  });

  test.each(['_documents', '_unmapped', '_lexical'])('holds the same %s', async (table) => {
    const expected = await canonicalRows('postgresql', table);
    expect(expected!.length).toBeGreaterThan(0);
    expect(await canonicalRows(target, table)).toEqual(expected);
  });
});

describe('what all of them hold', () => {
  test('decimals keep their digits', async () => {
    const { huge, exact, counter, money } = await item('plain');
    expect([huge, exact, counter, money]).toEqual([
      '123456789012345678901234567890123456789012345678901234567890',
      '98765432109876543210.5',
      '18446744073709551615',
      '1234567890123456.789',
    ]);
    expect((await item('zoned')).amount).toBe('0.00000000000000000000000000000000000001');
  });

  test('empty, nil and absent are three things', async () => {
    const notes = await Promise.all(
      ['empty', 'zoned', 'absent'].map(async (id) => {
        const { note, note_nil: nil } = await item(id);
        return [note, nil];
      }),
    );
    expect(notes).toEqual([
      ['', null],
      [null, 'true'],
      [null, null],
    ]);
  });

  test('text arrives as it was, whatever some format would make of it', async () => {
    expect((await item('zoned')).text).toBe(
      'tab\tline\nreturn\r\\N \\. \\t back\\slash "double" \'single\' , ; | 😀 \u{10FFFF} é ﷽  two  spaces <b>',
    );
    expect((await item('zoned')).label).toBe('tab\tfeed\nreturn\rend');
    expect((await item('backslash-n')).text).toBe('\\N');
    expect((await item('quote')).text).toBe('"');
  });

  test('lists are lists, item by item', async () => {
    const { signs, decimals } = await item('plain');
    expect(JSON.parse(signs!)).toEqual([
      'a,b',
      '"x"',
      '\\',
      '{}',
      ',',
      '","',
      '\\"',
      "'",
      'NULL',
      '😀',
      '\\N',
      ';',
    ]);
    expect(JSON.parse(decimals!)).toEqual(['0.1', '12345678901234567890.123456789', '-5']);
    expect((await item('zoned')).numbers).toBe('[]');
    expect((await item('absent')).numbers).toBeNull();
  });

  test('what does not fit its column is there as text', async () => {
    const { amount, int, flag, day, numbers } = await item('broken');
    expect([amount, int, flag, day, numbers]).toEqual([
      'many',
      'n/a',
      'maybe',
      'some\tday',
      '["1","two","3"]',
    ]);
  });
});

test('nothing is left beside a DuckDB file: no log, no lock, no staged rows', async () => {
  const names = await readdir(join(home.directory, 'out'));
  expect(names.toSorted()).toEqual(['values.duckdb', ...formats].toSorted());
});
