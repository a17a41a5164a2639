/** The comparison that round trips rest on: what it passes over, and that it passes over nothing else. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { compiled } from '../../../support/models/shredding.ts';

const source = compiled(
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
    <xs:element name="d" type="xs:decimal" minOccurs="0" maxOccurs="unbounded"/><xs:element name="t" type="xs:dateTime" minOccurs="0"/>
    <xs:element name="s" type="xs:string" minOccurs="0"/><xs:element name="k" type="xs:token" minOccurs="0"/>
    <xs:element name="q" type="xs:QName" minOccurs="0"/><xs:element name="f" type="xs:float" minOccurs="0"/>
    <xs:element name="l" minOccurs="0"><xs:simpleType><xs:list itemType="xs:int"/></xs:simpleType></xs:element>
    <xs:element name="p" minOccurs="0"><xs:complexType mixed="true"><xs:sequence><xs:element name="b" type="xs:string" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="b" type="xs:boolean"/></xs:complexType></xs:element></xs:schema>`,
);

const instance = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

describe('documents that say the same', () => {
  it.each([
    ['prefixes', '<a:r xmlns:a="urn:a"><a:x/></a:r>', '<r xmlns="urn:a"><b:x xmlns:b="urn:a"/></r>'],
    ['order of attributes', '<r x="1" y="2"/>', '<r y="2" x="1"/>'],
    ['white space between elements', '<r>\n  <x/>\n</r>', '<r><x/></r>'],
    ['comments and instructions', '<r><!-- c --><x>a<?p i?>b</x></r>', '<r><x>ab</x></r>'],
    ['CDATA and references', '<r><x><![CDATA[<]]>&#65;</x></r>', '<r><x>&lt;A</x></r>'],
    ['schema locations', `<r ${instance} xsi:schemaLocation="a b"/>`, '<r/>'],
    ['numbers', '<r b="1"><d>01.50</d></r>', '<r b="true"><d>1.5</d></r>'],
    ['digits that a type does not have', '<r><f>0.100000001</f></r>', '<r><f>1e-1</f></r>'],
    ['ends of seconds', '<r><t>2024-01-01T00:00:00.50+00:00</t></r>', '<r><t>2024-01-01T00:00:00.5Z</t></r>'],
    ['white space of tokens and lists', '<r><k> a  b </k><l>1  02</l></r>', '<r><k>a b</k><l>1 2</l></r>'],
    ['names in values', '<r xmlns:a="urn:a"><q>a:x</q></r>', '<r xmlns:b="urn:a"><q> b:x</q></r>'],
  ])('%s', (_, a, b) => {
    expect(compareXml(a, b, { source })).toEqual([]);
    expect(compareXml(b, a, { source })).toEqual([]);
  });
});

describe('documents that do not', () => {
  it.each([
    ['names', '<r><x/></r>', '<r><y/></r>'],
    ['namespaces', '<r xmlns="urn:a"/>', '<r/>'],
    ['namespaces of attributes', '<r xmlns:a="urn:a" a:x="1"/>', '<r x="1"/>'],
    ['an attribute more', '<r/>', '<r x=""/>'],
    ['order of elements', '<r><x/><y/></r>', '<r><y/><x/></r>'],
    ['an element less', '<r><x/><x/></r>', '<r><x/></r>'],
    ['values', '<r><d>1.5</d></r>', '<r><d>1.51</d></r>'],
    ['numbers where none is declared', '<r><z>1.50</z></r>', '<r><z>1.5</z></r>'],
    ['zones', '<r><t>2024-01-01T02:00:00+02:00</t></r>', '<r><t>2024-01-01T00:00:00Z</t></r>'],
    ['a zone more', '<r><t>2024-01-01T00:00:00</t></r>', '<r><t>2024-01-01T00:00:00Z</t></r>'],
    ['white space of strings', '<r><s> a</s></r>', '<r><s>a</s></r>'],
    ['white space of mixed content', '<r><p><b>1</b> <b>2</b></p></r>', '<r><p><b>1</b><b>2</b></p></r>'],
    ['text between elements', '<r>x<d>1</d></r>', '<r><d>1</d></r>'],
    ['nil', `<r ${instance}><s xsi:nil="true"/></r>`, '<r><s/></r>'],
    ['what names stand for', '<r xmlns:a="urn:a"><q>a:x</q></r>', '<r xmlns:a="urn:b"><q>a:x</q></r>'],
    [
      'types',
      `<r ${instance} xmlns:a="urn:a" xsi:type="a:T"/>`,
      `<r ${instance} xmlns:a="urn:b" xsi:type="a:T"/>`,
    ],
    ['empty and absent', '<r><d/></r>', '<r/>'],
    ['items of lists', '<r><l>1 2</l></r>', '<r><l>12</l></r>'],
  ])('%s', (_, a, b) => {
    expect(compareXml(a, b, { source })).not.toEqual([]);
    expect(compareXml(b, a, { source })).not.toEqual([]);
  });

  it('are told by path and both values', () => {
    expect(compareXml('<r><p><b>1</b></p></r>', '<r><p><b>2</b></p></r>', { source })).toEqual([
      { kind: 'value', path: '/r/p/b', expected: '1', actual: '2' },
    ]);
  });
});
