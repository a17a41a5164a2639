/** Rows with long texts are read by few at a time, all of them, in the order in which they lie. */
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunkTexts, textBytes } from '../../../../../src/targets/sql/duckdb/typed-rows.ts';
import { chunksOfPieces } from '../../../../../src/targets/sql/duckdb/row-chunks.ts';

/** bytes of a long text; rows of the table, of which every third one was removed, and those with long texts, which come first */
const [longest, rows, longRows] = [20_000, 90_000, 3000];
let instance: DuckDBInstance;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(
    `CREATE TABLE t AS SELECT i, CASE WHEN i < ${longRows} THEN repeat('x', ${longest}) ELSE 'short ' || i END AS body FROM range(${rows}) r(i); DELETE FROM t WHERE i % 3 = 0`,
  );
  connection.closeSync();
});
afterAll(() => instance.closeSync());

interface Found {
  readonly texts: string[];
  readonly queries: number;
  readonly largest: number;
}

async function readPieces(connection: DuckDBConnection, first: number): Promise<Found> {
  let queries = 0;
  let largest = 0;
  const texts: string[] = [];
  const chunks = chunksOfPieces(connection, {
    query: (condition) => {
      queries += 1;
      return `SELECT body FROM t WHERE ${condition}`;
    },
    end: rows,
    longest: first,
    bytesOf: (chunk) => textBytes(chunk, 0),
  });
  for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next()) {
    const { bytes, ends } = chunkTexts(chunk);
    largest = Math.max(largest, bytes.length);
    let from = 0;
    for (const end of ends) {
      texts.push(Buffer.from(bytes.subarray(from, end)).toString('latin1'));
      from = end;
    }
  }
  return { texts, queries, largest };
}

describe('pieces of a table with long texts', () => {
  const expected = Array.from({ length: rows }, (_, at) => at)
    .filter((at) => at % 3 !== 0)
    .map((at) => (at < longRows ? 'x'.repeat(longest) : `short ${at}`));

  it.each([
    ['the longest text known', longest],
    ['a longer one told than there is', 4 * longest],
    ['no length told', 0],
  ])('are all rows in order: %s', async (_, first) => {
    const { texts } = await readPieces(await instance.connect(), first);
    expect(texts).toEqual(expected);
  });

  it('are large where texts are short, and small where they are long', async () => {
    const { queries, largest } = await readPieces(await instance.connect(), longest);
    // 2,048 rows at once would have 27 MB
    expect(largest).toBeLessThan(4 * 1024 * 1024);
    expect(queries).toBeLessThan(60);
  });
});
