/**
 * A random XSD set as an object graph. The writers of XSD text, the makers of documents and the oracle all read these terms, so that the
 * oracle knows the declaration of every value without asking the engine.
 */
import type { Random } from '../../../test/fuzz/random.ts';

export interface Name {
  readonly uri: string;
  readonly local: string;
}

export const xsiUri = 'http://www.w3.org/2001/XMLSchema-instance';
export const xmlUri = 'http://www.w3.org/XML/1998/namespace';
/** The namespaces of content that only wildcards allow. */
export const wildUri = 'urn:wild';

export function keyOf({ uri, local }: Name): string {
  return `{${uri}}${local}`;
}

/** How two texts of a type are compared. */
export type Primitive =
  | 'text'
  | 'boolean'
  | 'decimal'
  | 'double'
  | 'float'
  | 'date'
  | 'time'
  | 'dateTime'
  | 'hex'
  | 'QName';

/** State that the values of one document share. */
export interface ValueContext {
  readonly random: Random;
  /** Returns a number that this document has not used yet. */
  unique(): number;
}

export interface Simple {
  readonly kind: 'simple';
  readonly name: Name | null;
  readonly builtIn: string | null;
  readonly base: Simple | null;
  readonly facets: readonly (readonly [name: string, value: string])[];
  readonly item: Simple | null;
  readonly members: readonly Simple[];
  readonly space: 'preserve' | 'replace' | 'collapse';
  readonly primitive: Primitive;
  make(context: ValueContext): string;
}

export interface Wildcard {
  readonly namespace: string;
  readonly process: 'skip' | 'lax';
}

export interface Occurs {
  readonly min: number;
  /** Infinity: unbounded */
  readonly max: number;
}

export type Particle = Occurs &
  (
    | { readonly kind: 'element'; readonly element: Element }
    | { readonly kind: 'sequence' | 'choice' | 'all'; readonly parts: readonly Particle[] }
    | { readonly kind: 'group'; readonly group: Group }
    | { readonly kind: 'any'; readonly wildcard: Wildcard }
  );

export interface Group {
  readonly name: Name;
  particle: Particle & { readonly kind: 'sequence' | 'choice' };
}

export interface Attribute {
  readonly name: Name;
  readonly type: Simple;
  readonly global: boolean;
  readonly use: 'optional' | 'required' | 'prohibited';
  readonly default: string | null;
  readonly fixed: string | null;
}

export interface AttributeGroup {
  readonly name: Name;
  readonly attributes: readonly Attribute[];
}

export interface Complex {
  readonly kind: 'complex';
  readonly name: Name | null;
  readonly file: SchemaFile;
  readonly isAnyType: boolean;
  readonly abstract: boolean;
  readonly base: Complex | Simple | null;
  derivedBy: 'extension' | 'restriction' | null;
  readonly derived: Complex[];
  /** the type of the text, if the content is simple */
  readonly simple: Simple | null;
  mixed: boolean;
  /** its own particle, without that of its base */
  particle: Particle | null;
  attributes: Attribute[];
  attributeGroups: AttributeGroup[];
  anyAttribute: Wildcard | null;
  /** content that a redefinition in the including file adds */
  redefinition: { readonly particle: Particle; readonly attributes: readonly Attribute[] } | null;
  /** names of elements and attributes in use in this type and all types related to it by derivation */
  readonly taken: { readonly elements: Set<string>; readonly attributes: Set<string> };
  /** Types require only types of lower rank, so that every document ends. */
  readonly rank: number;
}

export interface Element {
  readonly name: Name;
  readonly global: boolean;
  type: Simple | Complex;
  readonly nillable: boolean;
  readonly abstract: boolean;
  readonly default: string | null;
  readonly fixed: string | null;
  readonly head: Element | null;
  readonly members: Element[];
  /** an identity constraint over the children of this element */
  key: { readonly kind: 'key' | 'unique'; readonly child: Name; readonly field: Name } | null;
}

export interface SchemaFile {
  readonly path: string;
  /** of the components; the text of a chameleon does not state it */
  readonly target: string;
  readonly chameleon: boolean;
  readonly qualified: boolean;
  readonly attributesQualified: boolean;
  readonly includes: SchemaFile[];
  readonly simples: Simple[];
  readonly complexes: Complex[];
  readonly elements: Element[];
  readonly attributes: Attribute[];
  readonly groups: Group[];
  readonly attributeGroups: AttributeGroup[];
}

export interface Schema {
  /** the first is the entry */
  readonly files: readonly SchemaFile[];
  readonly elements: readonly Element[];
  readonly complexes: readonly Complex[];
}

/** Returns the content model with the inherited part; null if it is empty. */
export function wholeParticle(type: Complex): Particle | null {
  const own = [type.particle, type.redefinition?.particle ?? null].filter((one) => one !== null);
  const inherited =
    type.derivedBy === 'extension' && type.base?.kind === 'complex' ? wholeParticle(type.base) : null;
  const parts = inherited === null ? own : [inherited, ...own];
  return parts.length < 2 ? (parts[0] ?? null) : { kind: 'sequence', min: 1, max: 1, parts };
}

/** Returns the attributes with the inherited ones, without prohibited ones. */
export function wholeAttributes(type: Complex): Attribute[] {
  const own = [
    ...type.attributes,
    ...type.attributeGroups.flatMap((group) => group.attributes),
    ...(type.redefinition?.attributes ?? []),
  ];
  const names = new Set(own.map(({ name }) => keyOf(name)));
  const inherited = type.base?.kind === 'complex' ? wholeAttributes(type.base) : [];
  return [...inherited.filter(({ name }) => !names.has(keyOf(name))), ...own].filter(
    ({ use }) => use !== 'prohibited',
  );
}

export function wholeAnyAttribute(type: Complex): Wildcard | null {
  if (type.anyAttribute !== null || type.derivedBy !== 'extension') return type.anyAttribute;
  return type.base?.kind === 'complex' ? wholeAnyAttribute(type.base) : null;
}

/** Returns the element and every member of its substitution group. */
export function withMembers(element: Element): Element[] {
  return [element, ...element.members.flatMap(withMembers)];
}

/** Returns the type and every named type derived from it. */
export function withDerived(type: Complex): Complex[] {
  return [type, ...type.derived.flatMap(withDerived)];
}

/** Returns the types that an instance of a declared type may have. */
export function concreteTypes(type: Simple | Complex): (Simple | Complex)[] {
  if (type.kind === 'simple' || type.name === null) return [type];
  return withDerived(type).filter((one) => !one.abstract);
}

/** Returns the elements that may stand where `element` is declared. */
export function concreteElements(element: Element): Element[] {
  return withMembers(element).filter((one) => !one.abstract && concreteTypes(one.type).length > 0);
}
