/** Names on their way into rows and out of them: labels, paths, prefixes, QNames in values. */
import { describe, expect, it } from 'vitest';
import { createNameLabels, pathSteps } from '../../../../src/engine/model/name-labels.ts';
import { NamespaceScope } from '../../../../src/engine/shred/namespace-scope.ts';
import { createOutputNamespaces } from '../../../../src/engine/unshred/xml-output.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const model = modelOf(
  compiled({
    'a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:b="urn:b" targetNamespace="urn:a"><xs:import namespace="urn:b" schemaLocation="b.xsd"/>
      <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="x" type="xs:int"/><xs:element name="x" type="xs:int" form="qualified"/><xs:element name="y" type="xs:int"/><xs:element ref="b:z"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
    'b.xsd':
      '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:b"><xs:element name="z" type="xs:int"/></xs:schema>',
  }),
  1,
);
const name = (namespaceUri: string, localName: string) => ({ namespaceUri, localName });
const prefixOfB = Object.entries(model.namespaces).find(([, uri]) => uri === 'urn:b')![0];

describe('prefixes of names that only values hold', () => {
  const xsd = 'http://www.w3.org/2001/XMLSchema';

  it('are the usual ones, declared where they are used', () => {
    const namespaces = createOutputNamespaces(model);
    const own = new Map<string, string>();
    expect(namespaces.declarations).not.toContain(`"${xsd}"`);
    expect(namespaces.nameWith(name(xsd, 'integer'), own)).toBe('xs:integer');
    expect(namespaces.nameWith(name('urn:new', 'T'), own)).toBe('_2:T');
    expect(namespaces.nameWith(name(xsd, 'date'), own)).toBe('xs:date');
    expect([...own]).toEqual([
      [xsd, 'xs'],
      ['urn:new', '_2'],
    ]);
  });

  it('are others where the model has those for something else', () => {
    const other = { ...model, namespaces: { ...model.namespaces, xs: 'urn:other', _1: 'urn:one' } };
    const own = new Map<string, string>();
    const [prefix] = createOutputNamespaces(other).nameWith(name(xsd, 'integer'), own).split(':');
    expect(['xs', '_1']).not.toContain(prefix);
    expect(createOutputNamespaces(other).nameWith(name('urn:other', 'T'), new Map())).toBe('xs:T');
  });
});

describe('labels', () => {
  const labels = createNameLabels(model);

  it('are short where nothing else is called so', () => {
    expect(labels.element(name('urn:a', 'r'))).toBe('r');
    expect(labels.element(name('', 'y'))).toBe('y');
    expect(labels.element(name('urn:b', 'z'))).toBe(`${prefixOfB}:z`);
    expect(labels.element(name('urn:unknown', 'z'))).toBe('{urn:unknown}z');
  });

  it('tell an element in no namespace from one in that of the root', () => {
    expect(labels.element(name('urn:a', 'x'))).toBe('x');
    expect(labels.element(name('', 'x'))).toBe('{}x');
  });

  it('of types and attributes are read back as they were', () => {
    for (const uri of ['', 'urn:a', 'urn:b', 'urn:unknown', 'http://www.w3.org/XML/1998/namespace']) {
      expect(labels.typeOf(labels.type(name(uri, 'T')))).toEqual(name(uri, 'T'));
      expect(labels.attributeOf(labels.attribute(name(uri, 'k')))).toEqual(name(uri, 'k'));
    }
    expect(labels.typeOf('nowhere:T')).toBeNull();
    expect(labels.typeOf('not a name')).toBeNull();
  });
});

it('steps of a path may hold slashes in their namespace', () => {
  expect(pathSteps('/r/{http://x/y}a/p:b/@{http://z}k')).toEqual([
    'r',
    '{http://x/y}a',
    'p:b',
    '@{http://z}k',
  ]);
});

describe('names in values', () => {
  const scope = new NamespaceScope();
  scope.declare('', 'urn:d');
  scope.declare('a', 'urn:a');
  const outer = scope.size;
  scope.declare('a', 'urn:other');

  it('are read with the innermost declaration', () => {
    expect(scope.resolve('a:x')).toEqual(name('urn:other', 'x'));
    expect(scope.resolve('x')).toEqual(name('urn:d', 'x'));
    expect(scope.resolve('b:x')).toBeNull();
    expect(scope.resolve('1x')).toBeNull();
    expect(scope.prefixOf('urn:a', false)).toBeNull();
  });

  it('are written out where the model would read them otherwise', () => {
    expect(scope.expand('a:x', false, { a: 'urn:other' })).toBeNull();
    expect(scope.expand('a:x', false, { a: 'urn:a' })).toBe('{urn:other}x');
    expect(scope.expand(' x ', false, {})).toBe('{urn:d}x');
    expect(scope.expand('x b:y', true, {})).toBe('{urn:d}x b:y');
    expect(scope.expand('two words', false, {})).toBeNull();
    expect(scope.expand('xml:lang', false, {})).toBeNull();
  });

  it('are forgotten with the element', () => {
    scope.leave(outer);
    expect(scope.resolve('a:x')).toEqual(name('urn:a', 'x'));
    expect(scope.prefixOf('urn:d', false)).toBe('');
    expect(scope.prefixOf('urn:d', true)).toBeNull();
  });
});

describe('prefixes of a written document', () => {
  const namespaces = createOutputNamespaces(model);

  it('are declared at the root, and no default namespace is', () => {
    expect(namespaces.declarations).toContain(` xmlns:${prefixOfB}="urn:b"`);
    expect(namespaces.declarations).not.toContain(' xmlns=');
    expect(namespaces.nameOf(name('urn:b', 'z'))).toBe(`${prefixOfB}:z`);
    expect(namespaces.nameOf(name('', 'y'))).toBe('y');
  });

  it('of other namespaces are declared where they are needed, each once', () => {
    const own = new Map<string, string>();
    expect(namespaces.nameWith(name('urn:new', 'k'), own)).toBe('_1:k');
    expect(namespaces.nameWith(name('urn:newer', 'k'), own)).toBe('_2:k');
    expect(namespaces.nameWith(name('urn:new', 'l'), own)).toBe('_1:l');
    expect(namespaces.nameWith(name('http://www.w3.org/XML/1998/namespace', 'lang'), own)).toBe('xml:lang');
    expect([...own]).toEqual([
      ['urn:new', '_1'],
      ['urn:newer', '_2'],
    ]);
  });
});
