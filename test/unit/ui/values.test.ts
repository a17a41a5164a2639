/** Rows as CSV: exact values, NULL apart from empty texts. */
import { expect, it } from 'vitest';
import { csvOf } from '../../../src/ui/parts/value-grid.ts';

it('writes each value with every digit, and quotes by RFC 4180', () => {
  const columns = ['a', 'b "x"', 'c'].map((name) => ({ name, type: 'text' }));
  const rows = [
    ['9007199254740993', '1.500', 0.1],
    ['a,b', 'line\nbreak', '"'],
    [null, '', true],
    [[1, null], { a: 'b' }, 'plain'],
  ];
  expect(csvOf({ columns, rows })).toBe(
    'a,"b ""x""",c\r\n' +
      '9007199254740993,1.500,0.1\r\n' +
      '"a,b","line\nbreak",""""\r\n' +
      ',"",true\r\n' +
      '"[1,null]","{""a"":""b""}",plain\r\n',
  );
});
