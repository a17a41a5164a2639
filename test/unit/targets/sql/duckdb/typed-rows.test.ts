/** Chunks of a result as rows of text, their numbers and moments taken as they lie. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { TypedRows, type TypedPlan } from '../../../../../src/targets/sql/duckdb/typed-rows.ts';
import { lexicalText, storedValues } from '../../../../../src/targets/sql/duckdb/types.ts';
import { storedForm } from '../../../../../src/engine/parquet/reading/stored-column.ts';
import { cellText } from '../../../../../src/engine/unshred/rows/values.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** Values of an expression over `range(5000) t(i)`, as they lie and as DuckDB's text. */
async function bothWays(expression: string, sqlType: string, fraction: number | null) {
  const value = `(${expression})::${sqlType}`;
  const stored = storedValues(value, sqlType)!;
  const text = lexicalText(value, sqlType, fraction);
  const plan: TypedPlan = {
    typed: [{ column: 1, form: storedForm(stored.sqlType, fraction) }],
    fields: { columns: [2, 0], decoders: [null, null], width: 4 },
    width: 4,
  };
  const result = await connection.stream(
    `SELECT ${stored.expression}, concat_ws(chr(31), COALESCE(${text}, chr(30)), 'row ' || i) FROM range(5000) t(i)`,
  );
  const rows = new TypedRows();
  const found: (string | null)[][] = [];
  for (let chunk = await result.fetchChunk(); chunk !== null; chunk = await result.fetchChunk()) {
    if (chunk.rowCount === 0) break;
    const block = rows.block(chunk, plan)!;
    for (let row = 0; row < block.rows; row += 1)
      found.push([0, 1, 2, 3].map((column) => cellText({ ...block, at: row * 8 }, column)));
    rows.giveBack(block);
  }
  return found;
}

describe('values as they lie in vectors', () => {
  it.each([
    ['BIGINT', '(i - 2500) * 3689348814741910', null],
    ['INTEGER', '(i - 2500) * 800000', null],
    ['SMALLINT', 'i - 2500', null],
    ['DECIMAL(4,1)', '(i - 2500) / 10.0', null],
    ['DECIMAL(9,3)', '(i - 2500) * 1.125', 1],
    ['DECIMAL(18,6)', '(i - 2500) * 1234.5', 0],
    ['DECIMAL(38,18)', "(i - 2500) * '12345678901234.125'::DECIMAL(30,3)", 0],
    ['DATE', "DATE '0001-01-01' + i::INTEGER * 700", null],
    ['TIME', "TIME '00:00:00' + to_microseconds(i * 17000001)", null],
    ['TIMESTAMP', "TIMESTAMP '1901-01-01' + to_microseconds(i * 1700000000500)", null],
    ['TIMESTAMP WITH TIME ZONE', "TIMESTAMPTZ '1901-01-01 00:00:00+00' + to_seconds(i * 1000003)", null],
  ] as const)('are the text that DuckDB has for them: %s', async (sqlType, expression, fraction) => {
    for (const one of [expression, `CASE WHEN i % 3 = 1 THEN ${expression} END`]) {
      const rows = await bothWays(one, sqlType, fraction);
      expect(rows).toHaveLength(5000);
      expect(rows.map(([, typed]) => typed)).toEqual(rows.map(([, , text]) => text));
      expect(rows.map(([name, , , none]) => [name, none])).toEqual(rows.map((_, at) => [`row ${at}`, null]));
    }
  });

  it('are missing in all rows of a chunk', async () => {
    const rows = await bothWays('NULL', 'BIGINT', null);
    expect(new Set(rows.map(([, typed]) => typed))).toEqual(new Set([null]));
  });
});
