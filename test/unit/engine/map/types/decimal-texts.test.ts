/** Strings whose patterns allow decimals alone: amounts and rates of standards that have no numbers. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { Column, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { compiled, modelOf, shred } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const schema = (
  base: string,
  facets: string,
): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" maxOccurs="99"><xs:simpleType>
  <xs:restriction base="xs:${base}">${facets}</xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const pattern = (...values: readonly string[]): string =>
  values.map((value) => `<xs:pattern value="${value}"/>`).join('');
const valueOf = ({ tables }: RelationalModel): Column =>
  tables.flatMap(({ columns }) => columns).find(({ role, name }) => role === 'value' && name === 'value')!;

const amount = pattern('0|0\\.[0-9]{2}|[1-9]{1}[0-9]{0,12}(\\.[0-9]{2})?');
const rate = pattern('0|0\\.[0-9]{2,4}|[1-9]{1}[0-9]{0,2}(\\.[0-9]{2,4})?');

describe('a string', () => {
  it.each([
    [amount, { kind: 'numeric', precision: 15, scale: 2 }],
    [rate, { kind: 'numeric' }],
    // one of several patterns is as good as the other
    [pattern('0', '0\\.[0-9]{2}', '[1-9][0-9]{0,3}'), { kind: 'numeric', precision: 6, scale: 2 }],
    // more than nothing, of four digits
    [
      pattern('0\\.[1-9]{1}[0-9]{3}|0\\.[0-9]{3}[1-9]{1}|[1-9]{1}[0-9]{0,10}(\\.[0-9]{4})?'),
      { kind: 'numeric', precision: 15, scale: 4 },
    ],
    [
      pattern('0(\\.[0-9]{2})?|100(\\.00)?|[1-9]{1}[0-9]{0,1}(\\.[0-9]{2})?'),
      { kind: 'numeric', precision: 5, scale: 2 },
    ],
    // a latitude
    [
      pattern('[0-9]\\.[0-9]{6}|[1-8][0-9]\\.[0-9]{6}|90\\.[0-9]{6}|-[0-9]\\.[0-9]{6}'),
      { kind: 'numeric', precision: 8, scale: 6 },
    ],
    [pattern('-?(0|[1-9][0-9]{0,29})(\\.[0-9]{20})?'), { kind: 'numeric' }],
  ])('is a decimal where %s', (facets, expected) => {
    for (const base of ['string', 'normalizedString', 'token']) {
      const { type, keepsForm } = valueOf(modelOf(compiled(schema(base, facets)), 3));
      expect([type, keepsForm]).toEqual([expected, true]);
    }
  });

  it.each([
    // a tax number, and one with a point; leading zeros
    [pattern('[0-9]{14}')],
    [pattern('[0-9]{2}\\.[0-9]{2}')],
    [pattern('[0-9]{1,13}(\\.[0-9]{2,4})?')],
    // whole numbers alone
    [pattern('0|[1-9][0-9]{0,5}')],
    // versions, sections, codes
    [pattern('4\\.00')],
    [pattern('4\\.(0[0-9]|[1-9][0-9])')],
    [pattern('[0-9]\\.[0-9]{2}')],
    [pattern('(0|[1-9][0-9]{0,3})\\.(0|[1-9][0-9]{0,3})')],
    [pattern('[1-9][0-9]{0,3}(\\.[1-9][0-9]{0,3})?')],
    [pattern('[1-9](\\.[0-9]{1,2}){0,3}')],
    // anything for the point, any digits, nothing at all, without end
    [pattern('0|0.[0-9]{2}|[1-9](.[0-9]{2})?')],
    [pattern('0|0\\.\\d{2}|[1-9](\\.\\d{2})?')],
    [pattern('(0|0\\.[0-9]{2}|[1-9](\\.[0-9]{2})?)?')],
    [pattern('0|0\\.[0-9]+|[1-9][0-9]*(\\.[0-9]+)?')],
    [pattern('(0?){2000000000}(\\.[0-9]{2})?')],
    [pattern('((((0|1)*)*)*)*')],
    [pattern('0|0\\.[0-9]{2}|[1-9](\\.[0-9]{2})?', 'n/a')],
    [`${amount}<xs:enumeration value="0"/><xs:enumeration value="0.50"/>`],
  ])('is text where %s', (facets) => {
    const { type, keepsForm } = valueOf(modelOf(compiled(schema('string', facets)), 3));
    expect([type.kind, keepsForm]).toEqual(['text', undefined]);
  });

  it.each([
    [amount, ['0.50', '12.00', '1234567890123.45'], []],
    [amount, ['0', '7'], ['0', '7']],
    // what breaks the pattern
    [
      amount,
      ['-1.50', '2.5', '+3.00', '07.00', ' 8.00', '', '-0.00'],
      ['2.5', '+3.00', '07.00', ' 8.00', '', '-0.00'],
    ],
    [rate, ['18.00', '7.5', '0.1234'], []],
  ])('of %s comes back to the letter: %j', async (facets, values, beside) => {
    const source = compiled(schema('string', facets));
    const model = modelOf(source, 3);
    const document = `<r>${values.map((value) => `<v>${value}</v>`).join('')}</r>`;
    const { rows, unconvertedValues } = shred(model, [document]);
    expect([(rows['_lexical'] ?? []).map(({ content }) => content), unconvertedValues]).toEqual([beside, []]);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { asText: true })).toEqual([]);
    for (const scalesDecimals of [false, true]) {
      const way = { encoding: 'copy-text', tokenizer: 'shared', scalesDecimals } as const;
      expect(shredToBytes(model, [document], { ...way, kernelFrom: 0 })).toEqual(
        shredToBytes(model, [document], { ...way, kernelFrom: Infinity }),
      );
    }
  });

  it('stays text where an earlier release made the model', () => {
    const source = compiled(schema('string', amount));
    const { decimalTexts: _, ...earlier } = modelOf(source, 3);
    const next = buildRelationalModel(source, { mapLevel: 3, previous: earlier });
    expect([next.decimalTexts, valueOf(next).type.kind]).toEqual([undefined, 'text']);
    const goesOn = buildRelationalModel(source, { mapLevel: 3, previous: modelOf(source, 3) });
    expect(goesOn).toEqual(modelOf(source, 3));
  });
});
