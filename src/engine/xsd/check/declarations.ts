/** Constraints on declarations and types that need the whole set. */
import { clarkName } from '../../model/source-model.ts';
import { isIdType } from '../components/attribute-declaration.ts';
import {
  groupOf,
  type ComplexType,
  type ElementDeclaration,
  type ModelGroup,
  type Particle,
  type SimpleType,
  type TypeDefinition,
} from '../components/terms.ts';
import { isEmptiable } from '../derive/complex-type-derivation.ts';
import type { ContentSummarizer } from '../derive/content-summary.ts';
import { checkIdentityConstraints } from '../components/identity-constraint.ts';
import { checkParticleRestriction } from './particle-restriction.ts';
import type { XsdReading } from '../components/context.ts';
import { checkSubstitutionGroups, type SubstitutionGroups } from '../derive/substitution-group.ts';
import { createAttributionCheck } from './unique-attribution.ts';
import { whyInvalid } from '../values/validity.ts';

export interface CheckedSet {
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
    reading.report.error('xsd_bad_default', `"${value}" is no valid default: ${why}`, at, path);
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
        reading.report.error('xsd_all_misplaced', 'An all may not stand inside another group', at);
    }
    if (group.compositor !== 'all' || reading.later) continue;
    if ('kind' in particle.term && groupOf(particle.term)?.compositor !== 'all')
      reading.report.error('xsd_all_misplaced', 'An all may hold elements alone', at);
    if (particle.maxOccurs > 1) {
      reading.report.error('xsd_all_repeats', 'Inside an all, maxOccurs may only be 0 or 1', at);
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
      'An all may occur only once',
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
