/** Values of simple types: forms and order. */
import { describe, expect, it } from 'vitest';
import type { BuiltInType } from '../../../../src/engine/model/source-model.ts';
import { hasLexicalForm } from '../../../../src/engine/xsd/values/lexical-form.ts';
import { compareValues } from '../../../../src/engine/xsd/values/facets.ts';

describe('lexical forms', () => {
  const cases: readonly (readonly [BuiltInType, readonly string[], readonly string[]])[] = [
    ['decimal', ['1', '-.5', '+1.', '007.10'], ['', '.', '1e3', '1,5']],
    ['byte', ['-128', '+127', '00'], ['128', '1.0']],
    ['unsignedLong', ['18446744073709551615'], ['18446744073709551616', '-1']],
    ['double', ['1e-3', 'INF', '-INF', 'NaN', '.5E+2'], ['+INF', 'inf', '1e']],
    ['boolean', ['true', '0'], ['TRUE', 'yes']],
    [
      'date',
      ['2024-02-29', '-0001-01-01', '12026-01-01Z'],
      ['2023-02-29', '0000-01-01', '2024-1-1', '02024-01-01'],
    ],
    [
      'dateTime',
      ['2026-11-21T24:00:00', '2026-11-21T01:02:03.004+14:00'],
      ['2026-11-21', '2026-11-21T24:00:01'],
    ],
    ['gMonthDay', ['--02-29'], ['--02-30', '02-29']],
    ['duration', ['P1Y2M', '-PT1.5S', 'P1DT1H'], ['P', 'PT', 'P1S', '1D']],
    ['hexBinary', ['', '0aFF'], ['0', 'xx']],
    ['base64Binary', ['', 'AAAA', 'AA==', 'A A A ='], ['A', 'AB==', 'AAA']],
    ['NCName', ['a-1', 'é'], ['a:b', '1a', '']],
    ['QName', ['a:b', 'b'], [':b', 'a:b:c']],
    ['language', ['en', 'de-AT-1996'], ['e_n', 'abcdefghi']],
  ];
  it.each(cases)('of %s', (type, valid, invalid) => {
    for (const text of valid) expect([text, hasLexicalForm(type, text)]).toEqual([text, true]);
    for (const text of invalid) expect([text, hasLexicalForm(type, text)]).toEqual([text, false]);
  });
});

describe('order of values', () => {
  const cases: readonly (readonly [BuiltInType, string, string, number | null])[] = [
    ['decimal', '1.10', '1.1', 0],
    ['decimal', '-2', '-10', 1],
    ['decimal', '12345678901234567890.1', '12345678901234567890.2', -1],
    ['decimal', '1:0', '1', null],
    ['decimal', '', '-', null],
    ['double', 'INF', '1e308', 1],
    ['double', 'NaN', '1', null],
    ['date', '2026-01-01', '2025-12-31', 1],
    ['dateTime', '2026-01-01T00:00:00+01:00', '2025-12-31T23:00:00Z', 0],
    ['gYear', '-0001', '0001', -1],
    ['time', '10:00:00Z', '11:00:00+02:00', 1],
    ['duration', 'P1Y', 'P12M', 0],
    ['duration', 'P1M', 'P30D', null],
    ['duration', 'P2M', 'P30D', 1],
    ['boolean', 'true', '1', 0],
    ['hexBinary', 'ff', 'FF', 0],
    ['string', 'a', 'b', null],
  ];
  it.each(cases)('%s: %s and %s', (type, a, b, expected) => {
    expect(compareValues(type, a, b)).toBe(expected);
  });
});
