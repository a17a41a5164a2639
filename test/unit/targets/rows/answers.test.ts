/** Answers with rows: their limits, the forms of values, and the places of faults. */
import { describe, expect, it } from 'vitest';
import { fixedLimits } from '../../../../src/config/limits.ts';
import type { AnswerValue } from '../../../../src/ports/target-reader.ts';
import {
  collectRows,
  floatValue,
  noSuchTable,
  rowKeyOf,
  statementFault,
  wholeValue,
} from '../../../../src/targets/rows/answers.ts';

async function* rowsOf(count: number, value: AnswerValue = 1): AsyncGenerator<readonly AnswerValue[]> {
  for (let at = 0; at < count; at += 1) yield [value];
}
const columns = [{ name: 'a', type: 'text' }];
const mebi = 'x'.repeat(1024 * 1024);

describe('the rows of an answer', () => {
  it.each([
    [0, 0, false],
    [3, 3, false],
    [4, 3, true],
  ])('of %i are %i at most 3', async (count, collected, truncated) => {
    const answer = await collectRows({ columns, rows: rowsOf(count) }, 3, false);
    expect([answer.rows.length, answer.truncated]).toEqual([collected, truncated]);
  });

  it('end before they exceed the size of an answer', async () => {
    const most = fixedLimits.answerRowBytes / mebi.length;
    const answer = await collectRows({ columns, rows: rowsOf(20, mebi) }, 1000, false);
    expect(answer).toMatchObject({ truncated: true });
    expect(answer.rows).toHaveLength(most - 1);
    // a character may have more bytes than one
    const wide = await collectRows({ columns, rows: rowsOf(20, 'é'.repeat(mebi.length)) }, 1000, false);
    expect(wide.rows).toHaveLength(most / 2 - 1);
  });

  it('are refused if one row, or a page, is larger', async () => {
    const refused = { code: 'unprocessable_input', message: expect.stringContaining('8 MiB') as unknown };
    await expect(
      collectRows({ columns, rows: rowsOf(1, mebi.repeat(9)) }, 1000, false),
    ).rejects.toMatchObject(refused);
    await expect(collectRows({ columns, rows: rowsOf(9, mebi) }, 20, true)).rejects.toMatchObject(refused);
  });

  it('are read no further than needed', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<readonly AnswerValue[]> {
      for (;;) yield [(read += 1)];
    }
    await collectRows({ columns, rows: endless() }, 5, false);
    expect(read).toBe(6);
  });
});

describe('values', () => {
  it('keep every digit', () => {
    expect([2n ** 53n - 1n, 2n ** 53n, -(2n ** 63n), 0n].map(wholeValue)).toEqual([
      9007199254740991,
      '9007199254740992',
      '-9223372036854775808',
      0,
    ]);
    expect([0.1, -0, NaN, Infinity, -Infinity].map(floatValue)).toEqual([
      0.1,
      -0,
      'NaN',
      'Infinity',
      '-Infinity',
    ]);
  });
});

describe('faults', () => {
  it('have line, column and hint', () => {
    const fault = statementFault('no such column', 'select\n  x', { position: 9, hint: 'perhaps y' });
    expect(fault.message).toBe('line 2, column 3: no such column. Hint: perhaps y');
    expect(fault.errors).toEqual([{ pointer: '/sql', detail: fault.message }]);
    expect(statementFault('no', 'select 1').message).toBe('no');
  });

  it('name some of the tables', () => {
    expect(noSuchTable('x', ['b', 'a']).message).toBe('the target has no table or view "x": it has "a", "b"');
    expect(noSuchTable('x', []).message).toContain('it has none');
    const many = Array.from({ length: 30 }, (_, at) => `t${at}`);
    expect(noSuchTable('x', many).message).toMatch(/ and 10 more$/);
  });
});

it.each([
  ['order', ['order_key', 'x'], 'order_key'],
  ['document', ['document_row_key', 'document_key'], 'document_row_key'],
  ['order', ['number', 'order_key'], null],
  ['_documents', ['document_key'], null],
  ['order', [], null],
])('the row key of %s with %j is %j', (table, names, key) => {
  expect(rowKeyOf(table, names)).toBe(key);
});
