/** Documents with lists of whole numbers, some of which are none, and look like what a row has in place of a list. */

export const listsXsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="plan"><xs:complexType><xs:sequence>
    <xs:element name="step" maxOccurs="unbounded"><xs:complexType><xs:simpleContent><xs:extension base="Numbers">
      <xs:attribute name="more" type="Numbers"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:simpleType name="Numbers"><xs:list itemType="xs:integer"/></xs:simpleType></xs:schema>`;

/** of which the first is valid */
export const listDocuments = [
  '<plan><step more="4 5">1 2 3</step><step/></plan>',
  '<plan><step more="{1,2}">1 two 3</step><step>7</step><step more="{}">{3,4}</step><step>{"a","b"} \\</step></plan>',
];
