/** The short form of `npm run random`: random XSD sets, checked by an oracle that shares no code with the engine. */
import { describe, expect, it } from 'vitest';
import type { ElementNode } from '../../scripts/random/documents/generator.ts';
import { compareDocument, placesWithoutText } from '../../scripts/random/oracle/same-document.ts';
import { checkSet, makeSet } from '../../scripts/random/set.ts';
import { needs } from '../support/needs.ts';

describe('random XSD sets', { timeout: 60_000 }, () => {
  it('give back each document, and have each value where the map says', needs('xmllint'), async () => {
    for (let number = 0; number < 12; number += 1) {
      const { faults } = await checkSet(makeSet(45, number, 4));
      expect([number, faults]).toEqual([number, []]);
    }
  });
});

function node(
  local: string,
  content: ElementNode['content'],
  ...children: (ElementNode | string)[]
): ElementNode {
  return {
    name: { uri: '', local },
    attributes: [],
    children,
    content,
    value: null,
    type: null,
    isDerived: false,
  };
}

describe('white space alone in an element of documents without an XSD', () => {
  const spaces = node('r', 'elements', node('item', 'elements', node('item', 'simple', '  ')));
  const written = '<r><item><item/></item></r>';

  it('is no text if elements of its name hold elements and never text', () => {
    const withoutText = placesWithoutText([spaces]);
    expect(compareDocument(spaces, written, { typed: false, withoutText })).toEqual([]);
    expect(compareDocument(spaces, written, { typed: true })).toHaveLength(1);
  });

  it('is text if an element of its name has text, or if none holds elements', () => {
    const text = node('r', 'elements', node('item', 'elements', node('item', 'simple', 'text')));
    const alone = node('r', 'elements', node('item', 'simple', '  '));
    for (const [tree, document, all] of [
      [spaces, written, [spaces, text]],
      [alone, '<r><item/></r>', [alone]],
    ] as const)
      expect(
        compareDocument(tree, document, { typed: false, withoutText: placesWithoutText(all) }),
      ).toHaveLength(1);
  });
});
