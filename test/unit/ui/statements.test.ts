/** The statements that the page composes, run in SQLite and DuckDB: names and values are quoted, whatever they contain. */
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import {
  countStatement,
  pageStatement,
  quoted,
  sqlOf,
  type Condition,
  type ShownOrder,
  type TargetSql,
} from '../../../src/ui/rows/statements.ts';

const table = `or"der'; drop table x--`;
const text = `na"me`;
const values: readonly (readonly [number, string | null, number | null])[] = [
  [1, `it's`, 10],
  [2, '100%', 9],
  [3, '100_', null],
  [4, null, 10],
  [5, `back\\slash!`, 2],
];

function setUp(): string[] {
  const rows = values.map(([key, name, amount]) => {
    const written = name === null ? 'null' : `'${name.replaceAll("'", "''")}'`;
    return `(${key}, ${written}, ${amount})`;
  });
  return [
    `create table ${quoted(table)} (${quoted('key')} integer, ${quoted(text)} varchar, ${quoted('amount')} integer)`,
    `insert into ${quoted(table)} values ${rows.join(', ')}`,
  ];
}

type Run = (statement: string) => Promise<unknown[][]>;

const databases: Readonly<Record<'sqlite' | 'duckdb', () => Promise<Run>>> = {
  sqlite: async () => {
    const database = new DatabaseSync(':memory:');
    for (const statement of setUp()) database.exec(statement);
    return async (statement) =>
      database
        .prepare(statement)
        .all()
        .map((row) => Object.values(row));
  },
  duckdb: async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const statement of setUp()) await connection.run(statement);
    return async (statement) => await (await connection.runAndReadAll(statement)).getRows();
  },
};

describe.each(Object.entries(databases))('statements in %s', (name, open) => {
  const sql = name as TargetSql;
  const keys = async (
    run: Run,
    conditions: readonly Condition[],
    order: ShownOrder | null = null,
    page = { page: 0, size: 10 },
  ): Promise<number[]> => {
    const rows = await run(
      pageStatement(sql, { table, conditions, order, key: ['key'], decimals: [] }, page),
    );
    return rows.map(([key]) => Number(key));
  };

  it('filter by text, with the characters of patterns and of strings as they are', async () => {
    const run = await open();
    const containing = (value: string): Promise<number[]> =>
      keys(run, [{ column: text, comparison: 'contains', value }]);
    expect(await containing(`T'S`)).toEqual([1]);
    expect(await containing('%')).toEqual([2]);
    expect(await containing('_')).toEqual([3]);
    expect(await containing('\\')).toEqual([5]);
    expect(await containing('!')).toEqual([5]);
    expect(await containing('100')).toEqual([2, 3]);
    expect(await containing(`' or 1=1 --`)).toEqual([]);
  });

  it('compare in the type of the column', async () => {
    const run = await open();
    const amount = (comparison: Condition['comparison'], value = ''): Promise<number[]> =>
      keys(run, [{ column: 'amount', comparison, value }]);
    expect(await amount('>=', '9')).toEqual([1, 2, 4]);
    expect(await amount('<=', '9')).toEqual([2, 5]);
    expect(await amount('=', '10')).toEqual([1, 4]);
    expect(await amount('<>', '10')).toEqual([2, 5]);
    expect(await amount('null')).toEqual([3]);
    expect(await amount('not null')).toEqual([1, 2, 4, 5]);
  });

  it('sort with NULL at the end and equal rows by their key, in pages', async () => {
    const run = await open();
    const sorted = { column: 'amount', descending: false };
    expect(await keys(run, [], sorted)).toEqual([5, 2, 1, 4, 3]);
    expect(await keys(run, [], { ...sorted, descending: true })).toEqual([1, 4, 2, 5, 3]);
    expect(await keys(run, [], sorted, { page: 1, size: 2 })).toEqual([1, 4]);
  });

  it('count the rows that meet all conditions', async () => {
    const run = await open();
    const conditions: Condition[] = [
      { column: text, comparison: 'contains', value: '100' },
      { column: 'amount', comparison: 'not null', value: '' },
    ];
    const [[found]] = (await run(
      countStatement(sql, { table, conditions, order: null, key: [], decimals: [] }),
    )) as [[bigint]];
    expect(Number(found)).toBe(1);
  });
});

it('compares decimals as numbers where SQLite has them as text', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(
    `create table t (k integer, d text); insert into t values (1, '10.5'), (2, '9.50'), (3, null)`,
  );
  const keys = (conditions: readonly Condition[]): unknown[] => {
    const order = { column: 'd', descending: false };
    const selection = { table: 't', conditions, order, key: ['k'], decimals: ['d'] };
    return database
      .prepare(pageStatement('sqlite', selection, { page: 0, size: 9 }))
      .all()
      .map(({ k }) => k);
  };
  expect(keys([])).toEqual([2, 1, 3]);
  expect(keys([{ column: 'd', comparison: '>=', value: '9.6' }])).toEqual([1]);
  expect(keys([{ column: 'd', comparison: '=', value: '9.5' }])).toEqual([2]);
});

it('knows the SQL of a target by its text', () => {
  expect(
    ['metadb:a', 'sqlite:a.db', 'duckdb:a.db', 'out/parquet', 's3://b/c', 'postgresql://h/d'].map(sqlOf),
  ).toEqual(['postgresql', 'sqlite', 'duckdb', 'duckdb', null, null]);
});
