/** Attribute declarations, attribute groups and wildcards. */
import { allowsNamespace, isListed, clarkName } from '../../model/source-model.ts';
import type {
  NamespaceConstraint,
  Origin,
  Wildcard,
  AttributeDeclaration,
  AttributeUse,
  GlobalDeclaration,
  SimpleType,
  AttributeGroup,
  AttributeGroupReference,
  WrittenAttributes,
} from './terms.ts';
import { attributeOf, firstXsdChild, xsiNamespace, isXsd } from '../read/file.ts';
import { collapse } from '../read/grammar.ts';
import { readDocumentation } from './annotation.ts';
import { within, type XsdReading, reportTooDeep } from './context.ts';
import { createSimpleType, readSimpleType, resolveSimpleType } from './simple-type.ts';
import { orderByDependency } from '../derive/dependency-order.ts';

// Wildcards, and the operations on their namespace constraints.

/** Reads `any` or `anyAttribute` (XSD Part 1 §3.10.2); XSD 1.1's notNamespace and notQName only narrow it and are passed over. */
export function readWildcard(origin: Origin): Wildcard {
  const { node, document } = origin;
  const text = collapse(attributeOf(node, 'namespace') ?? '##any');
  const processed = collapse(attributeOf(node, 'processContents') ?? 'strict');
  const processContents = processed === 'lax' || processed === 'skip' ? processed : 'strict';
  let namespaces: NamespaceConstraint;
  if (text === '##any') namespaces = '##any';
  else if (text === '##other') namespaces = { not: document.targetNamespace };
  else {
    const listed = new Set<string>();
    for (const word of text === '' ? [] : text.split(' ')) {
      if (word === '##targetNamespace') listed.add(document.targetNamespace);
      else listed.add(word === '##local' ? '' : word);
    }
    namespaces = [...listed];
  }
  return { kind: 'wildcard', namespaces, processContents, origin };
}

/** Returns the union (cos-aw-union). A union that XSD 1.0 calls not expressible becomes the next wider constraint. */
export function uniteNamespaces(a: NamespaceConstraint, b: NamespaceConstraint): NamespaceConstraint {
  if (a === '##any' || b === '##any') return '##any';
  if (isListed(a) && isListed(b)) return [...new Set([...a, ...b])];
  if (isListed(a)) return uniteNamespaces(b, a);
  if (!isListed(b)) return a.not === b.not ? a : { not: '' };
  const listed = new Set(b);
  if (a.not === '') return listed.has('') ? '##any' : a;
  if (listed.has(a.not)) return listed.has('') ? '##any' : { not: '' };
  return listed.has('') ? '##any' : a;
}

/** Intersection (cos-aw-intersect). Two different negations, not expressible in XSD 1.0, give the first. */
function intersectNamespaces(a: NamespaceConstraint, b: NamespaceConstraint): NamespaceConstraint {
  if (a === '##any') return b;
  if (b === '##any') return a;
  if (isListed(a)) return a.filter((uri) => allowsNamespace(b, uri));
  if (isListed(b)) return b.filter((uri) => allowsNamespace(a, uri));
  return a.not === '' ? b : a;
}

/** True when all that `a` allows, `b` allows (cos-ns-subset). */
export function isNamespaceSubset(a: NamespaceConstraint, b: NamespaceConstraint): boolean {
  if (b === '##any') return true;
  if (a === '##any') return false;
  if (isListed(a)) return a.every((uri) => allowsNamespace(b, uri));
  return !isListed(b) && (a.not === b.not || b.not === '');
}

/** True when some name is allowed by both. */
export function overlaps(a: NamespaceConstraint, b: NamespaceConstraint): boolean {
  const both = intersectNamespaces(a, b);
  return !isListed(both) || both.length > 0;
}

// Attribute declarations and attribute uses.

/** The shell of a global attribute declaration. */
export function createAttribute(
  { name, node, document }: GlobalDeclaration,
  reading: XsdReading,
): AttributeDeclaration {
  const origin = { node, document };
  return { name, key: clarkName(name), origin, global: true, type: reading.builtIns.anySimpleType };
}

/** Reads type and value constraint (XSD Part 1 §3.2.2) into the shell. */
export function readAttribute(attribute: AttributeDeclaration, reading: XsdReading): void {
  const { origin } = attribute;
  const { node, document } = origin;
  reading.count(origin);
  reading.attributes.push(attribute);
  const typeName = attributeOf(node, 'type');
  const inline = firstXsdChild(node, 'simpleType');
  if (typeName !== undefined && inline !== undefined) {
    reading.report.error(
      'xsd_two_types',
      'Both a type attribute and a simpleType are given',
      origin,
      attribute.key,
    );
  }
  if (inline !== undefined)
    attribute.type = readSimpleType(createSimpleType(null, within(origin, inline), reading), reading);
  else if (typeName !== undefined) attribute.type = resolveSimpleType(typeName, origin, reading);
  attribute.default = attributeOf(node, 'default');
  attribute.fixed = attributeOf(node, 'fixed');
  attribute.documentation = readDocumentation(node);
  if (attribute.name.localName === 'xmlns') {
    reading.report.error('xsd_attribute_named_xmlns', 'No attribute may be named xmlns', origin);
  }
  const namespaceUri = attribute.global ? document.targetNamespace : attribute.name.namespaceUri;
  if (namespaceUri === xsiNamespace) {
    reading.report.error('xsd_attribute_in_xsi', `No attribute may be declared in ${xsiNamespace}`, origin);
  }
  checkValueConstraint(origin, reading);
}

/** A `default` excludes `fixed` and any use but optional (src-attribute, clauses 1 and 2). */
function checkValueConstraint(origin: Origin, reading: XsdReading): void {
  const byDefault = attributeOf(origin.node, 'default');
  if (byDefault === undefined) return;
  if (attributeOf(origin.node, 'fixed') !== undefined) {
    reading.report.error('xsd_default_and_fixed', 'default and fixed exclude each other', origin);
  }
  const use = attributeOf(origin.node, 'use');
  if (use !== undefined && collapse(use) !== 'optional') {
    reading.report.error(
      'xsd_default_needs_optional',
      'An attribute with a default must be optional',
      origin,
    );
  }
}

/**
 * Reads an `attribute` element inside a type or attribute group. A reference to a missing attribute becomes a wildcard. Returns null for
 * an unreadable element, and for xsi:type and the like, which are allowed everywhere and are not part of the content.
 */
function readAttributeUse(origin: Origin, reading: XsdReading): AttributeUse | Wildcard | null {
  const { node, document } = origin;
  const ref = attributeOf(node, 'ref');
  const written = collapse(attributeOf(node, 'use') ?? 'optional');
  const use = written === 'required' || written === 'prohibited' ? written : 'optional';
  const value = { default: attributeOf(node, 'default'), fixed: attributeOf(node, 'fixed') };
  if (ref !== undefined) {
    reading.count(origin);
    for (const forbidden of ['name', 'type', 'form']) {
      if (attributeOf(node, forbidden) === undefined) continue;
      reading.report.error(
        'xsd_attribute_beside_ref',
        `An attribute with ref may not have ${forbidden}`,
        origin,
        ref,
      );
    }
    if (firstXsdChild(node, 'simpleType') !== undefined) {
      reading.report.error(
        'xsd_attribute_beside_ref',
        'An attribute with ref may not hold a simpleType',
        origin,
        ref,
      );
    }
    checkValueConstraint(origin, reading);
    const wanted = reading.references.expand(ref, origin);
    if (wanted === null || wanted.namespaceUri === xsiNamespace) return null;
    const { component, name } = reading.references.findComponent('attribute', ref, origin);
    if (component === null) {
      if (name === null) return null;
      return { kind: 'wildcard', namespaces: [name.namespaceUri], processContents: 'lax', origin };
    }
    return { declaration: component, use, ...value, origin, documentation: readDocumentation(node) };
  }
  const localName = collapse(attributeOf(node, 'name') ?? '');
  if (localName === '') return null;
  const form = attributeOf(node, 'form');
  const qualified = form === undefined ? document.attributesQualified : collapse(form) === 'qualified';
  const target = attributeOf(node, 'targetNamespace');
  const name = { namespaceUri: target ?? (qualified ? document.targetNamespace : ''), localName };
  const declaration: AttributeDeclaration = {
    name,
    key: clarkName(name),
    origin,
    global: false,
    type: reading.builtIns.anySimpleType,
  };
  readAttribute(declaration, reading);
  return { declaration, use, ...value, origin, documentation: declaration.documentation };
}

/** True for ID and types derived from it. */
export function isIdType(type: SimpleType): boolean {
  return type.variety === 'atomic' && type.builtIn === 'ID';
}

// Attribute group definitions, and the attributes that are written in a type or group.

const nothingWritten: WrittenAttributes = { uses: [], groups: [], wildcard: null };

/** The shell of an attribute group definition (XSD Part 1 §3.6). */
export function createAttributeGroup({ name, node, document }: GlobalDeclaration): AttributeGroup {
  return { name, origin: { node, document }, written: nothingWritten, uses: [], wildcard: null };
}

export function readAttributeGroup(group: AttributeGroup, reading: XsdReading): void {
  reading.count(group.origin);
  reading.attributeGroups.push(group);
  group.written = readAttributes(group.origin, reading);
}

/** Reads the attribute, attributeGroup and anyAttribute children of a type or an attribute group. */
export function readAttributes(parent: Origin, reading: XsdReading): WrittenAttributes {
  const uses: AttributeUse[] = [];
  const groups: AttributeGroupReference[] = [];
  let wildcard: Wildcard | null = null;
  const holes: Wildcard[] = [];
  for (const node of parent.node.children) {
    if (!isXsd(node)) continue;
    const origin = within(parent, node);
    switch (node.name.localName) {
      case 'attribute': {
        const use = readAttributeUse(origin, reading);
        if (use === null) break;
        if ('kind' in use) holes.push(use);
        else uses.push(use);
        break;
      }
      case 'attributeGroup': {
        const ref = attributeOf(node, 'ref');
        if (ref === undefined) break;
        const { component, name } = reading.references.findComponent('attributeGroup', ref, origin);
        if (component !== null) groups.push({ group: component, node, after: uses.length });
        else if (name !== null)
          holes.push({ kind: 'wildcard', namespaces: '##any', processContents: 'lax', origin });
        break;
      }
      case 'anyAttribute':
        wildcard = readWildcard(origin);
        break;
    }
  }
  for (const hole of holes) {
    wildcard =
      wildcard === null
        ? hole
        : { ...wildcard, namespaces: uniteNamespaces(wildcard.namespaces, hole.namespaces) };
  }
  if (uses.length === 0 && groups.length === 0 && wildcard === null) return nothingWritten;
  return { uses, groups, wildcard };
}

/** Resolves references among attribute groups, inner ones first. */
export function deriveAttributeGroups(reading: XsdReading): void {
  const ordered = orderByDependency(
    reading.attributeGroups,
    ({ written }) => written.groups.map(({ group }) => group),
    {
      onCycle(group, other) {
        const message = `The attribute group ${other.name.localName} refers to itself`;
        reading.report.fatal('xsd_circular_attribute_group', message, group.origin, clarkName(group.name));
      },
      onTooDeep: (group) => reportTooDeep(group.origin, reading),
    },
  );
  for (const group of ordered) {
    const { uses, wildcard } = gatherAttributes(group.written, group.origin, clarkName(group.name), reading);
    group.uses = uses;
    group.wildcard = wildcard;
  }
}

/**
 * The attribute uses written at one place with those of the groups it refers to; wildcards intersect (XSD Part 1 §3.4.2). Reports
 * names that occur twice, and a second attribute of type ID (ct-props-correct, ag-props-correct, clauses 2 and 3 / 4 and 5).
 */
export function gatherAttributes(
  written: WrittenAttributes,
  at: Origin,
  path: string,
  reading: XsdReading,
): { uses: readonly AttributeUse[]; wildcard: Wildcard | null } {
  if (written.groups.length === 0 && written.uses.length <= 1)
    return { uses: written.uses, wildcard: written.wildcard };
  const seen = new Map<string, AttributeUse>();
  const uses: AttributeUse[] = [];
  const add = (use: AttributeUse, origin: Origin) => {
    const { key } = use.declaration;
    const other = seen.get(key);
    if (other === undefined || other.use === 'prohibited') {
      seen.set(key, use);
      if (other === undefined) uses.push(use);
      else uses[uses.indexOf(other)] = use;
    } else if (other !== use && use.use !== 'prohibited') {
      reading.report.error('xsd_duplicate_attribute', `The attribute ${key} is declared twice`, origin, path);
    }
  };
  let wildcard = written.wildcard;
  let next = 0;
  for (const { group, node, after } of written.groups) {
    for (const use of written.uses.slice(next, after)) add(use, use.origin);
    next = after;
    for (const use of group.uses) add(use, within(at, node));
    if (group.wildcard !== null) {
      wildcard =
        wildcard === null
          ? group.wildcard
          : { ...wildcard, namespaces: intersectNamespaces(wildcard.namespaces, group.wildcard.namespaces) };
    }
  }
  for (const use of written.uses.slice(next)) add(use, use.origin);
  return { uses, wildcard };
}

/** Reports a second attribute of type ID among the uses, which XSD 1.1 allows. */
export function checkSingleId(
  uses: readonly AttributeUse[],
  at: Origin,
  path: string,
  reading: XsdReading,
): void {
  if (reading.later) return;
  let found: AttributeUse | undefined;
  for (const use of uses) {
    if (use.use === 'prohibited' || !isIdType(use.declaration.type)) continue;
    if (found !== undefined) {
      const names = `${found.declaration.key} and ${use.declaration.key}`;
      reading.report.error('xsd_two_ids', `Two attributes are of type ID: ${names}`, at, path);
      return;
    }
    found = use;
  }
}
