/** Names of sheets: those that Excel takes, and no two that it takes for one. */
import { expect, it } from 'vitest';
import { sheetNames } from '../../../../src/engine/workbook.ts';

it.each([
  ['order', 'order'],
  ['a/b:c*d?e[f]\\g', 'a_b_c_d_e_f__g'],
  ["'quoted'", '_quoted_'],
  ['History', 'History_'],
  ['', '_'],
  ['x'.repeat(40), 'x'.repeat(31)],
  // half of a character is none
  [`${'x'.repeat(30)}\u{1F600}`, 'x'.repeat(30)],
  [`${'x'.repeat(30)}'s`, `${'x'.repeat(30)}_`],
])('%j is called %j', (table, sheet) => {
  expect([...sheetNames([table])]).toEqual([[table, sheet]]);
});

it('are as many as the tables, whatever Excel takes for the same', () => {
  const long = 'customer_address_postal_code_of_';
  const tables = ['Order', 'order', 'ORDER', `${long}home`, `${long}work`, 'order (2)'];
  const names = [...sheetNames(tables).values()];
  expect(names).toEqual([
    'Order',
    'order (2)',
    'ORDER (3)',
    'customer_address_postal_code_of',
    'customer_address_postal_cod (2)',
    'order (2) (2)',
  ]);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(tables.length);
});
