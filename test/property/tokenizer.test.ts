/** The tokeniser on random documents: it reads what was written, however the bytes come. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/engine/diagnostics.ts';
import { parseXmlTree, type XmlElement } from '../../src/engine/xml/tree.ts';
import { readTokens, type ReadOptions } from '../unit/engine/xml/read-tokens.ts';
import type { ElementNode } from './documents/terms.ts';
import { damaged, encoded } from './documents/bytes.ts';
import { nameKey } from './schemas/terms.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { treeCases } from './choices/tree-cases.ts';

/** Names, attributes in any order, and text, white space of element-only content aside. */
function saidBy(node: ElementNode): unknown {
  return {
    name: nameKey(node.name),
    attributes: Object.fromEntries(node.attributes.map(({ name, value }) => [nameKey(name), value])),
    children: joined(node.children).map((child) => (typeof child === 'string' ? child : saidBy(child))),
  };
}

function readAs(element: XmlElement, node: ElementNode): unknown {
  const children = node.isElementOnly
    ? element.children.filter((child) => typeof child !== 'string')
    : element.children;
  const nodes = joined(node.children);
  return {
    name: nameKey(element.name),
    attributes: Object.fromEntries(element.attributes.map(({ name, value }) => [nameKey(name), value])),
    children: children.map((child, at) =>
      typeof child === 'string' ? child : readAs(child, nodes[at] as ElementNode),
    ),
  };
}

/** Adjoining text is one. */
function joined(children: ElementNode['children']): ElementNode['children'] {
  const result: ElementNode['children'] = [];
  for (const child of children) {
    const last = result.at(-1);
    if (typeof child === 'string' && typeof last === 'string') result[result.length - 1] = last + child;
    else result.push(child);
  }
  return result;
}

/** What is read, or which fault is found where; its words may show the byte where a window ends inside a character. */
function outcome(bytes: Uint8Array, options: ReadOptions): unknown {
  try {
    return readTokens(bytes, options);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, line, column } = error.diagnostic;
    return { code, line, column };
  }
}

const cuts = fc.record({
  chunkBytes: fc.integer({ min: 1, max: 50 }),
  windowBytes: fc.integer({ min: 16, max: 300 }),
  damages: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }),
  encoding: fc.constantFrom('UTF-8', 'UTF-8 with mark', 'UTF-16LE', 'UTF-16BE'),
});

describe('the tokeniser', { timeout: propertyTimeoutMs }, () => {
  it('reads what was written, in every encoding', async () => {
    await holds(
      fc.tuple(treeCases, cuts),
      ([{ trees, documents }, { encoding }]) => {
        for (const [index, document] of documents.entries()) {
          const tree = trees[index]!;
          expect(readAs(parseXmlTree(encoded(document, encoding)), tree)).toEqual(saidBy(tree));
        }
      },
      { runs: 150 },
    );
  });

  it('gives the same tokens at the same places for any cuts and any window', async () => {
    await holds(
      fc.tuple(treeCases, cuts),
      ([{ documents }, { chunkBytes, windowBytes, encoding }]) => {
        for (const document of documents) {
          const bytes = encoded(document, encoding);
          const whole = readTokens(bytes, { places: true, comments: true });
          expect(readTokens(bytes, { places: true, comments: true, chunkBytes })).toEqual(whole);
          expect(readTokens(bytes, { places: true, comments: true, chunkBytes: 1, windowBytes })).toEqual(
            whole,
          );
          expect(readTokens(bytes, { places: true, comments: true, chunkBytes, windowBytes })).toEqual(whole);
        }
      },
      { runs: 150 },
    );
  });

  it('finds the same fault at the same place for any cuts, and throws nothing else', async () => {
    await holds(
      fc.tuple(treeCases, cuts),
      ([{ documents }, { chunkBytes, windowBytes, damages, encoding }]) => {
        const bytes = damaged(encoded(documents[0]!, encoding), damages);
        const whole = outcome(bytes, {});
        expect(outcome(bytes, { chunkBytes })).toEqual(whole);
        expect(outcome(bytes, { chunkBytes: 1, windowBytes })).toEqual(whole);
      },
      { runs: 200 },
    );
  });
});
