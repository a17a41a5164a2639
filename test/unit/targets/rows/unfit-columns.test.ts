/** Which types columns get for numbers that their own cannot hold, and what parts of a job tell each other of these. */
import { describe, expect, it } from 'vitest';
import { plainDigits, UnfitColumns, usualRoom } from '../../../../src/targets/rows/unfit-columns.ts';
import type { ColumnType, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const drawn = modelOf(
  compiled(
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="xs:decimal"/></xs:schema>',
  ),
  1,
);

function modelWith(type: ColumnType, keepsForm = false): RelationalModel {
  const [table] = drawn.tables;
  const column = { ...table!.columns.at(-1)!, type, ...(keepsForm ? { keepsForm: true as const } : {}) };
  return { ...drawn, tables: [{ ...table!, columns: [column] }] };
}

/** Of what two parts of a job met, which tell it as text. */
function widened(
  type: ColumnType,
  [texts, ofOther = []]: readonly [readonly string[], (readonly string[])?],
  { room = usualRoom, keepsForm = false } = {},
): ColumnType {
  const parts = [texts, ofOther].map((some) => {
    const part = new UnfitColumns();
    for (const text of some) part.add(0, 0, plainDigits(text));
    return JSON.parse(JSON.stringify(part.columns)) as typeof part.columns;
  });
  const all = new UnfitColumns().addAll(parts[0]!).addAll(parts[1]!);
  return all.types(modelWith(type, keepsForm), room).get('0:0')!;
}

const amount: ColumnType = { kind: 'numeric', precision: 18, scale: 5 };
const text: ColumnType = { kind: 'text' };
const unbounded = { digits: Infinity, fraction: Infinity };

describe('a column of decimals', () => {
  it('gets as many digits as its own type and the values of all parts have', () => {
    expect(widened(amount, [['9999999999999999.5']])).toEqual({ kind: 'numeric', precision: 21, scale: 5 });
    expect(widened(amount, [['0.0000010'], ['-12345678901234']])).toEqual({
      kind: 'numeric',
      precision: 20,
      scale: 6,
    });
    expect(widened(amount, [['0.000001'], ['9999999999999999.5']], { room: unbounded })).toEqual({
      kind: 'numeric',
    });
  });

  it('is text where the target has not as many, or where a value is no plain number', () => {
    expect(widened(amount, [[`1${'0'.repeat(33)}`]])).toEqual(text);
    expect(
      widened(amount, [['0.000001'], [`1${'0'.repeat(33)}`]], { room: { digits: 65, fraction: 30 } }),
    ).toEqual({ kind: 'numeric', precision: 40, scale: 6 });
    expect(widened(amount, [[`0.${'0'.repeat(30)}1`]], { room: { digits: 65, fraction: 30 } })).toEqual(text);
    for (const other of ['+0.000001', '007.0000001', '.0000001', '1E-7', 'NaN', '1 000'])
      expect(widened(amount, [['0.000001'], [other]], { room: unbounded })).toEqual(text);
    expect(widened({ ...amount, list: true }, [['0.000001']])).toEqual(text);
  });

  it('is text where the form of its values counts, and would change', () => {
    const options = { keepsForm: true };
    expect(widened(amount, [['9999999999999999.50000']], options)).toMatchObject({ precision: 21, scale: 5 });
    for (const other of ['9999999999999999.5', '0.000001', '12345678901234.5000000'])
      expect(widened(amount, [[other]], options)).toEqual(text);
    expect(widened(amount, [['0.0000010']], { ...options, room: unbounded })).toEqual({ kind: 'numeric' });
  });
});

describe('a column of whole numbers', () => {
  const long: ColumnType = { kind: 'bigint' };

  it('gets the most digits that the target has', () => {
    expect(widened(long, [['9223372036854775808']])).toEqual({ kind: 'numeric', precision: 38, scale: 0 });
    expect(widened(long, [['9223372036854775808']], { room: unbounded })).toEqual({ kind: 'numeric' });
    expect(widened(long, [['9223372036854775808']], { room: { digits: 0, fraction: 0 } })).toEqual(text);
    expect(widened(long, [['9'.repeat(39)]])).toEqual(text);
    expect(widened(long, [['9223372036854775808.0']])).toEqual(text);
  });
});
