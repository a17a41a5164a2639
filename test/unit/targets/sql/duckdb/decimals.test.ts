/** Decimals of more than 18 digits, which DuckDB's file is filled with in two parts, are those that one cast makes. */
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { stagedValue } from '../../../../../src/targets/sql/duckdb/csv-import.ts';

const written = (
  '.5 -.5 +.5 5. -0 -0.0 +1.50 0 -17 000000000000000000001.5 12345678901234567.00000000000000000001 -99999999999999999.9 ' +
  '-0.00000000000000000001 -0.000000000000000001 0.123456789012345678 -12345678901234567.123456789012345678'
).split(' ');

it.each([
  ['DECIMAL(38,20)', { whole: 17, fraction: 20 }],
  ['DECIMAL(37,18)', { whole: 19, fraction: 18 }],
])('of %s', async (sqlType, digits) => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = written.map((value) => `('${value}')`).join();
  const parts = stagedValue('v', { kind: 'numeric' }, sqlType, digits);
  const found = await connection.runAndReadAll(
    `SELECT v, (${parts})::VARCHAR FROM (VALUES ${rows}, (NULL)) t(v)`,
  );
  const expected = await connection.runAndReadAll(
    `SELECT v, v::${sqlType}::VARCHAR FROM (VALUES ${rows}, (NULL)) t(v)`,
  );
  expect(found.getRows()).toEqual(expected.getRows());
  expect(found.getRows()).toHaveLength(written.length + 1);
  instance.closeSync();
});
