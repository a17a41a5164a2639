/**
 * Combines the content of elements that may have one of several types: through type alternatives (XSD 1.1 Part 1 §3.12), and if types
 * that substitute for one another have a child or an attribute of the same name. Tests are not evaluated: the element has the content of
 * all of its types.
 */
import type {
  AttributeUse,
  ComplexType,
  ElementDeclaration,
  ModelGroup,
  Origin,
  Particle,
  SimpleType,
  TypeDefinition,
  Wildcard,
} from '../components/terms.ts';
import type { XsdReading } from '../components/context.ts';
import { createSimpleType } from '../components/simple-type.ts';
import { uniteNamespaces } from '../components/attributes.ts';
import { derivationMethods } from './substitution-group.ts';

const tooMany =
  'Type alternatives within type alternatives have too many combinations: nested elements get only the content of their first type';

/** The most types that are compared. Among more types, none is left out because another one covers it. */
const maxCompared = 500;

/** The most types that combine several, for each element of the set, and an additional number for small sets. */
const unionsForElement = 4;
const unionsForAny = 1000;

/** The types that elements have, of declarations with several. */
export interface AlternativeTypes {
  /** Returns the type of the element's instances. If there are several, returns one that combines their content. */
  typeOf(element: ElementDeclaration): TypeDefinition;
  /** one declaration for two of the same name in the contents of alternative types */
  join(first: ElementDeclaration, second: ElementDeclaration): ElementDeclaration;
  /** Returns the types that a combined type replaces, or undefined for all others. */
  membersOf(type: TypeDefinition): readonly TypeDefinition[] | undefined;
}

export function createAlternativeTypes(reading: XsdReading): AlternativeTypes {
  const { anyType, anySimpleType } = reading.builtIns;
  const ids = new Map<object, number>();
  const idOf = (component: object): number => {
    const id = ids.get(component) ?? ids.size;
    ids.set(component, id);
    return id;
  };
  const keyOf = (components: readonly object[]): string => components.map(idOf).join(' ');
  const unions = new Map<string, TypeDefinition>();
  const members = new Map<TypeDefinition, readonly TypeDefinition[]>();
  const joined = new Map<string, ElementDeclaration>();
  let isToldTooMany = false;

  /** One type for several, each of which is not covered by another. */
  const unite = (types: readonly TypeDefinition[], origin: Origin): TypeDefinition => {
    const apart = uncovered(types, reading);
    if (apart.length === 1) return apart[0]!;
    const key = keyOf(apart);
    let union = unions.get(key);
    // contents of alternatives that have alternatives in their turn combine in more ways than any set can mean
    if (union === undefined && unions.size >= unionsForAny + unionsForElement * reading.elements.length) {
      if (!isToldTooMany) reading.report.warning('xsd_too_many_alternatives', tooMany, origin);
      isToldTooMany = true;
      return apart[0]!;
    }
    if (union === undefined) {
      union = apart.every(isSimple) ? uniteSimple(apart, origin) : uniteComplex(apart, origin);
      unions.set(key, union);
      members.set(union, apart);
    }
    return union;
  };

  const uniteSimple = (types: readonly SimpleType[], origin: Origin): SimpleType => {
    const memberTypes = types.flatMap((type) => (type.variety === 'union' ? type.memberTypes : [type]));
    const union = createSimpleType(null, origin, reading);
    return Object.assign(union, {
      variety: 'union',
      final: new Set(),
      memberTypes: [...new Set(memberTypes)],
    });
  };

  const simpleOf = (types: readonly SimpleType[], origin: Origin): SimpleType =>
    unite(types, origin) as SimpleType;

  const uniteComplex = (types: readonly TypeDefinition[], origin: Origin): ComplexType => {
    const known = types.filter((type) => type !== anyType);
    const values = known.map(simpleContentOf);
    const hasValue = values.some((value) => value !== null);
    const isValue = hasValue && known.every((type, at) => values[at] !== null || isEmpty(type));
    const isMixed = known.some((type) => type.kind === 'complex' && type.content === 'mixed');
    const simple = values.filter((value) => value !== null);
    if (isValue && known.length < types.length) simple.push(anySimpleType);
    const value = isValue ? simpleOf(simple, origin) : null;
    return {
      ...anyType,
      name: null,
      origin,
      base: anyType,
      content: isValue ? 'simple' : isMixed || hasValue ? 'mixed' : 'elements',
      // an element whose type has no content is empty, whatever the other types allow
      simpleType: value !== null && known.some(isEmpty) ? { ...value, mayBeEmpty: true, value: null } : value,
      particle: isValue ? null : choiceOf(types, origin),
      attributes: uniteAttributes(types, origin),
      anyAttribute: uniteWildcards(types),
      documentation: undefined,
    };
  };

  const uniteAttributes = (types: readonly TypeDefinition[], origin: Origin): AttributeUse[] => {
    const byName = new Map<string, AttributeUse[]>();
    for (const type of types) {
      for (const use of type.kind === 'complex' ? type.attributes : []) {
        if (use.use === 'prohibited') continue;
        const { key } = use.declaration;
        byName.set(key, [...(byName.get(key) ?? []), use]);
      }
    }
    return [...byName.values()].map((uses): AttributeUse => {
      const [first] = uses as [AttributeUse];
      const isEverywhere = uses.length === types.length;
      if (isEverywhere && uses.every((use) => use === first)) return first;
      const usual = uses.map(
        (use) => use.default ?? (use.fixed === undefined ? use.declaration.default : undefined),
      );
      const fixed = uses.map((use) => use.fixed ?? use.declaration.fixed);
      const type = simpleOf(
        uses.map(({ declaration }) => declaration.type),
        origin,
      );
      return {
        declaration: { ...first.declaration, type, default: undefined, fixed: undefined },
        use: isEverywhere && uses.every(({ use }) => use === 'required') ? 'required' : 'optional',
        default: isEverywhere ? sameOf(usual) : undefined,
        fixed: sameOf(fixed),
        origin: first.origin,
        documentation: uses.find(({ documentation }) => documentation !== undefined)?.documentation,
      };
    });
  };

  const join = (first: ElementDeclaration, second: ElementDeclaration): ElementDeclaration => {
    if (first === second) return first;
    const key = keyOf([first, second]);
    let both = joined.get(key);
    if (both === undefined) {
      const types = [...new Set([...typesOf(first), ...typesOf(second)])];
      const constraints = [...first.identityConstraints, ...second.identityConstraints];
      both = {
        ...first,
        global: false,
        nillable: first.nillable || second.nillable,
        abstract: first.abstract && second.abstract,
        default: sameOf([first.default, second.default]),
        fixed: sameOf([first.fixed, second.fixed]),
        heads: [],
        alternatives: { types, exhaustive: true },
        identityConstraints: [...new Set(constraints)],
        documentation: first.documentation ?? second.documentation,
      };
      joined.set(key, both);
    }
    return both;
  };

  return {
    typeOf: (element) =>
      element.alternatives === null ? element.type : unite(typesOf(element), element.origin),
    join,
    membersOf: (type) => members.get(type),
  };
}

/** The types that an instance of the element may have. */
function typesOf({ type, alternatives }: ElementDeclaration): readonly TypeDefinition[] {
  if (alternatives === null) return [type];
  return alternatives.exhaustive ? alternatives.types : [type, ...alternatives.types];
}

function isEmpty(type: TypeDefinition): boolean {
  return type.kind === 'complex' && type.content === 'empty';
}

function isSimple(type: TypeDefinition): type is SimpleType {
  return type.kind === 'simple';
}

function simpleContentOf(type: TypeDefinition): SimpleType | null {
  return type.kind === 'simple' ? type : type.content === 'simple' ? type.simpleType : null;
}

/** Returns the common value, or undefined if the values differ. */
function sameOf(values: readonly (string | undefined)[]): string | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

/** Returns the types that are not abstract and whose content is not entirely covered by another one. */
function uncovered(types: readonly TypeDefinition[], reading: XsdReading): readonly TypeDefinition[] {
  const distinct = [...new Set(types)];
  const concrete = distinct.filter((type) => type.kind === 'simple' || !type.abstract);
  const possible = concrete.length === 0 ? distinct : concrete;
  if (possible.length > maxCompared) return possible;
  return possible.filter((type) => !possible.some((other) => other !== type && covers(other, type, reading)));
}

/** True if a type is a restriction of another one that has no further content. */
function covers(base: TypeDefinition, type: TypeDefinition, { builtIns }: XsdReading): boolean {
  if (base === builtIns.anyType || base === builtIns.anySimpleType || base.kind !== type.kind) return false;
  if (base.kind === 'complex' && (base.anyAttribute !== null || holdsWildcard(base.particle))) return false;
  const methods = derivationMethods(type, base);
  return methods !== null && !methods.has('extension') && !methods.has('list') && !methods.has('union');
}

function holdsWildcard(particle: Particle | null): boolean {
  const pending = particle === null ? [] : [particle];
  const seen = new Set<Particle>();
  for (const { term } of pending) {
    if (!('kind' in term)) continue;
    if (term.kind === 'wildcard') return true;
    const group = term.kind === 'group' ? term : term.group;
    for (const inner of group?.particles ?? []) {
      if (seen.has(inner)) continue;
      seen.add(inner);
      pending.push(inner);
    }
  }
  return false;
}

/** A choice between the contents of the types. */
function choiceOf(types: readonly TypeDefinition[], origin: Origin): Particle {
  const nothing: ModelGroup = { kind: 'group', compositor: 'sequence', particles: [], origin };
  const contents = types.map((type) => (type.kind === 'complex' ? type.particle : null));
  const once = (term: ModelGroup): Particle => ({ minOccurs: 1, maxOccurs: 1, term, origin });
  const particles = contents.map((content) => content ?? once(nothing));
  return once({ kind: 'group', compositor: 'choice', particles, origin, ofTypes: true });
}

function uniteWildcards(types: readonly TypeDefinition[]): Wildcard | null {
  const wildcards = types.flatMap((type) => (type.kind === 'complex' ? (type.anyAttribute ?? []) : []));
  if (wildcards.length === 0) return null;
  return wildcards.reduce((united, { namespaces, processContents }) => ({
    ...united,
    namespaces: uniteNamespaces(united.namespaces, namespaces),
    processContents: united.processContents === processContents ? processContents : 'lax',
  }));
}
