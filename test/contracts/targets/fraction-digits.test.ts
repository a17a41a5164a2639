/** Digits that a column has for other values, or as it had to be bounded, are left out where rows are read. */
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { lexicalText as duckDbText } from '../../../src/targets/sql/duckdb/types.ts';
import { lexicalText as postgresText } from '../../../src/targets/sql/postgres/tables.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';

type Case = readonly [value: string, type: string, fraction: number | null, text: string | null];

const expressions = (cases: readonly Case[], lexicalText: typeof duckDbText): string =>
  cases
    .map(
      ([value, type, fraction], at) =>
        `${lexicalText(`CAST(${value} AS ${type})`, type, fraction)} AS c${at}`,
    )
    .join(', ');
const expected = (cases: readonly Case[]): Record<string, string | null> =>
  Object.fromEntries(cases.map(([, , , text], at) => [`c${at}`, text]));

test('of DuckDB', async () => {
  const cases: readonly Case[] = [
    ['3.5', 'DECIMAL(38,18)', 0, '3.5'],
    ['-40', 'DECIMAL(38,18)', 0, '-40'],
    ['12.5', 'DECIMAL(12,4)', 2, '12.50'],
    ['12.505', 'DECIMAL(12,4)', 2, '12.505'],
    ['12.5', 'DECIMAL(10,2)', 2, '12.50'],
    ['12.5', 'DECIMAL(10,2)', null, '12.50'],
    ['99999999999999999999.9', 'DECIMAL(38,18)', 0, '99999999999999999999.9'],
    ['NULL', 'DECIMAL(38,18)', 0, null],
    ['[1.5, 2]', 'DECIMAL(38,18)[]', 0, '1.5 2'],
  ];
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const [row] = (
    await connection.runAndReadAll(`SELECT ${expressions(cases, duckDbText)}`)
  ).getRowObjectsJS();
  connection.closeSync();
  instance.closeSync();
  expect(row).toEqual(expected(cases));
});

test('of PostgreSQL', async () => {
  const cases: readonly Case[] = [
    ['3', 'numeric(12,4)', 0, '3'],
    ['12.5', 'numeric(12,4)', 2, '12.50'],
    ['12.505', 'numeric(12,4)', 2, '12.505'],
    ['12.50', 'numeric', 0, '12.50'],
    ['NULL', 'numeric(12,4)', 2, null],
  ];
  const database = await createEmptyDatabase();
  const [row] = await database.sql.unsafe(`SELECT ${expressions(cases, postgresText)}`);
  await database.drop();
  expect({ ...row }).toEqual(expected(cases));
});
