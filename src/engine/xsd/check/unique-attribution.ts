/** Unique Particle Attribution: whether a content model is deterministic. */
import { groupOf, type ModelGroup, type Particle, type Wildcard } from '../components/terms.ts';
import { isEmptiable } from '../derive/complex-type-derivation.ts';
import type { XsdReading } from '../components/context.ts';
import type { SubstitutionGroups } from '../derive/substitution-group.ts';
import { allowsNamespace } from '../../model/wildcard-namespaces.ts';
import { overlaps } from '../components/wildcard.ts';

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
export function createAttributionCheck(reading: XsdReading, substitutions: SubstitutionGroups) {
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
