/** Model groups (sequence, choice, all), named groups and particles. */
import {
  groupOf,
  type Compositor,
  type ModelGroup,
  type ModelGroupDefinition,
  type Origin,
  type Particle,
  type Term,
  type GlobalDeclaration,
} from './terms.ts';
import { readDocumentation } from './annotation.ts';
import { orderByDependency } from '../derive/dependency-order.ts';
import { readLocalElement } from './element-declaration.ts';
import { reportTooDeep, within, type XsdReading } from './context.ts';
import { attributeOf, firstXsdChild, isXsd } from '../read/file.ts';
import { readWildcard } from './attributes.ts';
import { collapse } from '../read/grammar.ts';

const particleNames = new Set(['element', 'group', 'any', 'sequence', 'choice', 'all']);

/** The shell of a named model group (XSD Part 1 §3.7). */
export function createModelGroupDefinition({
  name,
  node,
  document,
}: GlobalDeclaration): ModelGroupDefinition {
  return { kind: 'groupDefinition', name, origin: { node, document }, group: null };
}

export function readModelGroupDefinition(definition: ModelGroupDefinition, reading: XsdReading): void {
  reading.count(definition.origin);
  reading.groups.push(definition);
  const node = firstXsdChild(definition.origin.node, 'sequence', 'choice', 'all');
  if (node !== undefined) definition.group = readModelGroup(within(definition.origin, node), reading);
}

/** The first particle among the children of a type's content; null without one, or when it may not occur. */
export function readContentParticle(parent: Origin, reading: XsdReading): Particle | null {
  const node = firstXsdChild(parent.node, 'group', 'sequence', 'choice', 'all');
  return node === undefined ? null : readParticle(within(parent, node), reading);
}

function readModelGroup(origin: Origin, reading: XsdReading): ModelGroup {
  reading.count(origin);
  const particles: Particle[] = [];
  for (const node of origin.node.children) {
    if (!isXsd(node) || !particleNames.has(node.name.localName)) continue;
    const particle = readParticle(within(origin, node), reading);
    if (particle !== null) particles.push(particle);
  }
  const group: ModelGroup = {
    kind: 'group',
    compositor: origin.node.name.localName as Compositor,
    particles,
    origin,
  };
  reading.modelGroups.push(group);
  return group;
}

/** Returns null for particles that may not occur at all (maxOccurs 0), which the standard drops, and for unreadable ones. */
function readParticle(origin: Origin, reading: XsdReading): Particle | null {
  const { minOccurs, maxOccurs } = readOccurs(origin, reading);
  const term = readTerm(origin, maxOccurs > 0, reading);
  if (term === null || maxOccurs === 0) return null;
  const isReference = attributeOf(origin.node, 'ref') !== undefined && !('kind' in term);
  const documentation = isReference ? readDocumentation(origin.node) : undefined;
  return { minOccurs, maxOccurs, term, origin, ...(documentation === undefined ? {} : { documentation }) };
}

/** Reads minOccurs and maxOccurs. Values may have any size, with the precision of a double beyond 2^53. */
function readOccurs(origin: Origin, reading: XsdReading): { minOccurs: number; maxOccurs: number } {
  const min = attributeOf(origin.node, 'minOccurs');
  const max = attributeOf(origin.node, 'maxOccurs');
  if (min === undefined && max === undefined) return { minOccurs: 1, maxOccurs: 1 };
  const minOccurs = min === undefined ? 1 : Number(collapse(min));
  const maxOccurs = max === undefined ? 1 : collapse(max) === 'unbounded' ? Infinity : Number(collapse(max));
  if (!(minOccurs >= 0) || !(maxOccurs >= 0)) return { minOccurs: 1, maxOccurs: 1 };
  if (minOccurs > maxOccurs) {
    reading.report.error('xsd_occurs_range', `minOccurs ${minOccurs} is over maxOccurs ${maxOccurs}`, origin);
    return { minOccurs: maxOccurs, maxOccurs };
  }
  return { minOccurs, maxOccurs };
}

/** `occurs`: false if the particle is not a component (XSD Part 1 §3.9.2), in which case its references need not resolve. */
function readTerm(origin: Origin, occurs: boolean, reading: XsdReading): Term | null {
  const { node } = origin;
  switch (node.name.localName) {
    case 'any':
      return readWildcard(origin);
    case 'element': {
      const ref = attributeOf(node, 'ref');
      if (ref === undefined) {
        const element = readLocalElement(origin, reading);
        // no document has an element of the type of nothing
        return element?.type === reading.builtIns.error ? null : element;
      }
      for (const name of ['name', 'type', 'nillable', 'default', 'fixed', 'form', 'block']) {
        if (attributeOf(node, name) === undefined) continue;
        reading.report.error(
          'xsd_attribute_beside_ref',
          `An element with ref may not have ${name}`,
          origin,
          ref,
        );
      }
      const held = firstXsdChild(node, 'simpleType', 'complexType', 'alternative', 'unique', 'key', 'keyref');
      if (held !== undefined) {
        reading.report.error(
          'xsd_unexpected_element',
          `An element with ref may not hold ${held.name.localName}`,
          within(origin, held),
          ref,
        );
      }
      if (!occurs) return null;
      const { component, name } = reading.references.findComponent('element', ref, origin);
      if (component !== null) {
        if (component.origin.node !== reading.current.origin?.node) reading.referredElements.add(component);
        return component;
      }
      return name === null
        ? null
        : { kind: 'wildcard', namespaces: [name.namespaceUri], processContents: 'lax', origin, yields: true };
    }
    case 'group': {
      const ref = attributeOf(node, 'ref');
      if (ref === undefined || !occurs) return null;
      const { component, name } = reading.references.findComponent('group', ref, origin);
      if (component !== null) return component;
      return name === null
        ? null
        : { kind: 'wildcard', namespaces: '##any', processContents: 'lax', origin, yields: true };
    }
    default:
      return readModelGroup(origin, reading);
  }
}

/**
 * Finds groups that hold themselves, which the standard forbids (mg-props-correct, clause 2), and those nested too deep. Returns all
 * model groups, inner ones first.
 */
export function orderModelGroups(reading: XsdReading): ModelGroup[] {
  return orderByDependency(reading.modelGroups, membersOf, {
    onCycle: (group) => reading.report.fatal('xsd_circular_group', 'The group holds itself', group.origin),
    onTooDeep: (group) => reportTooDeep(group.origin, reading),
  });
}

function membersOf(group: ModelGroup): ModelGroup[] {
  return group.particles.flatMap(({ term }) => groupOf(term) ?? []);
}
