/** Constraints on declarations and types that need the whole set. */
import { clarkName, allowsNamespace } from '../model/source-model.ts';
import { isIdType, overlaps, isNamespaceSubset } from './components/attributes.ts';
import {
  groupOf,
  type ComplexType,
  type ElementDeclaration,
  type ModelGroup,
  type Particle,
  type SimpleType,
  type TypeDefinition,
  type Wildcard,
} from './components/terms.ts';
import { isEmptiable } from './derive/complex-type-derivation.ts';
import type { ContentSummarizer, ChildSummary, ContentSummary } from './derive/content-summary.ts';
import { checkIdentityConstraints } from './components/identity-constraint.ts';
import type { XsdReading } from './components/context.ts';
import {
  checkSubstitutionGroups,
  type SubstitutionGroups,
  derivationMethods,
} from './derive/substitution-group.ts';
import { whyInvalid } from './values/facets.ts';

interface CheckedSet {
  readonly reading: XsdReading;
  readonly substitutions: SubstitutionGroups;
  readonly summarizer: ContentSummarizer;
  /** bases first */
  readonly complexTypes: readonly ComplexType[];
  /** inner ones first */
  readonly groups: readonly ModelGroup[];
}

/** Constraints on components that need all of them (XSD Part 1 §3.x.6), none of which the model depends on. */
export function checkComponents(set: CheckedSet): void {
  const { reading, substitutions, summarizer, complexTypes, groups } = set;
  for (const element of reading.elements) checkElementValue(element, reading);
  for (const attribute of reading.attributes) {
    const value = attribute.fixed ?? attribute.default;
    if (value !== undefined) checkValue(attribute.type, value, attribute.origin, attribute.key, reading);
  }
  for (const type of complexTypes) checkAttributeUses(type, reading);
  for (const group of groups) checkAllGroup(group, reading);
  for (const type of complexTypes) checkAllOfType(type, reading);
  checkSubstitutionGroups(reading);
  const attribution = createAttributionCheck(reading, substitutions);
  const contents = groupsOfContents(complexTypes);
  for (const group of groups) if (contents.has(group)) attribution.check(group);
  for (const type of complexTypes) {
    summarizer.summarize(type.particle);
    if (type.particle !== null) attribution.checkContent(type.particle);
    checkParticleRestriction(type, summarizer, substitutions, reading);
  }
  checkIdentityConstraints(reading);
}

/**
 * Returns the groups that are part of contents. A group that no type refers to is not a content model, and the constraints on these do
 * not apply to it.
 */
function groupsOfContents(complexTypes: readonly ComplexType[]): ReadonlySet<ModelGroup> {
  const found = new Set<ModelGroup>();
  const add = ({ term }: Particle) => {
    const group = groupOf(term);
    if (group !== null) found.add(group);
  };
  for (const { particle } of complexTypes) if (particle !== null) add(particle);
  // the set grows while it is walked
  for (const group of found) group.particles.forEach(add);
  return found;
}

function checkValue(
  type: SimpleType,
  value: string,
  at: ElementDeclaration['origin'],
  path: string,
  reading: XsdReading,
): void {
  const why =
    isIdType(type) && !reading.later ? 'a value constraint is not allowed on an ID' : whyInvalid(type, value);
  if (why !== null)
    reading.report.error('xsd_bad_default', `"${value}" is not a valid default: ${why}`, at, path);
}

/** e-props-correct, clauses 2 and 5; cos-valid-default. */
function checkElementValue(element: ElementDeclaration, reading: XsdReading): void {
  const value = element.fixed ?? element.default;
  if (value === undefined) return;
  const { type, origin, key } = element;
  const simple = simpleContentOf(type);
  if (simple !== null) checkValue(simple, value, origin, key, reading);
  else if (
    type.kind === 'complex' &&
    (type.content !== 'mixed' || !isEmptiable(type.particle, reading.emptiableGroups))
  ) {
    reading.report.error(
      'xsd_bad_default',
      'Only simple or emptiable mixed content may have a default',
      origin,
      key,
    );
  }
}

function simpleContentOf(type: TypeDefinition): SimpleType | null {
  return type.kind === 'simple' ? type : type.simpleType;
}

/** au-props-correct: a use's value is valid, and equals the fixed value of its declaration. */
function checkAttributeUses(type: ComplexType, reading: XsdReading): void {
  for (const use of type.written.attributes.uses) {
    const { declaration } = use;
    const value = use.fixed ?? use.default;
    if (value === undefined || !declaration.global) continue;
    checkValue(declaration.type, value, use.origin, declaration.key, reading);
    if (declaration.fixed !== undefined && use.fixed !== declaration.fixed) {
      const message = `The declaration fixes the value at "${declaration.fixed}"`;
      reading.report.error('xsd_bad_default', message, use.origin, declaration.key);
    }
  }
}

/**
 * cos-all-limited: a model group must not contain an `all`, and an `all` contains only elements, none of which occurs more than once. In
 * XSD 1.1 an `all` may also have wildcards and refer to groups of the same kind, and its particles may repeat.
 */
function checkAllGroup(group: ModelGroup, reading: XsdReading): void {
  for (const particle of group.particles) {
    const at = particle.origin ?? group.origin;
    if (groupOf(particle.term)?.compositor === 'all' && at.node !== group.origin.node) {
      // true if the group combines the type's own content with that of its base type, or with open content
      const isOfType = ['complexType', 'openContent', 'defaultOpenContent'].includes(
        group.origin.node.name.localName,
      );
      if (!isOfType && !(reading.later && group.compositor === 'all'))
        reading.report.error('xsd_all_misplaced', 'An all group is not allowed inside another group', at);
    }
    if (group.compositor !== 'all' || reading.later) continue;
    if ('kind' in particle.term && groupOf(particle.term)?.compositor !== 'all')
      reading.report.error('xsd_all_misplaced', 'An all group may contain only elements', at);
    if (particle.maxOccurs > 1) {
      reading.report.error('xsd_all_repeats', 'Inside an all group, maxOccurs must be 0 or 1', at);
    }
  }
}

function checkAllOfType(type: ComplexType, reading: XsdReading): void {
  const particle: Particle | null = type.written.particle;
  if (particle === null || groupOf(particle.term)?.compositor !== 'all') return;
  if (particle.maxOccurs !== 1) {
    const path = type.name === null ? undefined : clarkName(type.name);
    reading.report.error(
      'xsd_all_repeats',
      'An all group may occur only once',
      particle.origin ?? type.origin!,
      path,
    );
  }
}

/** cos-element-consistent: declarations of one name in one content model have the same type. */
export function reportInconsistent(
  first: ElementDeclaration,
  second: ElementDeclaration,
  reading: XsdReading,
): void {
  if (first.type === second.type) return;
  const location = `${first.origin.document.file.name}, line ${first.origin.node.line}`;
  const message = `${second.name.localName} has another type here than in the same content at ${location}, which is kept`;
  reading.report.error('xsd_inconsistent_elements', message, second.origin, second.key);
}

// Unique Particle Attribution: whether a content model is deterministic.

/** A particle whose term is an element or a wildcard. */
type Leaf = Particle;

/** Leaves that may match the next element, by element name, and wildcards separately. */
interface Options {
  readonly elements: Map<string, Leaf>;
  /** one element leaf of each namespace */
  readonly namespaces: Map<string, Leaf>;
  readonly wildcards: Set<Leaf>;
}

/** The most wildcards at one point that are compared. */
const maxWildcards = 50;

/** For one group: the leaves that may match its first element, and those that may match one more when it could already be complete. */
interface Ends {
  readonly first: Options;
  readonly tail: Options;
}

/**
 * Checks Unique Particle Attribution (cos-nonambig): at no point may two particles compete for an element. Each group is checked once, by
 * the options at its two ends, so the cost is proportional to its names. An element at both ends of a repeated group counts as one
 * particle, even if two references to another group contributed it, so a few violations pass. None is reported wrongly.
 */
function createAttributionCheck(reading: XsdReading, substitutions: SubstitutionGroups) {
  const known = new Map<ModelGroup, Ends>();
  const reported = new Set<Leaf>();

  const tell = (leaf: Leaf, other: Leaf, group: ModelGroup) => {
    if (reported.has(leaf)) return;
    reported.add(leaf);
    const location =
      other.origin === null ? '' : ` (line ${other.origin.node.line} of ${other.origin.document.file.name})`;
    const what = 'kind' in leaf.term ? 'This wildcard' : `The element ${leaf.term.name.localName}`;
    const message = `${what} competes with another particle${location} for the same element`;
    reading.report.error('xsd_ambiguous_content', message, leaf.origin ?? group.origin);
  };

  /**
   * Reports leaves of `added` that compete with those of `options`; `apart`: they come from different particles of the group and are
   * therefore different leaves.
   */
  const compete = (options: Options, added: Options, group: ModelGroup, apart: boolean) => {
    const [small, large] =
      options.elements.size < added.elements.size
        ? [options.elements, added.elements]
        : [added.elements, options.elements];
    for (const [key, leaf] of small) {
      const other = large.get(key);
      if (other !== undefined && (apart || other !== leaf)) {
        if (small === added.elements) tell(leaf, other, group);
        else tell(other, leaf, group);
      }
    }
    let compared = 0;
    for (const wildcard of added.wildcards) {
      if (++compared > maxWildcards) return;
      competeWildcard(wildcard, options, group, apart);
    }
    for (const wildcard of options.wildcards) {
      if (++compared > maxWildcards) return;
      for (const [uri, leaf] of added.namespaces) {
        if (allowsNamespace((wildcard.term as Wildcard).namespaces, uri)) tell(wildcard, leaf, group);
      }
    }
  };

  const competeWildcard = (leaf: Leaf, options: Options, group: ModelGroup, apart: boolean) => {
    const { namespaces } = leaf.term as Wildcard;
    let compared = 0;
    for (const other of options.wildcards) {
      if (++compared > maxWildcards) break;
      if ((apart || other !== leaf) && overlaps(namespaces, (other.term as Wildcard).namespaces))
        tell(leaf, other, group);
    }
    for (const [uri, other] of options.namespaces)
      if (allowsNamespace(namespaces, uri)) tell(leaf, other, group);
  };

  const endsOf = (particle: Particle): Ends => {
    const { term, minOccurs, maxOccurs } = particle;
    const repeats = maxOccurs > 1;
    const mayStop = maxOccurs > Math.max(1, minOccurs);
    if (!('kind' in term)) {
      const first = noOptions();
      for (const { key, name } of [term, ...substitutions.substitutesOf(term)]) {
        first.elements.set(key, particle);
        first.namespaces.set(name.namespaceUri, particle);
      }
      return { first, tail: mayStop ? first : noOptions() };
    }
    if (term.kind === 'wildcard') {
      const first = noOptions();
      // in XSD 1.1 an element declaration takes precedence over any wildcard
      if (term.yields !== true && !reading.later) first.wildcards.add(particle);
      return { first, tail: mayStop ? first : noOptions() };
    }
    const group = groupOf(term);
    if (group === null) return { first: noOptions(), tail: noOptions() };
    const ends = endsOfGroup(group);
    if (repeats) compete(ends.tail, ends.first, group, false);
    return mayStop ? { first: ends.first, tail: union(union(noOptions(), ends.tail), ends.first) } : ends;
  };

  const endsOfGroup = (group: ModelGroup): Ends => {
    let ends = known.get(group);
    if (ends === undefined) {
      if (group.particles.length === 1) ends = endsOf(group.particles[0]!);
      else ends = group.compositor === 'sequence' ? endsOfSequence(group) : endsOfAlternatives(group);
      known.set(group, ends);
    }
    return ends;
  };

  const endsOfSequence = (group: ModelGroup): Ends => {
    const first = noOptions();
    let open = true;
    let active = noOptions();
    for (const particle of group.particles) {
      const ends = endsOf(particle);
      compete(active, ends.first, group, true);
      if (open) union(first, ends.first);
      if (isEmptiable(particle, reading.emptiableGroups)) union(union(active, ends.first), ends.tail);
      else {
        open = false;
        active = union(noOptions(), ends.tail);
      }
    }
    return { first, tail: active };
  };

  const endsOfAlternatives = (group: ModelGroup): Ends => {
    const first = noOptions();
    const tail = noOptions();
    for (const particle of group.particles) {
      const ends = endsOf(particle);
      compete(first, ends.first, group, true);
      union(first, ends.first);
      union(tail, ends.tail);
    }
    return { first, tail };
  };

  return {
    check: (group: ModelGroup) => void endsOfGroup(group),
    checkContent: (particle: Particle) => void endsOf(particle),
  };
}

function noOptions(): Options {
  return { elements: new Map(), namespaces: new Map(), wildcards: new Set() };
}

/** Adds the options of `added` to `target`, and returns it. */
function union(target: Options, added: Options): Options {
  for (const [key, leaf] of added.elements) if (!target.elements.has(key)) target.elements.set(key, leaf);
  for (const [uri, leaf] of added.namespaces)
    if (!target.namespaces.has(uri)) target.namespaces.set(uri, leaf);
  for (const leaf of added.wildcards) target.wildcards.add(leaf);
  return target;
}

// Checks that the content model of a restriction is a restriction of its base.

/**
 * Checks that a restricted content model allows no more than that of its base (cos-particle-restrict). It compares the two for each
 * element name: whether and how often the element occurs, and its type. The order of elements is not compared, so some invalid
 * restrictions pass; a restriction that the base's own content would validate is never refused.
 */
function checkParticleRestriction(
  type: ComplexType,
  summarizer: ContentSummarizer,
  substitutions: SubstitutionGroups,
  reading: XsdReading,
): void {
  const base = type.base;
  if (
    type.derivation !== 'restriction' ||
    type.written.style !== 'complexContent' ||
    type.written.baseMissing
  )
    return;
  if (base === null || base.kind !== 'complex' || base === reading.builtIns.anyType) return;
  if (type.particle === null || base.particle === null) return;
  const path = type.name === null ? undefined : clarkName(type.name);
  const restricted = summarizer.summarize(type.particle);
  const allowed = summarizer.summarize(base.particle);
  const wrong = (message: string) => reading.report.error('xsd_bad_restriction', message, type.origin!, path);
  for (const child of restricted.children.values()) {
    const message = whyNotAllowed(child, allowed, substitutions);
    if (message !== null) wrong(message);
  }
  for (const child of allowed.children.values()) {
    if (child.minOccurs === 0) continue;
    const { element } = child;
    const same = restricted.children.get(element.key);
    if (substitutions.substitutesOf(element).some(({ key }) => restricted.children.has(key))) continue;
    if (same === undefined) wrong(`The element ${element.name.localName} is required in the base`);
    else if (same.minOccurs < child.minOccurs) {
      wrong(`The element ${element.name.localName} occurs at least ${child.minOccurs} times in the base`);
    }
  }
  const { wildcard } = restricted;
  if (wildcard === null) return;
  const { namespaces } = wildcard.wildcard;
  if (allowed.wildcard === null) wrong('The base has no wildcard');
  else if (!isNamespaceSubset(namespaces, allowed.wildcard.wildcard.namespaces)) {
    wrong('The wildcard allows more namespaces than the wildcard of the base');
  } else if (wildcard.maxOccurs > allowed.wildcard.maxOccurs)
    wrong('The wildcard occurs more often than in the base');
}

function whyNotAllowed(
  { element, maxOccurs }: ChildSummary,
  allowed: ContentSummary,
  substitutions: SubstitutionGroups,
): string | null {
  const { localName, namespaceUri } = element.name;
  const byWildcard =
    allowed.wildcard !== null && allowsNamespace(allowed.wildcard.wildcard.namespaces, namespaceUri);
  const same = allowed.children.get(element.key);
  if (same === undefined) {
    if (byWildcard || headIn(element, allowed) !== null) return null;
    // a restriction may redeclare elements that substitute in the base
    const member = substitutions.memberOfName(element.key);
    return member === undefined || headIn(member, allowed) === null
      ? `The element ${localName} is not in the base`
      : whyNoRestriction(element, member);
  }
  if (byWildcard) return null;
  if (maxOccurs > same.maxOccurs && headIn(element, allowed) === null) {
    return `The element ${localName} occurs at most ${same.maxOccurs} times in the base`;
  }
  return whyNoRestriction(element, same.element);
}

/** Returns the reason why one of two declarations of one name does not restrict the other (NameAndTypeOK). */
function whyNoRestriction(element: ElementDeclaration, base: ElementDeclaration): string | null {
  const { localName } = element.name;
  if (element.nillable && !base.nillable) return `The element ${localName} is not nillable in the base`;
  const methods = derivationMethods(element.type, base.type);
  if (methods === null || methods.has('extension') || methods.has('list') || methods.has('union')) {
    return `The type of ${localName} does not restrict its type in the base`;
  }
  return null;
}

/** The nearest element for which this one may substitute and which the content allows. */
function headIn(element: ElementDeclaration, allowed: ContentSummary): ElementDeclaration | null {
  const found = new Set(element.heads);
  for (const head of found) {
    if (allowed.children.has(head.key)) return head;
    for (const next of head.heads) found.add(next);
  }
  return null;
}
