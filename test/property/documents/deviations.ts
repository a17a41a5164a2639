/** Changes a valid document as real ones deviate: what is missing, too much, out of order, of the wrong kind, or unheard of. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';
import { elementsOf, type AttributeNode, type ElementNode } from './terms.ts';
import { localName } from '../choices/names.ts';
import { xmlUri, xsiUri, type SchemaTerm } from '../schemas/terms.ts';
import { markedName } from '../choices/value-generator.ts';

const wrongValues = [
  '',
  'x',
  ' ',
  '-1',
  '01',
  '1e400',
  '99999999999999999999999999',
  '2024-02-30',
  '24:00:01',
  'true false',
  'a\tb\nc\rd',
  '\\N',
  '\\.',
  '{1,2}',
  'NULL',
  '"',
  '&amp;',
  '<a/>',
  ']]>',
  'é😀'.repeat(40),
  '\u00A01',
  'undeclared:name',
] as const;

export function deviate(root: ElementNode, schema: SchemaTerm, choices: Choices): void {
  for (let left = choices.between(1, 4); left > 0; left -= 1) {
    const node = choices.pick(elementsOf(root));
    choices.pick(deviations)(node, choices, schema, root);
  }
}

type Deviation = (node: ElementNode, choices: Choices, schema: SchemaTerm, root: ElementNode) => void;

/** Where another child could stand. */
function gap(node: ElementNode, choices: Choices): number {
  return choices.below(node.children.length + 1);
}

function somewhere(node: ElementNode, choices: Choices): number {
  return choices.below(node.children.length);
}

function anyName(schema: SchemaTerm, root: ElementNode, choices: Choices): QName {
  const known = choices.pick(elementsOf(root)).name;
  const global = choices.pick(schema.elements).name;
  const namespaceUri = choices.pick([root.name.namespaceUri, '', 'urn:unheard', 'urn:foreign']);
  return choices.pick([
    known,
    global,
    { namespaceUri, localName: localName(choices) },
    { ...known, namespaceUri },
  ]);
}

/** A part of the document, or a new element, which may itself hold anything. */
function anyElement(schema: SchemaTerm, root: ElementNode, choices: Choices): ElementNode {
  if (choices.chance(40)) return structuredClone(choices.pick(elementsOf(root)));
  const children: ElementNode['children'] = choices.chance(60)
    ? [choices.pick(wrongValues)].filter((text) => text !== '')
    : [];
  if (choices.chance(20))
    children.push({
      name: anyName(schema, root, choices),
      attributes: [],
      children: [],
      isElementOnly: false,
    });
  return {
    name: anyName(schema, root, choices),
    attributes: anyAttribute(choices),
    children,
    isElementOnly: false,
  };
}

function anyAttribute(choices: Choices): AttributeNode[] {
  return choices.chance(30)
    ? [
        {
          name: { namespaceUri: choices.pick(['', 'urn:unheard']), localName: localName(choices) },
          value: choices.pick(wrongValues),
        },
      ]
    : [];
}

function setAttribute(node: ElementNode, attribute: AttributeNode): void {
  const isSame = ({ name }: AttributeNode): boolean =>
    name.localName === attribute.name.localName && name.namespaceUri === attribute.name.namespaceUri;
  node.attributes = [...node.attributes.filter((one) => !isSame(one)), attribute];
}

const deviations: readonly Deviation[] = [
  (node, choices) => node.children.splice(somewhere(node, choices), 1),
  (node, choices) => {
    const at = somewhere(node, choices);
    const child = node.children[at];
    if (child !== undefined) node.children.splice(gap(node, choices), 0, structuredClone(child));
  },
  (node, choices) => {
    node.children = choices.shuffled(node.children);
  },
  (node, choices, schema, root) =>
    node.children.splice(gap(node, choices), 0, anyElement(schema, root, choices)),
  (node, choices) =>
    node.children.splice(gap(node, choices), 0, choices.pick(['stray text', 'a < b', ' \n x ', '1'])),
  (node, choices) => {
    if (node.children.every((child) => typeof child === 'string'))
      node.children = [choices.pick(wrongValues)].filter((text) => text !== '');
  },
  (node) => {
    node.children = [];
  },
  (node, choices) => {
    const attribute = node.attributes[choices.below(node.attributes.length)];
    if (attribute !== undefined && attribute.name.namespaceUri !== xsiUri)
      attribute.value = choices.pick(wrongValues);
  },
  (node, choices) => node.attributes.splice(choices.below(node.attributes.length), 1),
  (node, choices) => {
    const namespaceUri = choices.pick(['', node.name.namespaceUri, 'urn:unheard', xmlUri]);
    const name = namespaceUri === xmlUri ? choices.pick(['lang', 'space', 'id']) : localName(choices);
    setAttribute(node, { name: { namespaceUri, localName: name }, value: choices.pick(wrongValues) });
  },
  (node, choices) => {
    const value = choices.pick(['true', 'false', '1', ' true ', 'yes', '']);
    setAttribute(node, { name: { namespaceUri: xsiUri, localName: 'nil' }, value });
  },
  (node, choices, schema) => {
    const types = schema.files
      .flatMap((file) => [...file.complexTypes, ...file.simpleTypes])
      .map((type) => type.name!);
    const names = [
      ...types,
      { namespaceUri: 'urn:unheard', localName: 'T' },
      { namespaceUri: 'http://www.w3.org/2001/XMLSchema', localName: 'int' },
    ];
    setAttribute(node, {
      name: { namespaceUri: xsiUri, localName: 'type' },
      value: markedName(choices.pick(names)),
    });
  },
  (node, choices) =>
    setAttribute(node, {
      name: { namespaceUri: xsiUri, localName: 'type' },
      value: choices.pick(['', 'nobody:T', ' T ', 'a:b:c']),
    }),
  (node, choices, schema, root) => {
    const at = somewhere(node, choices);
    const child = node.children[at];
    if (child === undefined || typeof child === 'string') return;
    node.children[at] = { ...child, name: anyName(schema, root, choices) };
  },
  (node, choices, schema, root) => {
    const at = somewhere(node, choices);
    const child = node.children[at];
    if (child !== undefined)
      node.children[at] = {
        name: anyName(schema, root, choices),
        attributes: anyAttribute(choices),
        children: [child],
        isElementOnly: false,
      };
  },
];
