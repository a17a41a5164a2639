/** Texts out of DuckDB's chunks as bytes: short ones lie in the vector, long ones anywhere. */
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { chunkTexts } from '../../../../../src/targets/sql/duckdb/typed-rows.ts';
import { chunksOf } from '../../../../../src/targets/sql/duckdb/row-chunks.ts';
import { fieldBlock } from '../../../../../src/targets/rows/field-blocks.ts';
import { cellText } from '../../../../../src/engine/unshred/rows/values.ts';

/** short, long, of the edge (12 bytes), empty, and some that many rows share */
const text = `CASE i % 5 WHEN 0 THEN repeat('ü', (i % 40)::INT) WHEN 1 THEN 'twelve bytes' WHEN 2 THEN '' WHEN 3 THEN repeat('x', (i % 900)::INT) ELSE i::VARCHAR END`;

it('they are what DuckDB says they are', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE t AS SELECT i, ${text} AS text FROM range(20000) r(i)`);
  const expected = (await connection.runAndReadAll('SELECT text FROM t ORDER BY i')).getColumns()[0]!;
  const chunks = chunksOf(connection, await connection.stream('SELECT text FROM t ORDER BY i'));
  const found: string[] = [];
  for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next()) {
    const { bytes, ends } = chunkTexts(chunk);
    let at = 0;
    for (const end of ends) {
      found.push(new TextDecoder().decode(bytes.subarray(at, end)));
      at = end;
    }
  }
  expect(found).toEqual(expected);
  expect(await chunks.next()).toBeNull();
  await chunks.close();
  instance.closeSync();
});

it('fields are set apart, and those that are not there are empty', () => {
  const bytes = new TextEncoder().encode('1\u001fa\u001f\u001e2\u001f\u001f\u001eb');
  const plan = { columns: [2, 0, 3], decoders: [null, null, null], width: 4 };
  const block = fieldBlock(bytes, Int32Array.of(5, 10), plan)!;
  const values = [0, 1].map((row) =>
    [0, 1, 2, 3].map((column) => cellText({ ...block, at: row * 8 }, column)),
  );
  expect(values).toEqual([
    ['a', null, '1', null],
    ['', null, '2', '\u001eb'],
  ]);
  expect(fieldBlock(bytes, Int32Array.of(5, 7), plan)).toBeNull();
  expect(fieldBlock(bytes, Int32Array.of(10), plan)).toBeNull();
});
