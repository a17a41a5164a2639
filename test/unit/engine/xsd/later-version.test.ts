/** XSD 1.1 but for type alternatives: what it declares has its columns, and what only XSD 1.0 forbids is no fault. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, modelOf, outline, shred } from '../../../support/models/shredding.ts';
import { compileFixture, diagnose, schemaFile } from './fixture-sets.ts';

const xs = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';

const sets: readonly {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly document: string;
  readonly tables: readonly string[];
}[] = [
  {
    name: 'default attributes of a document, and types to which they do not apply',
    files: {
      'a.xsd': `<xs:schema ${xs} xmlns="urn:d" targetNamespace="urn:d" elementFormDefault="qualified" defaultAttributes="common">
        <xs:attributeGroup name="common"><xs:attribute name="id" type="xs:ID"/><xs:attribute name="at" type="xs:dateTimeStamp"/></xs:attributeGroup>
        <xs:element name="doc"><xs:complexType><xs:sequence>
          <xs:element name="item" type="Item" maxOccurs="unbounded"/>
          <xs:element name="plain" minOccurs="0"><xs:complexType defaultAttributesApply="false"><xs:attribute name="x" type="xs:dayTimeDuration" use="required"/></xs:complexType></xs:element>
        </xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Base"><xs:attribute name="n" type="xs:int"/></xs:complexType>
        <xs:complexType name="Item"><xs:complexContent><xs:extension base="Base"><xs:attribute name="key" type="xs:ID"/></xs:extension></xs:complexContent></xs:complexType>
      </xs:schema>`,
    },
    document:
      '<doc xmlns="urn:d" id="a" at="2026-01-01T00:00:00Z"><item id="b" key="k" n="1"/><plain x="P1DT2H"/></doc>',
    tables: [
      'doc: doc_key bigint!, document_key bigint!, id text, at timestamptz, plain_x text',
      'item: item_key bigint!, document_key bigint!, doc_key bigint! -> doc, position integer!, n integer, id text, at timestamptz, key text',
    ],
  },
  {
    name: 'groups of all that repeat, refer to groups, have wildcards and are extended',
    files: {
      'a.xsd': `<xs:schema ${xs} xmlns="urn:d" targetNamespace="urn:d" elementFormDefault="qualified">
        <xs:element name="item" type="Item"/>
        <xs:complexType name="Base"><xs:all><xs:element name="a" type="xs:int" maxOccurs="3"/></xs:all><xs:assert test="a"/></xs:complexType>
        <xs:complexType name="Item"><xs:complexContent><xs:extension base="Base"><xs:all><xs:element name="b" type="xs:date" minOccurs="0"/><xs:group ref="g"/><xs:any namespace="##other" processContents="lax" minOccurs="0" notQName="##defined"/></xs:all></xs:extension></xs:complexContent></xs:complexType>
        <xs:group name="g"><xs:all><xs:element name="c" type="xs:decimal"/></xs:all></xs:group>
      </xs:schema>`,
    },
    document:
      '<item xmlns="urn:d"><o:z xmlns:o="urn:o">t</o:z><a>1</a><c>2.5</c><a>3</a><b>2026-01-01</b></item>',
    tables: [
      'item: item_key bigint!, document_key bigint!, b_position integer, b date, c_position integer, c numeric!',
      'item_any: item_any_key bigint!, document_key bigint!, item_key bigint! -> item, position integer!, content text!',
      'a: a_key bigint!, document_key bigint!, item_key bigint! -> item, position integer!, value integer!',
    ],
  },
  {
    name: 'open content between the declared one',
    files: {
      'a.xsd': `<xs:schema ${xs} xmlns="urn:p" targetNamespace="urn:p" elementFormDefault="qualified">
        <xs:defaultOpenContent mode="interleave"><xs:any namespace="##other" processContents="lax"/></xs:defaultOpenContent>
        <xs:element name="book"><xs:complexType><xs:sequence><xs:element name="title" type="xs:string"/><xs:element name="author" type="Author"/></xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Author"><xs:all><xs:element name="first" type="xs:string"/><xs:element name="last" type="xs:string"/></xs:all></xs:complexType>
      </xs:schema>`,
    },
    document:
      '<book xmlns="urn:p" xmlns:x="urn:x"><x:a>1</x:a><title>T</title><x:b>2</x:b><author><last>B</last><x:f/><first>A</first></author></book>',
    tables: [
      'book: book_key bigint!, document_key bigint!, title text!, author_first_position integer, author_first text!, author_last_position integer, author_last text!',
      'book_any: book_any_key bigint!, document_key bigint!, book_key bigint! -> book, position integer!, content text!',
      'book_author_any: book_author_any_key bigint!, document_key bigint!, book_key bigint! -> book, position integer!, content text!',
    ],
  },
  {
    name: 'components that override those of documents further down, with an assertion and names of other namespaces',
    files: {
      'main.xsd': `<xs:schema ${xs} elementFormDefault="qualified"><xs:override schemaLocation="base.xsd">
        <xs:complexType name="A"><xs:sequence><xs:element name="y" type="Code"/><xs:element name="z" type="xs:date" targetNamespace="urn:z"/></xs:sequence></xs:complexType>
        <xs:simpleType name="Code"><xs:restriction base="xs:int"><xs:assertion test="$value gt 0"/></xs:restriction></xs:simpleType>
        </xs:override></xs:schema>`,
      'base.xsd': `<xs:schema ${xs} elementFormDefault="qualified"><xs:include schemaLocation="inner.xsd"/>
        <xs:element name="r" type="R"/><xs:complexType name="R"><xs:sequence><xs:element name="a" type="A"/><xs:element name="never" type="xs:error" minOccurs="0"/></xs:sequence></xs:complexType></xs:schema>`,
      'inner.xsd': `<xs:schema ${xs}><xs:complexType name="A"><xs:sequence><xs:element name="x"/></xs:sequence></xs:complexType>
        <xs:simpleType name="Code"><xs:restriction base="xs:string"/></xs:simpleType></xs:schema>`,
    },
    document: '<r><a><y>5</y><z xmlns="urn:z">2026-01-01</z></a></r>',
    tables: ['r: r_key bigint!, document_key bigint!, y integer!, z date!'],
  },
];

const codesOfTest = (test: string): readonly string[] =>
  diagnose([
    schemaFile('a.xsd', `<xs:element name="e"><xs:alternative test="${test}" type="xs:int"/></xs:element>`),
  ]).diagnostics.map(({ code }) => code);

describe.each(sets)('$name', ({ files, document, tables }) => {
  const source = compiled(files);

  it('have their columns', () => {
    expect(outline(modelOf(source, 3)).split('\n')).toEqual(tables);
  });

  it.each([0, 1, 2, 3] as const)('are loaded and come back at level %i', async (level) => {
    const model = modelOf(source, level);
    expect(shred(model, [document]).deviations.total).toBe(0);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(bytesOf(document), written!, { source })).toEqual([]);
  });
});

describe('an element', () => {
  const members =
    '<xs:element name="block" abstract="true"/><xs:element name="inline" abstract="true"/>' +
    '<xs:element name="note" substitutionGroup="block inline" type="xs:int"/><xs:element name="para" substitutionGroup="block" type="xs:int"/>';
  const later = 'xmlns:vc="http://www.w3.org/2007/XMLSchema-versioning" vc:minVersion="1.1"';

  it('may stand for several heads', () => {
    const { model, diagnostics } = diagnose([schemaFile('a.xsd', members, later)]);
    const substitutesOf = (name: string): readonly string[] =>
      model!.elements
        .find((element) => element.name.localName === name)!
        .substitutes.map((index) => model!.elements[index]!.name.localName);
    expect(diagnostics).toEqual([]);
    expect(substitutesOf('block')).toEqual(['note', 'para']);
    expect(substitutesOf('inline')).toEqual(['note']);
  });

  it('of a set that nothing says to be of XSD 1.1 does, and that is told', () => {
    const { model, diagnostics } = diagnose([schemaFile('a.xsd', members)]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['xsd_several_heads']);
    expect(model!.elements[1]!.substitutes).toHaveLength(1);
  });
});

describe('what only XSD 1.0 forbids', () => {
  const content =
    '<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="a" minOccurs="0"/><xs:any minOccurs="0"/></xs:sequence>' +
    '<xs:attribute name="i" type="xs:ID"/><xs:attribute name="j" type="xs:ID"/></xs:complexType></xs:element>' +
    '<xs:complexType name="T"><xs:all><xs:element name="b" maxOccurs="2"/></xs:all></xs:complexType>';
  const codesOf = (more: string): readonly string[] =>
    diagnose([schemaFile('a.xsd', content + more)]).diagnostics.map(({ code }) => code);

  it('is told of sets of XSD 1.0', () => {
    expect(codesOf('').toSorted()).toEqual(['xsd_all_repeats', 'xsd_ambiguous_content', 'xsd_two_ids']);
  });

  it.each([
    '<xs:complexType name="L"><xs:assert test="true()"/></xs:complexType>',
    '<xs:simpleType name="L"><xs:restriction base="xs:int"><xs:assertion test="true()"/></xs:restriction></xs:simpleType>',
    '<xs:attribute name="l" inheritable="true"/>',
    '<xs:complexType name="L"><xs:anyAttribute notNamespace="urn:l"/></xs:complexType>',
  ])('is allowed beside %s', (more) => {
    const severities = diagnose([schemaFile('a.xsd', content + more)]).diagnostics.map(
      ({ severity }) => severity,
    );
    expect(severities.filter((severity) => severity === 'error')).toEqual([]);
  });
});

describe('an identity constraint', () => {
  const item =
    '<xs:element name="item" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id" type="xs:int"/></xs:complexType></xs:element>';
  const holder = (name: string, constraint: string): string =>
    `<xs:element name="${name}"><xs:complexType><xs:sequence>${item}</xs:sequence></xs:complexType>${constraint}</xs:element>`;
  const key = '<xs:key name="k"><xs:selector xpath="item"/><xs:field xpath="@id"/></xs:key>';
  const rulesOf = (attributes: string, constraint: string) => {
    const source = compiled(
      `<xs:schema ${xs} xmlns="urn:k" targetNamespace="urn:k" elementFormDefault="qualified" ${attributes}>${holder('shop', key)}${holder('store', constraint)}</xs:schema>`,
    );
    const model = modelOf(source, 3);
    return model.identityRules!.map(({ nodes, tables }) => ({
      nodes: nodes.map((node) => model.nodes[node]!.name.localName),
      tables: tables.map(({ table }) => model.tables[table]!.name),
    }));
  };

  it('selects elements of the default namespace for XPaths', () => {
    expect(rulesOf('xpathDefaultNamespace="##targetNamespace"', '')).toEqual([
      { nodes: ['shop'], tables: ['shop_item'] },
    ]);
    expect(rulesOf('xpathDefaultNamespace="##defaultNamespace"', '')).toEqual([
      { nodes: ['shop'], tables: ['shop_item'] },
    ]);
    expect(rulesOf('', '')).toEqual([{ nodes: ['shop'], tables: [] }]);
  });

  it('holds for each element that refers to it', () => {
    expect(rulesOf('xpathDefaultNamespace="urn:k"', '<xs:key ref="k"/>')).toEqual([
      { nodes: ['shop', 'store'], tables: ['shop_item', 'store_item'] },
    ]);
  });

  it('that is nowhere is told', () => {
    const { diagnostics } = diagnose([schemaFile('a.xsd', holder('shop', '<xs:key ref="gone"/>'))]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['xsd_unknown_key']);
  });
});

const zonedContent = (how: string): string =>
  `<xs:complexType name="T"><xs:simpleContent><xs:extension base="xs:dateTime"/></xs:simpleContent></xs:complexType>
   <xs:element name="r"><xs:complexType><xs:simpleContent><xs:restriction base="T"><xs:explicitTimezone value="${how}"/></xs:restriction></xs:simpleContent></xs:complexType></xs:element>`;

describe('explicitTimezone', () => {
  it.each([
    ['required', 'timestamptz'],
    ['prohibited', 'timestamp'],
  ])('%s of simple content is a %s', (value, column) => {
    const source = compiled(`<xs:schema ${xs}>${zonedContent(value)}</xs:schema>`);
    expect(outline(modelOf(source, 3))).toContain(`value ${column}!`);
  });
});

describe('a test of a type alternative', () => {
  it('has no variables, but for texts that look like them', () => {
    expect(codesOfTest('$kind = 1')).toContain('xsd_bad_xpath');
    expect(codesOfTest("@kind = '$kind'")).toEqual(['xsd_alternative_tests_ignored']);
  });
});

describe('the fixture of XSD 1.1', () => {
  it('is without fault', () => {
    const { diagnostics } = compileFixture('later-version.xsd');
    expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
  });
});
