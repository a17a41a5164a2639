/** Situations of elements, as many as are to be known at a time. */
import { describe, expect, it } from 'vitest';
import { compileRules } from '../../../../src/engine/identity/compiled-rules.ts';
import { Situations, type Situation } from '../../../../src/engine/identity/checker.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const attributes = Array.from({ length: 12 }, (_, at) => `p${at}`);
const declared = (name: string, selector: string): string => `<xs:element name="${name}"><xs:complexType>
    <xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element ref="a"/><xs:element ref="b"/></xs:choice>
    ${attributes.map((attribute) => `<xs:attribute name="${attribute}"/>`).join('')}</xs:complexType>
    ${attributes.map((attribute) => `<xs:unique name="${name}-${attribute}"><xs:selector xpath="${selector}"/><xs:field xpath="@${attribute}"/></xs:unique>`).join('')}
  </xs:element>`;
const xsdOf = (selector: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${declared('a', selector)}${declared('b', selector)}</xs:schema>`;

function situationsOf(most: number, selector = 'b') {
  const xsd = xsdOf(selector);
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
      expect(inner.opensScope).toBe(true);
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

  it('none of many levels of rules within one another that select at any depth', () => {
    const { situations, a } = situationsOf(100_000, './/b');
    let inner = situations.outside;
    for (let depth = 0; depth < 1000; depth += 1) inner = situations.child(inner, a);
    expect(inner.anywhere?.count).toBe(1000);
    expect(reachable(situations.outside)).toBeLessThan(70);
  });
});

it('elements are in one situation however deep, and whichever elements with rules they lie in', () => {
  const { situations, a, b } = situationsOf(100_000);
  const met = new Set<Situation>();
  for (let way = 0; way < 200; way += 1) {
    let inner = situations.outside;
    for (let depth = 0; depth < 100; depth += 1) {
      // a pseudo-random bit
      inner = situations.child(inner, (Math.imul(way * 101 + depth, 0x9e3779b1) >>> 16) % 2 === 0 ? a : b);
      met.add(inner);
    }
  }
  // by its name and that of the element around it
  expect(met.size).toBeLessThan(12);
});
