/** What a wildcard of the XSD does not let in is no content of it. */
import { describe, expect, it } from 'vitest';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, modelOf, shred } from '../../../support/models/shredding.ts';

const xsdOf = (namespaces: string): string => `
  <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:element name="r"><xs:complexType><xs:sequence>
      <xs:element name="a" type="xs:string"/>
      <xs:any ${namespaces} processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence><xs:anyAttribute ${namespaces} processContents="lax"/></xs:complexType></xs:element>
  </xs:schema>`;
const document = `<r xmlns="urn:t" xmlns:t="urn:t" xmlns:o="urn:o" xmlns:p="urn:p" plain="1" t:own="2" o:other="3" p:more="4">
  <a>1</a><b/><c xmlns=""/><o:d/><p:e/></r>`;

interface Found {
  readonly elements: readonly string[];
  readonly attributes: readonly string[];
  readonly unmapped: readonly string[];
}

function found(model: RelationalModel): Found {
  const { rows, deviations } = shred(model, [document]);
  const unmapped = (rows['_unmapped'] ?? []).map(({ xpath }) => /[^/]+$/.exec(xpath!)![0]);
  expect(deviations.total).toBe(unmapped.length);
  return {
    elements: (rows['r_any'] ?? []).map(({ content }) => /^<([\w:]+)/.exec(content!)![1]!),
    attributes: (rows['r']![0]!['any_attributes'] ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/[ =].*$/s, '')),
    unmapped: unmapped.toSorted(),
  };
}

describe('a wildcard', () => {
  it.each([
    ['', { elements: 4, attributes: 4, unmapped: 0 }],
    ['namespace="##any"', { elements: 4, attributes: 4, unmapped: 0 }],
    ['namespace="##other"', { elements: 2, attributes: 2, unmapped: 4 }],
    ['namespace="##local"', { elements: 1, attributes: 1, unmapped: 6 }],
    ['namespace="##targetNamespace urn:p"', { elements: 2, attributes: 2, unmapped: 4 }],
    ['namespace="urn:q"', { elements: 0, attributes: 0, unmapped: 8 }],
  ])('with %s lets in what it says', (namespaces, expected) => {
    const { elements, attributes, unmapped } = found(modelOf(compiled(xsdOf(namespaces)), 1));
    expect({
      elements: elements.length,
      attributes: attributes.length,
      unmapped: unmapped.length,
    }).toEqual(expected);
  });

  it('of other namespaces has those, and the rest is told as unmapped', () => {
    const { elements, attributes, unmapped } = found(modelOf(compiled(xsdOf('namespace="##other"')), 1));
    expect(elements).toEqual(['o:d', 'p:e']);
    expect(attributes).toEqual(['{urn:o}other', '{urn:p}more']);
    expect(unmapped.map((step) => step.replace(/^(@?)(?:\w+:|\{[^}]*\})?/, '$1'))).toEqual([
      '@own',
      '@plain',
      'b',
      'c',
    ]);
  });

  it('loses nothing of what it does not let in', async () => {
    const [written] = await roundTrip(modelOf(compiled(xsdOf('namespace="##other"')), 1), [document]);
    const text = new TextDecoder().decode(written);
    for (const part of ['plain="1"', 'own="2"', 'other="3"', 'more="4"', 'b', 'c', 'd', 'e'])
      expect(text).toMatch(part.includes('=') ? new RegExp(part) : new RegExp(`<(?:\\w+:)?${part}[ />]`));
  });
});
