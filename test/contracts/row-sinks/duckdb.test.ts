/** What only a DuckDB file can do: appear whole, be locked by others, have its columns and tables changed. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { memoryFor, openDuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import type { DatabaseFileOptions } from '../../../src/targets/sql/database-files.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createDuckDbRowSource } from '../../../src/targets/sql/duckdb/source.ts';
import type { Column, ColumnType, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { Published, SinkPlan } from '../../../src/ports/row-sink.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import {
  encodeRows,
  libraryPlan,
  libraryRows,
  loadLibrary,
  writeLibrary,
  type Value,
} from '../targets/library-rows.ts';
import { duckDbReader, type TextRow } from './readers.ts';
import { needs } from '../../support/needs.ts';
let folders = '';
let directory = '';
let file = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'duckdb-sink-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, String((number += 1)));
  file = join(directory, 'library.duckdb');
});

async function load(plan: SinkPlan, count = 1, more: Partial<DatabaseFileOptions> = {}): Promise<Published> {
  const sink = createDuckDbRowSink({ file, ...more });
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

async function execute(sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(file, { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const read = async (table: string): Promise<TextRow[]> => (await duckDbReader(file).read(table))!;

test('a new file appears when everything is in it, with nothing beside it', async () => {
  const sink = createDuckDbRowSink({ file });
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1, 2);
  await writeLibrary(sink, rows);
  expect(await readdir(directory)).not.toContain('library.duckdb');
  await sink.publish(async () => {
    expect(await readdir(directory)).not.toContain('library.duckdb');
    return true;
  }, rows.lastKeys);
  expect(await readdir(directory)).toEqual(['library.duckdb']);
  await sink.close();
  expect(await readdir(directory)).toEqual(['library.duckdb']);
});

test('tables and columns have their comments, required columns NOT NULL', async () => {
  await load(libraryPlan(1));
  const [isbn] = await execute(
    `SELECT comment, is_nullable FROM duckdb_columns() WHERE table_name = 'book' AND column_name = 'isbn'`,
  );
  expect(isbn).toEqual({ comment: '/library/book/@isbn', is_nullable: false });
  expect(await execute(`SELECT table_name FROM duckdb_tables() WHERE comment IS NULL`)).toEqual([]);
});

test('an existing file of somebody else keeps its tables, and gets ours beside them', async () => {
  await mkdir(directory);
  await execute(`CREATE TABLE mine AS SELECT 42 AS answer`);
  await load(libraryPlan(1));
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
  expect(await execute('SELECT * FROM mine')).toEqual([{ answer: 42 }]);
  expect(await read('library')).toHaveLength(1);
});

test('a file that is no database is left as it is', async () => {
  await mkdir(directory);
  await writeFile(file, 'precious\n'.repeat(1000));
  await expect(load(libraryPlan(1))).rejects.toMatchObject({ code: 'conflict' });
  expect(await readdir(directory)).toEqual(['library.duckdb']);
});

test('a view that has the name of a table is a conflict', async () => {
  await mkdir(directory);
  await execute(`CREATE VIEW book AS SELECT 1 AS one`);
  await expect(load(libraryPlan(1))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('book exists and is not a table'),
  });
});

test('a name that DuckDB cannot keep a log for is refused', async () => {
  file = join(directory, 'what?.duckdb');
  await expect(load(libraryPlan(1))).rejects.toMatchObject({ code: 'target_not_allowed' });
});

test('statements reach no file but those of the job, and no extension is ever fetched', async () => {
  await mkdir(directory);
  const outside = join(folders, 'outside.csv');
  await writeFile(outside, 'a,b\n');
  const database = await openDuckDb(':memory:', { directory, memoryBytes: memoryFor(0, 0) });
  try {
    for (const statement of [
      `SELECT * FROM read_csv('${outside}')`,
      `COPY (SELECT 1) TO '${join(folders, 'new.csv')}'`,
      `ATTACH '${join(folders, 'new.duckdb')}'`,
      'INSTALL httpfs',
      'LOAD httpfs',
      'SET enable_external_access = true',
    ]) {
      await expect(database.run(statement), statement).rejects.toThrow(/disabled|locked/);
    }
  } finally {
    database.close();
  }
});

test('while another program has the file open, a job says so, retryably', async () => {
  await load(libraryPlan(1));
  const holder = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { DuckDBInstance } from '@duckdb/node-api';
       const instance = await DuckDBInstance.create(${JSON.stringify(file)});
       await instance.connect(); console.log('open'); setInterval(() => instance, 1000);`,
    ],
    { cwd: process.cwd(), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    await expect(load(libraryPlan(2), 1, { busyTimeoutMs: 0 })).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching(`open in another program \\(.*, process ${holder.pid}\\)`),
    });
    const reading = createDuckDbRowSource({ file, busyTimeoutMs: 0 });
    await expect(reading.open(libraryModel)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining(`process ${holder.pid}`),
    });
    await reading.close();
    const waiting = load(libraryPlan(3), 1, { busyTimeoutMs: 60_000 });
    holder.kill('SIGKILL');
    await waiting;
  } finally {
    holder.kill('SIGKILL');
  }
  expect(await read('library')).toHaveLength(2);
  expect(await readdir(directory)).toEqual(['library.duckdb']);
});

test('what a dead attempt staged, and its lock, do not stay', async () => {
  const dead = JSON.stringify({ token: 'x', host: hostname(), pid: process.pid, started: 'another process' });
  const staging = join(directory, '.library.duckdb.svc-staging-9-00000000');
  await mkdir(staging, { recursive: true });
  await writeFile(join(staging, '.svc-staging'), basename(staging));
  for (const name of ['.svc-lock', '1.csv']) await writeFile(join(staging, name), dead);
  await writeFile(join(directory, '.library.duckdb.svc-lock'), dead);
  await load(libraryPlan(1));
  expect(await readdir(directory)).toEqual(['library.duckdb']);
});

test('what a living attempt staged stays', async () => {
  const first = createDuckDbRowSink({ file });
  await first.open(libraryPlan(1));
  const rows = libraryRows(1);
  await writeLibrary(first, rows);
  await load(libraryPlan(2));
  await first.publish(async () => true, rows.lastKeys);
  await first.close();
  expect((await read('library')).map((row) => row.library_key)).toEqual(['1', '2']);
});

test('views survive an overwrite', async () => {
  await load(libraryPlan(1), 2);
  await execute('CREATE VIEW names AS SELECT name FROM library');
  await load(libraryPlan(2, { saveMode: 'overwrite' }), 1);
  expect(await read('names')).toEqual([{ name: 'Library 1' }]);
});

test('hashed keys: what is there already is not added again', async () => {
  const plan = libraryPlan(1, { keys: 'hash' });
  expect((await load(plan, 2)).rows.book).toBe(4);
  const again = createDuckDbRowSink({ file });
  await again.open(libraryPlan(2, { keys: 'hash' }));
  const rows = libraryRows(1, 3);
  await writeLibrary(again, rows);
  const side: Value[][] = [1, 3].map((document) => [document, 'book', 1, 1, '/x', 'element', '<x/>']);
  await again.writeSide('unmapped', encodeRows(again.encoding, side), 2);
  const { rows: added } = await again.publish(async () => true, rows.lastKeys);
  await again.close();
  expect(added.book).toBe(2);
  expect(await read('book')).toHaveLength(6);
  expect((await read('_unmapped')).map((row) => row.document_key)).toEqual(['3']);
});

/** A table of one value column beside its key. */
function valueModel(type: ColumnType, more: Partial<Column> = {}): RelationalModel {
  const [key, document, name] = libraryModel.tables[at.library]!.columns as [Column, Column, Column];
  const columns = [key, document, { ...name, name: 'value', type, nullable: true, ...more }];
  return { ...libraryModel, tables: [{ ...libraryModel.tables[at.library]!, columns }] };
}

async function loadValues(
  idJob: number,
  model: RelationalModel,
  values: readonly Value[],
): Promise<Published> {
  const sink = createDuckDbRowSink({ file });
  try {
    await sink.open(libraryPlan(idJob, { model }));
    const rows = values.map((value, index): Value[] => [index + 1, null, value]);
    await sink.write(0, encodeRows(sink.encoding, rows), rows.length);
    return await sink.publish(async () => true, new Map());
  } finally {
    await sink.close();
  }
}

async function valueType(): Promise<unknown> {
  const [row] = await execute(
    `SELECT data_type FROM duckdb_columns() WHERE table_name = 'library' AND column_name = 'value'`,
  );
  return row!.data_type;
}

const values = async (): Promise<unknown[]> => (await read('library')).map((row) => row.value);

describe('decimals without bounds', () => {
  const numeric = valueModel({ kind: 'numeric' });

  test('are as the dialect says while they fit', async () => {
    await loadValues(1, numeric, ['1.5', '-12345678901234567890.123456789012345678', '007', '.5', null]);
    expect(await valueType()).toBe('DECIMAL(38,18)');
    expect(
      (await values()).map((value) => (value === null ? null : String(value).replace(/[.]?0+$/, ''))),
    ).toEqual(['1.5', '-12345678901234567890.123456789012345678', '7', '0.5', null]);
  });

  test('get another scale, then text, and lose no digit', async () => {
    await loadValues(1, numeric, ['1.5']);
    const { changes } = await loadValues(2, numeric, ['0.12345678901234567890123456789']);
    expect(await valueType()).toBe('DECIMAL(38,29)');
    expect(changes).toEqual(['library.value: DECIMAL(38,18) widened to DECIMAL(38,29)']);
    await loadValues(3, numeric, ['123456789012345.5']);
    expect(await valueType()).toBe('VARCHAR');
    expect((await values()).map((value) => String(value).replace(/0+$/, ''))).toEqual([
      '1.5',
      '0.12345678901234567890123456789',
      '123456789012345.5',
    ]);
  });

  test('in lists too', async () => {
    const list = valueModel({ kind: 'numeric', list: true });
    await loadValues(1, list, ['{1,2.5}', '{}']);
    expect(await valueType()).toBe('DECIMAL(38,18)[]');
    await loadValues(2, list, [`{0.${'3'.repeat(38)}1}`]);
    expect(await valueType()).toBe('VARCHAR[]');
    expect((await values()).at(-1)).toBe(`{0.${'3'.repeat(38)}1}`);
  });
});

describe('a table that an older model made', () => {
  test('gets the columns it lacks, and wider types for those it has', async () => {
    await loadValues(1, valueModel({ kind: 'smallint' }), ['1']);
    const wider = valueModel({ kind: 'bigint' });
    const extra: Column = { ...wider.tables[0]!.columns[2]!, name: 'more', type: { kind: 'text' } };
    const model: RelationalModel = {
      ...wider,
      tables: [{ ...wider.tables[0]!, columns: [...wider.tables[0]!.columns, extra] }],
    };
    const sink = createDuckDbRowSink({ file });
    await sink.open(libraryPlan(2, { model }));
    await sink.write(0, encodeRows(sink.encoding, [[1, null, '9223372036854775807', 'new']]), 1);
    const { changes } = await sink.publish(async () => true, new Map());
    await sink.close();
    expect(changes).toEqual(['library.value: SMALLINT widened to BIGINT', 'library.more: added']);
    expect((await read('library')).map((row) => [row.library_key, row.value, row.more])).toEqual([
      ['1', '1', null],
      ['2', '9223372036854775807', 'new'],
    ]);
    const [comment] = await execute(`SELECT comment FROM duckdb_columns() WHERE column_name = 'more'`);
    expect(comment).toEqual({ comment: '/library/name' });
  });

  test.each([
    ['timestamptz', '2026-11-05T10:00:00+02:00', '2026-11-05T08:00:00Z'],
    ['timestamp', '2026-11-05T10:00:00.5', '2026-11-05T10:00:00.5'],
    ['double', 'Infinity', 'INF'],
    ['boolean', 'true', 'true'],
  ] as const)('turns %s into text as XML writes it', async (kind, value, text) => {
    await loadValues(1, valueModel({ kind }), [value]);
    await loadValues(2, valueModel({ kind: 'text' }), ['other']);
    expect(await values()).toEqual([text, 'other']);
  });

  test('turns a list into its items, separated by spaces', async () => {
    const list = valueModel({ kind: 'integer', list: true });
    await loadValues(1, list, ['{1,2}', '{}', null]);
    const sink = createDuckDbRowSink({ file });
    await sink.open(libraryPlan(2, { model: list }));
    await sink.write(
      0,
      encodeRows(sink.encoding, [
        [1, null, '1 two'],
        [2, null, '{3}'],
      ]),
      2,
    );
    await sink.unconverted({ table: 0, column: 2, rowKey: 1, text: '1 two' });
    await sink.publish(async () => true, new Map());
    await sink.close();
    expect(await values()).toEqual(['1 2', '', null, '1 two', '3']);
  });

  test('lets a column be empty that it required', async () => {
    await loadValues(1, valueModel({ kind: 'text' }, { nullable: false }), ['x']);
    const { changes } = await loadValues(2, valueModel({ kind: 'text' }), [null]);
    expect(changes).toEqual(['library.value: NOT NULL dropped']);
    expect(await values()).toEqual(['x', null]);
  });
});

test.each([
  ['timestamptz', '2026-11-05T10:00:00.1234567Z', '2026-11-05 10:00:00.123457+00'],
  ['timestamp', '2026-11-05T10:00:00.1234564', '2026-11-05 10:00:00.123456'],
  ['time', '10:00:00.99999951', '10:00:01'],
] as const)('digits of a %s beyond the microsecond round it', async (kind, value, expected) => {
  await loadValues(1, valueModel({ kind }), [value]);
  expect(await values()).toEqual([expected]);
});

test('a row longer than the reader’s buffers arrives', async () => {
  const long = '"long",\n'.repeat(500_000);
  await loadValues(1, valueModel({ kind: 'text' }), ['short', long, 'short']);
  expect(await values()).toEqual(['short', long, 'short']);
});

test('a job that fills hundreds of tables, in a new file and then in it', needs('whole run'), async () => {
  const book = libraryModel.tables[at.book]!;
  const columns = book.columns.map((column) =>
    column.references === null ? column : { ...column, references: 0 },
  );
  const model: RelationalModel = {
    ...libraryModel,
    tables: Array.from({ length: 300 }, (_, index) => ({ ...book, name: `book ${index}`, columns })),
  };
  const row = libraryRows(1).tables.get(at.book)![0]!;
  for (const idJob of [1, 2]) {
    const sink = createDuckDbRowSink({ file });
    await sink.open(libraryPlan(idJob, { model }));
    for (const index of model.tables.keys()) await sink.write(index, encodeRows(sink.encoding, [row]), 1);
    const { rows } = await sink.publish(async () => true, new Map());
    expect(Object.keys(rows)).toHaveLength(300);
    await sink.close();
  }
  expect((await read('book 299')).map((found) => [found.book_key, found.library_key])).toEqual([
    ['1', '1'],
    ['2', '2'],
  ]);
});

test('what stands in the way is said in words, and by the name that the target was given', async () => {
  await mkdir(file, { recursive: true });
  const label = {
    code: 'target_not_allowed',
    message: `duckdb:${file}: cannot be written: there is a folder where a file is needed; name a file in it.`,
  };
  await expect(load(libraryPlan(1))).rejects.toMatchObject(label);
  await rm(file, { recursive: true });
  await symlink('nowhere.duckdb', file);
  await expect(load(libraryPlan(1))).rejects.toMatchObject({
    code: 'target_not_allowed',
    message: `duckdb:${file} is a broken link.`,
  });
  await rm(file);
  for (const content of ['order,line\n'.repeat(1000), `${'\0'.repeat(8)}DUCK${'\0'.repeat(20_000)}`]) {
    await writeFile(file, content);
    const message = `duckdb:${file} exists and is not a database that this DuckDB can read.`;
    await expect(load(libraryPlan(1))).rejects.toMatchObject({ code: 'conflict', message });
  }
});
