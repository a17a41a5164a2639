/** Converts the components of a set to its source model. */
import type {
  IdentityConstraint,
  SourceAttribute,
  SourceChild,
  SourceElement,
  SourceModel,
  SourceType,
  SourceWildcard,
  ValueType,
} from '../model/source-model.ts';
import type {
  AttributeUse,
  ComplexType,
  ElementDeclaration,
  SchemaDocument,
  SimpleType,
  TypeDefinition,
} from './components/terms.ts';
import { isEmptiable } from './derive/complex-type-derivation.ts';
import type { AlternativeTypes } from './derive/type-alternatives.ts';
import type { ChildSummary, ContentSummarizer, WildcardSummary } from './derive/content-summary.ts';
import type { XsdReading } from './components/context.ts';
import { type SchemaFile, xmlNamespaceUri } from './read/file.ts';
import { derivationMethods, type SubstitutionGroups } from './derive/substitution-group.ts';
import type { SymbolSpaces } from './components/symbol-spaces.ts';

/** The inputs from which a source model is written. */
interface CompiledSet {
  readonly reading: XsdReading;
  readonly symbols: SymbolSpaces;
  readonly substitutions: SubstitutionGroups;
  readonly summarizer: ContentSummarizer;
  readonly alternatives: AlternativeTypes;
  readonly documents: readonly SchemaDocument[];
  /**
   * The files by which the set was entered, and the files that an entry without declarations includes or imports. A global element of
   * these to which nothing refers is a root of documents.
   */
  readonly entries: ReadonlySet<SchemaFile>;
  /** most entries of all lists of the model together */
  readonly maxEntries: number;
  /** called, to throw, when that is exceeded */
  onTooLarge(): never;
}

/** Writes the source model: global components in document order, then the components that they refer to. */
export function writeSourceModel(set: CompiledSet): SourceModel {
  const { reading, symbols, substitutions, summarizer, alternatives, documents } = set;
  const { anyType, anySimpleType } = reading.builtIns;
  const elementIndexes = new Map<ElementDeclaration, number>();
  const typeIndexes = new Map<TypeDefinition, number>();
  const elementOrder: ElementDeclaration[] = [];
  const typeOrder: TypeDefinition[] = [];
  const namespaceUris = new Set<string>();
  const redefined = new Set<unknown>();
  const inEntries = new Set<ElementDeclaration>();
  let entries = 0;
  const spend = (count: number) => {
    entries += count;
    if (entries > set.maxEntries) set.onTooLarge();
  };

  const elementIndex = (element: ElementDeclaration) => indexIn(elementIndexes, elementOrder, element);
  const typeIndex = (type: TypeDefinition) => indexIn(typeIndexes, typeOrder, type);
  const baseIndex = (base: TypeDefinition | null) =>
    base === null || base === anyType || base === anySimpleType ? null : typeIndex(base);

  for (const declaration of symbols.declarations) {
    const { component, space } = declaration;
    if (component === null) continue;
    if (!symbols.isCurrent(declaration)) {
      redefined.add(component);
      continue;
    }
    if (space === 'element') {
      elementIndex(component as ElementDeclaration);
      if (set.entries.has(declaration.document.file)) inEntries.add(component as ElementDeclaration);
    }
    if (space === 'type') typeIndex(component as TypeDefinition);
  }
  const globalElements = [...elementOrder];

  const writeChildren = (children: ReadonlyMap<string, ChildSummary>): SourceChild[] => {
    spend(children.size);
    const written: SourceChild[] = [];
    for (const { element, minOccurs, maxOccurs, orderImplied, documentation } of children.values()) {
      const clash = orderImplied && substitutions.substitutesOf(element).some(({ key }) => children.has(key));
      written.push({
        element: elementIndex(element),
        minOccurs,
        maxOccurs: maxOccurs === Infinity ? null : maxOccurs,
        orderImplied: orderImplied && !clash,
        ...optional('documentation', documentation),
      });
    }
    return written;
  };

  const writeComplexType = (type: ComplexType): SourceType => {
    const { children, wildcard } = summarizer.summarize(type.content === 'simple' ? null : type.particle);
    spend(type.attributes.length);
    const isEmpty = type.content === 'elements' && children.size === 0 && wildcard === null;
    return {
      name: redefined.has(type) ? null : type.name,
      complex: true,
      abstract: type.abstract,
      content: isEmpty ? 'empty' : type.content,
      value: type.content === 'simple' ? valueOf(type.simpleType ?? anySimpleType) : null,
      attributes: type.attributes.map((use) => writeAttribute(use)),
      children: writeChildren(children),
      ...(children.size === 0 || isEmptiable(type.particle, reading.emptiableGroups)
        ? {}
        : { neverEmpty: true as const }),
      anyElement: wildcard === null ? null : writeWildcard(wildcard),
      anyAttribute:
        type.anyAttribute === null
          ? null
          : writeWildcard({ wildcard: type.anyAttribute, minOccurs: 0, maxOccurs: Infinity }),
      base: baseIndex(type.base),
      derivation: type === anyType ? null : type.derivation,
      derived: [],
      ...documented(type),
    };
  };

  const writeAttribute = (use: AttributeUse): SourceAttribute => {
    const { declaration } = use;
    namespaceUris.add(declaration.name.namespaceUri);
    use.source ??= {
      name: declaration.name,
      type: valueOf(declaration.type),
      required: use.use === 'required',
      ...optional('default', use.default ?? (use.fixed === undefined ? declaration.default : undefined)),
      ...optional('fixed', use.fixed ?? declaration.fixed),
      ...optional('documentation', use.documentation ?? declaration.documentation),
    };
    return use.source;
  };

  const writeElement = (element: ElementDeclaration): SourceElement => {
    const substitutes = substitutions.substitutesOf(element).map(elementIndex);
    spend(substitutes.length);
    namespaceUris.add(element.name.namespaceUri);
    return {
      name: element.name,
      type: typeIndex(alternatives.typeOf(element)),
      global: element.global,
      nillable: element.nillable,
      abstract: element.abstract,
      ...optional('default', element.default),
      ...optional('fixed', element.fixed),
      substitutes,
      identityConstraints: element.identityConstraints.map((definition): IdentityConstraint => {
        const { kind, name, refer, selector, fields, namespaces } = definition;
        namespaceUris.add(name.namespaceUri);
        return { kind, name, ...optional('refer', refer ?? undefined), selector, fields, namespaces };
      }),
      ...documented(element),
    };
  };

  const writeType = (type: TypeDefinition): SourceType => {
    if (type.name !== null) namespaceUris.add(type.name.namespaceUri);
    if (type.kind === 'complex') return writeComplexType(type);
    return {
      name: redefined.has(type) ? null : type.name,
      complex: false,
      abstract: false,
      content: 'simple',
      value: valueOf(type),
      attributes: [],
      children: [],
      anyElement: null,
      anyAttribute: null,
      base: baseIndex(type.base),
      derivation: type === anySimpleType ? null : 'restriction',
      derived: [],
      ...documented(type),
    };
  };

  const elements: SourceElement[] = [];
  const types: SourceType[] = [];
  while (elements.length < elementOrder.length || types.length < typeOrder.length) {
    while (types.length < typeOrder.length) types.push(writeType(typeOrder[types.length]!));
    while (elements.length < elementOrder.length) elements.push(writeElement(elementOrder[elements.length]!));
  }

  const directlyDerived = new Map<TypeDefinition, TypeDefinition[]>();
  for (const type of typeOrder) {
    const base = type.base ?? (type === anyType ? null : anyType);
    if (base === null) continue;
    const list = directlyDerived.get(base);
    if (list === undefined) directlyDerived.set(base, [type]);
    else list.push(type);
  }
  const derivedOf = (type: TypeDefinition): number[] => {
    const members = alternatives.membersOf(type);
    if (members !== undefined) return derivedOfMembers(members);
    const found: number[] = [];
    const all = [...(directlyDerived.get(type) ?? [])];
    for (const derived of all) {
      const index = typeIndexes.get(derived)!;
      const { name, abstract } = types[index]!;
      if (name !== null && !abstract && !isBlocked(type, derived)) found.push(index);
      for (const next of directlyDerived.get(derived) ?? []) all.push(next);
    }
    spend(found.length);
    return found;
  };
  /** Returns the types that xsi:type may name in addition to the types that a member may have anyway. */
  const derivedOfMembers = (members: readonly TypeDefinition[]): number[] => {
    const known = new Set(members.map((member) => typeIndexes.get(member)));
    const others = members.filter((member) => member.kind === 'complex' && member !== anyType);
    return [...new Set(others.flatMap(derivedOf))].filter((index) => !known.has(index));
  };
  const whole = types.map((type, index) => {
    const derived = derivedOf(typeOrder[index]!);
    return derived.length === 0 ? type : { ...type, derived };
  });

  const referred = withSubstitutes(reading.referredElements, substitutions);
  const possible = globalElements.filter(({ abstract }) => !abstract);
  const unreferred = possible.filter((element) => !referred.has(element));
  const entered = unreferred.filter((element) => inEntries.has(element));
  // libraries of global elements (UBL) leave many unused: those are not roots if the entry has roots of its own
  const primary = entered.length > 0 ? entered : unreferred;
  const first = new Set(primary);
  const others = possible.filter((element) => !first.has(element));
  const targetNamespace = documents[0]?.targetNamespace ?? '';
  namespaceUris.add(targetNamespace);
  return {
    elements,
    types: whole,
    roots: [...primary, ...others].map(elementIndex),
    primaryRoots: primary.length,
    targetNamespace: targetNamespace === '' ? null : targetNamespace,
    namespaces: choosePrefixes(namespaceUris, documents),
  };
}

function indexIn<T>(indexes: Map<T, number>, order: T[], component: T): number {
  let index = indexes.get(component);
  if (index === undefined) {
    index = order.length;
    indexes.set(component, index);
    order.push(component);
  }
  return index;
}

/** True if `block` on a type forbids xsi:type to name a type that was derived from it by those methods. */
function isBlocked(type: TypeDefinition, derived: TypeDefinition): boolean {
  if (type.kind === 'simple' || type.block.size === 0) return false;
  return [...(derivationMethods(derived, type) ?? [])].some((method) => type.block.has(method));
}

/** Adds the elements that may replace a referenced one. */
function withSubstitutes(
  referred: ReadonlySet<ElementDeclaration>,
  substitutions: SubstitutionGroups,
): ReadonlySet<ElementDeclaration> {
  const all = new Set(referred);
  for (const element of all) for (const member of substitutions.membersOf(element)) all.add(member);
  return all;
}

/** The model's form of a simple type; facets of the built-in types themselves are not repeated. */
function valueOf(type: SimpleType): ValueType {
  type.value ??= {
    variety: type.variety,
    base: type.builtIn,
    ...(type.name === null || type.origin === null ? {} : { name: type.name }),
    facets: type.facets,
    ...(type.zone === undefined ? {} : { zone: type.zone }),
    ...(type.mayBeEmpty === undefined ? {} : { mayBeEmpty: true as const }),
    ...(type.itemType === null ? {} : { itemType: valueOf(type.itemType) }),
    ...(type.variety === 'union' ? { memberTypes: type.memberTypes.map((member) => valueOf(member)) } : {}),
  };
  return type.value;
}

function writeWildcard({ wildcard, minOccurs, maxOccurs }: WildcardSummary): SourceWildcard {
  const { namespaces, processContents } = wildcard;
  return { namespaces, processContents, minOccurs, maxOccurs: maxOccurs === Infinity ? null : maxOccurs };
}

function documented({ documentation }: { documentation?: string }): { documentation?: string } {
  return documentation === undefined ? {} : { documentation };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

// Prefixes for the namespaces of a set, for people to read.

/**
 * Chooses one prefix per namespace: the first free one that a document of the set declares for it, otherwise `ns1`, `ns2`, … Prefixes
 * differ in more than case.
 */
function choosePrefixes(
  namespaceUris: Iterable<string>,
  documents: readonly SchemaDocument[],
): Record<string, string> {
  const declared = new Map<string, string[]>();
  for (const { file } of documents) {
    for (const [prefix, uri] of file.root.namespaces) {
      if (prefix === '' || prefix === 'xml') continue;
      const prefixes = declared.get(uri);
      if (prefixes === undefined) declared.set(uri, [prefix]);
      else if (!prefixes.includes(prefix)) prefixes.push(prefix);
    }
  }
  const chosen = new Map<string, string>();
  const taken = new Set(['xml', 'xmlns']);
  const take = (prefix: string, uri: string) => {
    taken.add(prefix.toLowerCase());
    chosen.set(prefix, uri);
  };
  const left: string[] = [];
  for (const uri of new Set(namespaceUris)) {
    if (uri === '') continue;
    if (uri === xmlNamespaceUri) {
      chosen.set('xml', uri);
      continue;
    }
    const prefix = declared.get(uri)?.find((candidate) => !taken.has(candidate.toLowerCase()));
    if (prefix === undefined) left.push(uri);
    else take(prefix, uri);
  }
  let number = 1;
  for (const uri of left) {
    while (taken.has(`ns${number}`)) number++;
    take(`ns${number}`, uri);
  }
  return Object.fromEntries(chosen);
}
