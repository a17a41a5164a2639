/** Components of XSD sets, as the source model shows them. */
import { describe, expect, it } from 'vitest';
import { compileFixture } from './fixture-sets.ts';

describe('declarations', () => {
  const { model, element, typeOf, attribute, children, diagnostics } = compileFixture('forms.xsd');

  it('qualifies local names by form and form defaults', () => {
    const root = typeOf('root');
    const names = root.children.map(({ element: index }) => model.elements[index]!.name);
    expect(names).toEqual([
      { namespaceUri: '', localName: 'plain' },
      { namespaceUri: 'urn:f', localName: 'formed' },
      { namespaceUri: 'urn:f', localName: 'other' },
    ]);
    expect(children(root)).toEqual(['plain 1..1 ordered', 'formed 1..1 ordered', 'other 0..* ordered']);
    expect(attribute(root, 'byDefault').name.namespaceUri).toBe('urn:f');
    expect(attribute(root, 'bare')).toMatchObject({ required: true, name: { namespaceUri: '' } });
  });

  it('keeps defaults, fixed values, nillable and types of references', () => {
    expect(attribute(typeOf('root'), 'shared')).toMatchObject({
      fixed: '2026-01-01',
      type: { base: 'date' },
    });
    expect(attribute(typeOf('root'), 'lang').default).toBe('en');
    expect(attribute(typeOf('root'), 'byDefault').type.base).toBe('anySimpleType');
    expect(element('other')).toMatchObject({ nillable: true, default: '7', global: true });
    expect(element('plain').global).toBe(false);
  });

  it('tells that the xml namespace was not imported', () => {
    expect(diagnostics).toMatchObject([{ code: 'xsd_not_imported', severity: 'error', line: 13 }]);
  });
});

describe('complex types', () => {
  const { type, children, typeNames, attribute, model, diagnostics, element } =
    compileFixture('derivation.xsd');

  it('puts an extension after the content of its base', () => {
    const car = type('Car');
    expect(diagnostics).toEqual([]);
    expect(children(car)).toEqual([
      'wheels 1..1 ordered',
      'note 0..5 ordered',
      'petrol 0..1 ordered',
      'battery 0..1 ordered',
    ]);
    expect(car.attributes.map(({ name }) => name.localName)).toEqual(['id', 'owner', 'doors']);
    expect(car).toMatchObject({ derivation: 'extension', content: 'elements', abstract: false });
    expect(model.types[car.base!]).toBe(type('Vehicle'));
  });

  it('replaces content in a restriction, where attributes are inherited or removed', () => {
    const plain = type('PlainVehicle');
    expect(children(plain)).toEqual(['wheels 1..1 ordered']);
    expect(plain.attributes.map(({ name, required }) => [name.localName, required])).toEqual([['id', true]]);
  });

  it('lists what may be named by xsi:type', () => {
    expect(type('Vehicle').abstract).toBe(true);
    expect(typeNames(type('Vehicle').derived)).toEqual(['Car', 'PlainVehicle']);
    expect(typeNames(type('Price').derived)).toEqual(['SmallPrice']);
    expect(model.types[element('vehicle').type]).toBe(type('Vehicle'));
  });

  it('derives simple content', () => {
    expect(type('Price')).toMatchObject({ content: 'simple', value: { base: 'decimal', facets: {} } });
    const small = type('SmallPrice');
    expect(small.value).toMatchObject({ base: 'decimal', facets: { maxInclusive: '99.99' } });
    expect(attribute(small, 'currency')).toMatchObject({ fixed: 'EUR', type: { base: 'token' } });
    expect(attribute(small, 'currency').default).toBeUndefined();
    expect(attribute(type('Price'), 'currency').default).toBe('EUR');
  });
});

describe('simple types', () => {
  const { type, diagnostics, typeOf, typeNames, model } = compileFixture('simple-types.xsd');
  const value = (name: string) => type(name).value!;

  it('merges facets over derivation steps', () => {
    expect(diagnostics).toEqual([]);
    expect(value('ShortWord')).toMatchObject({
      variety: 'atomic',
      base: 'token',
      name: { localName: 'ShortWord' },
    });
    expect(value('ShortWord').facets).toEqual({
      minLength: 1,
      maxLength: 8,
      patterns: [['\\i\\c*', '[0-9]+'], ['.{2,}']],
    });
    expect(value('HighPercent').facets).toEqual({
      minExclusive: '50',
      maxExclusive: '100',
      totalDigits: 5,
      fractionDigits: 2,
    });
    expect(value('WarmColour').facets).toEqual({ enumeration: ['red'] });
    expect(type('Word')).toMatchObject({ complex: false, content: 'simple', derivation: 'restriction' });
    expect(model.types[type('ShortWord').base!]).toBe(type('Word'));
    expect(typeNames(type('Colour').derived)).toEqual(['WarmColour']);
  });

  it('makes lists and unions, a union of unions flat', () => {
    expect(value('TwoColours')).toMatchObject({
      variety: 'list',
      base: 'anySimpleType',
      facets: { length: 2 },
      itemType: { name: { localName: 'Colour' }, base: 'string' },
    });
    expect(value('Anything').memberTypes!.map(({ base }) => base)).toEqual(['string', 'int', 'date']);
    expect(typeOf('names').value).toEqual({
      variety: 'list',
      base: 'NMTOKENS',
      facets: {},
      itemType: { variety: 'atomic', base: 'NMTOKEN', facets: {} },
    });
  });
});

describe('model groups', () => {
  const { type, children, attribute, diagnostics } = compileFixture('groups.xsd');

  it('takes the least and the most over the branches of a choice', () => {
    expect(diagnostics).toEqual([]);
    expect(children(type('Choice'))).toEqual(['a 0..1 ordered', 'c 0..1 ordered', 'b 1..3 ordered']);
  });

  it('has names of several branches in the order that all of these keep', () => {
    const interval = ['low 0..1 ordered', 'center 0..1 ordered', 'width 0..1 ordered', 'high 0..1 ordered'];
    expect(children(type('Interval'))).toEqual(interval);
  });

  it('implies no order of names that branches have in several', () => {
    expect(children(type('Disagreed'))).toEqual(['a 1..1', 'b 1..1', 'c 0..1 ordered']);
  });

  it('multiplies by the range of a repeated group, which leaves the order open', () => {
    expect(children(type('Repeated'))).toEqual(['a 2..12', 'b 0..4', 'c 0..4']);
  });

  it('adds up the particles of one name in a sequence', () => {
    expect(children(type('Twice'))).toEqual(['left 1..2', 'right 1..2', 'middle 1..1 ordered']);
  });

  it('knows where the content model fixes the order', () => {
    expect(children(type('Unordered'))).toEqual(['a 1..1', 'b 0..1']);
    expect(children(type('Ordered'))).toEqual(['a 1..* ordered', 'b 0..1 ordered', 'c 0..2 ordered']);
  });

  it('tells mixed and empty content', () => {
    expect(type('Mixed').content).toBe('mixed');
    expect(children(type('Mixed'))).toEqual(['b 0..*', 'i 0..*']);
    expect(type('Empty')).toMatchObject({ content: 'empty', children: [], anyElement: null });
  });

  it('flattens attribute groups', () => {
    const twice = type('Twice');
    expect(twice.attributes.map(({ name }) => name.localName).toSorted()).toEqual(['x', 'y']);
    expect(attribute(twice, 'y').required).toBe(true);
    expect(twice.anyAttribute).toMatchObject({
      namespaces: ['urn:one', 'urn:two'],
      processContents: 'strict',
    });
  });
});

describe('substitution groups', () => {
  const { element, names, typeOf, type, diagnostics } = compileFixture('substitution.xsd');

  it('are transitive, without abstract members', () => {
    expect(diagnostics).toEqual([]);
    expect(names(element('animal').substitutes)).toEqual(['dog', 'cat']);
    expect(element('animal').abstract).toBe(true);
  });

  it('give their type to members without one', () => {
    expect(typeOf('cat')).toBe(type('Animal'));
    expect(typeOf('dog')).toBe(type('Dog'));
  });

  it('leave out what the head blocks', () => {
    expect(names(element('guarded').substitutes)).toEqual(['guardCat']);
    expect(element('closed').substitutes).toEqual([]);
  });
});

describe('wildcards', () => {
  const { type, typeOf } = compileFixture('wildcards.xsd');

  it('read their namespaces', () => {
    expect(type('Other').anyElement).toEqual({
      namespaces: { not: 'urn:w' },
      processContents: 'lax',
      minOccurs: 0,
      maxOccurs: null,
    });
    expect(type('Other').anyAttribute!.namespaces).toEqual(['']);
  });

  it('are united within a content model and over extensions', () => {
    expect(type('United').anyElement).toMatchObject({
      namespaces: ['urn:x', 'urn:w', ''],
      minOccurs: 2,
      maxOccurs: 3,
    });
    expect(type('Wider').anyAttribute).toMatchObject({
      namespaces: ['urn:y', 'urn:x'],
      processContents: 'lax',
    });
  });

  it('are what an element without a type holds', () => {
    expect(typeOf('anything')).toMatchObject({
      content: 'mixed',
      anyElement: { namespaces: '##any', minOccurs: 0, maxOccurs: null },
      anyAttribute: { namespaces: '##any' },
      base: null,
    });
  });
});

describe('identity constraints, documentation, roots', () => {
  it('keeps keys with the prefixes of their paths', () => {
    const { element, diagnostics } = compileFixture('keys.xsd');
    expect(diagnostics).toEqual([]);
    const [itemKey, itemUnique, likeRef] = ['itemKey', 'itemUnique', 'likeRef'].map((localName) => ({
      namespaceUri: 'urn:k',
      localName,
    }));
    expect(element('shop').identityConstraints).toEqual([
      {
        kind: 'key',
        name: itemKey,
        selector: './/k:item',
        fields: ['@sku'],
        namespaces: { k: 'urn:k' },
      },
      {
        kind: 'unique',
        name: itemUnique,
        selector: 'k:item',
        fields: ['@sku', '@like'],
        namespaces: { k: 'urn:k' },
      },
      {
        kind: 'keyref',
        name: likeRef,
        refer: itemKey,
        selector: 'k:item',
        fields: ['@like'],
        namespaces: { k: 'urn:k' },
      },
    ]);
    expect(element('shop').documentation).toBe('A shop and its items.');
  });

  it('puts elements that nothing else refers to first among the roots', () => {
    const { model, names } = compileFixture('roots.xsd');
    expect(names(model.roots)).toEqual(['tree', 'leaf']);
    expect(model.primaryRoots).toBe(1);
  });

  it('reads XSD 1.1 as far as the model can hold it', () => {
    const { diagnostics, type, typeOf, children } = compileFixture('later-version.xsd');
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ['xsd_alternative_tests_ignored', 'info'],
      ['xsd_assertion_ignored', 'info'],
    ]);
    expect(children(type('Range'))).toEqual(['low 1..1 ordered']);
    expect(type('Range').anyElement).toMatchObject({ namespaces: { not: '' }, processContents: 'skip' });
    expect(typeOf('picked').value!.base).toBe('int');
  });
});
