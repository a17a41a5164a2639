/** Type alternatives of XSD 1.1: what any of an element's types has lies where one looks for it, and comes back. */
import { describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, modelOf, outline, shred, type Row } from '../../../support/models/shredding.ts';

interface Situation {
  readonly name: string;
  readonly xsd: string;
  readonly document: string;
  /** tables at level 3 */
  readonly tables: readonly string[];
}

const schema = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">${content}</xs:schema>`;

const extension = (name: string, base: string, content: string): string =>
  `<xs:complexType${name === '' ? '' : ` name="${name}"`}><xs:complexContent><xs:extension base="${base}">${content}</xs:extension></xs:complexContent></xs:complexType>`;

const inSequence = (content: string): string => `<xs:sequence>${content}</xs:sequence>`;

const root = (content: string): string =>
  `<xs:element name="r"><xs:complexType>${inSequence(content)}</xs:complexType></xs:element>`;

const restriction = (name: string, content: string): string =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:restriction base="T">${inSequence(content)}</xs:restriction></xs:complexContent></xs:complexType>`;

/** A row without its keys and its position. */
const valuesOf = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.includes('key') && name !== 'position'));

const situations: readonly Situation[] = [
  {
    name: 'extensions of the declared type, in a table of their own',
    xsd: schema(`${root(`<xs:element name="geometry" type="Geometry" maxOccurs="unbounded">
        <xs:alternative test="@kind='line'" type="Line"/>
        <xs:alternative test="@kind='arc'" type="Arc"/>
        <xs:alternative test="@kind='poly'">${extension('', 'Geometry', inSequence('<xs:element name="c" type="xs:decimal" maxOccurs="4"/>'))}</xs:alternative>
        <xs:alternative type="xs:error"/></xs:element>`)}
      <xs:complexType name="Geometry"><xs:attribute name="kind" use="required" type="xs:token"/><xs:attribute name="s" type="xs:double"/></xs:complexType>
      ${extension('Line', 'Geometry', '<xs:attribute name="length" type="xs:double" use="required"/>')}
      ${extension('Arc', 'Geometry', '<xs:sequence><xs:element name="curvature" type="xs:int"/></xs:sequence><xs:attribute name="length" type="xs:double"/>')}`),
    document:
      '<r><geometry kind="line" s="1.5" length="2.5"/><geometry kind="arc"><curvature>7</curvature></geometry><geometry kind="poly"><c>1</c><c>2.5</c></geometry></r>',
    tables: [
      'r: r_key bigint!, document_key bigint!',
      'geometry: geometry_key bigint!, document_key bigint!, r_key bigint! -> r, position integer!, kind text!, s double, length double, curvature integer',
      'c: c_key bigint!, document_key bigint!, geometry_key bigint! -> geometry, position integer!, value numeric!',
    ],
  },
  {
    name: 'one child name of several types',
    xsd: schema(`${root(`<xs:element name="p" type="P">
        <xs:alternative test="@t='n'" type="N"/><xs:alternative test="@t='d'" type="D"/></xs:element>`)}
      <xs:complexType name="P" abstract="true"><xs:attribute name="t"/></xs:complexType>
      ${extension('N', 'P', inSequence('<xs:element name="value" type="xs:int"/><xs:element name="to" type="xs:int" minOccurs="0"/>'))}
      ${extension('D', 'P', inSequence('<xs:element name="value"><xs:complexType><xs:simpleContent><xs:extension base="xs:long"><xs:attribute name="unit" type="xs:NCName" use="required"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>'))}`),
    document: '<r><p t="d"><value unit="m">99999999999</value></p></r>',
    tables: ['r: r_key bigint!, document_key bigint!, t text, value bigint!, value_unit text, to integer'],
  },
  {
    name: 'values of the ur-type, chosen by an attribute',
    xsd: schema(`${root('<xs:element name="set" type="S" maxOccurs="unbounded"><xs:alternative test="@type=\'i\'" type="I"/><xs:alternative test="@type=\'s\'" type="B"/></xs:element>')}
      <xs:complexType name="S" abstract="true"><xs:simpleContent><xs:extension base="xs:anySimpleType"><xs:attribute name="type" use="required" type="xs:token"/></xs:extension></xs:simpleContent></xs:complexType>
      <xs:complexType name="I"><xs:simpleContent><xs:restriction base="S"><xs:simpleType><xs:restriction base="xs:int"/></xs:simpleType></xs:restriction></xs:simpleContent></xs:complexType>
      <xs:complexType name="B"><xs:simpleContent><xs:restriction base="S"><xs:simpleType><xs:restriction base="xs:short"/></xs:simpleType></xs:restriction></xs:simpleContent></xs:complexType>`),
    document: '<r><set type="i">100000</set><set type="s">5</set></r>',
    tables: [
      'r: r_key bigint!, document_key bigint!',
      'set: set_key bigint!, document_key bigint!, r_key bigint! -> r, position integer!, type text!, value integer!',
    ],
  },
  {
    name: 'a type that is empty beside one that is not',
    xsd: schema(`${root('<xs:element name="v" type="V" maxOccurs="unbounded"><xs:alternative test="@none=\'true\'" type="None"/><xs:alternative type="Some"/></xs:element>')}
      <xs:complexType name="V"><xs:simpleContent><xs:extension base="xs:anySimpleType"><xs:attribute name="none" type="xs:boolean"/></xs:extension></xs:simpleContent></xs:complexType>
      <xs:complexType name="None"><xs:attribute name="none" type="xs:boolean"/></xs:complexType>
      <xs:complexType name="Some"><xs:simpleContent><xs:extension base="xs:date"><xs:attribute name="none" type="xs:boolean"/></xs:extension></xs:simpleContent></xs:complexType>`),
    document: '<r><v none="true"/><v>2026-03-04</v></r>',
    tables: [
      'r: r_key bigint!, document_key bigint!',
      'v: v_key bigint!, document_key bigint!, r_key bigint! -> r, position integer!, none boolean, value date',
    ],
  },
  {
    name: 'types in place of the ur-type',
    xsd: schema(`${root('<xs:element name="m" type="xs:anyType" maxOccurs="unbounded"><xs:alternative test="@k=\'a\'" type="A"/><xs:alternative test="@k=\'b\'" type="B"/></xs:element>')}
      <xs:complexType name="A"><xs:sequence><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:int"/></xs:sequence><xs:attribute name="k"/></xs:complexType>
      <xs:complexType name="B"><xs:sequence><xs:element name="y" type="xs:int"/><xs:element name="x" type="xs:int"/></xs:sequence><xs:attribute name="k"/></xs:complexType>`),
    document: '<r><m k="a"><x>1</x><y>2</y></m><m k="b"><y>3</y><x>4</x></m><m k="c"><z>5</z></m></r>',
    tables: [
      'r: r_key bigint!, document_key bigint!',
      'm: m_key bigint!, document_key bigint!, r_key bigint! -> r, position integer!, k text, any_attributes text, x_position integer, x integer, y_position integer, y integer',
      'm_any: m_any_key bigint!, document_key bigint!, m_key bigint! -> m, position integer!, content text!',
    ],
  },
  {
    name: 'types that hold the element again',
    xsd: schema(`<xs:element name="n" type="N"><xs:alternative test="@k='tree'" type="Tree"/><xs:alternative test="@k='leaf'" type="Leaf"/></xs:element>
      <xs:complexType name="N"><xs:attribute name="k" type="xs:token"/></xs:complexType>
      ${extension('Tree', 'N', inSequence('<xs:element ref="n" maxOccurs="unbounded"/>'))}
      ${extension('Leaf', 'N', '<xs:attribute name="size" type="xs:int"/>')}`),
    document: '<n k="tree"><n k="leaf" size="1"/><n k="tree"><n k="leaf" size="2"/></n></n>',
    tables: [
      'n: n_key bigint!, document_key bigint!, parent_n_key bigint -> n, position integer, k text, size integer',
    ],
  },
];

describe.each(situations)('$name', ({ xsd, document, tables }) => {
  const source = compiled(xsd);

  it('have columns of the types of each', () => {
    expect(outline(modelOf(source, 3)).split('\n')).toEqual(tables);
  });

  it.each([0, 1, 2, 3] as const)('are loaded and come back at level %i', async (level) => {
    const model = modelOf(source, level);
    const { deviations, rows } = shred(model, [document]);
    expect(deviations.total).toBe(0);
    expect(rows['_unmapped']).toBeUndefined();
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(bytesOf(document), written!, { source })).toEqual([]);
  });
});

describe('an element with alternatives', () => {
  const [{ xsd, document }] = situations as [Situation];
  const source = compiled(xsd);

  it('has the value of each instance in its column', () => {
    const { rows } = shred(modelOf(source, 3), [document]);
    expect(rows['geometry']!.map(valuesOf)).toEqual([
      { kind: 'line', s: '1.5', length: '2.5', curvature: null },
      { kind: 'arc', s: null, length: null, curvature: '7' },
      { kind: 'poly', s: null, length: null, curvature: null },
    ]);
    expect(rows['c']!.map((row) => row['value'])).toEqual(['1', '2.5']);
  });

  it('keeps an xsi:type that names one of them, and its values have their columns', async () => {
    const typed = document.replace(
      '<geometry kind="line"',
      '<geometry xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Line" kind="line"',
    );
    const model = modelOf(source, 3);
    const { rows } = shred(model, [typed]);
    expect(valuesOf(rows['geometry']![0]!)).toMatchObject({ kind: 'line', s: '1.5', length: '2.5' });
    const [written] = await roundTrip(model, [typed]);
    expect(compareXml(bytesOf(typed), written!, { source })).toEqual([]);
  });

  it('goes on in the tables of a version of its set that had none', () => {
    const before = compiled(xsd.replaceAll(/<xs:alternative test="[^"]*" type="\w+"\/>/g, ''));
    const first = buildRelationalModel(before, { mapLevel: 3 });
    const next = buildRelationalModel(source, { mapLevel: 3, previous: first });
    const columnsOf = (table: string): readonly string[] =>
      next.tables.find(({ name }) => name === table)!.columns.map(({ name }) => name);
    expect(columnsOf('geometry')).toEqual(
      expect.arrayContaining(['geometry_key', 'kind', 's', 'length', 'curvature']),
    );
    expect(shred(next, [document]).deviations.total).toBe(0);
  });

  it('has the type that all others restrict, under its name', () => {
    const { elements, types } = compiled(
      schema(`<xs:element name="e" type="T"><xs:alternative test="@a" type="A"/><xs:alternative test="@b" type="B"/></xs:element>
        <xs:complexType name="T"><xs:sequence><xs:element name="a" type="xs:int" minOccurs="0"/><xs:element name="b" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>
        ${restriction('A', '<xs:element name="a" type="xs:int"/>')}${restriction('B', '<xs:element name="b" type="xs:int"/>')}`),
    );
    expect(types[elements[0]!.type]!.name?.localName).toBe('T');
  });
});

const choice = (name: string, types: readonly number[]): string =>
  `<xs:element name="${name}" minOccurs="0">${types.map((type) => `<xs:alternative test="@t=${type}" type="T${type}"/>`).join('')}<xs:alternative type="xs:error"/></xs:element>`;

/** Which types an element may have is told by its way from the root: of n types there are 2^n sets. */
const combining = (n: number): string => {
  const types = Array.from({ length: n }, (_, at) => {
    const next = Math.min(at + 1, n - 1);
    const children = choice('a', at === 0 ? [0, 1] : [next]) + choice('b', at === 0 ? [0] : [next]);
    return `<xs:complexType name="T${at}">${inSequence(children)}<xs:attribute name="t${at}"/></xs:complexType>`;
  });
  return schema(choice('r', [0, 1]).replace(' minOccurs="0"', '') + types.join(''));
};

describe('alternatives within alternatives', () => {
  it('combine in all ways where these are few', () => {
    const { types } = compiled(combining(6));
    expect(types.filter(({ name }) => name === null)).toHaveLength(31);
  });

  it('are told and bounded where they are too many', () => {
    const { model, diagnostics } = compileXsdSet([{ name: 'a.xsd', bytes: bytesOf(combining(24)) }]);
    expect(model.types.length).toBeLessThan(2000);
    expect(diagnostics.filter(({ severity }) => severity === 'warning').map(({ code }) => code)).toEqual([
      'xsd_too_many_alternatives',
    ]);
  });
});
