/** Sets of several schema documents. */
import { describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { compileFixture, diagnose, schemaFile } from './fixture-sets.ts';

/** A document's only component: the simple type T. */
function simpleType(base: string): string {
  return `<xs:simpleType name="T"><xs:restriction base="xs:${base}"/></xs:simpleType>`;
}

describe('references between documents', () => {
  it('follows includes over folders and in circles', () => {
    const { diagnostics, children, typeOf, model } = compileFixture('include');
    expect(diagnostics).toEqual([]);
    expect(children(typeOf('order'))).toEqual(['number 1..1 ordered', 'order 0..1 ordered']);
    expect(model.targetNamespace).toBe('urn:orders');
    expect(model.namespaces).toMatchObject({ o: 'urn:orders' });
  });

  it('reads a chameleon document once per including namespace', () => {
    const { model, diagnostics, children, typeOf } = compileFixture('chameleon');
    expect(diagnostics).toEqual([]);
    const money = model.types.filter(({ name }) => name?.localName === 'Money');
    expect(money.map(({ name }) => name?.namespaceUri).toSorted()).toEqual(['urn:a', 'urn:b']);
    const amounts = money.map(({ children: [amount] }) => model.elements[amount!.element]!);
    expect(amounts.map(({ name }) => name.namespaceUri).toSorted()).toEqual(['urn:a', 'urn:b']);
    for (const { type } of amounts) {
      expect(model.types[type]!.value!.facets).toEqual({ totalDigits: 18, fractionDigits: 2 });
    }
    expect(children(typeOf('a'))).toEqual(['own 1..1 ordered', 'b 1..1 ordered']);
    expect(model.namespaces).toEqual({ a: 'urn:a', b: 'urn:b', xs: 'http://www.w3.org/2001/XMLSchema' });
  });

  it('redefines types, groups and attribute groups, step after step', () => {
    const { diagnostics, children, typeOf, attribute, type, model } = compileFixture('redefine');
    expect(diagnostics).toEqual([]);
    const person = typeOf('person');
    expect(children(person)).toEqual([
      'name 1..1 ordered',
      'phone 1..1 ordered',
      'fax 0..1 ordered',
      'age 1..1 ordered',
      'email 1..1 ordered',
    ]);
    expect(person.attributes.map(({ name }) => name.localName)).toEqual(['size', 'colour', 'code']);
    expect(attribute(person, 'code').type.facets).toEqual({
      minLength: 2,
      maxLength: 5,
      patterns: [['[A-Z]+']],
    });
    expect(type('Code').value!.facets.maxLength).toBe(5);
    // what was redefined is a base without a name: names stay unique
    expect(model.types.filter(({ name }) => name?.localName === 'Person')).toHaveLength(1);
    const inner = model.types[person.base!]!;
    expect([inner.name, children(inner).length]).toEqual([null, 4]);
  });

  it('means a redefined type by its name inside of the redefinition, too, but for its base', () => {
    const files = [
      schemaFile(
        'main.xsd',
        '<xs:redefine schemaLocation="part.xsd"><xs:complexType name="T"><xs:complexContent><xs:extension base="T"><xs:sequence><xs:element name="inner" type="T" minOccurs="0"/></xs:sequence><xs:attribute name="added"/></xs:extension></xs:complexContent></xs:complexType><xs:simpleType name="S"><xs:restriction base="S"><xs:maxLength value="3"/></xs:restriction></xs:simpleType></xs:redefine>' +
          '<xs:element name="root" type="T"/>',
      ),
      schemaFile(
        'part.xsd',
        '<xs:complexType name="T"><xs:sequence><xs:element name="code" type="S"/></xs:sequence></xs:complexType><xs:simpleType name="S"><xs:restriction base="xs:string"/></xs:simpleType>',
      ),
    ];
    const { model, diagnostics } = compileXsdSet(files, {});
    expect(diagnostics).toEqual([]);
    const typeOf = (local: string) =>
      model.types[model.elements.find(({ name }) => name.localName === local)!.type]!;
    expect(typeOf('inner')).toBe(typeOf('root'));
    expect(typeOf('inner').attributes.map(({ name }) => name.localName)).toEqual(['added']);
    expect(typeOf('code').value!.facets.maxLength).toBe(3);
  });

  it('takes an override in place of the component', () => {
    const { diagnostics, typeOf } = compileFixture('override');
    expect(diagnostics).toEqual([]);
    expect(typeOf('box').value!.base).toBe('int');
  });

  it('finds documents by base name or namespace when the location does not lead to one', () => {
    const files = [
      schemaFile(
        'in/main.xsd',
        '<xs:include schemaLocation="http://example.org/x/types.xsd"/><xs:import namespace="urn:i"/>' +
          '<xs:element name="a" type="T"/><xs:element name="b"><xs:complexType><xs:sequence><xs:element ref="i:e"/>' +
          '</xs:sequence></xs:complexType></xs:element>',
        'xmlns:i="urn:i"',
      ),
      schemaFile(
        'other/types.xsd',
        '<xs:simpleType name="T"><xs:restriction base="xs:int"/></xs:simpleType>',
      ),
      schemaFile('other/i.xsd', '<xs:element name="e" type="xs:date"/>', 'targetNamespace="urn:i"'),
    ];
    expect(diagnose(files, { entries: ['in/main.xsd'] })).toMatchObject({ usable: true, diagnostics: [] });
  });

  it('prefers, among files of one base name, the one whose path agrees longest', () => {
    const files = [
      schemaFile('m.xsd', '<xs:include schemaLocation="http://x/v2/t.xsd"/><xs:element name="a" type="T"/>'),
      schemaFile('v1/t.xsd', simpleType('int')),
      schemaFile('v2/t.xsd', simpleType('date')),
    ];
    const { model } = diagnose(files, { entries: ['m.xsd'] });
    expect(model!.types.find(({ name }) => name?.localName === 'T')!.value!.base).toBe('date');
  });

  it('knows the xml: attributes without a document for them', () => {
    const { diagnostics, attribute, typeOf } = compileFixture('forms.xsd');
    expect(diagnostics.filter(({ code }) => code !== 'xsd_not_imported')).toEqual([]);
    const lang = attribute(typeOf('root'), 'lang');
    expect(lang.name.namespaceUri).toBe('http://www.w3.org/XML/1998/namespace');
    expect(lang.type).toMatchObject({
      variety: 'union',
      memberTypes: [{ base: 'language' }, { base: 'string' }],
    });
  });

  it('takes the schema for schemas, whose types are the built-in ones, as a document of the set', () => {
    const { diagnostics } = diagnose([
      schemaFile(
        'rules.xsd',
        '<xs:import namespace="http://www.w3.org/2001/XMLSchema" schemaLocation="XMLSchema.xsd"/>' +
          '<xs:element name="rule"><xs:complexType><xs:sequence><xs:element ref="xs:restriction"/></xs:sequence></xs:complexType></xs:element>',
      ),
      schemaFile(
        'XMLSchema.xsd',
        '<xs:simpleType name="string"><xs:restriction base="xs:anySimpleType"/></xs:simpleType>' +
          '<xs:element name="restriction"><xs:complexType><xs:attribute name="base" type="xs:QName"/></xs:complexType></xs:element>',
        'targetNamespace="http://www.w3.org/2001/XMLSchema"',
      ),
    ]);
    expect(diagnostics).toEqual([]);
  });

  it('starts from files that no other refers to, and from the first of a circle', () => {
    const files = [
      schemaFile('a.xsd', '<xs:include schemaLocation="b.xsd"/><xs:element name="a"/>'),
      schemaFile('b.xsd', '<xs:include schemaLocation="a.xsd"/><xs:element name="b"/>'),
      schemaFile('c.xsd', '<xs:element name="c"/>'),
      { name: 'notes.xml', bytes: new TextEncoder().encode('<notes/>') },
    ];
    const { model, diagnostics } = diagnose(files);
    expect(diagnostics).toEqual([]);
    expect(model!.elements.map(({ name }) => name.localName).toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('does not start from what a circle brings in, in whatever order the files come', () => {
    const files = [
      schemaFile('lib.xsd', '<xs:element name="lib"/>'),
      schemaFile('part.xsd', '<xs:include schemaLocation="lib.xsd"/><xs:element name="part"/>'),
      schemaFile(
        'a.xsd',
        '<xs:include schemaLocation="b.xsd"/><xs:include schemaLocation="part.xsd"/><xs:element name="a"/>',
      ),
      schemaFile('b.xsd', '<xs:include schemaLocation="a.xsd"/><xs:element name="b"/>'),
    ];
    for (const order of [files, files.toReversed()]) {
      const { entries } = compileXsdSet(order);
      expect(entries, order.map(({ name }) => name).join()).toEqual([
        order.find(({ name }) => /^[ab]/.test(name))!.name,
      ]);
    }
  });

  it('takes an entry that declares nothing for what it brings in', () => {
    const files = [
      schemaFile('all.xsd', '<xs:include schemaLocation="parts.xsd"/>'),
      schemaFile(
        'parts.xsd',
        '<xs:include schemaLocation="city.xsd"/><xs:include schemaLocation="road.xsd"/>',
      ),
      schemaFile('city.xsd', '<xs:include schemaLocation="lib.xsd"/><xs:element name="city" type="T"/>'),
      schemaFile('road.xsd', '<xs:element name="road" type="xs:int"/>'),
      schemaFile('lib.xsd', '<xs:complexType name="T"/><xs:element name="unused" type="xs:int"/>'),
      schemaFile('codes.xsd', '<xs:element name="codes" type="xs:int"/>'),
    ];
    const { model } = diagnose(files);
    const roots = model!.roots
      .slice(0, model!.primaryRoots)
      .map((root) => model!.elements[root]!.name.localName);
    expect(roots.toSorted()).toEqual(['city', 'codes', 'road']);
  });

  it('counts a copy of a document as the same document', () => {
    const shared = '<xs:simpleType name="T"><xs:restriction base="xs:int"/></xs:simpleType>';
    const files = [
      schemaFile('a/main.xsd', '<xs:include schemaLocation="t.xsd"/><xs:element name="a" type="T"/>'),
      schemaFile('a/t.xsd', shared),
      schemaFile('b/main.xsd', '<xs:include schemaLocation="t.xsd"/><xs:element name="b" type="T"/>'),
      schemaFile('b/t.xsd', shared),
    ];
    expect(diagnose(files)).toMatchObject({ usable: true, diagnostics: [] });
  });
});

describe('what is missing', () => {
  it('fails with place, location and component when a needed component is nowhere', () => {
    const files = [
      schemaFile('m.xsd', '\n <xs:include schemaLocation="types.xsd"/>\n <xs:element name="a" type="T"/>'),
    ];
    const { usable, diagnostics } = diagnose(files);
    expect(usable).toBe(false);
    expect(diagnostics).toMatchObject([
      { code: 'xsd_missing_document', severity: 'error', file: 'm.xsd', line: 2, column: 2 },
      { code: 'xsd_missing_component', severity: 'error', file: 'm.xsd', line: 3, column: 2, path: 'T' },
    ]);
    expect(diagnostics[0]!.message).toContain('"types.xsd"');
  });

  it('only warns of a missing document that nothing needs', () => {
    const { usable, diagnostics } = diagnose([
      schemaFile('m.xsd', '<xs:import namespace="urn:x" schemaLocation="x.xsd"/><xs:element name="a"/>'),
    ]);
    expect(usable).toBe(true);
    expect(diagnostics).toMatchObject([{ code: 'xsd_missing_document', severity: 'warning' }]);
  });

  it.each(['../../../etc/passwd', '/etc/passwd', 'file:///etc/passwd', 'C:\\x.xsd'])(
    'refuses the location %s, which leaves the set',
    (location) => {
      const { usable, diagnostics } = diagnose([
        schemaFile('a/m.xsd', `<xs:include schemaLocation="${location}"/><xs:element name="a"/>`),
      ]);
      expect(usable).toBe(false);
      expect(diagnostics).toMatchObject([{ code: 'xsd_missing_document', severity: 'error', line: 1 }]);
      expect(diagnostics[0]!.message).toContain(location);
    },
  );

  it('lets anything stand in the place of missing components on request', () => {
    const { diagnostics, typeOf, children, model, type } = compileFixture('missing', { missing: 'wildcard' });
    expect(new Set(diagnostics.map(({ severity }) => severity))).toEqual(new Set(['warning']));
    const root = typeOf('root');
    expect(children(root)).toEqual(['typed 1..1 ordered']);
    expect(root.anyElement).toMatchObject({ namespaces: ['urn:gone'], minOccurs: 0, maxOccurs: 1 });
    expect(root.anyAttribute).toMatchObject({ namespaces: ['urn:gone'] });
    expect(model.types[model.elements[root.children[0]!.element]!.type]).toBe(type('anyType'));
    expect(() => compileFixture('missing')).toThrow('main.xsd: line 6, column 9');
  });

  it('lets it stand for components that their own document lacks', () => {
    const files = [
      schemaFile(
        'm.xsd',
        `<xs:element name="a"><xs:complexType><xs:complexContent><xs:extension base="Gone">
<xs:attribute name="n" type="AlsoGone"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
<xs:complexType name="T"><xs:sequence><xs:element ref="lost"/><xs:group ref="Lost"/></xs:sequence>
<xs:attributeGroup ref="Lost"/></xs:complexType>`,
      ),
    ];
    expect(diagnose(files).usable).toBe(false);
    const { usable, diagnostics } = diagnose(files, { missing: 'wildcard' });
    expect(usable).toBe(true);
    expect(diagnostics.map(({ severity, code, line, path }) => [severity, code, line, path])).toEqual([
      ['warning', 'xsd_unknown_component', 1, 'Gone'],
      ['warning', 'xsd_unknown_component', 2, 'AlsoGone'],
      ['warning', 'xsd_unknown_component', 3, 'lost'],
      ['warning', 'xsd_unknown_component', 3, 'Lost'],
      ['warning', 'xsd_unknown_component', 4, 'Lost'],
    ]);
  });

  it('blames nothing on what stands in the place of missing components', () => {
    const files = [
      schemaFile(
        'm.xsd',
        `<xs:complexType name="A"><xs:complexContent><xs:extension base="Gone"><xs:sequence>
<xs:element name="x" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
<xs:complexType name="B"><xs:complexContent><xs:extension base="A"><xs:sequence>
<xs:element name="y" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
<xs:complexType name="C"><xs:complexContent><xs:extension base="Gone"><xs:all>
<xs:element name="x" type="xs:int"/></xs:all></xs:extension></xs:complexContent></xs:complexType>
<xs:complexType name="D"><xs:choice><xs:element ref="gone"/><xs:element ref="gone2"/>
<xs:element name="x" type="xs:int"/><xs:any namespace="##local"/></xs:choice></xs:complexType>`,
      ),
    ];
    const { diagnostics } = diagnose(files, { missing: 'wildcard' });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({ code: 'xsd_ambiguous_content', line: 8 }),
    ]);
  });
});
