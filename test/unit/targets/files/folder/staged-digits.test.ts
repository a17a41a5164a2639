/** Digits of decimals in a staged file: those that count, of numbers and of lists, wherever the pieces of the file end. */
import { expect, it } from 'vitest';
import { measureDigits } from '../../../../../src/targets/files/parquet/writing.ts';

/** In pieces of so many bytes. */
function* piecesOf(rows: string, bytes: number): Generator<Uint8Array> {
  const all = new TextEncoder().encode(rows);
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes);
}

const columns = ['row_key', 'rate', 'text', 'rates'].map((name) => ({
  name,
  type: { kind: 'text' } as const,
}));

it('are those before and after the point without zeros at the ends', async () => {
  const rows =
    '1\t000.500\tx 123456.789\t{1,-2.25,1000}\n2\t-12\t\\N\t\\N\n3\t\\N\t7\t{}\n4\t0.0000100\t\t{.5}\n';
  expect(await measureDigits(piecesOf(rows, 1024), columns, [1, 3])).toEqual(
    new Map([
      [1, { whole: 2, fraction: 5 }],
      [3, { whole: 4, fraction: 2 }],
    ]),
  );
});

it('are the same where a number lies in two pieces', async () => {
  const rows = Array.from(
    { length: 60_000 },
    (_, row) => `${row}\t${row}.${row}1\tt${row}\t{${row}.5,${row}}\n`,
  );
  const all = [...rows, '1\t123456789.123456789\t1234567890.1234567890\t\\N\n'].join('');
  expect(await measureDigits(piecesOf(all, 997), columns, [1, 3])).toEqual(
    new Map([
      [1, { whole: 9, fraction: 9 }],
      [3, { whole: 5, fraction: 1 }],
    ]),
  );
});
