/**
 * The source model: the possible content of documents. The XSD compiler or inference makes it, and the mapper reads it. Plain JSON without
 * cycles: references are indexes into `elements` and `types`. Terms are those of W3C XML Schema Part 1.
 */

// The namespaces that a wildcard of an XSD allows.

export type WildcardNamespaces = SourceWildcard['namespaces'];

/** `not` allows neither its namespace nor unqualified names (XSD Part 1 §3.10.4, cvc-wildcard-namespace). */
export function allowsNamespace(
  namespaces: WildcardNamespaces,
  namespaceUri: QName['namespaceUri'],
): boolean {
  if (namespaces === '##any') return true;
  if (isListed(namespaces)) return namespaces.includes(namespaceUri);
  return namespaceUri !== '' && namespaceUri !== namespaces.not;
}

export function isListed(namespaces: WildcardNamespaces): namespaces is readonly string[] {
  return Array.isArray(namespaces);
}

// Names, types and elements.

/** An expanded name; `namespaceUri` is '' for no namespace. */
export interface QName {
  readonly namespaceUri: string;
  readonly localName: string;
}

/** `{uri}local`, or `local` without a namespace: the key form of an expanded name (James Clark's notation). */
export function clarkName(name: QName): string {
  return name.namespaceUri === '' ? name.localName : `{${name.namespaceUri}}${name.localName}`;
}

export function isSameName(a: QName, b: QName): boolean {
  return a.localName === b.localName && a.namespaceUri === b.namespaceUri;
}

/** True if an attribute of that name is the value of an element that has no text. */
export function isValueName({ namespaceUri, localName }: QName): boolean {
  return namespaceUri === '' && localName.toLowerCase() === 'value';
}

/** The built-in simple types of XSD 1.0 Part 2 that a value can be derived from. */
export type BuiltInType =
  | 'anySimpleType'
  | 'string'
  | 'normalizedString'
  | 'token'
  | 'language'
  | 'NMTOKEN'
  | 'Name'
  | 'NCName'
  | 'ID'
  | 'IDREF'
  | 'ENTITY'
  | 'NMTOKENS'
  | 'IDREFS'
  | 'ENTITIES'
  | 'boolean'
  | 'decimal'
  | 'integer'
  | 'nonPositiveInteger'
  | 'negativeInteger'
  | 'nonNegativeInteger'
  | 'positiveInteger'
  | 'long'
  | 'int'
  | 'short'
  | 'byte'
  | 'unsignedLong'
  | 'unsignedInt'
  | 'unsignedShort'
  | 'unsignedByte'
  | 'float'
  | 'double'
  | 'duration'
  | 'dateTime'
  | 'time'
  | 'date'
  | 'gYearMonth'
  | 'gYear'
  | 'gMonthDay'
  | 'gDay'
  | 'gMonth'
  | 'hexBinary'
  | 'base64Binary'
  | 'anyURI'
  | 'QName'
  | 'NOTATION';

/** True if values are names, whose prefixes denote namespaces. */
export function holdsNames(type: BuiltInType | null | undefined): boolean {
  return type === 'QName' || type === 'NOTATION';
}

/** Facets in force after all restriction steps; patterns of one step are alternatives, steps must all match. */
export interface Facets {
  readonly length?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly totalDigits?: number;
  readonly fractionDigits?: number;
  readonly minInclusive?: string;
  readonly maxInclusive?: string;
  readonly minExclusive?: string;
  readonly maxExclusive?: string;
  readonly whiteSpace?: 'preserve' | 'replace' | 'collapse';
  readonly enumeration?: readonly string[];
  /** documentation of the values of `enumeration`, in their order; absent: no value has any */
  readonly enumerationDocumentation?: readonly (string | null)[];
  /** names of the values, if a standard gives them separately; absent: no value has one */
  readonly enumerationLabels?: readonly (string | null)[];
  readonly patterns?: readonly (readonly string[])[];
}

/** A simple type: atomic values of `base`, a list of `itemType`, or a union of `memberTypes` (base `anySimpleType`). */
export interface ValueType {
  readonly variety: 'atomic' | 'list' | 'union';
  readonly base: BuiltInType;
  readonly name?: QName;
  readonly facets: Facets;
  readonly itemType?: ValueType;
  readonly memberTypes?: readonly ValueType[];
  /** whether values have a zone: for inferred dates and times, and if XSD 1.1 states it; absent: unknown, or only some have one */
  readonly zone?: 'always' | 'never';
  /** inferred dates with times: some have an offset from UTC other than `Z` */
  readonly offsets?: true;
  /** inferred: the type is a common property of documents' values, so the form of each value is significant */
  readonly guessed?: true;
  /** inferred: values were empty, too, although the type has no empty value */
  readonly mayBeEmpty?: true;
  /** inferred: no value occurred, so another place may determine the type */
  readonly unfilled?: true;
}

export interface SourceAttribute {
  readonly name: QName;
  readonly type: ValueType;
  readonly required: boolean;
  readonly default?: string;
  readonly fixed?: string;
  readonly documentation?: string;
}

export interface SourceWildcard {
  /** `##any`, `##other` of the given target namespace, or a list of namespaces ('' = absent) */
  readonly namespaces: '##any' | { readonly not: string } | readonly string[];
  readonly processContents: 'strict' | 'lax' | 'skip';
  readonly minOccurs: number;
  /** null = unbounded */
  readonly maxOccurs: number | null;
}

/** One child element name within a type: every particle with that name, added up. */
export interface SourceChild {
  /** index into `elements` */
  readonly element: number;
  /** least number over all valid content: 0 when inside a choice with another branch, or an optional group */
  readonly minOccurs: number;
  /** null = unbounded; a bound over 2^31-1 is written as null */
  readonly maxOccurs: number | null;
  /** true if the content model alone determines the position of this child among its siblings (no `all`, no repeated group around it) */
  readonly orderImplied: boolean;
  /** documentation of the element at this place, if it refers to another declaration */
  readonly documentation?: string;
}

/** Content of an element. A simple type is a `SourceType` with `complex: false`, `content: 'simple'`, no attributes and no children. */
export interface SourceType {
  /** null for anonymous types */
  readonly name: QName | null;
  readonly complex: boolean;
  readonly abstract: boolean;
  readonly content: 'empty' | 'simple' | 'elements' | 'mixed';
  /** set exactly when content is 'simple' */
  readonly value: ValueType | null;
  readonly attributes: readonly SourceAttribute[];
  /** in document order of the content model (first particle of each name) */
  readonly children: readonly SourceChild[];
  /** the content model wants at least one element, if not always the same one */
  readonly neverEmpty?: true;
  /** the union of all element wildcards of the content model; null if there is none */
  readonly anyElement: SourceWildcard | null;
  readonly anyAttribute: SourceWildcard | null;
  /** index into `types`; null for the ur-type's direct derivations */
  readonly base: number | null;
  readonly derivation: 'extension' | 'restriction' | null;
  /** every type derived from this one, transitively, that may be named by xsi:type (not abstract) */
  readonly derived: readonly number[];
  readonly documentation?: string;
}

export interface IdentityConstraint {
  readonly kind: 'key' | 'unique' | 'keyref';
  readonly name: QName;
  /** keyref only */
  readonly refer?: QName;
  readonly selector: string;
  readonly fields: readonly string[];
  /** prefixes used by the XPaths; '' for elements without one, if XSD 1.1 declares their namespace */
  readonly namespaces: Readonly<Record<string, string>>;
  /** made from documents alone: every path has a type of its own, and no type has a name */
  readonly inferred?: true;
}

export interface SourceElement {
  readonly name: QName;
  /** index into `types` */
  readonly type: number;
  /** declared at the top level of an XSD document (may be a root, may be referred to) */
  readonly global: boolean;
  readonly nillable: boolean;
  readonly abstract: boolean;
  readonly default?: string;
  readonly fixed?: string;
  /** elements that may replace this one (substitution group, transitive, without blocked and abstract ones) */
  readonly substitutes: readonly number[];
  readonly identityConstraints: readonly IdentityConstraint[];
  readonly documentation?: string;
}

export interface SourceModel {
  readonly elements: readonly SourceElement[];
  readonly types: readonly SourceType[];
  /**
   * indexes of elements that documents may start with: for an XSD every global, non-abstract element, the likeliest roots (global
   * elements that no other component refers to) first
   */
  readonly roots: readonly number[];
  /** number of leading `roots` that no component refers to, of the entry documents if these have any (0 if all are referred to) */
  readonly primaryRoots: number;
  readonly targetNamespace: string | null;
  /** prefix -> uri, unique prefixes for every namespace that occurs; '' is never a prefix here */
  readonly namespaces: Readonly<Record<string, string>>;
  /** made from documents alone: every path has a type of its own, and no type has a name */
  readonly inferred?: true;
}
