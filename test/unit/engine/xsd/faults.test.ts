/** Faults of XSD sets, and where they are reported. */
import { describe, expect, it } from 'vitest';
import type { XsdFile } from '../../../../src/engine/xsd/compile-set.ts';
import { diagnose, schemaFile } from './fixture-sets.ts';

/** A document that needs the type `Code` of `types.xsd` in a namespace of its own. */
function userOfTypes(name: string): XsdFile {
  return schemaFile(
    `${name}.xsd`,
    '<xs:include schemaLocation="types.xsd"/><xs:element name="a" type="t:Code"/>',
    `targetNamespace="urn:${name}" xmlns:t="urn:${name}"`,
  );
}

/** Broken content of one schema element, on lines of its own: [what, content, code, line, usable]. */
const broken: readonly (readonly [string, string, string, number, boolean])[] = [
  ['an unknown type', '\n<xs:element name="a" type="nowhere"/>', 'xsd_unknown_component', 2, false],
  ['an unbound prefix', '\n<xs:element name="a" type="p:t"/>', 'xsd_unbound_prefix', 2, false],
  [
    'two components of one name',
    '<xs:element name="a"/>\n<xs:element name="a"/>',
    'xsd_duplicate_component',
    2,
    true,
  ],
  ['an unknown attribute', '\n<xs:element name="a" colour="red"/>', 'xsd_unexpected_attribute', 2, true],
  [
    'a bad attribute value',
    '\n<xs:element name="a" nillable="perhaps"/>',
    'xsd_bad_attribute_value',
    2,
    true,
  ],
  ['a missing attribute', '\n<xs:element type="xs:int"/>', 'xsd_attribute_needed', 2, true],
  [
    'an element out of place',
    '<xs:complexType name="t">\n<xs:element name="a"/></xs:complexType>',
    'xsd_unexpected_element',
    2,
    true,
  ],
  ['text', '\n<xs:element name="a">hello</xs:element>', 'xsd_unexpected_text', 2, true],
  ['an element left out', '\n<xs:simpleType name="t"/>', 'xsd_element_needed', 2, true],
  [
    'default beside fixed',
    '\n<xs:element name="a" default="1" fixed="1"/>',
    'xsd_default_and_fixed',
    2,
    true,
  ],
  [
    'a default of the wrong type',
    '\n<xs:element name="a" type="xs:int" default="x"/>',
    'xsd_bad_default',
    2,
    true,
  ],
  [
    'two types',
    '\n<xs:element name="a" type="xs:int"><xs:complexType/></xs:element>',
    'xsd_two_types',
    2,
    true,
  ],
  [
    'a type derived from itself',
    '\n<xs:complexType name="t"><xs:complexContent><xs:extension base="t"/></xs:complexContent></xs:complexType>',
    'xsd_circular_type',
    2,
    false,
  ],
  [
    'a list of the simple ur-type',
    '<xs:simpleType name="t">\n<xs:list itemType="xs:anySimpleType"/></xs:simpleType>',
    'xsd_any_simple_type',
    2,
    true,
  ],
  [
    'a union with the simple ur-type',
    '<xs:simpleType name="t">\n<xs:union memberTypes="xs:int xs:anySimpleType"/></xs:simpleType>',
    'xsd_any_simple_type',
    2,
    true,
  ],
  [
    'simple types derived from each other',
    '<xs:simpleType name="t"><xs:restriction base="u"/></xs:simpleType>\n<xs:simpleType name="u"><xs:list itemType="t"/></xs:simpleType>',
    'xsd_circular_type',
    2,
    false,
  ],
  [
    'a group that holds itself',
    '<xs:group name="g">\n<xs:sequence><xs:group ref="g" minOccurs="0"/></xs:sequence></xs:group>',
    'xsd_circular_group',
    2,
    false,
  ],
  [
    'an attribute group that refers to itself',
    '\n<xs:attributeGroup name="g"><xs:attributeGroup ref="g"/></xs:attributeGroup>',
    'xsd_circular_attribute_group',
    2,
    false,
  ],
  ...[
    'simpleType><xs:list itemType="xs:int"/></xs:simpleType',
    'complexType/',
    'key name="k"><xs:selector xpath="b"/><xs:field xpath="."/></xs:key',
  ].map(
    (held) =>
      [
        `a reference to an element that holds ${held.split(/[ />]/)[0]}`,
        `<xs:element name="a"/><xs:complexType name="t"><xs:sequence><xs:element ref="a">\n<xs:${held}></xs:element></xs:sequence></xs:complexType>`,
        'xsd_unexpected_element',
        2,
        true,
      ] as const,
  ),
  [
    'an id where none may be',
    '<xs:annotation>\n<xs:documentation id="a">x</xs:documentation></xs:annotation>',
    'xsd_unexpected_attribute',
    2,
    true,
  ],
  [
    'a facet that its type does not have',
    '<xs:simpleType name="t"><xs:restriction base="xs:boolean">\n<xs:maxLength value="2"/></xs:restriction></xs:simpleType>',
    'xsd_bad_facet',
    2,
    true,
  ],
  [
    'a facet that loosens its base',
    '<xs:simpleType name="t"><xs:restriction base="xs:byte">\n<xs:maxInclusive value="200"/></xs:restriction></xs:simpleType>',
    'xsd_bad_facet',
    2,
    true,
  ],
  [
    'a pattern that is none',
    '<xs:simpleType name="t"><xs:restriction base="xs:string">\n<xs:pattern value="(a"/></xs:restriction></xs:simpleType>',
    'xsd_bad_facet',
    2,
    true,
  ],
  [
    'minOccurs over maxOccurs',
    '<xs:complexType name="t"><xs:sequence>\n<xs:element name="a" minOccurs="2"/></xs:sequence></xs:complexType>',
    'xsd_occurs_range',
    2,
    true,
  ],
  [
    'two attributes of one name',
    '<xs:complexType name="t"><xs:attribute name="a"/>\n<xs:attribute name="a"/></xs:complexType>',
    'xsd_duplicate_attribute',
    2,
    true,
  ],
  [
    'a restriction that adds an element',
    '<xs:complexType name="b"><xs:sequence><xs:element name="x"/></xs:sequence></xs:complexType>\n' +
      '<xs:complexType name="t"><xs:complexContent><xs:restriction base="b"><xs:sequence><xs:element name="x"/><xs:element name="y"/>' +
      '</xs:sequence></xs:restriction></xs:complexContent></xs:complexType>',
    'xsd_bad_restriction',
    2,
    true,
  ],
  [
    'ambiguous content',
    '<xs:complexType name="t"><xs:sequence><xs:element name="a" minOccurs="0"/>\n<xs:element name="a"/></xs:sequence></xs:complexType>',
    'xsd_ambiguous_content',
    2,
    true,
  ],
  [
    'one name with two types in one content',
    '<xs:complexType name="t"><xs:sequence><xs:element name="a" type="xs:int"/>\n<xs:element name="a" type="xs:date"/></xs:sequence></xs:complexType>',
    'xsd_inconsistent_elements',
    2,
    true,
  ],
  [
    'a substitute of an unrelated type',
    '<xs:element name="h" type="xs:int"/>\n<xs:element name="m" type="xs:date" substitutionGroup="h"/>',
    'xsd_not_derived',
    2,
    true,
  ],
  [
    'an extension of a final type',
    '<xs:complexType name="b" final="extension"/>\n<xs:complexType name="t"><xs:complexContent><xs:extension base="b"/></xs:complexContent></xs:complexType>',
    'xsd_final_type',
    2,
    true,
  ],
  [
    'a keyref to nothing',
    '<xs:element name="a">\n<xs:keyref name="k" refer="none"><xs:selector xpath="b"/><xs:field xpath="@c"/></xs:keyref></xs:element>',
    'xsd_unknown_key',
    2,
    true,
  ],
  [
    'a path that is none',
    '<xs:element name="a"><xs:key name="k">\n<xs:selector xpath="b[1]"/><xs:field xpath="@c"/></xs:key></xs:element>',
    'xsd_bad_xpath',
    2,
    true,
  ],
];

describe('broken sets', () => {
  it.each(broken)('tells of %s, with the place', (_, content, code, line, isUsable) => {
    const { usable, diagnostics } = diagnose([schemaFile('a.xsd', content)]);
    expect(diagnostics).toMatchObject([{ code, severity: 'error', file: 'a.xsd', line }]);
    expect(diagnostics[0]!.column).toBeGreaterThan(0);
    expect(usable).toBe(isUsable);
  });

  it('goes on after an error and tells several', () => {
    const { usable, diagnostics } = diagnose([
      schemaFile('a.xsd', '<xs:element name="a" type="x"/>\n<xs:element name="b" type="y"/>\n<xs:elment/>'),
    ]);
    expect(usable).toBe(false);
    expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['xsd_unexpected_element', 3],
      ['xsd_unknown_component', 1],
      ['xsd_unknown_component', 2],
    ]);
  });

  it('tells which file is not well-formed, or no XSD document', () => {
    const encoder = new TextEncoder();
    const included = schemaFile('a.xsd', '<xs:include schemaLocation="b.xsd"/>');
    const cut = diagnose([included, { name: 'b.xsd', bytes: encoder.encode('<xs:schema') }]);
    expect(cut.usable).toBe(false);
    expect(cut.diagnostics).toMatchObject([{ severity: 'error', file: 'b.xsd', line: 1 }]);
    const other = diagnose([included, { name: 'b.xsd', bytes: encoder.encode('<html/>') }]);
    expect(other.diagnostics).toMatchObject([{ code: 'xsd_not_a_schema', file: 'b.xsd', line: 1 }]);
    expect(diagnose([]).diagnostics).toMatchObject([{ code: 'xsd_no_schema' }]);
    expect(diagnose([included], { entries: ['x.xsd'] }).diagnostics).toMatchObject([
      { code: 'xsd_missing_document' },
    ]);
  });

  it.each([':', '1:0', '', '+-1', '1e3'])('tells of "%s" as a bound and as a value of decimals', (text) => {
    const { usable, diagnostics } = diagnose([
      schemaFile(
        'a.xsd',
        `<xs:simpleType name="a"><xs:restriction base="xs:decimal">
        <xs:enumeration value="${text}"/>
        <xs:minInclusive value="0"/>
        <xs:maxExclusive value="${text}"/></xs:restriction></xs:simpleType>
        <xs:simpleType name="b"><xs:restriction base="a"><xs:maxInclusive value="5"/></xs:restriction></xs:simpleType>
        <xs:element name="e" type="b"/>`,
      ),
    ]);
    expect(usable).toBe(true);
    expect(diagnostics).toMatchObject([
      { code: 'xsd_bad_facet', line: 2 },
      { code: 'xsd_bad_facet', line: 4 },
    ]);
  });

  it.each([
    ['sequence', '<xs:group ref="g" maxOccurs="2"/><xs:group ref="g"/>', 1],
    ['sequence', '<xs:group ref="g"/><xs:group ref="g"/>', 0],
    ['choice', '<xs:group ref="g"/><xs:sequence><xs:group ref="g"/><xs:element name="b"/></xs:sequence>', 1],
  ])('takes two references to a group in a %s for two particles: %s', (compositor, content, count) => {
    const { diagnostics } = diagnose([
      schemaFile(
        'a.xsd',
        `<xs:group name="g"><xs:sequence><xs:element name="a"/></xs:sequence></xs:group>
        <xs:complexType name="t"><xs:${compositor}>${content}</xs:${compositor}></xs:complexType>`,
      ),
    ]);
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(count).fill('xsd_ambiguous_content'));
  });

  it('tells of files that are not well-formed once, and of nothing that is missed for them', () => {
    const types = schemaFile('types.xsd', '\n<xs:simpleType name="Code"><xs:restriction</xs:simpleType>');
    const { diagnostics, usable } = diagnose([userOfTypes('orders'), userOfTypes('invoices'), types]);
    expect(diagnostics.map(({ code, file, line }) => [code, file, line])).toEqual([
      ['xml_syntax', 'types.xsd', 2],
    ]);
    expect(usable).toBe(false);
  });

  it('does not want groups to be unambiguous that no type is made of', () => {
    const group =
      '<xs:group name="g"><xs:sequence><xs:element name="a" minOccurs="0"/>\n<xs:element name="a"/></xs:sequence></xs:group>';
    expect(diagnose([schemaFile('a.xsd', group)]).diagnostics).toEqual([]);
    const used = `${group}<xs:complexType name="t"><xs:group ref="g"/></xs:complexType>`;
    expect(diagnose([schemaFile('a.xsd', used)]).diagnostics).toMatchObject([
      { code: 'xsd_ambiguous_content', line: 2 },
    ]);
  });

  it.each([
    ['xs:short', []],
    ['xs:string', [{ code: 'xsd_bad_restriction' }]],
  ])('lets a restriction declare a substitute of the base anew, as %s', (type, diagnostics) => {
    const content = [
      '<xs:element name="head" type="xs:int" abstract="true"/>',
      '<xs:element name="member" type="xs:int" substitutionGroup="head"/>',
      '<xs:complexType name="b"><xs:sequence><xs:element ref="head" maxOccurs="2"/></xs:sequence></xs:complexType>',
      '<xs:complexType name="t"><xs:complexContent><xs:restriction base="b"><xs:sequence>',
      `<xs:element name="member" type="${type}"/></xs:sequence></xs:restriction></xs:complexContent></xs:complexType>`,
    ];
    expect(diagnose([schemaFile('a.xsd', content.join('\n'))]).diagnostics).toMatchObject(diagnostics);
  });

  it('does not want what a particle that may not occur refers to', () => {
    const content = [
      '<xs:element ref="a" minOccurs="0" maxOccurs="0"/>',
      '<xs:group ref="g" minOccurs="0" maxOccurs="0"/>',
    ];
    const sequence = `<xs:sequence>${content.join('')}<xs:element name="b"/></xs:sequence>`;
    const { usable, diagnostics } = diagnose([
      schemaFile('a.xsd', `<xs:complexType name="t">${sequence}</xs:complexType>`),
    ]);
    expect({ usable, diagnostics }).toEqual({ usable: true, diagnostics: [] });
  });

  it('wants a namespace to be imported by the document that uses it', () => {
    const { usable, diagnostics } = diagnose([
      schemaFile('a.xsd', '<xs:import namespace="urn:b" schemaLocation="b.xsd"/>', 'targetNamespace="urn:a"'),
      schemaFile(
        'b.xsd',
        '<xs:import namespace="urn:c" schemaLocation="c.xsd"/>',
        'targetNamespace="urn:b" xmlns:c="urn:c"',
      ),
      schemaFile(
        'c.xsd',
        '<xs:simpleType name="t"><xs:list itemType="xs:int"/></xs:simpleType>',
        'targetNamespace="urn:c"',
      ),
      schemaFile('d.xsd', '<xs:element name="d" type="c:t"/>', 'xmlns:c="urn:c"'),
    ]);
    expect(usable).toBe(true);
    expect(diagnostics).toMatchObject([{ code: 'xsd_not_imported', file: 'd.xsd', line: 1 }]);
  });

  it('wants an included document to have the same target namespace', () => {
    const { diagnostics } = diagnose([
      schemaFile('a.xsd', '<xs:include schemaLocation="b.xsd"/>', 'targetNamespace="urn:a"'),
      schemaFile('b.xsd', '<xs:element name="b"/>', 'targetNamespace="urn:b"'),
    ]);
    expect(diagnostics).toMatchObject([{ code: 'xsd_namespace_mismatch', file: 'a.xsd', line: 1 }]);
  });

  it('says once what two files declare both', () => {
    const versions = ['1.0', '1.1'].map((version) =>
      schemaFile(
        `${version}/t.xsd`,
        `<xs:element name="a"/>\n<xs:element name="b"/>\n<xs:element name="c${version === '1.0' ? '' : '1'}"/>`,
        'targetNamespace="urn:t"',
      ),
    );
    const { diagnostics, usable } = diagnose(versions);
    expect(usable).toBe(true);
    expect(diagnostics).toMatchObject([
      { code: 'xsd_duplicate_component', file: '1.1/t.xsd', line: 1, path: '{urn:t}a' },
    ]);
    expect(diagnostics[0]!.message).toBe(
      'A second element named a, and 1 more that both files declare; the first, at 1.0/t.xsd, line 1, is kept, and so are the ' +
        'others there: omit one of the two files; --entry FILE names the file at which to enter the set',
    );
  });
});
