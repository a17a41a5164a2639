/** Views that a load makes (`--views`) in a DuckDB file and in a MariaDB database, and the scripts of them in a folder. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import type { FileLayoutName } from '../../../src/ports/layouts.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { enumerationsOf } from '../../../src/engine/metadata/enumerations.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import type { Published, RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import { bytesOf } from '../../support/models/shredding.ts';
import { needs, programOf, some } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { mariadbTarget } from './targets.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { first, firstModel, ledger, second, secondModel } from '../../support/models/ledgers.ts';

let folders = '';
let directory = '';
let job = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'made-views-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(() => {
  directory = join(folders, String((job += 1)));
});

function load(
  sink: RowSink,
  source: SourceModel,
  plan: Pick<SinkPlan, 'model'> & Partial<SinkPlan>,
  ...documents: readonly Uint8Array[]
): Promise<Published> {
  const enumerations = () => enumerationsOf(plan.model, source);
  return loadInto(sink, { idJob: (job += 1), enumerations, ...plan }, documents);
}

async function execute(file: string, sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const duckDbFile = () => createDuckDbRowSink({ file: join(directory, 'a.duckdb') });
const query = (sql: string) => execute(join(directory, 'a.duckdb'), sql);
const viewsThere = async () =>
  (await query('select view_name as name from duckdb_views() where not internal order by 1')).map(
    ({ name }) => name,
  );
const rows = (view: string) => query(`select * from "${view}" order by document_key`);

describe('a DuckDB file', () => {
  test('has them where they are asked for; columns become wider below them, tables are made anew', async () => {
    await load(duckDbFile(), first, { model: firstModel }, ledger('12.50'));
    expect(await viewsThere()).toEqual([]);
    const { changes } = await load(duckDbFile(), first, { model: firstModel, views: true }, ledger('7'));
    expect(changes).toEqual(['views made: entry_view']);
    expect((await rows('entry_view')).map((row) => Number(row['amount_signed']))).toEqual([-12.5, -7]);
    expect((await load(duckDbFile(), first, { model: firstModel }, ledger('1'))).changes).toEqual([]);
    await load(duckDbFile(), first, { model: firstModel }, ledger('a lot'));
    expect((await rows('entry_view')).map((row) => Number(row['amount']))).toEqual([12.5, 7, 1, NaN]);
    await load(duckDbFile(), first, { model: firstModel, saveMode: 'overwrite' }, ledger('5'));
    expect((await rows('entry_view')).map((row) => Number(row['amount_signed']))).toEqual([-5]);
  });

  test('a table of a later version takes the name of a view', async () => {
    await load(duckDbFile(), first, { model: firstModel, views: true }, ledger('12.50'));
    const document = ledger('a lot', '<reference>R</reference>', '<entry_view n="1"/>');
    await load(duckDbFile(), second, { model: secondModel, views: true }, document);
    expect(await viewsThere()).toEqual(['entry_view_']);
    expect((await rows('entry_view_')).map((row) => [Number(row['amount']), row['reference']])).toEqual([
      [12.5, null],
      [NaN, 'R'],
    ]);
  });

  test('what no load made stays, and a view of another model is made again or told of', async () => {
    await load(duckDbFile(), first, { model: firstModel }, ledger('1'));
    await query('create view Entry_View as select 1 as mine');
    const { changes } = await load(duckDbFile(), first, { model: firstModel, views: true }, ledger('2'));
    expect(changes).toEqual(['entry_view: view not made because an object that no load made has this name']);
    expect(await query('select * from entry_view')).toEqual([{ mine: 1 }]);
    await query(
      `drop view entry_view; create view theirs as select - amount as a from entry; comment on view theirs is 'Made by the load, which keeps it up to date.'`,
    );
    expect((await load(duckDbFile(), first, { model: firstModel }, ledger('a lot'))).changes.join()).toMatch(
      /theirs: view dropped because it no longer fits its tables: Binder Error/,
    );
    expect(await viewsThere()).toEqual([]);
  });
});

describe('a MariaDB database', needs(mariadbParts), () => {
  let server: TestMariadb;
  let name = '';
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    name = `views_${job}`;
    await server.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4;`);
  });
  const database = (): RowSink => mariadbTarget(() => server, name).createSink();
  const ask = async (sql: string): Promise<string[][]> =>
    (await server.run(`${sql};`, folders, name))
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split('\t'));
  const amounts = async (): Promise<number[]> =>
    (await ask('select amount_signed from entry_view order by document_key')).map(([one]) => Number(one));
  const made = async (): Promise<string[]> =>
    (await ask('select table_name from information_schema.views where table_schema = database()')).flat();

  test('has them where they are asked for; columns become wider below them, tables are made anew', async () => {
    await load(database(), first, { model: firstModel }, ledger('12.50'));
    expect(await made()).toEqual([]);
    const { changes } = await load(database(), first, { model: firstModel, views: true }, ledger('7'));
    expect(changes).toEqual(['views made: entry_view']);
    expect(await amounts()).toEqual([-12.5, -7]);
    expect((await load(database(), first, { model: firstModel, views: true }, ledger('1'))).changes).toEqual(
      [],
    );
    await load(database(), first, { model: firstModel }, ledger('a lot'));
    expect((await ask('select amount from entry_view order by document_key')).flat()).toEqual([
      '12.5',
      '7',
      '1',
      'a lot',
    ]);
    await load(database(), first, { model: firstModel, saveMode: 'overwrite' }, ledger('5'));
    expect(await amounts()).toEqual([-5]);
  });

  test('a table of a later version takes the name of a view', async () => {
    await load(database(), first, { model: firstModel, views: true }, ledger('12.50'));
    const document = ledger('a lot', '<reference>R</reference>', '<entry_view n="1"/>');
    await load(database(), second, { model: secondModel, views: true }, document);
    expect(await made()).toEqual(['entry_view_']);
    expect((await ask('select reference from entry_view_ order by document_key')).flat()).toEqual([
      'NULL',
      'R',
    ]);
  });

  test('what no load made stays', async () => {
    await load(database(), first, { model: firstModel }, ledger('1'));
    await server.run('create view Entry_View as select 1 as mine;', folders, name);
    const { changes } = await load(database(), first, { model: firstModel, views: true }, ledger('2'));
    expect(changes).toEqual(['entry_view: view not made because an object that no load made has this name']);
    expect(await ask('select * from Entry_View')).toEqual([['1']]);
  });

  test('an attempt that ended before the views were made leaves them to the next one', async () => {
    const plan = { model: firstModel, idJob: 1, jobUuid: 'one' };
    await load(database(), first, plan, ledger('3'));
    expect(await made()).toEqual([]);
    const { already, changes } = await load(database(), first, { ...plan, views: true }, ledger('3'));
    expect({ already, changes }).toEqual({ already: true, changes: ['views made: entry_view'] });
    expect(await amounts()).toEqual([-3]);
  });
});

const folder = (format: FileLayoutName) => createFolderRowSink({ directory, format });
/** What psql, sqlite3 and others do inside the folder. */
const run = async (program: 'psql' | 'sqlite3', ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(programOf(program)!, args, { cwd: directory })).stdout;

describe('a folder', () => {
  const text = `<text>a</text><text>it''s b</text>`;
  const document = bytesOf(
    new TextDecoder().decode(ledger('7')).replace('</booked>', `</booked>${text.replace("''", "'")}`),
  );
  const select =
    'select document_name, amount_signed, text from entry_view order by document_name, entry_key';
  async function loadTwice(format: FileLayoutName): Promise<void> {
    await load(folder(format), first, { model: firstModel, views: true }, ledger('12.50'));
    await load(folder(format), first, { model: firstModel }, document);
  }

  test('has no scripts of views but where they are asked for, and never over what is there', async () => {
    await load(folder('csv'), first, { model: firstModel }, ledger('1'));
    expect(await readdir(directory)).not.toContain('views.sql');
    await writeFile(join(directory, 'views.sql'), '-- mine');
    await load(folder('csv'), first, { model: firstModel }, ledger('1'));
    await expect(load(folder('csv'), first, { model: firstModel, views: true }, ledger('1'))).rejects.toThrow(
      'views.sql exists and was not written by a job',
    );
    expect(await readFile(join(directory, 'views.sql'), 'utf8')).toBe('-- mine');
    await rm(join(directory, 'views.sql'));
    await load(folder('csv'), first, { model: firstModel, views: true }, ledger('1'));
    // another format has its own
    await load(folder('jsonl'), first, { model: firstModel, saveMode: 'overwrite' }, ledger('1'));
    expect((await readdir(directory)).filter((name) => name.startsWith('views'))).toEqual([
      'views.sql',
      'views.sqlite.sql',
    ]);
    await load(folder('parquet'), first, { model: firstModel, saveMode: 'overwrite' }, ledger('1'));
    expect((await readdir(directory)).filter((name) => name.startsWith('views'))).toEqual(['views.sql']);
  });

  test.each(some(['csv', 'tsv', 'jsonl'] as const, 1))(
    'of %s has views for PostgreSQL',
    needs('psql'),
    async (format) => {
      await loadTwice(format);
      const database = await createEmptyDatabase();
      try {
        for (const script of ['load.sql', 'views.sql'])
          await run('psql', '-X', '-q', '-f', script, database.url);
        expect((await database.sql.unsafe(select)).map((row) => Object.values(row))).toEqual([
          ['document-1.xml', '-12.50', null],
          ['document-1.xml', '-7', "a\nit's b"],
        ]);
      } finally {
        await database.drop();
      }
    },
  );

  test('of Parquet has views for DuckDB', async () => {
    await loadTwice('parquet');
    const scripts = await Promise.all(
      ['load.sql', 'views.sql'].map((name) => readFile(join(directory, name), 'utf8')),
    );
    const file = join(directory, 'loaded.duckdb');
    const statements = [`SET file_search_path = '${directory}';`, ...scripts, `${select};`].join('\n');
    expect(
      (await execute(file, statements)).map((row) => [Number(row['amount_signed']), row['text']]),
    ).toEqual([
      [-12.5, null],
      [-7, "a\nit's b"],
    ]);
  });

  test('of JSON Lines has views for SQLite', needs('sqlite3'), async () => {
    await loadTwice('jsonl');
    for (const name of ['load.sqlite.sql', 'views.sqlite.sql']) await run('sqlite3', 'a.db', `.read ${name}`);
    expect(await run('sqlite3', 'a.db', select)).toBe("document-1.xml|-12.5|\ndocument-1.xml|-7|a\nit's b\n");
  });

  test('of TSV has views for MariaDB', needs(mariadbParts), async () => {
    await loadTwice('tsv');
    const server = await startMariadb();
    try {
      await server.run('CREATE DATABASE loaded;');
      for (const name of ['load.mysql.sql', 'views.mysql.sql'])
        await server.run(await readFile(join(directory, name), 'utf8'), directory, 'loaded');
      const rows = (await server.run(`${select};`, directory, 'loaded')).trim().split('\n').slice(1);
      expect(
        rows.map((row) => row.split('\t').map((value, at) => (at === 1 ? Number(value) : value))),
      ).toEqual([
        ['document-1.xml', -12.5, 'NULL'],
        ['document-1.xml', -7, String.raw`a\nit's b`],
      ]);
    } finally {
      await server.stop();
    }
  });
});
