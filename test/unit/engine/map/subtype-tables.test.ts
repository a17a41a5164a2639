/** Derived types too wide to share their head's table have tables of their own, whose rows hang from the head's. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, modelOf, shred } from '../../../support/models/shredding.ts';

const many = Array.from({ length: 350 }, (_, at) => `<xs:attribute name="w${at}" type="xs:int"/>`).join('');
const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence>
    <xs:element name="plain" type="Base" nillable="true" maxOccurs="unbounded"/>
    <xs:element name="wide" type="Wide" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Base"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="Wide"><xs:complexContent><xs:extension base="Base">${many}</xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Wider"><xs:complexContent><xs:extension base="Wide"><xs:attribute name="more" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType>
</xs:schema>`);
const document = `<r xmlns:i="http://www.w3.org/2001/XMLSchema-instance">
  <plain><name>a</name></plain>
  <plain i:type="Wide" w3="1"><name>b</name></plain>
  <plain i:type="Wide" i:nil="true" w4="2"/>
  <plain i:nil="true"/>
  <wide w5="3"><name>c</name></wide>
  <wide i:type="Wider" more="4"><name>d</name></wide>
</r>`;

describe.each([0, 1, 2, 3] as const)('tables of derived types at level %i', (mapLevel) => {
  const model = modelOf(source, mapLevel);

  it('are there', () => {
    expect(
      model.nodes.some(({ typeEdges }) => typeEdges.some(({ parentKeyColumn }) => parentKeyColumn >= 0)),
    ).toBe(true);
  });

  it('hold their rows without a deviation: nil, columns the head would require, and types derived from them', () => {
    const { deviations, unconvertedValues, nullAllowed } = shred(model, [document]);
    expect([...deviations.paths.keys()]).toEqual([]);
    expect(unconvertedValues).toEqual([]);
    expect(nullAllowed).toEqual([]);
  });

  it('give the document back', async () => {
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
  });
});
