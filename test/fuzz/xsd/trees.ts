/** XSD documents as trees that can be changed: parts moved, doubled, taken from others, values that lead elsewhere. */
import { parseXmlTree, type XmlElement } from '../../../src/engine/xml/tree.ts';
import type { Random } from '../random.ts';

const xsdNamespace = 'http://www.w3.org/2001/XMLSchema';

export interface XsdNode {
  /** as written; elements of XSD are always `xs:…` */
  name: string;
  attributes: [name: string, value: string][];
  children: (XsdNode | string)[];
  /** prefixes declared here */
  readonly declared: ReadonlyMap<string, string>;
}

/** null: it is not well-formed. */
export function readXsdTree(bytes: Uint8Array): XsdNode | null {
  try {
    return treeOf(parseXmlTree(bytes), new Map());
  } catch {
    return null;
  }
}

function treeOf(element: XmlElement, outer: ReadonlyMap<string, string>): XsdNode {
  const prefixes = [...element.namespaces].filter(([, uri]) => uri === element.name.namespaceUri);
  const prefix = prefixes[0]?.[0] ?? '';
  const { localName } = element.name;
  return {
    name:
      element.name.namespaceUri === xsdNamespace
        ? `xs:${localName}`
        : prefix === ''
          ? localName
          : `${prefix}:${localName}`,
    attributes: element.attributes
      .filter(({ name }) => name.namespaceUri === '')
      .map(({ name, value }) => [name.localName, value]),
    children: element.children.flatMap((child): (XsdNode | string)[] =>
      typeof child !== 'string' ? [treeOf(child, element.namespaces)] : child.trim() === '' ? [] : [child],
    ),
    declared: new Map([...element.namespaces].filter(([one, uri]) => one !== 'xs' && outer.get(one) !== uri)),
  };
}

/** `xs`: the prefix of XSD's own elements; values that name its types have it, too. */
export function writeXsdTree(node: XsdNode, xs = 'xs'): Uint8Array {
  const parts: string[] = [];
  write(node, xs, true, parts);
  return new TextEncoder().encode(parts.join(''));
}

function write(node: XsdNode, xs: string, isRoot: boolean, parts: string[]): void {
  const name = xs === 'xs' ? node.name : node.name.replace(/^xs:/, `${xs}:`);
  parts.push(`<${name}`);
  if (isRoot) parts.push(` xmlns:${xs}="${xsdNamespace}"`);
  for (const [prefix, uri] of node.declared)
    if (prefix !== 'xml' && prefix !== xs && (prefix === '' || uri !== ''))
      parts.push(` xmlns${prefix === '' ? '' : `:${prefix}`}="${escape(uri)}"`);
  for (const [attribute, value] of node.attributes) {
    const written = xs === 'xs' ? value : value.replaceAll(/(^|[\s/@|])xs:/g, `$1${xs}:`);
    parts.push(` ${attribute}="${escape(written)}"`);
  }
  if (node.children.length === 0) parts.push('/>');
  else {
    parts.push('>');
    for (const child of node.children)
      if (typeof child === 'string') parts.push(escape(child));
      else write(child, xs, false, parts);
    parts.push(`</${name}>`);
  }
  // a line for each, so that what is found can be made smaller by lines
  parts.push('\n');
}

function escape(text: string): string {
  return text.replaceAll(
    /[&<>"\t\n\r]/g,
    (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? `&#${one.codePointAt(0)};`,
  );
}

/** The node and all below it, with the node above each. */
function nodesOf(root: XsdNode): { readonly node: XsdNode; readonly parent: XsdNode | null }[] {
  const all: { node: XsdNode; parent: XsdNode | null }[] = [{ node: root, parent: null }];
  for (let at = 0; at < all.length; at += 1) {
    const { node } = all[at]!;
    for (const child of node.children) if (typeof child !== 'string') all.push({ node: child, parent: node });
  }
  return all;
}

const elementNames = (
  'element complexType simpleType sequence choice all group attributeGroup attribute any anyAttribute extension restriction ' +
  'simpleContent complexContent list union key keyref unique selector field annotation documentation notation pattern ' +
  'enumeration minInclusive maxExclusive length minLength totalDigits fractionDigits whiteSpace include import redefine override ' +
  'assert alternative openContent'
)
  .split(' ')
  .map((name) => `xs:${name}`);

const values: Readonly<Record<string, readonly string[]>> = {
  minOccurs: ['0', '1', '2', '5', '99999999999999999999', '-1', 'x'],
  maxOccurs: ['0', '1', '2', 'unbounded', '3000', '99999999999999999999', ''],
  use: ['required', 'optional', 'prohibited'],
  form: ['qualified', 'unqualified'],
  elementFormDefault: ['qualified', 'unqualified'],
  abstract: ['true', '0'],
  nillable: ['true', 'false'],
  mixed: ['true', 'false', '1'],
  fixed: ['x', '1', '', 'true', ' 1 '],
  default: ['x', '1', '', '2024-01-01'],
  final: ['#all', 'extension', 'restriction', 'list union'],
  block: ['#all', 'extension', 'substitution'],
  finalDefault: ['#all', 'extension restriction'],
  blockDefault: ['#all', 'substitution'],
  processContents: ['lax', 'skip', 'strict'],
  namespace: ['##any', '##other', '##local', '##targetNamespace urn:x', 'urn:x', ''],
  targetNamespace: ['urn:x', '', 'urn:y'],
  schemaLocation: ['main.xsd', 'x.xsd', 'y.xsd', 'nowhere.xsd', '../x.xsd', '', 'http://h/x.xsd'],
  xpath: ['.', 'a', './/a', '@a', 'a/b|c', './/xs:a/@*', 'a//b', 'child::a', '*', '', './/.'],
  value:
    `0 1 -1 1.5 1e400 99999999999999999999 x : NaN INF 2024-02-30 [a-z]+ (a|b)*[x-[y]]{2,99999} \\p{Lu}\\i\\c ( [] a{3,2}
    \\P{IsBasicLatin} .{0} P1Y -P1DT1H 24:00:00 --02-29 2024-01-01T00:00:00+14:00 preserve collapse`
      .split(/\s+/)
      .concat(['', ' 1 ']),
  base: [
    'xs:string',
    'xs:decimal',
    'xs:integer',
    'xs:dateTime',
    'xs:anyType',
    'xs:NMTOKENS',
    'xs:ID',
    'xs:float',
  ],
  type: [
    'xs:string',
    'xs:int',
    'xs:date',
    'xs:anyType',
    'xs:anySimpleType',
    'xs:IDREFS',
    'xs:QName',
    'xs:duration',
  ],
  itemType: ['xs:string', 'xs:NMTOKENS', 'xs:decimal'],
  memberTypes: ['xs:int xs:string', 'xs:date', ''],
  refer: ['a', 'k'],
  id: ['a', 'a', '1'],
};
const attributeNames = ['name', 'ref', 'substitutionGroup', ...Object.keys(values)];

/** Changes the tree once; `others`: where parts may come from. */
export function changeXsdTree(random: Random, root: XsdNode, others: readonly XsdNode[]): void {
  const all = nodesOf(root);
  const { node, parent } = random.pick(all);
  const anywhere = random.pick(all).node;
  switch (random.below(12)) {
    case 0:
      if (parent !== null) parent.children = parent.children.filter((child) => child !== node);
      break;
    case 1:
      if (parent !== null) parent.children.splice(parent.children.indexOf(node), 0, structuredClone(node));
      break;
    case 2:
      // not below itself
      if (!nodesOf(node).some((one) => one.node === anywhere)) {
        if (parent !== null && random.chance(0.5))
          parent.children = parent.children.filter((child) => child !== node);
        anywhere.children.splice(random.below(anywhere.children.length + 1), 0, structuredClone(node));
      }
      break;
    case 3:
    case 4: {
      const other = random.pick(nodesOf(random.pick(others))).node;
      const [first] = other.name === 'xs:schema' ? other.children : [other];
      if (first !== undefined)
        anywhere.children.splice(random.below(anywhere.children.length + 1), 0, structuredClone(first));
      break;
    }
    case 5:
    case 6:
    case 7:
      changeAttribute(random, node, all);
      break;
    case 8:
      if (node.attributes.length > 0) node.attributes.splice(random.below(node.attributes.length), 1);
      break;
    case 9:
      if (parent !== null) node.name = random.pick(elementNames);
      break;
    case 10:
      if (parent !== null) {
        const outer = random.pick(['xs:sequence', 'xs:choice', 'xs:complexType', 'xs:element', node.name]);
        const wrapped: XsdNode = { name: outer, attributes: [], children: [node], declared: new Map() };
        parent.children.splice(parent.children.indexOf(node), 1, wrapped);
      }
      break;
    default:
      if (random.chance(0.1)) node.children.push('text');
      else anywhere.children = anywhere.children.toReversed();
  }
}

/** To a value that stands somewhere in the document, so that references lead elsewhere, or to one of interest. */
function changeAttribute(random: Random, node: XsdNode, all: ReturnType<typeof nodesOf>): void {
  const known = node.attributes[random.below(node.attributes.length)];
  const name = known !== undefined && random.chance(0.7) ? known[0] : random.pick(attributeNames);
  const isReference = /^(type|base|ref|substitutionGroup|itemType|memberTypes|refer)$/.test(name);
  const found = all.flatMap((one) =>
    one.node.attributes.filter(([other]) => other === name || (isReference && other === 'name')),
  );
  const interesting = values[name];
  const value =
    interesting !== undefined && (found.length === 0 || random.chance(0.4))
      ? random.pick(interesting)
      : found.length > 0
        ? random.pick(found)[1]
        : 'a';
  if (known !== undefined && known[0] === name) known[1] = value;
  else node.attributes.push([name, value]);
}

/** Adds what leads to another document of the set, so that circles come about. */
export function addReference(random: Random, root: XsdNode, location: string): void {
  const kind = random.pick(['include', 'import', 'redefine', 'override', 'include']);
  const target = root.attributes.find(([name]) => name === 'targetNamespace');
  const attributes: [string, string][] = [['schemaLocation', location]];
  if (kind === 'import' && random.chance(0.8))
    attributes.push(['namespace', random.pick(['urn:x', 'urn:y'])]);
  // with the same namespace, another or none (chameleon)
  const change = random.below(5);
  if (target !== undefined && change === 0) target[1] = random.pick(['urn:x', 'urn:y']);
  if (change === 1) root.attributes = root.attributes.filter((one) => one !== target);
  const children: (XsdNode | string)[] = [];
  if (kind === 'redefine' || kind === 'override') {
    const globals = root.children.filter(
      (child): child is XsdNode => typeof child !== 'string' && /Type$|roup$/.test(child.name),
    );
    if (globals.length > 0) children.push(structuredClone(random.pick(globals)));
  }
  root.children.unshift({ name: `xs:${kind}`, attributes, children, declared: new Map() });
}

function isImport(child: XsdNode | string): boolean {
  return typeof child !== 'string' && child.name === 'xs:import';
}

/** Into two documents, the second of which is included by the first. */
export function splitXsdTree(random: Random, root: XsdNode): [XsdNode, XsdNode] {
  const moved = new Set(
    root.children.filter(
      (child) =>
        typeof child !== 'string' &&
        !/^xs:(include|import|redefine|override|annotation|defaultOpenContent)$/.test(child.name) &&
        random.chance(0.5),
    ),
  );
  const include: XsdNode = {
    name: 'xs:include',
    attributes: [['schemaLocation', 'split.xsd']],
    children: [],
    declared: new Map(),
  };
  return [
    { ...root, children: [include, ...root.children.filter((child) => !moved.has(child))] },
    { ...root, children: [...root.children.filter(isImport), ...moved] },
  ];
}
