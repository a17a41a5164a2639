/** Strings whose patterns allow decimals alone: amounts and rates of standards that have no numbers. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { compiled, modelOf, shred } from '../../../../support/models/shredding.ts';
import {
  patternFacets,
  schemaOfStrings,
  valueColumnOf,
} from '../../../../support/models/strings-with-facets.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const amount = patternFacets('0|0\\.[0-9]{2}|[1-9]{1}[0-9]{0,12}(\\.[0-9]{2})?');
const rate = patternFacets('0|0\\.[0-9]{2,4}|[1-9]{1}[0-9]{0,2}(\\.[0-9]{2,4})?');

describe('a string', () => {
  it.each([
    [amount, { kind: 'numeric', precision: 15, scale: 2 }],
    [rate, { kind: 'numeric' }],
    // one of several patterns is as good as the other
    [patternFacets('0', '0\\.[0-9]{2}', '[1-9][0-9]{0,3}'), { kind: 'numeric', precision: 6, scale: 2 }],
    // more than nothing, of four digits
    [
      patternFacets('0\\.[1-9]{1}[0-9]{3}|0\\.[0-9]{3}[1-9]{1}|[1-9]{1}[0-9]{0,10}(\\.[0-9]{4})?'),
      { kind: 'numeric', precision: 15, scale: 4 },
    ],
    [
      patternFacets('0(\\.[0-9]{2})?|100(\\.00)?|[1-9]{1}[0-9]{0,1}(\\.[0-9]{2})?'),
      { kind: 'numeric', precision: 5, scale: 2 },
    ],
    // a latitude
    [
      patternFacets('[0-9]\\.[0-9]{6}|[1-8][0-9]\\.[0-9]{6}|90\\.[0-9]{6}|-[0-9]\\.[0-9]{6}'),
      { kind: 'numeric', precision: 8, scale: 6 },
    ],
    [patternFacets('-?(0|[1-9][0-9]{0,29})(\\.[0-9]{20})?'), { kind: 'numeric' }],
  ])('is a decimal where %s', (facets, expected) => {
    for (const base of ['string', 'normalizedString', 'token']) {
      const { type, keepsForm } = valueColumnOf(modelOf(compiled(schemaOfStrings(base, facets)), 3));
      expect([type, keepsForm]).toEqual([expected, true]);
    }
  });

  it.each([
    // a tax number, and one with a point; leading zeros
    [patternFacets('[0-9]{14}')],
    [patternFacets('[0-9]{2}\\.[0-9]{2}')],
    [patternFacets('[0-9]{1,13}(\\.[0-9]{2,4})?')],
    // whole numbers alone
    [patternFacets('0|[1-9][0-9]{0,5}')],
    // versions, sections, codes
    [patternFacets('4\\.00')],
    [patternFacets('4\\.(0[0-9]|[1-9][0-9])')],
    [patternFacets('[0-9]\\.[0-9]{2}')],
    [patternFacets('(0|[1-9][0-9]{0,3})\\.(0|[1-9][0-9]{0,3})')],
    [patternFacets('[1-9][0-9]{0,3}(\\.[1-9][0-9]{0,3})?')],
    [patternFacets('[1-9](\\.[0-9]{1,2}){0,3}')],
    // anything for the point, any digits, nothing at all, without end
    [patternFacets('0|0.[0-9]{2}|[1-9](.[0-9]{2})?')],
    [patternFacets('0|0\\.\\d{2}|[1-9](\\.\\d{2})?')],
    [patternFacets('(0|0\\.[0-9]{2}|[1-9](\\.[0-9]{2})?)?')],
    [patternFacets('0|0\\.[0-9]+|[1-9][0-9]*(\\.[0-9]+)?')],
    [patternFacets('(0?){2000000000}(\\.[0-9]{2})?')],
    [patternFacets('((((0|1)*)*)*)*')],
    [patternFacets('0|0\\.[0-9]{2}|[1-9](\\.[0-9]{2})?', 'n/a')],
    [`${amount}<xs:enumeration value="0"/><xs:enumeration value="0.50"/>`],
  ])('is text where %s', (facets) => {
    const { type, keepsForm } = valueColumnOf(modelOf(compiled(schemaOfStrings('string', facets)), 3));
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
    const source = compiled(schemaOfStrings('string', facets));
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

  it('is read the same in the next version of a model', () => {
    const source = compiled(schemaOfStrings('string', amount));
    const goesOn = buildRelationalModel(source, { mapLevel: 3, previous: modelOf(source, 3) });
    expect(goesOn).toEqual(modelOf(source, 3));
  });
});
