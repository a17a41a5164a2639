/** Values of documents in columns of each type. */
import { describe, expect, it } from 'vitest';
import type { Column, ColumnType } from '../../../../src/engine/model/relational-model.ts';
import type { BuiltInType } from '../../../../src/engine/model/source-model.ts';
import { ByteBuffer } from '../../../../src/engine/shred/byte-buffer.ts';
import { copyTextEncoder, csvEncoder } from '../../../../src/engine/shred/row-output.ts';
import { conversionFor, EMPTY, FITS, INEXACT, UNCONVERTED } from '../../../../src/engine/shred/conversion.ts';

function convert(
  type: ColumnType,
  text: string,
  sourceType: BuiltInType = 'string',
  encoder = copyTextEncoder,
) {
  const column: Column = {
    name: 'c',
    role: 'value',
    type,
    nullable: true,
    xpath: '/c',
    path: '/c',
    sourceType,
    references: null,
  };
  const out = new ByteBuffer();
  const bytes = new TextEncoder().encode(text);
  const result = conversionFor(column, encoder)(bytes, 0, bytes.length, out);
  return [result, new TextDecoder().decode(out.bytes.subarray(0, out.length))];
}

describe('decimals without fraction digits', () => {
  it.each([
    ['5.00', FITS, '5'],
    ['-12.', FITS, '-12'],
    ['+100', FITS, '100'],
    ['.0', FITS, '0'],
    ['-.00', FITS, '0'],
    ['0.0', FITS, '0'],
    ['.', UNCONVERTED, ''],
    ['1.05', UNCONVERTED, ''],
    ['1.0.0', UNCONVERTED, ''],
    ['32768.0', UNCONVERTED, ''],
  ])('%s in a column of whole numbers', (text, result, field) => {
    expect(convert({ kind: 'smallint' }, text, 'decimal')).toEqual([result, field]);
  });

  it('are not integers of other types, whose form has no point', () => {
    expect(convert({ kind: 'smallint' }, '5.0', 'short')).toEqual([UNCONVERTED, '']);
  });
});

describe('values of numbers', () => {
  it.each([
    ['smallint', '32767', FITS, '32767'],
    ['smallint', '-32768', FITS, '-32768'],
    ['smallint', '32768', UNCONVERTED, ''],
    ['integer', ' +0042 ', FITS, '42'],
    ['integer', '-2147483649', UNCONVERTED, ''],
    ['bigint', '9223372036854775807', FITS, '9223372036854775807'],
    ['bigint', '9223372036854775808', UNCONVERTED, ''],
    ['bigint', '-9223372036854775808', FITS, '-9223372036854775808'],
    ['bigint', '1.0', UNCONVERTED, ''],
    ['bigint', '', EMPTY, ''],
    ['bigint', '-', UNCONVERTED, ''],
    ['numeric', '12345678901234567890.123456789', FITS, '12345678901234567890.123456789'],
    ['numeric', '+.5', FITS, '.5'],
    ['numeric', '5.', FITS, '5.'],
    ['numeric', '1e5', UNCONVERTED, ''],
    ['numeric', '.', UNCONVERTED, ''],
    ['double', '1.5E300', FITS, '1.5E300'],
    ['double', '-INF', FITS, '-Infinity'],
    ['double', 'NaN', FITS, 'NaN'],
    ['double', '1e400', UNCONVERTED, ''],
    ['double', '1e-400', UNCONVERTED, ''],
    ['double', '0x10', UNCONVERTED, ''],
    ['real', '1e39', UNCONVERTED, ''],
    ['boolean', '1', FITS, 't'],
    ['boolean', ' false\n', FITS, 'f'],
    ['boolean', 'yes', UNCONVERTED, ''],
  ] as const)('%s %j', (kind, text, result, written) => {
    expect(convert({ kind }, text)).toEqual([result, written]);
  });

  it.each([
    ['12.50', FITS],
    ['999.99', FITS],
    ['0999.990', FITS],
    ['1000', UNCONVERTED],
    ['1.005', UNCONVERTED],
    ['-0.01', FITS],
  ])('numeric(5,2) %s', (text, result) => {
    expect(convert({ kind: 'numeric', precision: 5, scale: 2 }, text)[0]).toBe(result);
  });
});

describe('values of dates and times', () => {
  it.each([
    ['date', '2024-02-29', FITS, '2024-02-29'],
    ['date', '2023-02-29', UNCONVERTED, ''],
    ['date', '1900-02-29', UNCONVERTED, ''],
    ['date', '2024-13-01', UNCONVERTED, ''],
    ['date', '2024-01-01+02:00', INEXACT, '2024-01-01'],
    ['date', '2024-01-01Z', INEXACT, '2024-01-01'],
    ['date', '12024-01-01', UNCONVERTED, ''],
    ['date', '-0044-03-15', UNCONVERTED, ''],
    ['time', '23:59:59.123456', FITS, '23:59:59.123456'],
    ['time', '24:00:00', INEXACT, '24:00:00'],
    ['time', '24:00:01', UNCONVERTED, ''],
    ['time', '12:00:60', UNCONVERTED, ''],
    ['time', '12:00:00.1234567', INEXACT, '12:00:00.123456'],
    ['time', '23:59:59.9999999', INEXACT, '23:59:59.999999'],
    ['timestamp', '9999-12-31T23:59:59.9999999', INEXACT, '9999-12-31T23:59:59.999999'],
    ['timestamptz', '2024-12-31T23:59:59.9999999+02:00', INEXACT, '2024-12-31T23:59:59.999999+02:00'],
    ['timestamptz', '2024-12-31T23:59:59.9999999', INEXACT, '2024-12-31T23:59:59.999999Z'],
    ['timestamptz', '2024-01-31T10:00:00Z', FITS, '2024-01-31T10:00:00Z'],
    ['timestamptz', '2024-01-31T10:00:00+05:30', INEXACT, '2024-01-31T10:00:00+05:30'],
    ['timestamptz', '2024-01-31T10:00:00', INEXACT, '2024-01-31T10:00:00Z'],
    ['timestamptz', '2024-01-31T10:00:00+15:00', UNCONVERTED, ''],
    ['timestamptz', '2024-01-31 10:00:00Z', UNCONVERTED, ''],
    ['timestamp', '2024-01-31T10:00:00', FITS, '2024-01-31T10:00:00'],
    ['timestamp', '2024-01-31T10:00:00Z', INEXACT, '2024-01-31T10:00:00'],
  ] as const)('%s %s', (kind, text, result, written) => {
    expect(convert({ kind }, text)).toEqual([result, written]);
  });
});

describe('text', () => {
  it('escapes what COPY would read as something else', () => {
    expect(convert({ kind: 'text' }, 'a\tb\nc\rd\\e')).toEqual([FITS, 'a\\tb\\nc\\rd\\\\e']);
    expect(convert({ kind: 'text' }, '\\N')).toEqual([FITS, '\\\\N']);
    expect(convert({ kind: 'text' }, '\\.')).toEqual([FITS, '\\\\.']);
  });

  it('quotes CSV fields where they need it, and always the empty string', () => {
    expect(convert({ kind: 'text' }, '', 'string', csvEncoder)).toEqual([FITS, '""']);
    expect(convert({ kind: 'text' }, 'a,"b"\n', 'string', csvEncoder)).toEqual([FITS, '"a,""b""\n"']);
    expect(convert({ kind: 'text' }, 'plain', 'string', csvEncoder)).toEqual([FITS, 'plain']);
  });

  it('counts characters, not bytes', () => {
    expect(convert({ kind: 'text', length: 3 }, 'äö€')[0]).toBe(FITS);
    expect(convert({ kind: 'text', length: 3 }, '😀😀😀')[0]).toBe(FITS);
    expect(convert({ kind: 'text', length: 3 }, 'abcd')[0]).toBe(UNCONVERTED);
  });

  it('collapses white space where the type does, and only there', () => {
    expect(convert({ kind: 'text' }, ' a \n b ', 'token')).toEqual([FITS, 'a b']);
    expect(convert({ kind: 'text' }, ' a ', 'string')).toEqual([FITS, ' a ']);
  });
});

describe('lists', () => {
  it('become array literals', () => {
    expect(convert({ kind: 'integer', list: true }, ' 1 2\n3 ')).toEqual([FITS, '{1,2,3}']);
    expect(convert({ kind: 'text', list: true }, 'a "b" c\\d')).toEqual([
      FITS,
      '{"a","\\\\"b\\\\"","c\\\\\\\\d"}',
    ]);
    expect(convert({ kind: 'text', list: true }, '')).toEqual([FITS, '{}']);
    expect(convert({ kind: 'boolean', list: true }, 'true 0')).toEqual([FITS, '{t,f}']);
  });

  it('do not fit when one item does not', () => {
    expect(convert({ kind: 'integer', list: true }, '1 x')).toEqual([UNCONVERTED, '']);
  });
});
