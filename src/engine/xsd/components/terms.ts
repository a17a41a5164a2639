/**
 * The components of an XSD set in the compiler, in the terms of XSD Part 1 §2.2. They form a graph and are filled in phases: shells for
 * every global component, then the properties that the documents state (`read…`), then those that follow from them (`derive…`).
 */
import type {
  WildcardNamespaces,
  BuiltInType,
  Facets,
  QName,
  SourceAttribute,
  ValueType,
} from '../../model/source-model.ts';
import type { XmlElement } from '../../xml/tree.ts';
import type { SchemaFile } from '../read/file.ts';

/** The source of a component: its element, and the document (with its effective target namespace) that contains it. */
export interface Origin {
  readonly node: XmlElement;
  readonly document: SchemaDocument;
}

export type DerivationMethod = 'extension' | 'restriction';
export type DerivationControl = DerivationMethod | 'substitution' | 'list' | 'union';

export interface SimpleType {
  readonly kind: 'simple';
  readonly name: QName | null;
  /** null for built-in types */
  readonly origin: Origin | null;
  /** null for anySimpleType only */
  base: SimpleType | null;
  variety: 'atomic' | 'list' | 'union';
  /** nearest built-in type for atomic ones; anySimpleType for lists and unions that are not built in */
  builtIn: BuiltInType;
  itemType: SimpleType | null;
  memberTypes: readonly SimpleType[];
  /** facets of this step as written */
  step: FacetStep | null;
  /** facets in force, those of the built-in types left out */
  facets: Facets;
  /** XSD 1.1: whether its values have a time zone; absent: they may */
  zone?: ValueType['zone'] | undefined;
  /** elements of the type may also be empty, although the type has no empty value */
  mayBeEmpty?: true;
  /** facets that further steps must not change */
  fixedFacets: ReadonlySet<string>;
  final: ReadonlySet<DerivationControl>;
  /** the model's form of this type, made once */
  value: ValueType | null;
  documentation?: string;
}

/** One facet element as written. */
export interface WrittenFacet {
  readonly name: keyof Facets | 'pattern';
  readonly value: string;
  readonly fixed: boolean;
  readonly node: XmlElement;
}
export type FacetStep = readonly WrittenFacet[];

export interface ComplexType {
  readonly kind: 'complex';
  readonly name: QName | null;
  /** null for the ur-type */
  readonly origin: Origin | null;
  base: TypeDefinition | null;
  derivation: DerivationMethod;
  abstract: boolean;
  final: ReadonlySet<DerivationControl>;
  block: ReadonlySet<DerivationControl>;
  /** content as written in the document, before inheritance */
  written: WrittenContent;
  /** the following are known once the type is derived */
  content: 'empty' | 'simple' | 'elements' | 'mixed';
  particle: Particle | null;
  simpleType: SimpleType | null;
  attributes: readonly AttributeUse[];
  anyAttribute: Wildcard | null;
  derived: boolean;
  documentation?: string;
}

export interface WrittenContent {
  readonly style: 'short' | 'complexContent' | 'simpleContent';
  readonly mixed: boolean;
  /** true: the named base was not found, and the ur-type replaces it */
  readonly baseMissing: boolean;
  readonly particle: Particle | null;
  readonly attributes: WrittenAttributes;
  /** simpleContent restriction: facets, and the anonymous type they apply to when there is one */
  readonly facets: FacetStep;
  readonly simpleType: SimpleType | null;
  /** XSD 1.1, simpleContent restriction: whether the values have a time zone */
  readonly zone?: ValueType['zone'] | undefined;
}

export type TypeDefinition = SimpleType | ComplexType;

export interface ElementDeclaration {
  readonly name: QName;
  /** expanded name in Clark's notation */
  readonly key: string;
  readonly origin: Origin;
  readonly global: boolean;
  type: TypeDefinition;
  /** false: the type comes from the substitution group's head, or is the ur-type because there is none */
  typed: boolean;
  nillable: boolean;
  abstract: boolean;
  default?: string;
  fixed?: string;
  /** the elements that this one may replace; XSD 1.1 allows several, and the first gives the type if none is declared */
  heads: readonly ElementDeclaration[];
  alternatives: TypeAlternatives | null;
  block: ReadonlySet<DerivationControl>;
  final: ReadonlySet<DerivationControl>;
  identityConstraints: IdentityConstraintDefinition[];
  documentation?: string;
}

/** XSD 1.1 type alternatives of an element. Each instance has the first alternative whose test is true. */
export interface TypeAlternatives {
  readonly types: readonly TypeDefinition[];
  /** one of them has no test, so no instance has the declared type */
  readonly exhaustive: boolean;
}

export interface IdentityConstraintDefinition {
  readonly kind: 'key' | 'unique' | 'keyref';
  readonly name: QName;
  readonly origin: Origin;
  readonly refer: QName | null;
  readonly selector: string;
  readonly fields: readonly string[];
  readonly namespaces: Readonly<Record<string, string>>;
}

export interface AttributeDeclaration {
  readonly name: QName;
  readonly key: string;
  readonly origin: Origin;
  readonly global: boolean;
  type: SimpleType;
  default?: string;
  fixed?: string;
  documentation?: string;
}

export interface AttributeUse {
  readonly declaration: AttributeDeclaration;
  readonly use: 'optional' | 'required' | 'prohibited';
  readonly default?: string;
  readonly fixed?: string;
  readonly origin: Origin;
  readonly documentation?: string;
  /** the model's form of this use, made once and shared by all types that inherit it */
  source?: SourceAttribute;
}

export interface AttributeGroupReference {
  readonly group: AttributeGroup;
  readonly node: XmlElement;
  /** number of attribute uses written before it */
  readonly after: number;
}

/** Attribute uses as written, with the groups referred to. */
export interface WrittenAttributes {
  readonly uses: readonly AttributeUse[];
  readonly groups: readonly AttributeGroupReference[];
  /** the wildcard of `anyAttribute` here, or that of a missing component */
  readonly wildcard: Wildcard | null;
}

export interface AttributeGroup {
  readonly name: QName;
  readonly origin: Origin;
  written: WrittenAttributes;
  /** includes those of the referenced groups; known once derived */
  uses: readonly AttributeUse[];
  wildcard: Wildcard | null;
}

/** A namespace constraint: any, any but one (and but none), or those listed ('' = absent). */
export type NamespaceConstraint = WildcardNamespaces;

export interface Wildcard {
  readonly kind: 'wildcard';
  readonly namespaces: NamespaceConstraint;
  readonly processContents: 'strict' | 'lax' | 'skip';
  /** null for the ur-type's */
  readonly origin: Origin | null;
  /** replaces a component that does not exist, or is open content (XSD 1.1): other particles that match an element take precedence */
  readonly yields?: true;
}

export type Compositor = 'sequence' | 'choice' | 'all';

export interface ModelGroup {
  readonly kind: 'group';
  readonly compositor: Compositor;
  /** a choice between the contents of an element's possible types: two declarations of one name in it become one */
  readonly ofTypes?: true;
  readonly particles: readonly Particle[];
  readonly origin: Origin;
}

/** A named group. Its model group is shared by all that refer to it. */
export interface ModelGroupDefinition {
  readonly kind: 'groupDefinition';
  readonly name: QName;
  readonly origin: Origin;
  group: ModelGroup | null;
}

export type Term = ElementDeclaration | Wildcard | ModelGroup | ModelGroupDefinition;

export interface Particle {
  readonly minOccurs: number;
  /** Infinity = unbounded */
  readonly maxOccurs: number;
  readonly term: Term;
  /** documentation at a reference to an element */
  readonly documentation?: string;
  /** null for the ur-type's */
  readonly origin: Origin | null;
}

export interface NotationDeclaration {
  readonly name: QName;
  readonly origin: Origin;
}

/** The model group of a term that has one; null for elements, wildcards and groups that could not be read. */
export function groupOf(term: Term): ModelGroup | null {
  if (!('kind' in term)) return null;
  if (term.kind === 'group') return term;
  return term.kind === 'groupDefinition' ? term.group : null;
}

/** A file read for one target namespace: a chameleon file has one document per namespace that includes it. */
export interface SchemaDocument {
  readonly file: SchemaFile;
  /** '' for none */
  readonly targetNamespace: string;
  /** unqualified references mean the target namespace (XSD Part 1 §4.2.1, clause 3.2) */
  readonly chameleon: boolean;
  readonly elementsQualified: boolean;
  readonly attributesQualified: boolean;
  readonly blockDefault: ReadonlySet<DerivationControl>;
  readonly finalDefault: ReadonlySet<DerivationControl>;
  /** XSD 1.1 */
  readonly defaultOpenContent: XmlElement | undefined;
  /** XSD 1.1: the attribute group that all complex types of the document have; a qualified name */
  readonly defaultAttributes: string | undefined;
  /** namespaces that this document imports */
  readonly imports: ReadonlySet<string>;
  /** inside a redefinition: the component that a reference to the redefined name means, by symbol space and name */
  readonly redefined: ReadonlyMap<string, GlobalDeclaration> | null;
  /**
   * inside the redefinition of a type: the only element whose `base` refers to the redefined type; all other references mean the
   * redefinition
   */
  readonly redefinedBy?: Origin['node'] | undefined;
}

/** Names are unique per symbol space (XSD Part 1 §2.5). */
export interface ComponentKinds {
  type: TypeDefinition;
  element: ElementDeclaration;
  attribute: AttributeDeclaration;
  group: ModelGroupDefinition;
  attributeGroup: AttributeGroup;
  notation: NotationDeclaration;
}

export type SymbolSpace = keyof ComponentKinds;

/** A global component's place in its symbol space; `component` is filled when its shell is made. */
export interface GlobalDeclaration extends Origin {
  readonly space: SymbolSpace;
  readonly name: QName;
  component: ComponentKinds[SymbolSpace] | null;
  /** set on a redefinition: the declaration that it replaces */
  readonly replaces: GlobalDeclaration | null;
}
