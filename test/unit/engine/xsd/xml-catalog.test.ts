/** OASIS XML Catalogs in a set: what its documents refer to by URN, URL or namespace lies where a catalog says. */
import { describe, expect, it } from 'vitest';
import { parseXmlTree } from '../../../../src/engine/xml/tree.ts';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { standaloneXsdSet } from '../../../../src/engine/xsd/read/standalone-set.ts';
import { createXmlCatalogs } from '../../../../src/engine/xsd/read/oasis-catalog.ts';

const utf8 = new TextEncoder();
const catalog = (content: string, attributes = ''): string =>
  `<?xml version="1.0"?>\n<!DOCTYPE catalog PUBLIC "-//OASIS//DTD XML Catalogs V1.1//EN" "http://www.oasis-open.org/committees/entity/release/1.1/catalog.dtd">\n<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog" ${attributes}>\n${content}</catalog>`;
const catalogsOf = (files: Readonly<Record<string, string>>) =>
  createXmlCatalogs(
    Object.entries(files).map(([name, text]) => ({ name, root: parseXmlTree(utf8.encode(text)) })),
  );
const xs = (content: string, attributes = ''): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" ${attributes}>${content}</xs:schema>`;
const compile = (files: Readonly<Record<string, string>>) => {
  const set = Object.entries(files).map(([name, text]) => ({ name, bytes: utf8.encode(text) }));
  return { set, ...compileXsdSet(set, { entries: ['main.xsd'] }) };
};

describe('entries', () => {
  const { location, namespace } = catalogsOf({
    'cat/main.xml': catalog(`
      <uri name="urn:a" uri="../x/a.xsd"/>
      <uri name="urn:a" uri="second.xsd"/>
      <system systemId="http://e.org/b.xsd" uri="b%20b.xsd"/>
      <public publicId="-//E//XSD  C 1//EN" uri="c.xsd"/>
      <rewriteURI uriStartString="http://e.org/" rewritePrefix="short/"/>
      <rewriteURI uriStartString="http://e.org/long/" rewritePrefix="longer/"/>
      <rewriteSystem systemIdStartString="http://s.org/x/" rewritePrefix="../sys/"/>
      <uriSuffix uriSuffix="tail.xsd" uri="t.xsd"/>
      <uriSuffix uriSuffix="a-tail.xsd" uri="at.xsd"/>
      <systemSuffix systemIdSuffix="/end.xsd" uri="e.xsd"/>
      <group xml:base="deep/er/"><uri name="urn:g" uri="g.xsd"/><group xml:base="../"><uri name="urn:h" uri="h.xsd"/></group></group>
      <uri name="urn:out" uri="../../out.xsd"/><uri name="urn:abs" uri="file:///etc/passwd"/><uri name="urn:root" uri="/etc/passwd"/>
      <uri name="urn:based" uri="based.xsd" xml:base="http://far.org/"/>
      <other xmlns="urn:other"><uri name="urn:inside" uri="no.xsd"/></other>`),
  });
  it.each([
    ['urn:a', 'x/a.xsd'],
    ['http://e.org/b.xsd', 'cat/b b.xsd'],
    ['urn:publicid:-:E:XSD+C+1:EN', 'cat/c.xsd'],
    ['-//E//XSD C 1//EN', 'cat/c.xsd'],
    ['http://e.org/o/1.xsd', 'cat/short/o/1.xsd'],
    ['http://e.org/long/../up.xsd', 'cat/up.xsd'],
    ['http://s.org/x/y.xsd', 'sys/y.xsd'],
    ['urn:any:tail.xsd', 'cat/t.xsd'],
    ['urn:any:a-tail.xsd', 'cat/at.xsd'],
    ['http://z.org/end.xsd', 'cat/e.xsd'],
    ['urn:g', 'cat/deep/er/g.xsd'],
    ['urn:h', 'cat/deep/h.xsd'],
    ['urn:out', null],
    ['urn:abs', null],
    ['urn:root', null],
    ['urn:based', null],
  ])('%s is %s', (text, path) => {
    expect(location(text)).toMatchObject({ path, catalog: 'cat/main.xml' });
  });
  it('none is there for the rest, and namespaces go by uri entries', () => {
    expect([location('urn:inside'), location('urn:b'), namespace('http://e.org/b')]).toMatchObject([
      null,
      null,
      { path: 'cat/short/b' },
    ]);
    expect(namespace('urn:a')).toMatchObject({ path: 'x/a.xsd', line: 5 });
  });
});

it('catalogs name others, delegate, and may name each other', () => {
  const { location, further } = catalogsOf({
    'a.xml': catalog(
      `<delegateURI uriStartString="urn:d:" catalog="d/one.xml"/><delegateURI uriStartString="urn:d:special:" catalog="d/two.xml"/><nextCatalog catalog="b.xml"/><nextCatalog catalog="gone.xml"/>`,
    ),
    'b.xml': catalog(
      '<nextCatalog catalog="a.xml"/><uri name="urn:b" uri="b.xsd"/><uri name="urn:d:x" uri="never.xsd"/>',
    ),
    'd/one.xml': catalog('<uri name="urn:d:1" uri="1.xsd"/><uri name="urn:d:special:1" uri="later.xsd"/>'),
    'd/two.xml': catalog('<uri name="urn:d:special:1" uri="2.xsd"/>'),
    'z.xml': catalog('<uri name="urn:z" uri="z.xsd"/>'),
  });
  expect(
    ['urn:d:1', 'urn:d:special:1', 'urn:d:x', 'urn:b', 'urn:z'].map((uri) => location(uri)?.path),
  ).toEqual([
    'd/1.xsd',
    'd/2.xsd',
    // the delegate has the last word
    undefined,
    'b.xsd',
    'z.xsd',
  ]);
  expect(further).toEqual(expect.arrayContaining(['b.xml', 'gone.xml', 'd/one.xml', 'd/two.xml']));
});

describe('a set', () => {
  const files = {
    'lib/catalog.xml': catalog(
      '<uri name="urn:e:types.xsd" uri="xsd/types-1.2.xsd"/><rewriteURI uriStartString="http://e.org/ns/" rewritePrefix="xsd/"/><uri name="urn:e:other" uri="xsd/o.xsd"/>',
    ),
    'lib/xsd/types-1.2.xsd': xs(
      '<xs:complexType name="T"><xs:sequence><xs:element name="in" type="xs:int"/></xs:sequence></xs:complexType>',
    ),
    'lib/xsd/o.xsd': xs('<xs:element name="far" type="xs:date"/>', 'targetNamespace="urn:e:other"'),
    'main.xsd': xs(
      '<xs:import namespace="urn:e:other"/><xs:include schemaLocation="urn:e:types.xsd"/><xs:redefine schemaLocation="http://e.org/ns/re.xsd"><xs:complexType name="R"><xs:complexContent><xs:extension base="R"><xs:attribute name="more"/></xs:extension></xs:complexContent></xs:complexType></xs:redefine><xs:element name="root"><xs:complexType><xs:sequence><xs:element name="t" type="T"/><xs:element name="r" type="R"/><xs:element xmlns:o="urn:e:other" ref="o:far"/></xs:sequence></xs:complexType></xs:element>',
    ),
    'lib/xsd/re.xsd': xs('<xs:complexType name="R"><xs:sequence/></xs:complexType>'),
    // the only one of its namespace, had the catalog not said another
    'lib/xsd/also.xsd': xs('<xs:element name="far" type="xs:int"/>', 'targetNamespace="urn:e:other"'),
  };
  it('is compiled, and written for other programs, by its catalog', () => {
    const { set, model, diagnostics } = compile(files);
    expect(diagnostics).toEqual([]);
    const elements = model.elements.map(({ name }) => name.localName);
    expect(elements).toEqual(expect.arrayContaining(['root', 't', 'in', 'r', 'far']));
    const written = standaloneXsdSet(set, { entries: ['main.xsd'] });
    expect(written.files.map(({ source }) => source)).toEqual(
      expect.arrayContaining(['main.xsd', 'lib/xsd/types-1.2.xsd', 'lib/xsd/re.xsd', 'lib/xsd/o.xsd']),
    );
  });
  it('has an entry that leads nowhere told, with its line', () => {
    const { 'lib/xsd/re.xsd': _, ...rest } = files;
    const set = Object.entries(rest).map(([name, text]) => ({ name, bytes: utf8.encode(text) }));
    const { diagnostics } = compileXsdSet(set, { missing: 'wildcard' });
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'xsd_catalog_target',
        file: 'main.xsd',
        message:
          'lib/catalog.xml, line 4, says that "http://e.org/ns/re.xsd" is "xsd/re.xsd", and lib/xsd/re.xsd is not in the set',
      }),
    );
  });
});
