/** Random documents without any XSD: trees whose elements of one name are much alike, as those of real formats are. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from './random.ts';
import type { AttributeNode, ElementNode } from '../documents/terms.ts';
import { freshName } from './names.ts';
import { xmlUri, xsiUri } from '../schemas/terms.ts';

/** How values of one place look; now and then one looks otherwise. */
const valueFamilies: readonly (readonly string[])[] = [
  ['a', 'text', 'two words', 'é😀', '<&>', 'x\ty', ' padded '],
  ['1', '2', '-7', '0', '2147483647'],
  ['1', '99999999999', '123456789012345678', '-1'],
  ['01', '1', '007', '+1', '-0'],
  ['1.50', '2.25', '-10.00', '0.05'],
  ['1.5', '2', '0.125', '-3.0', '100'],
  ['1', '', '2', ''],
  ['99999999999999999999999', '1'],
  ['true', 'false'],
  ['true', 'yes', '0'],
  ['2024-01-31', '1999-12-31', '0001-01-01'],
  ['2024-02-30', '2024-01-01'],
  ['2024-01-31T10:00:00', '2024-01-31T23:59:59.123456'],
  ['2024-01-31T10:00:00Z', '2024-01-31T10:00:00+02:00', '2024-06-30T23:59:59.5-11:30'],
  ['2024-01-31T10:00:00Z', '2024-01-31T10:00:00'],
  ['2024-01-31T24:00:00', '2024-01-31T10:00:00.1234567'],
  ['10:00:00', '23:59:59.999', '00:00:00'],
  ['10:00:00Z', '10:00'],
  ['1e5', '1.5E-3', 'INF', 'NaN'],
  ['', ' ', '\n'],
  ['1 2 3', '4 5'],
  ['NULL', '\\N', '{}', '"'],
  ['0.1', '0.10', '.5', '5.'],
  ['10000-01-01', '2024-01-01'],
];

interface Pattern {
  readonly name: QName;
  readonly attributes: readonly { readonly name: QName; readonly family: readonly string[] }[];
  readonly children: { readonly pattern: Pattern; readonly max: number; readonly percent: number }[];
  readonly family: readonly string[] | null;
  readonly isMixed: boolean;
  readonly keepsOrder: boolean;
}

/** Documents of one or two kinds. */
export function makeTrees(choices: Choices): ElementNode[] {
  const patterns = choices.several(1, 2, () => makePattern(choices, 0, new Set(), []));
  return choices.several(1, 4, () => {
    const making = { choices, left: 40 };
    return makeElement(choices.pick(patterns), making, 0);
  });
}

function makePattern(choices: Choices, depth: number, siblings: Set<string>, ancestors: Pattern[]): Pattern {
  const namespaceUri = choices.pick(['', '', 'urn:a', 'urn:b']);
  const taken = new Set<string>();
  const attributes = choices.several(0, 3, () => ({
    name: freshName(choices, choices.pick(['', '', '', 'urn:a', xmlUri]), taken),
    family: choices.pick(valueFamilies),
  }));
  const pattern: Pattern = {
    name: freshName(choices, namespaceUri, siblings),
    attributes,
    children: [],
    family: choices.chance(80) || depth > 3 ? choices.pick(valueFamilies) : null,
    isMixed: choices.chance(12),
    keepsOrder: choices.chance(80),
  };
  if (depth > 4 || (depth > 0 && choices.chance(50))) return pattern;
  const names = new Set<string>();
  const count = choices.between(depth === 0 ? 1 : 0, 5);
  for (let left = count; left > 0; left -= 1) {
    const again = ancestors.length > 0 && choices.chance(10) ? choices.pick(ancestors) : null;
    const child = again ?? makePattern(choices, depth + 1, names, [...ancestors, pattern]);
    pattern.children.push({
      pattern: child,
      max: choices.pick([1, 1, 1, 2, 4]),
      percent: choices.pick([100, 100, 60, 30]),
    });
  }
  return pattern;
}

function makeElement(
  pattern: Pattern,
  making: { readonly choices: Choices; left: number },
  depth: number,
): ElementNode {
  const { choices } = making;
  making.left -= 1;
  const attributes: AttributeNode[] = pattern.attributes
    .filter(() => choices.chance(80))
    .map(({ name, family }) => ({ name, value: valueOf(family, choices) }));
  if (choices.chance(2)) {
    attributes.push({ name: { namespaceUri: xsiUri, localName: 'nil' }, value: 'true' });
    return { name: pattern.name, attributes, children: [], isElementOnly: false };
  }
  const kinds =
    making.left > 0 && depth < 8 ? pattern.children.filter(({ percent }) => choices.chance(percent)) : [];
  let elements = kinds.flatMap(({ pattern: child, max }) =>
    Array.from({ length: choices.between(1, max) }, () => makeElement(child, making, depth + 1)),
  );
  if (!pattern.keepsOrder) elements = choices.shuffled(elements);
  if (elements.length > 0 && !pattern.isMixed)
    return { name: pattern.name, attributes, children: elements, isElementOnly: true };
  const texts = ['text', ' ', '1', '\n', 'a&b'];
  const children = pattern.isMixed
    ? elements.flatMap((element) => [choices.pick(texts), element, choices.pick(texts)])
    : pattern.family === null
      ? []
      : [valueOf(pattern.family, choices)].filter((text) => text !== '');
  return { name: pattern.name, attributes, children, isElementOnly: false };
}

function valueOf(family: readonly string[], choices: Choices): string {
  return choices.pick(choices.chance(2) ? choices.pick(valueFamilies) : family);
}
