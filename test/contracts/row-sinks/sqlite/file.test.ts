/** What is SQLite's own: one file, other programs that have it open, tables that are made anew where a column becomes wider. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DatabaseFileOptions } from '../../../../src/targets/sql/database-files.ts';
import { createSqliteRowSink } from '../../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../../src/targets/sql/sqlite/source.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { Published, SinkPlan } from '../../../../src/ports/row-sink.ts';
import { at, libraryModel } from '../../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../../targets/library-rows.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { listDocuments, listsXsd } from '../../../support/documents/lists.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { loadInto, readFrom } from '../../../support/round-trip/postgres.ts';
import { needs, programOf } from '../../../support/needs.ts';
import { sqliteReader } from './reader.ts';

let folders = '';
let directory = '';
let file = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'sqlite-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, String((number += 1)));
  file = join(directory, 'library.sqlite');
});

async function load(plan: SinkPlan, count = 1, more: Partial<DatabaseFileOptions> = {}): Promise<Published> {
  const sink = createSqliteRowSink({ file, ...more });
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

function execute(sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file);
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

function change(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function expectSound(): void {
  expect(execute('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(execute('PRAGMA foreign_key_check')).toEqual([]);
}

const column = (table: string, name: string) =>
  execute(`SELECT type, "notnull" AS required FROM pragma_table_info('${table}') WHERE name = '${name}'`)[0];

const uniqueIndexes = () =>
  execute(`SELECT name FROM pragma_index_list('book') WHERE "unique" = 1 ORDER BY name`).map(
    ({ name }) => name,
  );

test('a new file appears when everything is in it, with nothing beside it, and keeps a write-ahead log', async () => {
  const sink = createSqliteRowSink({ file });
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1, 2);
  await writeLibrary(sink, rows);
  await sink.publish(async () => {
    expect(await readdir(directory)).not.toContain('library.sqlite');
    return true;
  }, rows.lastKeys);
  await sink.close();
  expect(await readdir(directory)).toEqual(['library.sqlite']);
  expect(execute('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  await load(libraryPlan(2));
  expect(await readdir(directory)).toEqual(['library.sqlite']);
  expectSound();
});

test('keys are declared, foreign keys indexed, columns typed and told about', async () => {
  const { indexes } = await load(libraryPlan(1));
  expect(execute(`SELECT "from", "table", "to" FROM pragma_foreign_key_list('book')`)).toEqual([
    { from: 'library_key', table: 'library', to: 'library_key' },
  ]);
  const own = execute(
    `SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%\\_idx' ESCAPE '\\'`,
  );
  expect(own.map(({ name }) => name)).toContain('book_library_key_idx');
  expect(indexes!.count).toBeGreaterThan(5);
  expect(column('book', 'isbn')).toEqual({ type: 'VARCHAR(17)', required: 1 });
  expect(execute(`SELECT sql FROM sqlite_schema WHERE name = 'book'`)[0]!.sql).toContain(
    '/* /library/book/@isbn */',
  );
  expect(
    execute('SELECT typeof(price) AS price, typeof(weight) AS weight, is_public FROM book, library')[0],
  ).toEqual({
    price: 'real',
    weight: 'text',
    is_public: 1,
  });
});

test('a natural key is declared as long as the rows keep it', async () => {
  expect((await load(libraryPlan(1))).brokenKeys).toEqual([]);
  expect(uniqueIndexes()).toEqual(['book_isbn', 'book_title']);
  const second = await load(libraryPlan(2), 20);
  expect(second.brokenKeys).toEqual([{ table: 'book', columns: ['title', 'pages'] }]);
  expect(uniqueIndexes()).toEqual(['book_isbn']);
  expect(await sqliteReader(file).read('book')).toHaveLength(42);
  expectSound();
});

test('a column becomes wider, and indexes, triggers, keys and comments of its table stay', async () => {
  await load(libraryPlan(1), 3);
  change(`CREATE TABLE noted (isbn TEXT);
          CREATE TRIGGER notes AFTER INSERT ON book BEGIN INSERT INTO noted VALUES (new.isbn); END;
          CREATE VIEW prices AS SELECT isbn, price, pages FROM book`);
  const tables = libraryModel.tables.map((table, index) =>
    index !== at.book
      ? table
      : {
          ...table,
          columns: [
            ...table.columns.map((one) =>
              one.name === 'price'
                ? { ...one, type: { kind: 'numeric' as const, precision: 20, scale: 4 } }
                : one.name === 'pages'
                  ? { ...one, type: { kind: 'text' as const } }
                  : one,
            ),
            { ...table.columns[4]!, name: 'more', nullable: true },
          ],
        },
  );
  const model: RelationalModel = { ...libraryModel, tables };
  const sink = createSqliteRowSink({ file });
  await sink.open(libraryPlan(2, { model }));
  const rows = libraryRows(2);
  for (const row of rows.tables.get(at.book)!) row.push('and more');
  await writeLibrary(sink, rows);
  const { changes } = await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  expect(changes).toEqual([
    'book.price: NUMERIC(10,2) widened to TEXT',
    'book.pages: INTEGER widened to TEXT',
    'book.more: added',
  ]);
  expect(column('book', 'price')).toEqual({ type: 'TEXT', required: 0 });
  expect(execute('SELECT DISTINCT price, pages, typeof(pages) AS type FROM prices')).toEqual([
    { price: '12.50', pages: '320', type: 'text' },
  ]);
  expect(execute('SELECT count(*) AS n FROM noted')).toEqual([{ n: 2 }]);
  expect(execute(`SELECT sql FROM sqlite_schema WHERE name = 'book'`)[0]!.sql).toContain(
    '/* /library/more */'.replace('more', 'title'),
  );
  expect(execute(`SELECT "from" FROM pragma_foreign_key_list('person') WHERE "table" = 'book'`)).toEqual([
    { from: 'book_key' },
  ]);
  expect(
    execute(
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'book' AND name = 'book_library_key_idx'`,
    ),
  ).toHaveLength(1);
  expectSound();
  await load(libraryPlan(3));
  expect(await sqliteReader(file).read('book')).toHaveLength(10);
});

test('a list with an item of another type becomes text, with the items that were there', async () => {
  await load(libraryPlan(1));
  const years = libraryModel.tables[at.book]!.columns.findIndex(({ name }) => name === 'years');
  const sink = createSqliteRowSink({ file });
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2);
  rows.tables.get(at.book)![0]![years] = '1 soon';
  await writeLibrary(sink, rows);
  await sink.unconverted({ table: at.book, column: years, rowKey: 1, text: '1 soon' });
  const { changes } = await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  expect(changes).toContain('book.years: list widened to text');
  await load(libraryPlan(3));
  expect(execute('SELECT years FROM book ORDER BY book_key').map((row) => row.years)).toEqual([
    '1 2',
    '1 2',
    '1 soon',
    '1 2',
    '1 2',
    '1 2',
  ]);
  expect(execute(`SELECT name FROM sqlite_schema WHERE name LIKE '%years%'`)).toEqual([]);
  expectSound();
});

test('hashed keys: what is there already is not added again, items of lists neither', async () => {
  const plan = libraryPlan(1, { keys: 'hash' });
  expect((await load(plan, 2)).rows.book).toBe(4);
  const items = execute('SELECT count(*) AS n FROM book_keywords');
  const again = await load(libraryPlan(2, { keys: 'hash' }), 2);
  expect(again.rows.book).toBe(0);
  expect(execute('SELECT count(*) AS n FROM book_keywords')).toEqual(items);
});

test('an existing file of somebody else keeps its tables, and gets ours beside them', async () => {
  await mkdir(directory);
  change(`CREATE TABLE mine AS SELECT 42 AS answer`);
  await load(libraryPlan(1));
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
  expect(execute('SELECT * FROM mine')).toEqual([{ answer: 42 }]);
  expect(await sqliteReader(file).read('library')).toHaveLength(1);
});

test.each([
  ['no database', () => writeFile(file, 'precious\n'.repeat(1000)), /is not an SQLite database/],
  [
    'a view of that name',
    async () => change('CREATE VIEW book AS SELECT 1 AS one'),
    /book exists and is not a table/,
  ],
  [
    'a table beside the data that another program made',
    async () => change('CREATE TABLE _loads (job INTEGER, at TEXT)'),
    /_loads has no column job_uuid\. A version before 1\.0 made this target, or another program/,
  ],
  [
    'a table of ours that takes nothing any more',
    async () => {
      await load(libraryPlan(1));
      change(
        `CREATE TRIGGER refuses BEFORE INSERT ON book BEGIN SELECT RAISE(ABORT, 'closed for the year'); END`,
      );
    },
    /closed for the year/,
  ],
] as const)('%s: a conflict, and the file is as it was', async (_, make, message) => {
  await mkdir(directory);
  await make();
  const before = await readdir(directory);
  await expect(load(libraryPlan(2))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(message),
  });
  expect(await readdir(directory)).toEqual(before);
});

test('a link is refused where links are, as is one beside the file', async () => {
  await mkdir(directory);
  for (const name of ['library.sqlite', 'library.sqlite-wal', 'library.sqlite-journal']) {
    await symlink(join(folders, 'elsewhere'), join(directory, name));
    const sink = createSqliteRowSink({ file, refuseLinks: true });
    await expect(sink.open(libraryPlan(1))).rejects.toMatchObject({ code: 'target_not_allowed' });
    await sink.close();
    await rm(join(directory, name));
  }
  expect(await readdir(folders)).not.toContain('elsewhere');
});

test('while another program writes, a job waits, says so after a while, and goes on when it may', async () => {
  await load(libraryPlan(1));
  const holder = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { DatabaseSync } from 'node:sqlite';
       const database = new DatabaseSync(${JSON.stringify(file)});
       database.exec('BEGIN IMMEDIATE'); console.log('open'); setInterval(() => database, 1000);`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    await expect(load(libraryPlan(2), 1, { busyTimeoutMs: 0 })).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('is locked by another program'),
    });
    // who reads is not held up
    const source = createSqliteRowSource({ file, busyTimeoutMs: 0 });
    await source.open(libraryModel);
    expect(await source.documentCount()).toBe(1);
    await source.close();
    const waiting = load(libraryPlan(3), 1, { busyTimeoutMs: 60_000 });
    holder.kill('SIGKILL');
    await waiting;
  } finally {
    holder.kill('SIGKILL');
  }
  expect(await sqliteReader(file).read('library')).toHaveLength(2);
});

test('what a dead attempt staged, and its lock, do not stay', async () => {
  const dead = JSON.stringify({ token: 'x', host: hostname(), pid: process.pid, started: 'another process' });
  const staging = join(directory, '.library.sqlite.svc-staging-9-00000000');
  await mkdir(staging, { recursive: true });
  await writeFile(join(staging, '.svc-staging'), basename(staging));
  for (const name of ['.svc-lock', '1.copy-text']) await writeFile(join(staging, name), dead);
  await writeFile(join(directory, '.library.sqlite.svc-lock'), dead);
  await load(libraryPlan(1));
  expect(await readdir(directory)).toEqual(['library.sqlite']);
});

test('a load that is interrupted adds nothing', async () => {
  await load(libraryPlan(1));
  const stop = new AbortController();
  const sink = createSqliteRowSink({ file, signal: stop.signal });
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2, 500);
  await writeLibrary(sink, rows);
  stop.abort(new Error('told to end'));
  await expect(sink.publish(async () => true, rows.lastKeys)).rejects.toThrow('told to end');
  await sink.close();
  expect(await sqliteReader(file).read('library')).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['library.sqlite']);
});

test("SQLite's own shell reads it", needs('sqlite3'), async () => {
  await load(libraryPlan(1), 2);
  const { stdout } = await promisify(execFile)(programOf('sqlite3')!, [
    file,
    'PRAGMA integrity_check; PRAGMA foreign_keys = ON; SELECT count(*), min(price), max(weight) FROM book; DELETE FROM section_text WHERE section_text_key = 1',
  ]);
  expect(stdout).toBe('ok\n4|12.5|0.1234567890123456789012345\n');
  expectSound();
});

test('lists whose items are no values of their type stay as they are, whatever they look like', async () => {
  const source = compiled(listsXsd);
  const model = modelOf(source, 3);
  const [plain, odd] = listDocuments.map((text) => Buffer.from(text));
  await loadInto(createSqliteRowSink({ file }), { model, idJob: 1 }, [plain!]);
  await loadInto(createSqliteRowSink({ file }), { model, idJob: 2 }, [odd!, plain!]);
  const written = await readFrom(createSqliteRowSource({ file }), model);
  for (const [at, document] of [plain, odd, plain].entries())
    expect(compareXml(document!, written[at]!, { source })).toEqual([]);
  expectSound();
});
