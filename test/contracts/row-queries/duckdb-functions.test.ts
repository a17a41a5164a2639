/** Queries of a DuckDB file may compute with the rows of its tables, and call nothing else. */
import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, expect, it } from 'vitest';
import { openDuckDbQuery } from '../../../src/targets/sql/duckdb/query.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let folder: string;

beforeAll(async () => {
  folder = await trial.folder('duckdb-functions-');
  await mkdir(join(folder, 'spill'));
  await make('plain', `CREATE VIEW big AS SELECT * FROM inbox WHERE id > 1`);
  await make('views', `CREATE VIEW spy AS SELECT id, current_setting('temp_directory') x FROM inbox`);
  await make('macros', `CREATE MACRO lower(x) AS current_setting('temp_directory')`);
});

async function make(name: string, more: string): Promise<void> {
  const instance = await DuckDBInstance.create(join(folder, `${name}.duckdb`));
  const connection = await instance.connect();
  await connection.run(
    `CREATE TABLE inbox AS SELECT i AS id, '<a>' || i || '</a>' AS x FROM range(3) t(i); ${more}`,
  );
  connection.closeSync();
  instance.closeSync();
}

async function rowsOf(query: string, file = 'plain'): Promise<unknown[]> {
  const rows = await openDuckDbQuery(join(folder, `${file}.duckdb`), query, {
    label: 'inbox',
    spill: join(folder, 'spill'),
  });
  try {
    return await Array.fromAsync(rows.rows(null));
  } finally {
    await rows.close();
  }
}

it.each([
  'select id, x from inbox',
  "SELECT id, Upper(x) AS x FROM inbox WHERE x LIKE '<a>%' AND id IN (0, 1, 2)",
  "select count(*) over (partition by id) as n, coalesce(nullif(x, ''), 'none') as x from inbox order by id;",
  'with recursive c(n) as (select 1 union all select n + 1 from c where n < 3) select n, x from c join inbox on id = n - 1',
  "select i.id, regexp_replace(x, 'a', 'b') || '!' as x from inbox i, unnest([1]) u(k), range(1) r(j) -- all",
  'select id, x[2] as x, -id as m, id % 2 as r, cast(id as varchar) as t, case when id > 1 then 1 end as c from inbox',
])('%s', async (query) => {
  expect(await rowsOf(query)).toHaveLength(3);
});

it('a view of the file is a table', async () => {
  expect(await rowsOf('select * from big')).toHaveLength(1);
});

it.each([
  ["select current_setting('temp_directory') x", 'the function current_setting'],
  ["select id, getenv('HOME') x from inbox", 'the function getenv'],
  ["select * from read_text('/etc/passwd')", 'the table function read_text'],
  ["select (select content from read_text('/etc/passwd')) x from inbox", 'the table function read_text'],
  ["select * from glob('/*')", 'the table function glob'],
  ['select * from duckdb_settings()', 'the table function duckdb_settings'],
  ['select * from duckdb_tables', 'the catalogue table duckdb_tables'],
  ['select * from information_schema.tables', 'the catalogue table tables'],
  ["select * from query('select 1')", 'the table function query'],
  ['select sleep_ms(100000) x', 'the function sleep_ms'],
  ["select id from inbox order by current_setting('threads')", 'the function current_setting'],
  ['select * from (describe inbox)', 'SHOW or DESCRIBE'],
  ["copy inbox to 'x'", 'must be one SELECT'],
  ['select 1; select 2', 'must be one SELECT'],
])('%s is refused', async (query, reason) => {
  await expect(rowsOf(query)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(reason) as unknown,
  });
});

it('views and macros of the file hide nothing', async () => {
  await expect(rowsOf('select * from spy', 'views')).rejects.toThrow('current_setting (in the view spy)');
  await expect(rowsOf('select lower(x) x from inbox', 'macros')).rejects.toThrow('the macro lower');
});
