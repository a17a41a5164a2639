/**
 * Whether two documents say the same (docs/decisions/loading/nothing-lost.md): expanded names, attributes in any order, white space of element-only content,
 * comments, processing instructions, prefixes and schema locations aside; values as their XSD type says.
 */
import { xsiNamespace } from '../../../src/engine/model/name-labels.ts';
import {
  clarkName,
  type SourceElement,
  type SourceModel,
  type SourceType,
  type ValueType,
} from '../../../src/engine/model/source-model.ts';
import { parseXmlTree, type XmlElement } from '../../../src/engine/xml/tree.ts';
import { bytesOf } from '../models/shredding.ts';
import { sameValue } from './xsd-values.ts';

export interface XmlDifference {
  readonly kind: 'name' | 'attribute' | 'child' | 'text' | 'value';
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

export interface CanonicalOptions {
  /** what the documents hold: types of values, mixed content */
  readonly source?: SourceModel;
  /** values are compared as text, whatever the types */
  readonly asText?: boolean;
  /** differences after which comparing stops (20) */
  readonly limit?: number;
}

export function compareXml(
  expected: string | Uint8Array,
  actual: string | Uint8Array,
  options: CanonicalOptions = {},
): XmlDifference[] {
  const comparison = new Comparison(options);
  const [before, after] = [parseXmlTree(bytesOf(expected), {}), parseXmlTree(bytesOf(actual), {})];
  comparison.root(before, after);
  return comparison.differences;
}

/** A declared element, or a type without one: null where nothing is known. */
type Declaration = { readonly type: SourceType } | null;

class Comparison {
  readonly differences: XmlDifference[] = [];
  readonly #source: SourceModel | null;
  readonly #asText: boolean;
  readonly #limit: number;
  readonly #globals = new Map<string, SourceElement>();
  readonly #types = new Map<string, SourceType>();
  readonly #children = new Map<SourceType, Map<string, SourceElement>>();

  constructor(options: CanonicalOptions) {
    this.#source = options.source ?? null;
    this.#asText = options.asText ?? false;
    this.#limit = options.limit ?? 20;
    for (const element of this.#source?.elements ?? []) {
      if (element.global && !this.#globals.has(clarkName(element.name)))
        this.#globals.set(clarkName(element.name), element);
    }
    for (const type of this.#source?.types ?? [])
      if (type.name !== null) this.#types.set(clarkName(type.name), type);
  }

  root(expected: XmlElement, actual: XmlElement): void {
    this.#element(expected, actual, this.#declared(this.#globals.get(clarkName(expected.name))), '');
  }

  #declared(element: SourceElement | undefined): Declaration {
    return element === undefined ? null : { type: this.#source!.types[element.type]! };
  }

  #report(kind: XmlDifference['kind'], path: string, expected: string, actual: string): void {
    if (this.differences.length < this.#limit) this.differences.push({ kind, path, expected, actual });
  }

  #element(expected: XmlElement, actual: XmlElement, declared: Declaration, parentPath: string): void {
    const path = `${parentPath}/${expected.name.localName}`;
    if (clarkName(expected.name) !== clarkName(actual.name)) {
      this.#report('name', path, clarkName(expected.name), clarkName(actual.name));
      return;
    }
    const type = this.#typeNamed(expected, declared) ?? declared?.type ?? null;
    this.#attributes(expected, actual, type, path);
    const [before, after] = [this.#content(expected, type), this.#content(actual, type)];
    const isValue = [...before, ...after].every((child) => typeof child === 'string');
    if (isValue) {
      const [a, b] = [before.join(''), after.join('')];
      if (!this.#same(type?.value ?? null, a, b, expected, actual)) this.#report('value', path, a, b);
      return;
    }
    for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
      const [a, b] = [before[at], after[at]];
      if (a === undefined || b === undefined || typeof a !== typeof b) {
        this.#report('child', `${path}[${at + 1}]`, shown(a), shown(b));
        return;
      }
      if (typeof a === 'string') {
        if (a !== b) this.#report('text', `${path}[${at + 1}]`, a, b as string);
      } else this.#element(a, b as XmlElement, this.#childDeclaration(a, type), path);
      if (this.differences.length >= this.#limit) return;
    }
  }

  /** Children that count: white space of content that holds no text does not. */
  #content(element: XmlElement, type: SourceType | null): readonly (XmlElement | string)[] {
    if (type?.content === 'mixed') return element.children;
    const hasElements = element.children.some((child) => typeof child !== 'string');
    const hasText = element.children.some((child) => typeof child === 'string' && child.trim() !== '');
    const isElementOnly =
      type === null
        ? hasElements && !hasText
        : type.content !== 'simple' || (hasElements && !keepsSpace(type.value));
    return isElementOnly
      ? element.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
      : element.children;
  }

  #attributes(expected: XmlElement, actual: XmlElement, type: SourceType | null, path: string): void {
    const [before, after] = [attributesOf(expected), attributesOf(actual)];
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [a, b] = [before.get(name), after.get(name)];
      const declared = type?.attributes.find((attribute) => clarkName(attribute.name) === name);
      if (a === undefined || b === undefined)
        this.#report('attribute', `${path}/@${name}`, shown(a), shown(b));
      else if (name === `{${xsiNamespace}}type`) {
        if (!this.#same(qNameType, a, b, expected, actual, true))
          this.#report('attribute', `${path}/@${name}`, a, b);
      } else if (name === `{${xsiNamespace}}nil`) {
        if (!this.#same(booleanType, a, b, expected, actual, true))
          this.#report('attribute', `${path}/@${name}`, a, b);
      } else if (!this.#same(declared?.type ?? null, a, b, expected, actual)) {
        this.#report('attribute', `${path}/@${name}`, a, b);
      }
    }
  }

  #same(
    type: ValueType | null,
    a: string,
    b: string,
    expected: XmlElement,
    actual: XmlElement,
    always = false,
  ): boolean {
    if (type === null || (this.#asText && !always)) return a === b;
    return sameValue(
      type,
      { text: a, namespaces: expected.namespaces },
      { text: b, namespaces: actual.namespaces },
    );
  }

  /** The type that xsi:type names, where it may stand in for the declared one. */
  #typeNamed(element: XmlElement, declared: Declaration): SourceType | undefined {
    const given = attributesOf(element).get(`{${xsiNamespace}}type`)?.trim();
    if (given === undefined || this.#source === null) return undefined;
    const colon = given.indexOf(':');
    const namespaceUri = element.namespaces.get(colon < 0 ? '' : given.slice(0, colon)) ?? '';
    const named = this.#types.get(clarkName({ namespaceUri, localName: given.slice(colon + 1) }));
    if (named === undefined || declared === null || isUrType(declared.type)) return named;
    for (let type: SourceType | null = named; type !== null; type = this.#baseOf(type))
      if (type === declared.type) return named;
    return undefined;
  }

  #baseOf(type: SourceType): SourceType | null {
    return type.base === null ? null : this.#source!.types[type.base]!;
  }

  #childDeclaration(child: XmlElement, parent: SourceType | null): Declaration {
    const name = clarkName(child.name);
    if (parent === null || this.#source === null) return this.#declared(this.#globals.get(name));
    let children = this.#children.get(parent);
    if (children === undefined) {
      this.#children.set(parent, (children = new Map()));
      for (const { element } of parent.children) {
        const declared = this.#source.elements[element]!;
        for (const index of [element, ...declared.substitutes]) {
          const variant = this.#source.elements[index]!;
          if (!children.has(clarkName(variant.name))) children.set(clarkName(variant.name), variant);
        }
      }
    }
    return this.#declared(children.get(name) ?? this.#globals.get(name));
  }
}

/** White space is part of values of the type, and so of what stands between children that it does not allow. */
function keepsSpace(type: ValueType | null): boolean {
  return type?.variety === 'atomic' && type.base === 'string' && type.facets.whiteSpace === undefined;
}

function isUrType({ name }: SourceType): boolean {
  return (
    name?.namespaceUri === 'http://www.w3.org/2001/XMLSchema' &&
    (name.localName === 'anyType' || name.localName === 'anySimpleType')
  );
}

const qNameType: ValueType = { variety: 'atomic', base: 'QName', facets: {} };
const booleanType: ValueType = { variety: 'atomic', base: 'boolean', facets: {} };

/** By expanded name; where the documents' schemas lie does not count. */
function attributesOf(element: XmlElement): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const { name, value } of element.attributes) {
    const isLocation =
      name.namespaceUri === xsiNamespace &&
      /^(?:schemaLocation|noNamespaceSchemaLocation)$/.test(name.localName);
    if (!isLocation) attributes.set(clarkName(name), value);
  }
  return attributes;
}

function shown(value: XmlElement | string | undefined): string {
  if (value === undefined) return '(absent)';
  return typeof value === 'string' ? value : `<${clarkName(value.name)}>`;
}
