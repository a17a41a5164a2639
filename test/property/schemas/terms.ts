/**
 * An XSD set as the generators think of it: components by reference, not by name. It is what random XSD text and random documents
 * are both made from, so that neither depends on the compiler under test.
 */
import type { BuiltInType, QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';

export const xsiUri = 'http://www.w3.org/2001/XMLSchema-instance';
export const xmlUri = 'http://www.w3.org/XML/1998/namespace';

/** What makes values of one document. */
export interface ValueMaker {
  readonly choices: Choices;
  /** also values that are valid but that no column is made for: long integers, years beyond 9999 */
  readonly extreme: boolean;
  /** also forms that are right and yet little known: white space around values, a sign on what has none */
  readonly unusual: boolean;
  /** a name that no other value of type ID has */
  nextId(): string;
}

export interface SimpleTypeTerm {
  readonly kind: 'simple';
  /** null for anonymous types */
  readonly name: QName | null;
  /** set where this is a type of XSD itself */
  readonly builtIn: BuiltInType | null;
  readonly variety: 'atomic' | 'list' | 'union';
  /** what it restricts; null for types of XSD itself, and for a new list or union */
  readonly base: SimpleTypeTerm | null;
  readonly facets: readonly (readonly [name: string, value: string])[];
  readonly item: SimpleTypeTerm | null;
  readonly members: readonly SimpleTypeTerm[];
  readonly values: ValueSpace;
}

/** What the facets so far leave of a type's values; texts are as white space processing leaves them. */
export interface ValueSpace {
  /** the type of XSD that says how values are written */
  readonly base: BuiltInType;
  readonly whiteSpace: 'preserve' | 'replace' | 'collapse';
  /** characters, octets or items */
  readonly minLength: number;
  readonly maxLength: number;
  readonly low: bigint | null;
  readonly high: bigint | null;
  /** of decimals, behind and before the point; null: any */
  readonly fractionDigits: number | null;
  readonly wholeDigits: number | null;
  /** enumeration or pattern: nothing but these, written just so */
  readonly options: readonly string[] | null;
  /** values may be written in other forms of the same value */
  readonly freeForm: boolean;
}

export interface WildcardTerm {
  readonly namespaces: '##any' | '##other' | '##local' | '##targetNamespace' | 'urn:foreign';
  /** of the document it stands in */
  readonly target: string;
  readonly processContents: 'strict' | 'lax' | 'skip';
}

export interface Occurs {
  readonly min: number;
  /** null: unbounded */
  readonly max: number | null;
}

export type ParticleTerm = Occurs &
  (
    | { readonly kind: 'element'; readonly element: ElementTerm }
    | { readonly kind: 'sequence' | 'choice' | 'all'; readonly particles: readonly ParticleTerm[] }
    | { readonly kind: 'group'; readonly group: GroupTerm }
    | { readonly kind: 'any'; readonly wildcard: WildcardTerm }
  );

export interface GroupTerm {
  readonly name: QName;
  particle: ParticleTerm & { readonly kind: 'sequence' | 'choice' | 'all' };
}

export interface AttributeTerm {
  readonly name: QName;
  readonly type: SimpleTypeTerm;
  readonly global: boolean;
  readonly use: 'optional' | 'required' | 'prohibited';
  readonly default: string | null;
  readonly fixed: string | null;
}

export interface AttributeGroupTerm {
  readonly name: QName;
  readonly attributes: readonly AttributeTerm[];
}

export interface ComplexTypeTerm {
  readonly kind: 'complex';
  readonly name: QName | null;
  readonly isAnyType: boolean;
  readonly abstract: boolean;
  derivation: 'extension' | 'restriction' | null;
  readonly base: ComplexTypeTerm | SimpleTypeTerm | null;
  /** named types derived from this one, directly */
  readonly derived: ComplexTypeTerm[];
  /** set for simple content: the type of its values */
  simple: SimpleTypeTerm | null;
  mixed: boolean;
  /** its own part where it extends another type */
  particle: ParticleTerm | null;
  attributes: AttributeTerm[];
  attributeGroups: AttributeGroupTerm[];
  anyAttribute: WildcardTerm | null;
}

export type TypeTerm = SimpleTypeTerm | ComplexTypeTerm;

export interface ElementTerm {
  readonly name: QName;
  readonly global: boolean;
  readonly abstract: boolean;
  readonly nillable: boolean;
  type: TypeTerm;
  default: string | null;
  fixed: string | null;
  /** global elements only */
  head: ElementTerm | null;
  readonly members: ElementTerm[];
}

export interface SchemaFileTerm {
  readonly fileName: string;
  /** that of its components; a chameleon has none of its own in the text */
  readonly target: string;
  readonly chameleon: boolean;
  readonly elementsQualified: boolean;
  readonly attributesQualified: boolean;
  /** names of files it includes */
  readonly includes: readonly string[];
  readonly simpleTypes: SimpleTypeTerm[];
  readonly complexTypes: ComplexTypeTerm[];
  readonly elements: ElementTerm[];
  readonly attributes: AttributeTerm[];
  readonly groups: GroupTerm[];
  readonly attributeGroups: AttributeGroupTerm[];
}

export interface SchemaTerm {
  /** the first is the one to start from */
  readonly files: readonly SchemaFileTerm[];
  /** every global element, in all files */
  readonly elements: readonly ElementTerm[];
}

/** The particles of a type with those it inherits; null for empty content (XSD 1.0 Part 1 §3.4.2). */
export function wholeParticle(type: ComplexTypeTerm): ParticleTerm | null {
  const { particle } = type;
  const isEmpty =
    particle === null ||
    ((particle.kind === 'sequence' || particle.kind === 'all') && particle.particles.length === 0);
  const own = isEmpty ? null : particle;
  if (type.derivation !== 'extension' || type.base?.kind !== 'complex') return own;
  const inherited = wholeParticle(type.base);
  if (inherited === null || own === null) return inherited ?? own;
  return { kind: 'sequence', min: 1, max: 1, particles: [inherited, own] };
}

/** Its own attributes, those of its groups, and those it inherits; prohibited ones left out. */
export function wholeAttributes(type: ComplexTypeTerm): AttributeTerm[] {
  const own = [...type.attributes, ...type.attributeGroups.flatMap((group) => group.attributes)];
  const names = new Set(own.map((attribute) => nameKey(attribute.name)));
  const inherited = type.base?.kind === 'complex' ? wholeAttributes(type.base) : [];
  return [...inherited.filter((attribute) => !names.has(nameKey(attribute.name))), ...own].filter(
    (attribute) => attribute.use !== 'prohibited',
  );
}

/** A restriction that says nothing of the wildcard has none. */
export function wholeAnyAttribute(type: ComplexTypeTerm): WildcardTerm | null {
  if (type.anyAttribute !== null || type.derivation !== 'extension') return type.anyAttribute;
  return type.base?.kind === 'complex' ? wholeAnyAttribute(type.base) : null;
}

/** The element and all that may stand in its place. */
export function withMembers(element: ElementTerm): ElementTerm[] {
  return [element, ...element.members.flatMap(withMembers)];
}

/** The type and all named ones derived from it. */
export function withDerived(type: ComplexTypeTerm): ComplexTypeTerm[] {
  return [type, ...type.derived.flatMap(withDerived)];
}

export function nameKey(name: QName): string {
  return `{${name.namespaceUri}}${name.localName}`;
}

export function allows(wildcard: WildcardTerm, namespaceUri: string): boolean {
  switch (wildcard.namespaces) {
    case '##any':
      return true;
    case '##other':
      return namespaceUri !== '' && namespaceUri !== wildcard.target;
    case '##local':
      return namespaceUri === '';
    case '##targetNamespace':
      return namespaceUri === wildcard.target;
    default:
      return namespaceUri === wildcard.namespaces;
  }
}
