/** Paths of the source-to-target map tell what they lead to apart. */
import { describe, expect, it } from 'vitest';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

describe('paths', () => {
  const source =
    compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
    <xs:attribute name="id" type="xs:int"/>
    <xs:element name="order"><xs:complexType>
      <xs:sequence>
        <xs:element name="note" type="xs:string"/>
        <xs:element name="date" type="xs:date"/>
        <xs:element name="note" form="qualified" type="xs:string"/>
      </xs:sequence>
      <xs:attribute name="id" type="xs:string"/><xs:attribute ref="t:id"/><xs:attribute name="no" form="qualified" type="xs:int"/>
    </xs:complexType></xs:element>
  </xs:schema>`);

  it('are different for one local name in no namespace and in that of the root', () => {
    const { mappings, tables } = modelOf(source, 3);
    const columns = mappings
      .filter(({ column }) => column !== null)
      .map(({ xpath, table, column }) => [xpath, tables[table]!.columns[column!]!.name]);
    expect(columns).toEqual([
      ['/order/@id', 'id'],
      ['/order/@t:id', 'id_2'],
      ['/order/@no', 'no'],
      ['/order/{}note', 'note'],
      ['/order/date', 'date'],
      ['/order/note', 'note_2'],
    ]);
  });
});
