/** Extension and restriction of complex types. */
import { clarkName, allowsNamespace } from '../../model/source-model.ts';
import {
  checkSingleId,
  gatherAttributes,
  uniteNamespaces,
  isNamespaceSubset,
} from '../components/attributes.ts';
import {
  type ComplexType,
  type ModelGroup,
  type Origin,
  type Particle,
  type SimpleType,
  groupOf,
  type AttributeUse,
  type Wildcard,
} from '../components/terms.ts';
import { orderByDependency } from './dependency-order.ts';
import { reportTooDeep, type XsdReading } from '../components/context.ts';
import { createSimpleType, deriveSimpleType, isDerivedSimpleType } from '../components/simple-type.ts';

/** Adds the inherited parts to every complex type, bases first. */
export function deriveComplexTypes(reading: XsdReading): readonly ComplexType[] {
  const ordered = orderByDependency(
    reading.complexTypes,
    (type) => (type.base?.kind === 'complex' ? [type.base] : []),
    {
      onCycle(type) {
        const path = type.name === null ? undefined : clarkName(type.name);
        reading.report.fatal(
          'xsd_circular_type',
          'The complex type is derived from itself',
          type.origin!,
          path,
        );
        type.base = reading.builtIns.anyType;
      },
      onTooDeep: (type) => reportTooDeep(type.origin!, reading),
    },
  );
  reading.report.throwIfUnusable();
  for (const type of ordered) if (type.origin !== null) deriveComplexType(type, type.origin, reading);
  return ordered;
}

function deriveComplexType(type: ComplexType, origin: Origin, reading: XsdReading): void {
  const base = type.base ?? reading.builtIns.anyType;
  const path = type.name === null ? undefined : clarkName(type.name);
  const { uses, wildcard } = gatherAttributes(type.written.attributes, origin, path ?? '', reading);
  if (base.final.has(type.derivation)) {
    const message = `${base.name?.localName ?? 'The base'} is final: no ${type.derivation} of it is allowed`;
    reading.report.error('xsd_final_type', message, origin, path);
  }
  if (type.written.style === 'simpleContent') deriveSimpleContent(type, origin, path, reading);
  else if (base.kind === 'complex') deriveComplexContent(type, base, origin, path, reading);
  const complexBase = base.kind === 'complex' ? base : null;
  if (type.derivation === 'extension') {
    type.attributes = extendAttributes(complexBase?.attributes ?? [], uses, origin, path, reading);
    const inherited = complexBase?.anyAttribute ?? null;
    type.anyAttribute =
      inherited === null || wildcard === null
        ? (wildcard ?? inherited)
        : { ...wildcard, namespaces: uniteNamespaces(wildcard.namespaces, inherited.namespaces) };
  } else {
    type.attributes = restrictAttributes(complexBase, uses, origin, path, reading);
    type.anyAttribute = wildcard;
    checkAttributeWildcard(wildcard, complexBase, type, origin, path, reading);
  }
  checkSingleId(type.attributes, origin, path ?? '', reading);
  type.derived = true;
}

/** The simple type of the content (XSD Part 1 §3.4.2, complex type with simple content). */
function deriveSimpleContent(
  type: ComplexType,
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): void {
  const { written, derivation } = type;
  const { anySimpleType } = reading.builtIns;
  type.content = 'simple';
  const base = type.base!;
  const inherited = base.kind === 'simple' ? base : base.simpleType;
  const restrictsMixed =
    derivation === 'restriction' &&
    base.kind === 'complex' &&
    base.content === 'mixed' &&
    written.simpleType !== null;
  if (inherited === null && !written.baseMissing && !restrictsMixed) {
    const message = 'The base has no simple content';
    reading.report.error('xsd_simple_content_needed', message, origin, path);
  } else if (
    restrictsMixed &&
    base.kind === 'complex' &&
    !isEmptiable(base.particle, reading.emptiableGroups)
  ) {
    reading.report.error(
      'xsd_simple_content_needed',
      'The mixed content of the base may not be empty',
      origin,
      path,
    );
  }
  if (derivation === 'extension') {
    type.simpleType = inherited ?? anySimpleType;
    return;
  }
  if (
    written.simpleType !== null &&
    inherited !== null &&
    !isDerivedSimpleType(written.simpleType, inherited, reading)
  ) {
    const message = 'The simpleType is not derived from the content type of the base';
    reading.report.error('xsd_not_derived', message, origin, path);
  }
  const from: SimpleType = written.simpleType ?? inherited ?? anySimpleType;
  if (written.facets.length === 0 && written.zone === undefined) {
    type.simpleType = from;
    return;
  }
  const restricted = createSimpleType(null, origin, reading);
  restricted.final = new Set();
  restricted.base = from;
  restricted.step = written.facets;
  restricted.zone = written.zone;
  deriveSimpleType(restricted, origin, reading);
  type.simpleType = restricted;
}

function deriveComplexContent(
  type: ComplexType,
  base: ComplexType,
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): void {
  const { written } = type;
  const own = isPointless(written.particle) ? null : written.particle;
  if (type.derivation === 'restriction') {
    type.particle = own;
    type.content = written.mixed ? 'mixed' : own === null ? 'empty' : 'elements';
    if (written.style === 'complexContent') checkContentKind(type, base, origin, path, reading);
    return;
  }
  if (base.content === 'simple') {
    type.content = 'simple';
    type.simpleType = base.simpleType;
    if (own !== null || written.mixed) {
      reading.report.error(
        'xsd_extends_simple_content',
        'Simple content cannot be extended by elements',
        origin,
        path,
      );
    }
    return;
  }
  const mixed = written.mixed || base.content === 'mixed';
  type.content = mixed ? 'mixed' : own === null ? base.content : 'elements';
  const guessed = restsOnMissing(type);
  if (base.content !== 'empty' && !guessed) {
    const differs = (base.content === 'mixed') !== written.mixed;
    if (differs && (own !== null || written.mixed)) {
      reading.report.error(
        'xsd_mixed_differs',
        'Base and extension must both be mixed, or neither',
        origin,
        path,
      );
    }
  }
  if (own === null || base.particle === null) {
    type.particle = own ?? base.particle;
    return;
  }
  const areLater = reading.later && startsWithAll(own) === startsWithAll(base.particle);
  if (!guessed && !areLater && (startsWithAll(own) || startsWithAll(base.particle))) {
    reading.report.error(
      'xsd_all_extended',
      'A group of all can neither extend nor be extended',
      origin,
      path,
    );
  }
  const group: ModelGroup = {
    kind: 'group',
    compositor: 'sequence',
    particles: [written.baseMissing ? yielding(base.particle) : base.particle, own],
    origin,
  };
  type.particle = { minOccurs: 1, maxOccurs: 1, term: group, origin };
}

/** True if it is derived, directly or indirectly, from a type that does not exist, so that the allowed content is unknown. */
function restsOnMissing(type: ComplexType): boolean {
  for (let at: ComplexType | SimpleType | null = type; at?.kind === 'complex'; at = at.base) {
    if (at.written.baseMissing) return true;
    if (at.base === at) return false;
  }
  return false;
}

/** The content of the ur-type in the place of one that is not known. */
function yielding(particle: Particle): Particle {
  const { term } = particle;
  if (!('kind' in term)) return particle;
  if (term.kind === 'wildcard') return { ...particle, term: { ...term, yields: true } };
  if (term.kind !== 'group') return particle;
  return { ...particle, term: { ...term, particles: term.particles.map(yielding) } };
}

/** Checks that a restriction has a kind of content that its base allows (derivation-ok-restriction, clause 5). */
function checkContentKind(
  type: ComplexType,
  base: ComplexType,
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): void {
  if (base === reading.builtIns.anyType) return;
  let message = '';
  if (base.content === 'simple') message = 'Simple content cannot be restricted to complex content';
  else if (type.content === 'mixed' && base.content !== 'mixed') message = 'The base is not mixed';
  else if (
    type.particle === null &&
    base.particle !== null &&
    !isEmptiable(base.particle, reading.emptiableGroups)
  ) {
    message = 'The content of the base may not be empty';
  } else if (type.particle !== null && base.particle === null) message = 'The content of the base is empty';
  if (message !== '') reading.report.error('xsd_bad_restriction', message, origin, path);
}

function startsWithAll({ term }: Particle): boolean {
  return groupOf(term)?.compositor === 'all';
}

/** True when a written particle allows nothing but emptiness (XSD Part 1 §3.4.2, explicit content, clause 2.1). */
function isPointless(particle: Particle | null): boolean {
  if (particle === null) return true;
  const { term, minOccurs } = particle;
  if (!('kind' in term) || term.kind !== 'group' || term.particles.length > 0) return false;
  return term.compositor !== 'choice' || minOccurs === 0;
}

/** True if the content may be empty (cos-group-emptiable); `known` caches the result for each group. */
export function isEmptiable(particle: Particle | null, known: Map<ModelGroup, boolean>): boolean {
  if (particle === null || particle.minOccurs === 0) return true;
  const group = groupOf(particle.term);
  if (group === null) return 'kind' in particle.term && particle.term.kind === 'groupDefinition';
  let emptiable = known.get(group);
  if (emptiable === undefined) {
    known.set(group, false);
    const inner = (member: Particle) => isEmptiable(member, known);
    emptiable =
      group.compositor === 'choice'
        ? group.particles.length === 0 || group.particles.some(inner)
        : group.particles.every(inner);
    known.set(group, emptiable);
  }
  return emptiable;
}

// Attribute uses of derived types.

/** Returns the attributes of the base, then the written ones (ct-props-correct, clause 4). */
function extendAttributes(
  inherited: readonly AttributeUse[],
  own: readonly AttributeUse[],
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): readonly AttributeUse[] {
  const added = own.filter(({ use }) => use !== 'prohibited');
  if (added.length === 0 || inherited.length === 0) return added.length === 0 ? inherited : added;
  const names = new Set(inherited.map(({ declaration }) => declaration.key));
  const attributes = [...inherited];
  for (const use of added) {
    const { key } = use.declaration;
    if (!names.has(key)) attributes.push(use);
    else if (!inherited.includes(use)) {
      reading.report.error(
        'xsd_duplicate_attribute',
        `The base has an attribute ${key} too`,
        use.origin,
        path,
      );
    }
  }
  return attributes;
}

/**
 * Returns the attributes of the base, replaced by the written ones or removed by prohibited ones (derivation-ok-restriction, clauses 2
 * and 3).
 */
function restrictAttributes(
  base: ComplexType | null,
  own: readonly AttributeUse[],
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): readonly AttributeUse[] {
  const inherited = base?.attributes ?? [];
  if (own.length === 0) return inherited;
  const written = new Map(own.map((use) => [use.declaration.key, use]));
  const attributes: AttributeUse[] = [];
  const wrong = (use: AttributeUse, message: string) =>
    reading.report.error(
      'xsd_bad_restriction',
      `The attribute ${use.declaration.key} ${message}`,
      use.origin,
      path,
    );
  for (const before of inherited) {
    const { key } = before.declaration;
    const use = written.get(key);
    written.delete(key);
    if (use === undefined) {
      attributes.push(before);
      continue;
    }
    if (before.use === 'required' && use.use !== 'required') wrong(use, 'is required in the base');
    if (use.use === 'prohibited') continue;
    attributes.push(use);
    if (!isDerivedSimpleType(use.declaration.type, before.declaration.type, reading)) {
      wrong(use, 'has a type that is not derived from its type in the base');
    }
    const fixed = before.fixed ?? before.declaration.fixed;
    if (fixed !== undefined && (use.fixed ?? use.declaration.fixed) !== fixed)
      wrong(use, `is fixed at "${fixed}" in the base`);
  }
  const wildcard = base?.anyAttribute ?? null;
  for (const use of written.values()) {
    if (use.use === 'prohibited') continue;
    attributes.push(use);
    if (base === null || base === reading.builtIns.anyType) continue;
    const allowed =
      wildcard !== null && allowsNamespace(wildcard.namespaces, use.declaration.name.namespaceUri);
    if (!allowed) wrong(use, 'is not in the base');
  }
  return attributes;
}

const strictness = ['skip', 'lax', 'strict'];

/** derivation-ok-restriction, clause 4. */
function checkAttributeWildcard(
  wildcard: Wildcard | null,
  base: ComplexType | null,
  type: ComplexType,
  origin: Origin,
  path: string | undefined,
  reading: XsdReading,
): void {
  if (wildcard === null || base === null || base === reading.builtIns.anyType || type.written.baseMissing)
    return;
  const inherited = base.anyAttribute;
  let message = '';
  if (inherited === null) message = 'The base has no anyAttribute';
  else if (!isNamespaceSubset(wildcard.namespaces, inherited.namespaces)) {
    message = 'anyAttribute allows more namespaces than in the base';
  } else if (strictness.indexOf(wildcard.processContents) < strictness.indexOf(inherited.processContents)) {
    message = 'anyAttribute is laxer than in the base';
  }
  if (message !== '') reading.report.error('xsd_bad_restriction', message, wildcard.origin ?? origin, path);
}
