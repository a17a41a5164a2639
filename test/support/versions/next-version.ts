/** The version of a standard that comes after another, made as standards go on, with documents of it. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import { xsiNamespace } from '../../../src/engine/model/name-labels.ts';
import { readTree, writeTree, type TreeElement } from '../documents/trees.ts';

export interface XsdFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface NextVersion {
  readonly files: readonly XsdFile[];
  /** What a document of the version before says in this one, with what is new in it. */
  document(bytes: Uint8Array): Uint8Array;
}

export interface VersionOptions {
  /** another one makes other changes */
  readonly seed: number;
  /** a namespace that names its version, and what it is called now; absent: namespaces stay */
  readonly namespace?: readonly [before: string, after: string];
}

const xsdNamespace = 'http://www.w3.org/2001/XMLSchema';

/** What becomes of elements of a name, wherever a sequence has them. */
const changes = ['optional', 'repeated', 'choice', 'prior', 'noted', 'gone'] as const;
type Change = (typeof changes)[number];
/** names of which one each gets one of `changes`, and others stay as they are */
const everyName = 4;
const everyType = 3;
const revisionAttribute = 'revisionNote';

export function nextVersion(files: readonly XsdFile[], options: VersionOptions): NextVersion {
  const trees = files.map(({ name, bytes }) => ({ name, root: readTree(bytes) }));
  const draft = new Draft(
    options.seed,
    trees.map(({ root }) => root),
  );
  return {
    files: trees.map(({ name, root }) => ({ name, bytes: draft.bytes(root, options) })),
    document(bytes) {
      const root = readTree(bytes);
      draft.changeDocument(root);
      return draft.bytes(root, options);
    },
  };
}

class Draft {
  readonly #seed: number;
  readonly #changed = new Map<string, Change>();
  /** elements of restrictions, which have to be in the base as well */
  readonly #restricted = new Set<string>();
  readonly #renamed = new Set<string>();
  /** elements of renamed types alone, which may say their revision */
  readonly #revised = new Set<string>();

  constructor(seed: number, roots: readonly TreeElement[]) {
    this.#seed = seed;
    const all = roots.flatMap((root) => [...within(root)]);
    this.#renameTypes(all);
    for (const node of all.filter((one) => isXsd(one, 'restriction')))
      for (const part of within(node)) if (isXsd(part, 'element')) this.#restricted.add(particleName(part));
    for (const node of all) this.#changeParticles(node);
  }

  bytes(root: TreeElement, { namespace }: VersionOptions): Uint8Array {
    const text = writeTree(root);
    return new TextEncoder().encode(namespace === undefined ? text : text.replaceAll(...namespace));
  }

  #number(text: string, bound: number): number {
    let hash = 2_166_136_261 ^ this.#seed;
    for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 16_777_619);
    return ((hash ^ (hash >>> 15)) >>> 0) % bound;
  }

  #renameTypes(all: readonly TreeElement[]): void {
    const redefined = new Set(
      all.filter((node) => isXsd(node, 'redefine')).flatMap((node) => typesOf(node).map(nameOf)),
    );
    const types = all.filter((node) => isXsd(node, 'schema')).flatMap(typesOf);
    const names = new Set(types.map(nameOf));
    for (const name of names)
      if (this.#number(`type ${name}`, everyType) === 0 && !redefined.has(name) && !names.has(`${name}2`))
        this.#renamed.add(name);
    const elementsOf = Map.groupBy(
      all.filter((node) => isXsd(node, 'element') && nameOf(node) !== ''),
      (node) => localPart(attributeOf(node, 'type') ?? ''),
    );
    const revised = types.filter((type) => this.#renamed.has(nameOf(type)) && this.#addRevision(type));
    const withRevision = new Set(revised.map(nameOf));
    for (const [type, nodes] of elementsOf)
      if (withRevision.has(type)) for (const node of nodes) this.#revised.add(nameOf(node));
    for (const [type, nodes] of elementsOf)
      if (!withRevision.has(type)) for (const node of nodes) this.#revised.delete(nameOf(node));
    for (const node of all) this.#renameReferences(node);
    for (const type of types)
      if (this.#renamed.has(nameOf(type))) setAttribute(type, 'name', `${nameOf(type)}2`);
  }

  /** False where the type is no sequence of its own. */
  #addRevision(type: TreeElement): boolean {
    const parts = elements(type);
    if (!parts.some((part) => isXsd(part, 'sequence'))) return false;
    const wildcard = type.children.findIndex(
      (child) => typeof child !== 'string' && isXsd(child, 'anyAttribute'),
    );
    const attribute = made(type, 'attribute', { name: revisionAttribute, type: this.#string(type) });
    type.children.splice(wildcard < 0 ? type.children.length : wildcard, 0, attribute);
    return true;
  }

  #renameReferences(node: TreeElement): void {
    if (node.name.namespaceUri !== xsdNamespace) return;
    for (const name of ['type', 'base', 'itemType', 'memberTypes']) {
      const value = attributeOf(node, name);
      if (value !== undefined)
        setAttribute(
          node,
          name,
          value
            .trim()
            .split(/\s+/)
            .map((one) => this.#typeNow(one, node))
            .join(' '),
        );
    }
    const bound = isXsd(node, 'maxLength') ? 2 : null;
    if (bound !== null) setAttribute(node, 'value', String(Number(attributeOf(node, 'value')) * bound));
  }

  #typeNow(value: string, { namespaces }: TreeElement): string {
    const [prefix, local] = value.includes(':') ? value.split(':') : ['', value];
    if (namespaces.get(prefix!) === xsdNamespace) return local === 'int' ? `${prefix}:long` : value;
    return this.#renamed.has(local!) ? `${value}2` : value;
  }

  #changeParticles(group: TreeElement): void {
    // inside of choices another particle could be meant by the same element
    if (!['complexType', 'extension', 'restriction'].some((holder) => isXsd(group, holder))) return;
    const sequence = elements(group).find((part) => isXsd(part, 'sequence'));
    if (sequence === undefined) return;
    sequence.children = sequence.children.flatMap((child): TreeElement['children'] =>
      typeof child !== 'string' && isXsd(child, 'element') ? this.#particle(child) : [child],
    );
  }

  /** What stands in place of a particle. */
  #particle(element: TreeElement): TreeElement[] {
    const name = particleName(element);
    const change = changes[this.#number(`element ${name}`, everyName * changes.length)];
    const type = attributeOf(element, 'type');
    const isReference = nameOf(element) === '';
    if (change === undefined || this.#restricted.has(name)) return [element];
    if (isReference && change !== 'optional' && change !== 'repeated') return [element];
    if (change === 'prior' && type === undefined) return [element];
    this.#changed.set(name, change);
    const extra = { minOccurs: '0', type: this.#string(element) };
    switch (change) {
      case 'gone':
        return [];
      case 'optional':
        return [setAttribute(element, 'minOccurs', '0')];
      case 'repeated':
        return [setAttribute(element, 'maxOccurs', 'unbounded')];
      case 'noted':
        return [made(element, 'element', { ...extra, name: added(change, name) }), element];
      case 'prior':
        return [made(element, 'element', { ...extra, name: added(change, name), type: type! }), element];
      default: {
        const group = made(element, 'choice', {});
        for (const bound of ['minOccurs', 'maxOccurs']) {
          const value = attributeOf(element, bound);
          if (value !== undefined) setAttribute(group, bound, value);
        }
        element.attributes = element.attributes.filter(
          (one) => !['minOccurs', 'maxOccurs'].includes(one.name.localName),
        );
        const other = made(element, 'element', { name: added(change, name), type: extra.type });
        group.children = [element, other];
        return [group];
      }
    }
  }

  /** `xs:string` by whatever prefix it has. */
  #string({ namespaces }: TreeElement): string {
    const prefix = [...namespaces].find(([, uri]) => uri === xsdNamespace)![0];
    return prefix === '' ? 'string' : `${prefix}:string`;
  }

  changeDocument(root: TreeElement): void {
    let count = 0;
    const visit = (element: TreeElement): void => {
      const type = element.attributes.find(
        ({ name }) => name.namespaceUri === xsiNamespace && name.localName === 'type',
      );
      if (type !== undefined)
        setAttribute(element, 'type', this.#typeNow(type.value.trim(), element), xsiNamespace);
      else if (this.#revised.has(element.name.localName))
        setAttribute(element, revisionAttribute, String((count += 1)));
      let before = '';
      element.children = element.children.flatMap((child): TreeElement['children'] => {
        if (typeof child === 'string') return [child];
        visit(child);
        const isFirst = before !== child.name.localName;
        before = child.name.localName;
        return this.#childNow(child, isFirst, (count += 1));
      });
    };
    visit(root);
  }

  #childNow(child: TreeElement, isFirst: boolean, count: number): TreeElement[] {
    const change = this.#changed.get(child.name.localName);
    const name = { ...child.name, localName: added(change ?? 'noted', child.name.localName) };
    const note = { name, attributes: [], children: [`note ${count}`], namespaces: child.namespaces };
    const isEven = count % 2 === 0;
    switch (change) {
      case undefined:
        return [child];
      case 'gone':
        return [];
      case 'optional':
        return isEven ? [] : [child];
      case 'repeated':
        return isEven ? [child, withOtherId(child)] : [child];
      case 'choice':
        return isEven ? [note] : [child];
      case 'noted':
        return isFirst ? [note, child] : [child];
      default:
        return isFirst && isEven ? [{ ...withOtherId(child), name }, child] : [child];
    }
  }
}

function withOtherId(element: TreeElement): TreeElement {
  const copy = { ...element, attributes: [...element.attributes] };
  const id = attributeOf(element, 'id');
  return id === undefined ? copy : setAttribute(copy, 'id', `${id}-again`);
}

/** Of an element that a group has, or refers to. */
function particleName(element: TreeElement): string {
  return localPart(attributeOf(element, 'ref') ?? nameOf(element));
}

/** The name of what a change adds beside an element. */
function added(change: Change, name: string): string {
  const word = change === 'choice' ? 'other' : change;
  return `${word}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

function* within(root: TreeElement): Generator<TreeElement> {
  yield root;
  for (const child of root.children) if (typeof child !== 'string') yield* within(child);
}

function elements({ children }: TreeElement): TreeElement[] {
  return children.filter((child) => typeof child !== 'string');
}

function typesOf(node: TreeElement): TreeElement[] {
  return elements(node).filter((child) => isXsd(child, 'complexType') || isXsd(child, 'simpleType'));
}

function isXsd({ name }: TreeElement, localName: string): boolean {
  return name.namespaceUri === xsdNamespace && name.localName === localName;
}

function attributeOf({ attributes }: TreeElement, localName: string): string | undefined {
  return attributes.find(({ name }) => name.namespaceUri === '' && name.localName === localName)?.value;
}

function localPart(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function nameOf(node: TreeElement): string {
  return attributeOf(node, 'name') ?? '';
}

function setAttribute(node: TreeElement, localName: string, value: string, namespaceUri = ''): TreeElement {
  const name: QName = { namespaceUri, localName };
  const others = node.attributes.filter(
    (one) => one.name.localName !== localName || one.name.namespaceUri !== namespaceUri,
  );
  node.attributes = [...others, { name, value }];
  return node;
}

/** An element of an XSD that stands where `beside` does. */
function made(
  { namespaces }: TreeElement,
  localName: string,
  attributes: Readonly<Record<string, string>>,
): TreeElement {
  const element: TreeElement = {
    name: { namespaceUri: xsdNamespace, localName },
    attributes: [],
    children: [],
    namespaces,
  };
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  return element;
}
