/** Two versions of a schema of ships, whose states are other codes in the second. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { bytesOf, compiled } from './shredding.ts';

const code = (value: string, said = ''): string =>
  `<xs:enumeration value="${value}">${said === '' ? '' : `<xs:annotation>${said}</xs:annotation>`}</xs:enumeration>`;
const named = (name: string, meaning: string): string =>
  `<xs:documentation source="Name">${name}</xs:documentation><xs:documentation source="Definition">${meaning}</xs:documentation>`;
/** `states`: enumeration elements. */
const xsd = (states: string): SourceModel =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:simpleType name="State"><xs:restriction base="xs:token">${states}</xs:restriction></xs:simpleType>
    <xs:simpleType name="Tags"><xs:list itemType="State"/></xs:simpleType>
    <xs:element name="fleet"><xs:complexType><xs:sequence><xs:element name="ship" maxOccurs="unbounded"><xs:complexType>
      <xs:attribute name="state" type="State"/><xs:attribute name="tags" type="Tags"/>
      <xs:attribute name="decks"><xs:simpleType><xs:restriction base="xs:int"><xs:enumeration value="1"/><xs:enumeration value="2"/></xs:restriction></xs:simpleType></xs:attribute>
    </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`);
export const first = xsd(`${code("at 'sea'", named('At sea', 'On its way.'))}${code('moored')}`);
export const firstModel = buildRelationalModel(first, { mapLevel: 3 });
export const second = xsd(`${code('moored', named('Moored', 'Tied up; safe.'))}${code('aground')}`);
export const secondModel = buildRelationalModel(second, { mapLevel: 3, previous: firstModel });

export const fleet = (...states: readonly string[]): Uint8Array =>
  bytesOf(
    `<fleet>${states.map((state) => `<ship state="${state}" tags="moored moored" decks="2"/>`).join('')}</fleet>`,
  );
