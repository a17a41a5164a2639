/** What targets print of values, in the form that their types ask for. */
import { describe, expect, it } from 'vitest';
import type { Column, ColumnType, WrittenForm } from '../../../../src/engine/model/relational-model.ts';
import type { RowBlocks } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { cellText, textBlock } from '../../../../src/engine/unshred/rows/values.ts';
import { withWrittenForms } from '../../../../src/engine/unshred/rows/written-forms.ts';

function columnOf(
  type: ColumnType,
  form?: WrittenForm | { readonly fixed: string },
): { readonly column: Column; readonly table: number; readonly at: number } {
  const column = {
    name: 'v',
    role: 'value',
    type,
    nullable: true,
    xpath: null,
    path: '/v',
    sourceType: null,
    references: null,
  } as const;
  if (form === undefined) return { column, table: 0, at: 0 };
  const more =
    'fixed' in form ? { constraint: { kind: 'fixed' as const, value: form.fixed } } : { writtenAs: form };
  return { column: { ...column, ...more }, table: 0, at: 0 };
}

async function written(
  type: ColumnType,
  form: WrittenForm | { readonly fixed: string },
  printed: readonly (string | null)[],
): Promise<(string | null)[]> {
  // beside a column that stays as it is
  const columns = [columnOf({ kind: 'text' }), columnOf(type, form)];
  const blocks: RowBlocks[] = [
    textBlock(
      printed.map((text) => ['1.500', text]),
      2,
    ),
  ].map((block) => {
    let left: typeof block | null = block;
    return { next: () => Promise.resolve([left, (left = null)][0]!) };
  });
  const block = (await withWrittenForms(blocks[0]!, columns).next())!;
  return printed.map((_, row) => {
    expect(cellText({ ...block, at: row * 4 }, 0)).toBe('1.500');
    return cellText({ ...block, at: row * 4 }, 1);
  });
}

const numeric: ColumnType = { kind: 'numeric', precision: 20, scale: 8 };

describe('values are written', () => {
  it.each<[ColumnType, WrittenForm, (string | null)[], (string | null)[]]>([
    [
      numeric,
      { fraction: 2 },
      ['5', '5.00000000', '-0.125', '-0.50', null, '', '12.3'],
      ['5.00', '5.00', '-0.125', '-0.50', null, '', '12.30'],
    ],
    [numeric, {}, ['5.00000000', '5', '5.5', '100'], ['5', '5', '5.5', '100']],
    [
      numeric,
      { whole: 3, fraction: 1 },
      ['5', '-5.50', '1234.0', '.5'],
      ['005.0', '-005.5', '1234.0', '000.5'],
    ],
    [{ kind: 'integer' }, { whole: 5 }, ['42', '-7', '123456'], ['00042', '-00007', '123456']],
    [
      { kind: 'double' },
      { fraction: 1 },
      ['100.0', '5', '1e20', 'INF', 'NaN', '0.25'],
      ['100.0', '5.0', '1e20', 'INF', 'NaN', '0.25'],
    ],
    // columns that became text
    [numeric, { fraction: 2 }, ['n/a', '-', '.', '1,5'], ['n/a', '-', '.', '1,5']],
    [{ kind: 'boolean' }, { digits: true }, ['true', 'false', '1', 'tree', null], ['1', '0', '1', '1', null]],
    [
      { kind: 'time' },
      { fraction: 3 },
      ['10:00:00', '10:00:00.5', '10:00:00.123456', '10:00:00Z'],
      ['10:00:00.000', '10:00:00.500', '10:00:00.123456', '10:00:00.000Z'],
    ],
    [
      { kind: 'timestamptz' },
      { fraction: 2 },
      [
        '2024-01-01T10:00:00Z',
        '2024-01-01T10:00:00.5+02:00',
        '2024-01-01T10:00:00.500Z',
        '12024-01-01T10:00:00Z',
        'soon',
      ],
      [
        '2024-01-01T10:00:00.00Z',
        '2024-01-01T10:00:00.50+02:00',
        '2024-01-01T10:00:00.50Z',
        '12024-01-01T10:00:00Z',
        'soon',
      ],
    ],
    [
      { ...numeric, list: true },
      { fraction: 2 },
      ['5 6.5 1.250', '5.00', ''],
      ['5.00 6.50 1.25', '5.00', ''],
    ],
    [{ kind: 'boolean', list: true }, { digits: true }, ['true false', '1 true'], ['1 0', '1 1']],
  ])('of %j as %j', async (type, form, printed, expected) => {
    expect(await written(type, form, printed)).toEqual(expected);
  });

  it.each<[ColumnType, string, (string | null)[], (string | null)[]]>([
    [numeric, '-5', ['-5.00000000', '-5', '-6.5', null], ['-5', '-5', '-6.5', null]],
    [numeric, '+05.0', ['5', '5.00', '50'], ['+05.0', '+05.0', '50']],
    [{ kind: 'double' }, '1E2', ['100.0', '1e+02', '0'], ['1E2', '1E2', '0']],
    [{ kind: 'boolean' }, '1', ['true', 'false'], ['1', 'false']],
    [{ kind: 'integer', list: true }, ' +5 5  05 ', ['5 5 5', '5 5'], ['+5 5  05', '5 5']],
    [{ kind: 'text' }, '5', ['5.0'], ['5.0']],
  ])('of %j as %j, which is fixed', async (type, fixed, printed, expected) => {
    expect(await written(type, { fixed }, printed)).toEqual(expected);
  });

  it('as they are where any form is valid', () => {
    const blocks: RowBlocks = { next: () => Promise.resolve(null) };
    expect(withWrittenForms(blocks, [columnOf(numeric)])).toBe(blocks);
  });
});
