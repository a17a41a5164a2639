/** Situations of elements, as many as are to be known at a time. */
import { describe, expect, it } from 'vitest';
import { compileRules } from '../../../../src/engine/identity/compiled-rules.ts';
import { Situations, type Situation } from '../../../../src/engine/identity/situations.ts';
import { createNameTable } from '../../../../src/engine/xml/names/expanded-names.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const attributes = Array.from({ length: 12 }, (_, at) => `p${at}`);
const declared = (name: string): string => `<xs:element name="${name}"><xs:complexType>
    <xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element ref="a"/><xs:element ref="b"/></xs:choice>
    ${attributes.map((attribute) => `<xs:attribute name="${attribute}"/>`).join('')}</xs:complexType>
    ${attributes.map((attribute) => `<xs:unique name="${name}-${attribute}"><xs:selector xpath="b"/><xs:field xpath="@${attribute}"/></xs:unique>`).join('')}
  </xs:element>`;
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${declared('a')}${declared('b')}</xs:schema>`;

function situationsOf(most: number) {
  const names = createNameTable();
  const situations = new Situations(compileRules(modelOf(compiled(xsd), 0), names), most);
  return { situations, a: names.intern('', 'a'), b: names.intern('', 'b') };
}

/** How many there are that others lead to, from outside of the root on. */
function reachable(from: Situation): number {
  const met = new Set([from]);
  for (const { next, withAttributes } of met)
    for (const other of [...next.values(), ...withAttributes.values()]) met.add(other);
  return met.size;
}

describe('no more are held than are to be known', () => {
  it('of elements within one another in ever new ways, below a root that stays open', () => {
    const { situations, a, b } = situationsOf(500);
    const root = situations.child(situations.outside, a);
    for (let way = 0; way < 4096; way += 1) {
      let inner = root;
      for (let bit = 0; bit < 12; bit += 1) inner = situations.child(inner, (way >> bit) % 2 === 0 ? a : b);
      expect(inner.scopes).toHaveLength(13);
    }
    expect(reachable(situations.outside)).toBeLessThan(120);
  });

  it('of elements with ever other attributes', () => {
    const { situations, a, b } = situationsOf(500);
    const root = situations.child(situations.outside, a);
    for (let bits = 0; bits < 4096; bits += 1) {
      const selected = situations.child(root, b);
      expect(selected.asked.size).toBe(12);
      const ones = bits.toString(2).replaceAll('0', '').length;
      expect(situations.withAttributes(root, b, selected, bits).selected).toHaveLength(ones);
    }
    expect(reachable(situations.outside)).toBeLessThan(120);
  });

  it('none of many levels of rules within one another', () => {
    const { situations, a } = situationsOf(100_000);
    let inner = situations.outside;
    for (let depth = 0; depth < 1000; depth += 1) inner = situations.child(inner, a);
    expect(inner.scopes).toHaveLength(1000);
    expect(reachable(situations.outside)).toBeLessThan(70);
  });
});
