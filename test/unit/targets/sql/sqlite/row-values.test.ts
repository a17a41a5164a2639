/** Rows of staged text as the values that SQLite is given. */
import { describe, expect, it } from 'vitest';
import {
  readRow,
  converterFor,
  type ColumnReading,
  type BoundValue,
} from '../../../../../src/targets/sql/sqlite/insert-rows.ts';

const whole = (offset = 0): ColumnReading => ({
  offset,
  convert: converterFor({ kind: 'bigint' }, 'INTEGER'),
});
const text: ColumnReading = { offset: null, convert: converterFor({ kind: 'text' }, 'TEXT') };

function rowsOf(staged: string, columns: readonly ColumnReading[]): BoundValue[][] {
  const rows: BoundValue[][] = [];
  for (let at = 0; at < staged.length;) {
    const values: BoundValue[] = [];
    at = readRow(staged, at, columns, values, 0, 'order');
    rows.push(values);
  }
  return rows;
}

describe('a row of staged text', () => {
  it('has numbers of few digits as numbers, and longer ones with all of their digits', () => {
    expect(
      rowsOf('7\t0\n999999999999999\t9007199254740993\n-5\t+12\n0042\t\\N\n', [whole(), whole()]),
    ).toEqual([
      [7, 0],
      [999_999_999_999_999, '9007199254740993'],
      [-5, 12],
      [42, null],
    ]);
  });

  it('has keys that go on where others ended', () => {
    const keys = { offset: 1000, convert: (key: string) => `converted ${key}` };
    expect(rowsOf('1\tx\n15\ty\n9999999999999999\tz\n', [keys, text])).toEqual([
      [1001, 'x'],
      [1015, 'y'],
      ['converted 9999999999999999', 'z'],
    ]);
  });

  it('has text as it was: empty, escaped, of digits alone, and none', () => {
    const staged = 'a\\tb\\nc\\\\N\\r\t\n\\N\t0042\n\\\\N\t東京 😀\n';
    expect(rowsOf(staged, [text, text])).toEqual([
      ['a\tb\nc\\N\r', ''],
      [null, '0042'],
      ['\\N', '東京 😀'],
    ]);
  });

  it('goes into its place among other rows', () => {
    const values: BoundValue[] = Array(6).fill(null);
    expect(readRow('1\tx\n2\ty\n', 4, [whole(), text], values, 2, 'order')).toBe(8);
    expect(values).toEqual([null, null, 2, 'y', null, null]);
  });

  it.each([
    ['1\n', 1],
    ['1\tx\ty\n', 3],
    ['x\n', 1],
    ['\n', 1],
  ])('is refused with another number of values: %j', (staged, found) => {
    expect(() => rowsOf(staged, [whole(), text])).toThrow(`order: a row has ${found} values, not 2`);
  });
});

describe('decimals as text', () => {
  it.each([
    ['12.50', '12.50'],
    ['0', '0'],
    ['-0.5', '-0.5'],
    ['+1', '1'],
    ['007.10', '7.10'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['5.', '5'],
    ['1e10', '1e10'],
    ['n/a', 'n/a'],
  ])('%s', (written, expected) => {
    expect(converterFor({ kind: 'numeric' }, 'TEXT')(written)).toBe(expected);
  });
});
