/** Versions of a schema of ledgers: in the second an amount is a text, and a table has the name of a view of the first. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { bytesOf, compiled } from './shredding.ts';

const xsd = (entry: string, more = ''): SourceModel =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:simpleType name="Way"><xs:restriction base="xs:string"><xs:enumeration value="CRDT"/><xs:enumeration value="DBIT"/></xs:restriction></xs:simpleType>
    <xs:element name="ledger"><xs:complexType><xs:sequence><xs:element name="code" type="xs:string"/>
      <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>${entry}
        <xs:element name="way" type="Way"/><xs:element name="booked" type="xs:date"/><xs:element name="text" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence></xs:complexType></xs:element>${more}</xs:sequence></xs:complexType></xs:element></xs:schema>`);
export const first = xsd('<xs:element name="amount" type="xs:decimal"/>');
export const firstModel = buildRelationalModel(first, { mapLevel: 3 });
export const second = xsd(
  '<xs:element name="reference" type="xs:string" minOccurs="0"/><xs:element name="amount" type="xs:string"/>',
  '<xs:element name="entry_view" maxOccurs="unbounded"><xs:complexType><xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element>',
);
export const secondModel = buildRelationalModel(second, { mapLevel: 3, previous: firstModel });

/** without the amount of the first */
export const third = xsd('<xs:element name="reference" type="xs:string" minOccurs="0"/>');
export const thirdModel = buildRelationalModel(third, { mapLevel: 3, previous: firstModel });

export const ledger = (amount: string, more = '', after = ''): Uint8Array =>
  bytesOf(
    `<ledger><code>L</code><entry>${more}<amount>${amount}</amount><way>DBIT</way><booked>2026-05-17</booked></entry>${after}</ledger>`,
  );
