/** Strings whose patterns allow dates alone, with or without times: those of standards that declare them as text. */
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

const day = '\\d{4}-(1[0-2]|0[1-9])-(3[0-1]|0[1-9]|[1-2][0-9])';
const time = 'T(20|21|22|23|[0-1]\\d):[0-5]\\d:[0-5]\\d';
const date = patternFacets(day);
const local = patternFacets(`${day}${time}`);
const zoned = patternFacets(`${day}${time}([\\-,\\+](0[0-9]|10|11):00|([\\+](12):00))`);

describe('a string', () => {
  it.each([
    [date, 'date'],
    [
      patternFacets('(20(([02468][048])|([13579][26]))-02-29)|(20[0-9][0-9])-((0[1,3-9])|(1[0-2]))-(29|30)'),
      'date',
    ],
    [patternFacets('[0-9]{4}-[0-9]{2}-[0-9]{2}'), 'date'],
    [local, 'timestamp'],
    [patternFacets(`${day}${time}(\\.[0-9]+)?`), 'timestamp'],
    [zoned, 'timestamptz'],
    [patternFacets(`${day}${time}Z`, `${day}${time}\\.\\d{3}[+\\-]\\d{2}:\\d{2}`), 'timestamptz'],
  ])('is a date where %s', (facets, kind) => {
    for (const base of ['string', 'normalizedString', 'token']) {
      const { type, keepsForm } = valueColumnOf(modelOf(compiled(schemaOfStrings(base, facets)), 3));
      expect([type, keepsForm]).toEqual([{ kind }, true]);
    }
  });

  it.each([
    // dates of several kinds
    [patternFacets(`${day}(${time})?`)],
    [patternFacets(`${day}${time}Z?`)],
    [patternFacets(day, `${day}${time}`)],
    // a part of a date, and more than one
    [patternFacets('\\d{4}-\\d{2}')],
    [patternFacets('\\d{4}(-\\d{2}(-\\d{2})?)?')],
    [patternFacets(`${day}Z`)],
    [patternFacets(`${day}${time}Z.`)],
    [patternFacets('-?\\d{4}-\\d{2}-\\d{2}')],
    [patternFacets('\\d{4,}-\\d{2}-\\d{2}')],
    [patternFacets('\\d{2}-\\d{2}-\\d{4}')],
    [patternFacets('[0-9-]{10}')],
    [patternFacets('.{4}-.{2}-.{2}')],
    [patternFacets(`(${day})?`)],
    [patternFacets('(\\d?){2000000000}-\\d{2}-\\d{2}')],
    [patternFacets('((((0|1)*)*)*)*')],
    [patternFacets(day, 'n/a')],
    [`${date}<xs:enumeration value="2024-01-01"/>`],
  ])('is text where %s', (facets) => {
    const { type, keepsForm } = valueColumnOf(modelOf(compiled(schemaOfStrings('string', facets)), 3));
    expect([type.kind, keepsForm]).toEqual(['text', undefined]);
  });

  it.each([
    [date, ['2024-02-29', '1999-12-31'], []],
    [date, ['2024-01-01Z', ' 2024-01-02'], ['2024-01-01Z', ' 2024-01-02']],
    [local, ['2024-02-29T10:20:30'], []],
    [
      local,
      ['2024-02-29T10:20:30.50', '2024-02-29T10:20:30Z'],
      ['2024-02-29T10:20:30.50', '2024-02-29T10:20:30Z'],
    ],
    [zoned, ['2024-02-29T10:20:30Z', '2024-02-29T10:20:30-03:00'], ['2024-02-29T10:20:30-03:00']],
  ])('of %s comes back to the letter: %j', async (facets, values, beside) => {
    const source = compiled(schemaOfStrings('string', facets));
    const model = modelOf(source, 3);
    const document = `<r>${values.map((value) => `<v>${value}</v>`).join('')}</r>`;
    const { rows, unconvertedValues } = shred(model, [document]);
    expect([(rows['_lexical'] ?? []).map(({ content }) => content), unconvertedValues]).toEqual([beside, []]);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { asText: true })).toEqual([]);
    const way = { encoding: 'copy-text', tokenizer: 'shared' } as const;
    expect(shredToBytes(model, [document], { ...way, kernelFrom: 0 })).toEqual(
      shredToBytes(model, [document], { ...way, kernelFrom: Infinity }),
    );
  });

  it('keeps what is no date', async () => {
    const model = modelOf(compiled(schemaOfStrings('string', date)), 3);
    const document = '<r><v>2024-02-29</v><v>2023-02-29</v><v>soon</v></r>';
    expect(shred(model, [document]).unconvertedValues.length).toBe(2);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { asText: true })).toEqual([]);
  });

  it('is read the same in the next version of a model', () => {
    const source = compiled(schemaOfStrings('string', date));
    const goesOn = buildRelationalModel(source, { mapLevel: 3, previous: modelOf(source, 3) });
    expect(goesOn).toEqual(modelOf(source, 3));
  });
});
