/** Whether a written document says what the generated tree says. */
import { isElement, type AttributeNode, type ElementNode } from '../documents/generator.ts';
import { keyOf, xsiUri, type Simple } from '../schema/terms.ts';
import { parseXml, type XmlNode } from './parse-xml.ts';
import { canonical, resolveMarked, type Resolve } from './values.ts';

export interface Comparing {
  /** Values are equal by their declared types; else by their texts, as nothing is declared. */
  readonly typed: boolean;
  /** places at which white space alone is no text (`placesWithoutText`); absent: none */
  readonly withoutText?: ReadonlySet<string>;
}

/** Returns the path of an element, without the steps between an element and one of its name within it. */
function placeWithin(above: readonly string[], { name }: ElementNode): readonly string[] {
  const key = keyOf(name);
  const outer = above.indexOf(key);
  return outer < 0 ? [...above, key] : above.slice(0, outer + 1);
}

function placeKey(place: readonly string[]): string {
  return place.join(' ');
}

/** Returns the places whose elements hold elements in some document, and text in none: an inferred schema has no text there. */
export function placesWithoutText(trees: readonly ElementNode[]): ReadonlySet<string> {
  const parents = new Set<string>();
  const withText = new Set<string>();
  const note = (node: ElementNode, above: readonly string[]): void => {
    const place = placeWithin(above, node);
    for (const child of node.children)
      if (isElement(child)) {
        parents.add(placeKey(place));
        note(child, place);
      } else if (child.trim() !== '') withText.add(placeKey(place));
  };
  for (const tree of trees) note(tree, []);
  return parents.difference(withText);
}

/** Returns the differences; none: the documents are equal. */
export function compareDocument(
  expected: ElementNode,
  written: string,
  { typed, withoutText }: Comparing,
): string[] {
  const faults: string[] = [];
  const element = (
    before: ElementNode,
    after: XmlNode,
    above: string,
    placeAbove: readonly string[],
  ): void => {
    const place = placeWithin(placeAbove, before);
    const path = `${above}/${before.name.local}`;
    const isSame = (what: string, a: unknown, b: unknown): void => {
      if (a !== b) faults.push(`${path}: ${what} ${JSON.stringify(a)} came back as ${JSON.stringify(b)}`);
    };
    isSame('name', keyOf(before.name), keyOf(after.name));
    const resolve = resolverOf(after);
    const value = (type: Simple | null, a: string, b: string, always = typed): [string, string] => [
      canonical(always ? type : textOf(type), a, resolveMarked),
      canonical(always ? type : textOf(type), b, resolve),
    ];
    const given = new Map(after.attributes.map((one) => [keyOf(one.name), one.value]));
    for (const attribute of before.attributes) {
      const key = keyOf(attribute.name);
      const found = given.get(key);
      given.delete(key);
      if (found === undefined) isSame(`attribute ${key}`, attribute.value, null);
      else {
        const always = typed || attribute.name.uri === xsiUri;
        isSame(`attribute ${key}`, ...value(typeOf(attribute), attribute.value, found, always));
      }
    }
    for (const [key, found] of given) isSame(`attribute ${key}`, null, found);
    const keepsRuns = before.content !== 'elements';
    const kept = (children: readonly (XmlNode | ElementNode | string)[]) =>
      children.filter(
        (child) =>
          typeof child !== 'string' ||
          (keepsRuns && typed) ||
          before.content === 'simple' ||
          child.trim() !== '',
      );
    const [children, others] = [kept(before.children), kept(after.children)];
    if (before.content === 'simple') {
      if (others.some((child) => typeof child !== 'string')) return isSame('children', 'text', 'elements');
      const [text, found] = [children.join(''), others.join('')];
      if (text.trim() === '' && found === '' && withoutText?.has(placeKey(place)) === true) return;
      return isSame('text', ...value(before.value, text, found));
    }
    isSame('count of children', children.length, others.length);
    for (const [at, child] of (children as (ElementNode | string)[]).entries()) {
      const other = others[at] as XmlNode | string | undefined;
      if (typeof child === 'string' || typeof other === 'string' || other === undefined)
        isSame(
          `child ${at + 1}`,
          typeof child === 'string' ? child : 'element',
          typeof other === 'object' ? 'element' : other,
        );
      else element(child, other, path, place);
      if (faults.length > 4) return;
    }
  };
  element(expected, parseXml(written), '', []);
  return faults;
}

function resolverOf(node: XmlNode): Resolve {
  return (text) => {
    const colon = text.indexOf(':');
    return { uri: node.scope.get(colon < 0 ? '' : text.slice(0, colon)) ?? '', local: text.slice(colon + 1) };
  };
}

/** Values of unknown type are texts, but for QNames, whose prefixes are those of the document. */
function textOf(type: Simple | null): Simple | null {
  return type?.primitive === 'QName' ? type : null;
}

const xsiTypes = { nil: 'boolean', type: 'QName' } as const;

/** The type of an attribute; those of XML Schema itself have theirs without a declaration. */
function typeOf({ name, type, value }: AttributeNode): Simple | null {
  if (name.uri !== xsiUri) return type;
  const primitive = xsiTypes[name.local as keyof typeof xsiTypes];
  const none = {
    kind: 'simple',
    name: null,
    builtIn: null,
    base: null,
    facets: [],
    item: null,
    members: [],
  } as const;
  return { ...none, space: 'collapse', primitive, make: () => value };
}
