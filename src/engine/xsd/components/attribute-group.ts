/** Attribute group definitions, and the attributes that are written in a type or group. */
import { clarkName } from '../../model/source-model.ts';
import { isIdType, readAttributeUse } from './attribute-declaration.ts';
import type {
  AttributeGroup,
  AttributeGroupReference,
  AttributeUse,
  GlobalDeclaration,
  Origin,
  Wildcard,
  WrittenAttributes,
} from './terms.ts';
import { orderByDependency } from '../derive/dependency-order.ts';
import { reportTooDeep, within, type XsdReading } from './context.ts';
import { attributeOf, isXsd } from '../read/file.ts';
import { intersectNamespaces, readWildcard, uniteNamespaces } from './wildcard.ts';

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
