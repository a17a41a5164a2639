/** Attribute declarations and attribute uses. */
import { clarkName } from '../../model/source-model.ts';
import { readDocumentation } from './annotation.ts';
import type {
  AttributeDeclaration,
  AttributeUse,
  GlobalDeclaration,
  Origin,
  SimpleType,
  Wildcard,
} from './terms.ts';
import { within, type XsdReading } from './context.ts';
import { attributeOf, firstXsdChild, xsiNamespace } from '../read/file.ts';
import { createSimpleType, readSimpleType, resolveSimpleType } from './simple-type.ts';
import { collapse } from '../read/white-space.ts';

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
export function readAttributeUse(origin: Origin, reading: XsdReading): AttributeUse | Wildcard | null {
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
