/** Codes that a load keeps (`--codes`) in a DuckDB file, in a MariaDB database and in folders. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { enumerationsOf } from '../../../src/engine/metadata/enumerations.ts';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import type { DialectName } from '../../../src/engine/sql/dialects/every-dialect.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import type { Published, RowSink, SinkPlan } from '../../../src/ports/row-sink.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { needs, programOf, some } from '../../support/needs.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { deltaReader } from './readers.ts';
import { mariadbTarget } from './targets.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { first, firstModel, fleet, second, secondModel } from '../../support/models/fleets.ts';

let folders = '';
let directory = '';
let job = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'codes-'));
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

async function execute(file: string, sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const codesOfFirst = [
  ['/fleet/ship/@decks', '1', null, null],
  ['/fleet/ship/@decks', '2', null, null],
  ['State', "at 'sea'", 'At sea', 'On its way.'],
  ['State', 'moored', null, null],
];
const codesOfBoth = [
  ...codesOfFirst.slice(0, 2),
  ['State', 'aground', null, null],
  ['State', "at 'sea'", 'At sea', 'On its way.'],
  ['State', 'moored', 'Moored', 'Tied up; safe.'],
];
const codes = 'select * from _codes order by type, code';

test('a DuckDB file has them where they are asked for, then loads keep them up to date', async () => {
  const file = join(directory, 'a.duckdb');
  const sink = (): RowSink => createDuckDbRowSink({ file });
  await load(sink(), first, { model: firstModel }, fleet('moored'));
  expect(await execute(file, "select 1 from duckdb_tables() where table_name = '_codes'")).toEqual([]);
  for (const _ of [1, 2]) await load(sink(), first, { model: firstModel, codes: 'table' }, fleet('moored'));
  expect(await execute(file, codes)).toEqual(codesOfFirst);
  expect((await load(sink(), second, { model: secondModel }, fleet('sunk'))).changes).toEqual([]);
  expect(await execute(file, codes)).toEqual(codesOfBoth);
  expect((await load(sink(), first, { model: firstModel, codes: 'check' }, fleet('moored'))).changes).toEqual(
    ['DuckDB does not support CHECK constraints for codes: --codes check only fills _codes'],
  );
  await execute(file, 'drop table _codes; create table _Codes (mine int)');
  expect((await load(sink(), first, { model: firstModel, codes: 'table' }, fleet('moored'))).changes).toEqual(
    ['_codes: not filled with codes because an object that no load made has this name'],
  );
});

test('a MariaDB database has them in the same way', needs(mariadbParts), async () => {
  const server = await startMariadb();
  try {
    await server.run('CREATE DATABASE kept CHARACTER SET utf8mb4;');
    const { createSink, list, reader } = mariadbTarget(() => server, 'kept');
    const read = async (): Promise<unknown[][]> =>
      ((await reader.read('_codes')) ?? [])
        .map((row) => Object.values(row))
        .toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
    await load(createSink(), first, { model: firstModel }, fleet('moored'));
    expect(await list()).not.toContain('_codes');
    for (const _ of [1, 2])
      expect(
        (await load(createSink(), first, { model: firstModel, codes: 'table' }, fleet('moored'))).changes,
      ).toEqual([]);
    expect(await read()).toEqual(codesOfFirst);
    expect((await load(createSink(), second, { model: secondModel }, fleet('sunk'))).changes).toEqual([]);
    expect(await read()).toEqual(codesOfBoth);
    const overwrite = { model: secondModel, saveMode: 'overwrite', codes: 'check' } as const;
    expect((await load(createSink(), second, overwrite, fleet('sunk'))).changes).toEqual([
      'MySQL does not support CHECK constraints for codes: --codes check only fills _codes',
    ]);
    expect(await read()).toEqual(codesOfBoth);
    await server.run('DROP TABLE _codes; CREATE TABLE _codes (mine int);', folders, 'kept');
    const { changes } = await load(
      createSink(),
      first,
      { model: firstModel, codes: 'table' },
      fleet('moored'),
    );
    expect(changes).toContain(
      '_codes: not filled with codes because an object that no load made has this name',
    );
    // a target of its own gets them with its first rows
    await server.run('CREATE DATABASE fresh CHARACTER SET utf8mb4;');
    const fresh = mariadbTarget(() => server, 'fresh');
    const refused = fresh.createSink();
    const publish = refused.publish.bind(refused);
    refused.publish = (_, ...rest) => publish(async () => false, ...rest);
    const plan = { model: firstModel, codes: 'table' } as const;
    await expect(load(refused, first, plan, fleet('moored'))).rejects.toMatchObject({ code: 'conflict' });
    expect((await fresh.list()).filter((name) => name !== '_codes')).toEqual([]);
    await load(fresh.createSink(), first, plan, fleet('moored'));
    expect(await fresh.reader.read('_codes')).toHaveLength(codesOfFirst.length);
  } finally {
    await server.stop();
  }
});

test.each(some(['tsv', 'csv', 'jsonl', 'parquet'] as const, 2))(
  'a folder of %s has them as a table',
  async (format) => {
    const sink = (): RowSink => createFolderRowSink({ directory, format });
    const read = (): Promise<unknown[][]> => {
      const path = `'${join(directory, `_codes.${format}`)}'`;
      const from = {
        csv: `read_csv(${path}, all_varchar = true)`,
        tsv: `read_csv(${path}, delim = '\t', nullstr = '\\N', all_varchar = true)`,
        jsonl: `read_json(${path}, columns = {type: 'VARCHAR', code: 'VARCHAR', label: 'VARCHAR', documentation: 'VARCHAR'})`,
        parquet: path,
      };
      return execute(':memory:', codes.replace('_codes', from[format]));
    };
    await load(sink(), first, { model: firstModel }, fleet('moored'));
    expect(await readdir(directory)).not.toContain(`_codes.${format}`);
    for (const _ of [1, 2]) {
      const { rows } = await load(sink(), first, { model: firstModel, codes: 'table' }, fleet('moored'));
      expect(rows).toEqual({ fleet: 1, ship: 1 });
    }
    expect(await read()).toEqual(codesOfFirst);
    await load(sink(), second, { model: secondModel }, fleet('sunk'));
    expect(await read()).toEqual(codesOfBoth);
    await load(sink(), second, { model: secondModel, codes: 'none' }, fleet('sunk'));
    expect(await read()).toEqual(codesOfBoth);
    expect((await readdir(directory)).filter((name) => name.startsWith('_codes'))).toEqual([
      `_codes.${format}`,
    ]);
  },
);

test.each(some(['csv', 'tsv', 'jsonl'] as const, 1))(
  'load.sql makes and fills it of %s',
  needs('psql'),
  async (format) => {
    const sink = createFolderRowSink({ directory, format });
    await load(sink, first, { model: firstModel, codes: 'table' }, fleet('moored'));
    const database = await createEmptyDatabase();
    try {
      await promisify(execFile)(programOf('psql')!, ['-X', '-q', '-f', 'load.sql', database.url], {
        cwd: directory,
      });
      expect((await database.sql.unsafe(codes)).map((row) => Object.values(row))).toEqual(codesOfFirst);
    } finally {
      await database.drop();
    }
  },
);

test('load.sqlite.sql does', needs('sqlite3'), async () => {
  await load(
    createFolderRowSink({ directory, format: 'jsonl' }),
    first,
    { model: firstModel, codes: 'table' },
    fleet('moored'),
  );
  const run = (sql: string) => promisify(execFile)(programOf('sqlite3')!, ['a.db', sql], { cwd: directory });
  await run('.read load.sqlite.sql');
  expect((await run(codes)).stdout).toBe(
    codesOfFirst.map((row) => `${row.map((text) => text ?? '').join('|')}\n`).join(''),
  );
});

test('load.mysql.sql does', needs(mariadbParts), async () => {
  await load(
    createFolderRowSink({ directory, format: 'tsv' }),
    first,
    { model: firstModel, codes: 'table' },
    fleet('moored'),
  );
  const server = await startMariadb();
  try {
    await server.run('CREATE DATABASE loaded CHARACTER SET utf8mb4;');
    await server.run(await readFile(join(directory, 'load.mysql.sql'), 'utf8'), directory, 'loaded');
    const rows = (await server.run(`${codes};`, directory, 'loaded')).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split('\t').map((text) => (text === 'NULL' ? null : text)))).toEqual(
      codesOfFirst,
    );
  } finally {
    await server.stop();
  }
});

test('load.sql of Parquet does', async () => {
  await load(
    createFolderRowSink({ directory, format: 'parquet' }),
    first,
    { model: firstModel, codes: 'table' },
    fleet('moored'),
  );
  const script = await readFile(join(directory, 'load.sql'), 'utf8');
  const statements = `SET file_search_path = '${directory}'; ${script}; ${codes}`;
  expect(await execute(':memory:', statements)).toEqual(codesOfFirst);
});

test('the DDL of other databases has codes, and no checks', needs([...mariadbParts, 'sqlite3']), async () => {
  const valuesAt = await enumerationsOf(firstModel, first);
  const ddl = (dialect: DialectName): string =>
    renderDdl(firstModel, { dialect, codes: { choice: 'check', valuesAt } });
  expect(ddl('mysql')).toContain('-- CHECK constraints for codes are written only for PostgreSQL.');
  await mkdir(directory, { recursive: true });
  const sqlite = (sql: string) =>
    promisify(execFile)(programOf('sqlite3')!, [join(directory, 'a.db'), sql], { cwd: directory });
  await sqlite(ddl('sqlite'));
  expect((await sqlite('select count(*) from _codes')).stdout).toBe('4\n');
  expect(await execute(':memory:', `${ddl('duckdb')} ${codes}`)).toEqual(codesOfFirst);
  const server = await startMariadb();
  try {
    await server.run('CREATE DATABASE made CHARACTER SET utf8mb4;');
    await server.run(ddl('mysql'), directory, 'made');
    expect(await server.run('select label from _codes where label is not null;', directory, 'made')).toBe(
      'label\nAt sea\n',
    );
  } finally {
    await server.stop();
  }
});

test('a folder of a store that is elsewhere has codes and views as one of the machine', async () => {
  const files = createMemoryFileStore();
  const sink = (idJob: number): RowSink =>
    createObjectFolderRowSink({
      location: 's3://lake/codes',
      objects: objectsIn(files),
      prefix: '1/out/',
      label: 'out',
      format: 'tsv',
      jobMark: String(idJob),
      scratch: directory,
      lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
    });
  const names = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of files.listFiles('/memory/1/out')) found.push(name);
    return found.filter((name) => /^(?:_codes|views)/.test(name)).toSorted();
  };
  await load(sink(1), first, { model: firstModel, idJob: 1, codes: 'table', views: true }, fleet('moored'));
  expect(await names()).toEqual(['_codes.1.tsv', 'views.mysql.sql', 'views.sql']);
  await load(sink(2), second, { model: secondModel, idJob: 2 }, fleet('aground'));
  expect(await names()).toEqual(['_codes.2.tsv', 'views.mysql.sql', 'views.sql']);
  const text = await new Response(await files.read('/memory/1/out/_codes.2.tsv')).text();
  expect(text.trim().split('\n').slice(1).toSorted()).toEqual(
    codesOfBoth.map((row) => row.map((value) => value ?? '\\N').join('\t')),
  );
});

test('a folder of Delta tables has them, in a version for each change', async () => {
  const sink = (): RowSink => createLakeRowSink({ target: diskLake({ directory }), format: 'delta' });
  const read = async (): Promise<unknown[][]> => {
    const rows = (await deltaReader(directory).read('_codes')) ?? [];
    return rows.map((row) => Object.values(row)).toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
  };
  await load(sink(), first, { model: firstModel }, fleet('moored'));
  expect(await read()).toEqual([]);
  for (const _ of [1, 2]) await load(sink(), first, { model: firstModel, codes: 'table' }, fleet('moored'));
  expect(await read()).toEqual(codesOfFirst);
  expect(await readdir(join(directory, '_codes', '_delta_log'))).toEqual(['00000000000000000000.json']);
  await load(sink(), second, { model: secondModel }, fleet('sunk'));
  expect(await read()).toEqual(codesOfBoth);
  await load(sink(), second, { model: secondModel, saveMode: 'overwrite' }, fleet('sunk'));
  expect(await read()).toEqual(codesOfBoth);
  await rm(directory, { recursive: true });
  await mkdir(join(directory, '_codes'), { recursive: true });
  await expect(load(sink(), first, { model: firstModel, codes: 'table' }, fleet('moored'))).rejects.toThrow(
    '_codes exists and was not written by a job',
  );
  await load(sink(), first, { model: firstModel }, fleet('moored'));
});
