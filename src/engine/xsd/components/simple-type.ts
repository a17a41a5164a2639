/** Simple type definitions: restriction, list, union. */
import { clarkName, type QName } from '../../model/source-model.ts';
import { readDocumentation } from './annotation.ts';
import type { Origin, SimpleType } from './terms.ts';
import { orderByDependency } from '../derive/dependency-order.ts';
import { deriveFacets, readFacets, zoneOfRestriction } from '../values/facets.ts';
import { reportTooDeep, within, type XsdReading } from './context.ts';
import { readControls } from '../read/document.ts';
import { attributeOf, firstXsdChild, isXsd } from '../read/file.ts';
import { xsdNamespace } from '../../model/name-labels.ts';
import { collapse } from '../read/grammar.ts';

/** The shell of a simple type definition; `name` null for anonymous ones. */
export function createSimpleType(name: QName | null, origin: Origin, reading: XsdReading): SimpleType {
  return {
    kind: 'simple',
    name,
    origin,
    base: reading.builtIns.anySimpleType,
    variety: 'atomic',
    builtIn: 'anySimpleType',
    itemType: null,
    memberTypes: [],
    step: null,
    facets: {},
    fixedFacets: new Set(),
    final: readControls(attributeOf(origin.node, 'final'), origin.document.finalDefault),
    value: null,
  };
}

/** Reads a `simpleType` element (XSD Part 1 §3.14.2) into the shell and returns it. */
export function readSimpleType(type: SimpleType, reading: XsdReading): SimpleType {
  const origin = type.origin!;
  reading.count(origin);
  reading.simpleTypes.push(type);
  type.documentation = readDocumentation(origin.node);
  const how = firstXsdChild(origin.node, 'restriction', 'list', 'union');
  if (how === undefined) return type;
  const at = within(origin, how);
  switch (how.name.localName) {
    case 'restriction':
      type.base = readTypeReference(at, 'base', reading) ?? type.base;
      type.step = readFacets(at);
      type.zone = zoneOfRestriction(at);
      break;
    case 'list':
      type.variety = 'list';
      type.itemType = readTypeReference(at, 'itemType', reading) ?? reading.builtIns.anySimpleType;
      break;
    default:
      type.variety = 'union';
      type.memberTypes = readMembers(at, reading);
  }
  return type;
}

/** The type named by an attribute, or the simpleType inside; exactly one of both must be there. */
function readTypeReference(at: Origin, attribute: string, reading: XsdReading): SimpleType | null {
  const named = attributeOf(at.node, attribute);
  const inline = firstXsdChild(at.node, 'simpleType');
  if ((named === undefined) === (inline === undefined)) {
    const message = `Either ${attribute} or a simpleType is needed, not ${named === undefined ? 'none' : 'both'}`;
    reading.report.error('xsd_simple_type_source', message, at);
  }
  if (named !== undefined) {
    const type = resolveSimpleType(named, at, reading);
    if (isAnySimpleType(type, named, reading)) {
      if (attribute !== 'base')
        reading.report.error('xsd_any_simple_type', 'The items of a list may not be anySimpleType', at);
      // the schema for schemas derives the primitive types so (XSD Part 2 §4.1.1)
      else if (at.document.targetNamespace !== xsdNamespace)
        reading.report.error('xsd_restricts_any_simple_type', 'anySimpleType may not be restricted', at);
    }
    return type;
  }
  return inline === undefined ? null : readAnonymous(inline, at, reading);
}

/**
 * True for the simple ur-type under its own name, which is neither atomic nor a list nor a union. False for types that it replaces, such
 * as anyAtomicType.
 */
function isAnySimpleType(type: SimpleType, name: string, reading: XsdReading): boolean {
  return type === reading.builtIns.anySimpleType && /\banySimpleType\s*$/u.test(name);
}

function readAnonymous(node: Origin['node'], at: Origin, reading: XsdReading): SimpleType {
  return readSimpleType(createSimpleType(null, within(at, node), reading), reading);
}

function readMembers(at: Origin, reading: XsdReading): SimpleType[] {
  const members: SimpleType[] = [];
  const named = collapse(attributeOf(at.node, 'memberTypes') ?? '');
  for (const name of named === '' ? [] : named.split(' ')) {
    const member = resolveSimpleType(name, at, reading);
    if (isAnySimpleType(member, name, reading))
      reading.report.error('xsd_any_simple_type', 'A member of a union may not be anySimpleType', at);
    members.push(member);
  }
  for (const node of at.node.children) {
    if (isXsd(node) && node.name.localName === 'simpleType') members.push(readAnonymous(node, at, reading));
  }
  if (members.length === 0)
    reading.report.error('xsd_union_without_members', 'A union needs member types', at);
  return members;
}

/** The simple type of that name; anySimpleType, with a diagnostic, when there is none or it is complex. */
export function resolveSimpleType(name: string, at: Origin, reading: XsdReading): SimpleType {
  const { component } = reading.references.findComponent('type', name, at);
  if (component === null) return reading.builtIns.anySimpleType;
  if (component.kind === 'simple') return component;
  reading.report.error(
    'xsd_simple_type_needed',
    `${collapse(name)} is a complex type; a simple one is needed`,
    at,
  );
  return reading.builtIns.anySimpleType;
}

/** Works out variety, built-in base and facets of every simple type, bases first. */
export function deriveSimpleTypes(reading: XsdReading): void {
  const { report } = reading;
  const ordered = orderByDependency(
    reading.simpleTypes,
    (type) => {
      const dependencies = type.base === null ? [...type.memberTypes] : [type.base, ...type.memberTypes];
      if (type.itemType !== null) dependencies.push(type.itemType);
      return dependencies;
    },
    {
      onCycle(type, other) {
        const path = other.name === null ? undefined : clarkName(other.name);
        report.fatal(
          'xsd_circular_type',
          'The simple type is derived from itself',
          type.origin ?? other.origin!,
          path,
        );
        if (type.base === other) type.base = reading.builtIns.anySimpleType;
        if (type.itemType === other) type.itemType = reading.builtIns.anySimpleType;
        type.memberTypes = type.memberTypes.filter((member) => member !== other);
      },
      onTooDeep: (type) => reportTooDeep(type.origin!, reading),
    },
  );
  report.throwIfUnusable();
  for (const type of ordered) if (type.origin !== null) deriveSimpleType(type, type.origin, reading);
}

/** One derivation step; its base, item and member types are derived already. */
export function deriveSimpleType(type: SimpleType, origin: Origin, reading: XsdReading): void {
  const { report } = reading;
  const path = type.name === null ? undefined : clarkName(type.name);
  const forbid = (other: SimpleType, method: 'restriction' | 'list' | 'union') => {
    if (!other.final.has(method)) return;
    const name = other.name === null ? 'a final type' : other.name.localName;
    report.error('xsd_final_type', `${name} may not be used for a ${method}`, origin, path);
  };
  if (type.variety === 'list') {
    forbid(type.itemType!, 'list');
    if (containsList(type.itemType!)) {
      report.error('xsd_list_of_lists', 'The items of a list may not be lists', origin, path);
      type.itemType = reading.builtIns.anySimpleType;
    }
  } else if (type.variety === 'union') {
    for (const member of type.memberTypes) forbid(member, 'union');
    type.memberTypes = flattenMembers(type.memberTypes, origin, reading);
  } else {
    const base = type.base!;
    forbid(base, 'restriction');
    type.variety = base.variety;
    type.builtIn = base.builtIn;
    type.zone ??= base.zone;
    type.itemType = base.itemType;
    type.memberTypes = base.memberTypes;
    type.facets = base.facets;
    type.fixedFacets = base.fixedFacets;
    if (type.step !== null && type.step.length > 0) deriveFacets(type, base, type.step, origin, reading);
  }
}

/** Member types that are unions are replaced by their members, each once (XSD Part 1 §3.14.2); unions never nest from here on. */
function flattenMembers(members: readonly SimpleType[], origin: Origin, reading: XsdReading): SimpleType[] {
  const flat = new Set<SimpleType>();
  for (const member of members) {
    for (const inner of member.variety === 'union' ? member.memberTypes : [member]) flat.add(inner);
  }
  for (let i = 0; i < flat.size; i++) reading.count(origin);
  return [...flat];
}

/** True for lists and for unions with a list among their members. */
function containsList(type: SimpleType): boolean {
  return type.variety === 'list' || type.memberTypes.some(({ variety }) => variety === 'list');
}

/** True when `type` is `base`, or derived from it, or `base` is a union with a member for which that holds (cos-st-derived-ok). */
export function isDerivedSimpleType(
  type: SimpleType,
  base: SimpleType,
  reading: Pick<XsdReading, 'builtIns'>,
): boolean {
  if (base === reading.builtIns.anySimpleType) return true;
  for (let step: SimpleType | null = type; step !== null; step = step.base) if (step === base) return true;
  return (
    base.variety === 'union' && base.memberTypes.some((member) => isDerivedSimpleType(type, member, reading))
  );
}
