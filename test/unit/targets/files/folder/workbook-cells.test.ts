/** Values as cells: numbers and moments only where Excel gives them back. */
import { expect, it } from 'vitest';
import type { ColumnType } from '../../../../../src/engine/model/relational-model.ts';
import { cellMaker } from '../../../../../src/targets/files/folder/workbook.ts';

/** The number of a cell, or its text in quotes. */
function held(kind: ColumnType['kind'], text: string): string {
  const cell = cellMaker({ kind })(text, 'A1');
  const [, number] = /<v>(.*)<\/v>/.exec(cell) ?? [];
  const [, string] = /<t [^>]*>(.*)<\/t>/s.exec(cell) ?? [];
  return number ?? `'${string}'`;
}

it.each([
  ['boolean', 'true', '1'],
  ['boolean', 'yes', "'yes'"],
  ['bigint', '-00999999999999999', '-999999999999999'],
  ['bigint', '1000000000000000', "'1000000000000000'"],
  ['numeric', '100000000000000', '100000000000000'],
  ['numeric', '1000000000000000', "'1000000000000000'"],
  ['numeric', '0.000000000123456789012345', '0.000000000123456789012345'],
  ['numeric', '1.2345678901234567', "'1.2345678901234567'"],
  ['numeric', '12.500000000000000000000', '12.500000000000000000000'],
  ['numeric', '5.', '5'],
  ['numeric', '1e5', "'1e5'"],
  ['double', '1e5', '100000'],
  ['double', '1.7976931348623157e308', '1.7976931348623157e+308'],
  ['double', '1e309', "'1e309'"],
  ['double', '2e-308', "'2e-308'"],
  ['double', 'NaN', "'NaN'"],
  ['date', '1900-03-01', '61'],
  ['date', '1900-02-28', "'1900-02-28'"],
  ['date', '9999-12-31', '2958465'],
  ['date', '12026-01-01', "'12026-01-01'"],
  ['date', '2026-02-30', "'2026-02-30'"],
  ['time', '12:00:00', '0.5'],
  ['time', '24:00:00', "'24:00:00'"],
  ['time', '12:00:00.1230', '0.5000014236111111'],
  ['time', '12:00:00.1234', "'12:00:00.1234'"],
  ['timestamp', '2026-01-01T06:00:00', '46023.25'],
  ['timestamp', '2026-01-01T06:00:00Z', "'2026-01-01T06:00:00Z'"],
  ['timestamptz', '2026-01-01T06:00:00+06:00', '46023'],
  ['timestamptz', '2026-01-01T06:00:00-06:00', '46023.5'],
  ['timestamptz', '2026-01-01T06:00:00', "'2026-01-01T06:00:00'"],
  ['text', '\u{1}_x0041_ & \r', "'_x0001__x005F_x0041_ &amp; &#13;'"],
] as const)('%s %j is %s', (kind, text, cell) => {
  expect(held(kind, text)).toBe(cell);
});

it('keeps lists as text', () => {
  expect(cellMaker({ kind: 'integer', list: true })('{1}', 'B7')).toBe(
    '<c r="B7" s="2" t="inlineStr"><is><t xml:space="preserve">{1}</t></is></c>',
  );
});
