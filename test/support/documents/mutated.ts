/** Documents that break their XSD in ways real ones do: made from a sound one by a seed. */
import { xmlNamespace, xsiNamespace } from '../../../src/engine/model/name-labels.ts';
import { writeTree, type TreeElement as Element, readTree } from './trees.ts';

/** Numbers from 0 up to a bound, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const texts = [
  'x',
  ' ',
  '',
  '0',
  '-1',
  '1.50',
  'true',
  '2024-02-30',
  'a & b <c> ]]>',
  ' \n two\r\n lines \t',
  '😀',
  'NaN',
];

/** `count` changes, at places that the seed chooses. */
export function mutated(document: Uint8Array, seed: number, count: number): string {
  const root = readTree(document);
  const random = randomNumbers(seed);
  for (let change = 0; change < count; change += 1) {
    const all = elementsBelow(root);
    mutate(all[random(all.length)]!, all, random);
  }
  return writeTree(root);
}

function elementsBelow(root: Element): Element[] {
  const found: Element[] = [root];
  for (const element of found)
    for (const child of element.children) if (typeof child !== 'string') found.push(child);
  return found;
}

function mutate(element: Element, all: readonly Element[], random: (bound: number) => number): void {
  const { children } = element;
  const at = random(children.length + 1);
  const text = texts[random(texts.length)]!;
  const other = all[random(all.length)]!;
  switch (random(12)) {
    case 0:
      children.splice(at, 1);
      break;
    case 1:
      children.reverse();
      break;
    case 2:
      if (children[at] !== undefined)
        children.splice(random(children.length), 0, structuredClone(children[at]));
      break;
    case 3:
      children.splice(at, 0, text);
      break;
    case 4:
      children.splice(0, children.length);
      break;
    case 5:
      children.splice(0, children.length, text);
      break;
    case 6:
      element.attributes.splice(random(element.attributes.length + 1), 1);
      break;
    case 7: {
      const known = element.attributes[0];
      if (known !== undefined) element.attributes[0] = { name: known.name, value: text };
      break;
    }
    case 8: {
      const name = {
        namespaceUri: ['', 'urn:x', element.name.namespaceUri, xmlNamespace][random(4)]!,
        localName: 'lang',
      };
      element.attributes = element.attributes.filter((known) => known.name.localName !== 'lang');
      element.attributes.push({ name, value: text });
      break;
    }
    case 9: {
      if (!element.attributes.some(({ name }) => name.localName === 'nil')) {
        const value = ['true', '0', ' 1 ', 'no'][random(4)]!;
        element.attributes.push({ name: { namespaceUri: xsiNamespace, localName: 'nil' }, value });
      }
      break;
    }
    case 10:
      // a copy: an element cannot stand in itself
      children.splice(at, 0, structuredClone({ ...other, children: other.children.slice(0, 3) }));
      break;
    default: {
      const name = { namespaceUri: ['', 'urn:x', element.name.namespaceUri][random(3)]!, localName: 'extra' };
      const attributes =
        random(2) === 0 ? [] : [{ name: { namespaceUri: 'urn:x', localName: 'k' }, value: text }];
      children.splice(at, 0, { name, attributes, children: [text], namespaces: element.namespaces });
    }
  }
}
