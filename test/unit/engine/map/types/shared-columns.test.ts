/** Columns that members of a substitution group share although they declare other types. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { compiled, modelOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const decimalOrDouble = '<xs:simpleType><xs:union memberTypes="xs:decimal xs:double"/></xs:simpleType>';
const member = (name: string, type: string): string => {
  const [attribute, inside] = type.startsWith('<') ? ['', type] : [` type="xs:${type}"`, ''];
  return `<xs:element name="${name}" substitutionGroup="head"><xs:complexType><xs:complexContent><xs:extension base="Head">
    <xs:sequence><xs:element name="x"${attribute}>${inside}</xs:element></xs:sequence>
    <xs:attribute name="y"${attribute}>${inside}</xs:attribute></xs:extension></xs:complexContent></xs:complexType></xs:element>`;
};
const schema = (
  first: string,
  second: string,
): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="head" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Head"/><xs:element name="head" type="Head" abstract="true"/>
  ${member('a', first)}${member('b', second)}</xs:schema>`;

const kinds = (first: string, second: string): unknown[] =>
  modelOf(compiled(schema(first, second)), 3)
    .tables.flatMap(({ columns }) => columns)
    .filter(({ name }) => name === 'x')
    .map(({ type, sourceType, keepsForm }) => [type.kind, sourceType, keepsForm]);

describe('a column of several declarations', () => {
  it.each([
    ['token', ' a  b ', 'string', ' a  b '],
    ['string', ' a  b ', 'token', ' a  b '],
    ['anyURI', 'a', 'normalizedString', ' a  b '],
    ['decimal', '1.50', decimalOrDouble, '1.5e3'],
    [decimalOrDouble, '1.5e3', 'decimal', '1.50'],
    ['int', '5', 'decimal', '5.00'],
    ['int', '5', 'token', ' 05 '],
    ['string', 'p:x', 'QName', 'p:x'],
    ['QName', 'p:x', 'string', 'p:x'],
    ['QName', 'p:x', 'NOTATION', 'p:x'],
  ])('of %s %j and %s %j gives both back', async (first, one, second, other) => {
    const source = compiled(schema(first, second));
    const document = `<r><a y="${one}"><x>${one}</x></a><b xmlns:p="urn:p" y="${other}"><x>${other}</x></b></r>`;
    for (const level of [0, 1, 2, 3] as const satisfies MapLevel[]) {
      const model = modelOf(source, level);
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(document, written!, { source })).toEqual([]);
      const way = { encoding: 'copy-text', tokenizer: 'shared' } as const;
      expect(shredToBytes(model, [document], { ...way, kernelFrom: 0 })).toEqual(
        shredToBytes(model, [document], { ...way, kernelFrom: Infinity }),
      );
    }
  });

  it('reads exponents where one declaration may have them, and fractions that are zero', () => {
    expect(kinds('decimal', decimalOrDouble)).toEqual([['numeric', 'anySimpleType', true]]);
    expect(kinds('token', 'string')).toEqual([['text', 'string', undefined]]);
    expect(kinds('token', 'anyURI')).toEqual([['text', 'token', undefined]]);
    expect(kinds('string', 'QName')).toEqual([['text', 'string', undefined]]);
    expect(kinds('integer', 'decimal')).toEqual([['numeric', 'decimal', undefined]]);
  });

  it('is none of names and of text, where each has the prefixes that it says', async () => {
    const source = compiled(schema('string', 'QName'));
    const model = modelOf(source, 3);
    const table = model.tables.find(({ columns }) => columns.some(({ name }) => name === 'x_name'))!;
    expect(table.columns.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['x', 'y', 'x_name', 'y_name']),
    );
    const document =
      '<r xmlns:p="urn:1"><a y="p:x"><x>p:x</x></a><b xmlns:q="urn:2" y="q:x"><x>q:x</x></b><b xmlns:p="urn:3" y="p:x"><x>p:x</x></b></r>';
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
    expect(new TextDecoder().decode(written)).toContain('<x>p:x</x></a>');
  });
});
