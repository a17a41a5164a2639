/** Numbers, flags and times whose patterns allow only some lexical forms: the types of their columns, and what is kept beside these. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { Column } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { patternedDocument, patternedXsd } from '../../../../support/documents/patterned-values.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { compiled, modelOf, shred } from '../../../../support/models/shredding.ts';
import {
  patternFacets,
  schemaOfStrings,
  valueColumnOf,
} from '../../../../support/models/strings-with-facets.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

function columnOf(base: string, facets: string): Column {
  return valueColumnOf(modelOf(compiled(schemaOfStrings(base, facets)), 3));
}
/** The type in short, the form, and whether others are kept. */
function told({ type: { kind, precision, scale }, writtenAs, keepsForm }: Column) {
  const digits = precision === undefined ? '' : `(${precision},${scale})`;
  return [`${kind}${digits}`, writtenAs ?? null, keepsForm === true];
}
function form(base: string, pattern: string) {
  return told(columnOf(base, patternFacets(pattern)));
}

/** What `_lexical` has of the values of a document. */
function keptOf(base: string, facets: string, values: readonly string[], scalesDecimals = true): string[] {
  const model = modelOf(compiled(schemaOfStrings(base, facets)), 3);
  const document = `<r>${values.map((value) => `<v>${value}</v>`).join('')}</r>`;
  const way = { encoding: 'copy-text', tokenizer: 'shared', scalesDecimals } as const;
  const byKernel = shredToBytes(model, [document], { ...way, kernelFrom: 0 });
  expect(byKernel).toEqual(shredToBytes(model, [document], { ...way, kernelFrom: Infinity }));
  const lines = (byKernel.tables.get('lexical') ?? '').split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split('\t').at(-1)!);
}

/** As `keptOf`, of lists of such decimals. */
function keptOfLists(item: string, values: readonly string[]): string[] {
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:simpleType name="i"><xs:restriction base="xs:decimal"><xs:pattern value="${item}"/></xs:restriction></xs:simpleType>
    <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" maxOccurs="9"><xs:simpleType><xs:list itemType="i"/></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const document = `<r>${values.map((value) => `<v>${value}</v>`).join('')}</r>`;
  const { rows } = shred(modelOf(compiled(xsd), 3), [document]);
  return (rows['_lexical'] ?? []).map(({ content }) => content!);
}

const cents = String.raw`-?[0-9]{1,11}\.[0-9]{2}`;
const quantity = String.raw`[0-9]{1,12}\.[0-9]{2,8}`;
const openCents = String.raw`-?[0-9]+\.[0-9]{2}`;

describe('patterns tell digits', () => {
  it.each([
    ['decimal', [cents], 'numeric(13,2)', { fraction: 2 }, false],
    ['double', [cents], 'numeric(13,2)', { fraction: 2 }, false],
    ['float', [cents], 'numeric(13,2)', { fraction: 2 }, false],
    ['decimal', [quantity], 'numeric(20,8)', { fraction: 2 }, false],
    ['double', [openCents], 'numeric(38,2)', { fraction: 2 }, false],
    ['decimal', [String.raw`\d{1,9}(\.\d{2})?`], 'numeric(11,2)', { fraction: 2 }, false],
    ['decimal', [String.raw`\d{1,9}(\.\d{1,2})?`], 'numeric(11,2)', {}, false],
    // one of several alternatives, each with its digits
    ['decimal', [String.raw`\d{3}\.\d`, String.raw`\d\.\d{3}`], 'numeric(6,3)', { fraction: 1 }, true],
    ['decimal', [String.raw`\d+(\.\d+)?`], 'numeric', {}, false],
    ['decimal', [String.raw`\d{1,30}\.\d{1,30}`], 'numeric', { fraction: 1 }, false],
    ['decimal', [String.raw`\d{1,6}`], 'integer', null, false],
    ['decimal', [String.raw`\d+`], 'numeric(38,0)', {}, false],
    ['double', [String.raw`\d{1,6}`], 'integer', null, false],
    ['integer', [String.raw`\d{4}`], 'smallint', { whole: 4 }, false],
    ['integer', [String.raw`0\d{3}|\d`], 'smallint', {}, true],
    ['integer', [String.raw`\d{1,12}`], 'bigint', null, false],
    ['integer', [String.raw`\d{25}`], 'numeric(25,0)', { whole: 25 }, false],
    ['integer', [String.raw`[+\-]\d{1,3}`], 'smallint', {}, true],
    ['int', [String.raw`\d{1,15}`], 'integer', null, false],
    ['long', [String.raw`\d{1,2}`], 'smallint', null, false],
    // exponents, INF and NaN are doubles
    ['double', [String.raw`\d+(\.\d+)?(E\d+)?`], 'double', {}, true],
    ['double', [String.raw`\d+\.\d{2}`, 'INF'], 'double', {}, true],
    ['double', ['.*'], 'double', {}, true],
    ['double', ['[^eE]*'], 'double', {}, true],
    // no digits of a pattern that no number matches
    ['decimal', ['[a-z]+'], 'numeric', {}, true],
    // too much to be searched
    ['decimal', ['(((0|1)*)*)*'], 'numeric(38,0)', {}, true],
  ])('%s of %j: %s', (base, patterns, type, writtenAs, keepsForm) => {
    expect(told(columnOf(base, patternFacets(...patterns)))).toEqual([type, writtenAs, keepsForm]);
  });

  it('of each step of a derivation', () => {
    const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:simpleType name="plain"><xs:restriction base="xs:double"><xs:pattern value="[0-9.]*"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="short"><xs:restriction base="plain"><xs:pattern value=".{1,6}"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="cents"><xs:restriction base="short"><xs:pattern value=".*\\..."/></xs:restriction></xs:simpleType>
      <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" type="cents" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
    expect(told(valueColumnOf(modelOf(compiled(xsd), 3))).slice(0, 2)).toEqual([
      'numeric(5,2)',
      { fraction: 2 },
    ]);
  });

  it('beside other facets, whichever are narrower', () => {
    const digits = '<xs:totalDigits value="5"/><xs:fractionDigits value="2"/>';
    expect(told(columnOf('decimal', patternFacets(openCents) + digits))[0]).toBe('numeric(5,2)');
    expect(told(columnOf('decimal', patternFacets(quantity) + digits))[0]).toBe('numeric(5,2)');
    expect(
      told(columnOf('integer', patternFacets(String.raw`\d{1,12}`) + '<xs:maxInclusive value="99"/>'))[0],
    ).toBe('bigint');
  });

  it('of flags and times', () => {
    expect(form('boolean', '[01]')).toEqual(['boolean', { digits: true }, false]);
    expect(form('boolean', 'true|false|1')).toEqual(['boolean', null, false]);
    expect(form('boolean', 'true|0')).toEqual(['boolean', {}, true]);
    expect(form('dateTime', String.raw`.*\.\d{3}Z`)).toEqual(['timestamptz', { fraction: 3 }, false]);
    expect(form('dateTime', '.*Z')).toEqual(['timestamptz', null, false]);
    expect(form('dateTime', '.*00(Z|[+].*)?')).toEqual(['timestamp', {}, true]);
    expect(form('time', String.raw`\d\d:\d\d:\d\d\.\d{2}`)).toEqual(['time', { fraction: 2 }, false]);
    expect(form('date', '.*Z')).toEqual(['date', null, false]);
  });
});

describe('beside the rows', () => {
  it('are no values that are printed as their pattern asks', () => {
    for (const scalesDecimals of [false, true]) {
      expect(keptOf('decimal', patternFacets(cents), ['100.00', '-0.50', '7.10'], scalesDecimals)).toEqual(
        [],
      );
      expect(keptOf('double', patternFacets(openCents), ['4202.00', '0.10'], scalesDecimals)).toEqual([]);
      expect(keptOf('integer', patternFacets(String.raw`\d{4}`), ['0042', '1234'], scalesDecimals)).toEqual(
        [],
      );
      expect(keptOf('boolean', patternFacets('[01]'), ['1', '0'], scalesDecimals)).toEqual([]);
      const milliseconds = patternFacets(String.raw`.*\.\d{3}Z`);
      expect(
        keptOf('dateTime', milliseconds, ['2024-01-01T10:00:00.000Z', '2024-01-01T10:00:00.120Z']),
      ).toEqual([]);
    }
  });

  it.each([
    ['decimal', String.raw`\d{3}\.\d|\d\.\d{3}`, ['100.0', '1.500', '1.555'], ['1.500']],
    ['integer', String.raw`0\d{3}|\d`, ['0042', '7', '0000'], ['0042', '0000']],
    [
      'double',
      String.raw`\d+(\.\d+)?(E\d+)?`,
      ['5', '5.5', '5.0', '0.0001', '1E5', '1234567890123456'],
      ['5.0', '0.0001', '1E5', '1234567890123456'],
    ],
    ['boolean', 'true|0', ['true', '0'], ['0']],
    ['time', String.raw`\d\d:\d\d:\d\d(\.0{1,3})?`, ['10:00:00', '10:00:00.0'], ['10:00:00.0']],
    // a number that breaks its pattern
    ['double', openCents, ['1.5E3', '2.50'], ['1.5E3']],
  ])('are values of %s (%s) that are printed otherwise: %j', (base, pattern, values, kept) => {
    for (const scalesDecimals of [false, true])
      expect(keptOf(base, patternFacets(pattern), values, scalesDecimals)).toEqual(kept);
  });

  it('are lists with an item that is printed otherwise', () => {
    expect(keptOfLists(String.raw`\d\.\d\d`, ['5.00 6.50', '\n1.10\n'])).toEqual([]);
    expect(keptOfLists(String.raw`\d\.\d\d|\d{2}\.\d`, ['5.55 16.5', '5.50 16.5'])).toEqual(['5.50 16.5']);
  });
});

describe.each([0, 1, 2, 3] as const)('all forms, at level %d', (level) => {
  it('come back, as their values', async () => {
    const source = compiled(patternedXsd);
    const [written] = await roundTrip(modelOf(source, level), [patternedDocument]);
    expect(compareXml(patternedDocument, written!, { source })).toEqual([]);
  });

  it('are read alike by the kernel', () => {
    const model = modelOf(compiled(patternedXsd), level);
    for (const encoding of ['copy-text', 'csv', 'words', 'json-lines'] as const)
      for (const scalesDecimals of [false, true]) {
        const way = { encoding, tokenizer: 'shared', scalesDecimals } as const;
        const byKernel = shredToBytes(model, [patternedDocument], { ...way, kernelFrom: 0 });
        expect(byKernel).toEqual(shredToBytes(model, [patternedDocument], { ...way, kernelFrom: Infinity }));
      }
  });
});

it('two declarations that share a column keep the form of each', () => {
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="base"><xs:simpleContent><xs:extension base="xs:double"/></xs:simpleContent></xs:complexType>
    <xs:simpleType name="cents"><xs:restriction base="xs:double"><xs:pattern value="\\d+\\.\\d\\d"/></xs:restriction></xs:simpleType>
    <xs:complexType name="money"><xs:simpleContent><xs:restriction base="base"><xs:pattern value="\\d+\\.\\d\\d"/></xs:restriction></xs:simpleContent></xs:complexType>
    <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" type="base" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const model = buildRelationalModel(compiled(xsd), { mapLevel: 3 });
  const { type, keepsForm, writtenAs } = valueColumnOf(model);
  expect([type, keepsForm, writtenAs]).toEqual([{ kind: 'numeric' }, true, { fraction: 2 }]);
  const document = `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><v>1E5</v><v xsi:type="money">5.00</v><v>7</v></r>`;
  const { rows, unconvertedValues } = shred(model, [document]);
  expect((rows['_lexical'] ?? []).map(({ content }) => content)).toEqual(['1E5', '7']);
  expect(unconvertedValues).toEqual([]);
});
