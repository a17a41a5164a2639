/** Element declarations, global and local. */
import { clarkName, type QName } from '../../model/source-model.ts';
import { readDocumentation } from './annotation.ts';
import { createComplexType, readComplexType } from './complex-type.ts';
import type { ElementDeclaration, GlobalDeclaration, Origin, TypeDefinition } from './terms.ts';
import { readIdentityConstraints } from './identity-constraint.ts';
import { within, type XsdReading } from './context.ts';
import { readControls } from '../read/document.ts';
import { attributeOf, firstXsdChild } from '../read/file.ts';
import { createSimpleType, readSimpleType } from './simple-type.ts';
import { collapse } from '../read/white-space.ts';

function createElement(
  name: QName,
  origin: Origin,
  global: boolean,
  reading: XsdReading,
): ElementDeclaration {
  return {
    name,
    key: clarkName(name),
    origin,
    global,
    type: reading.builtIns.anyType,
    typed: false,
    nillable: false,
    abstract: false,
    head: null,
    block: new Set(),
    final: new Set(),
    identityConstraints: [],
  };
}

/** The shell of a global element declaration. */
export function createGlobalElement(
  { name, node, document }: GlobalDeclaration,
  reading: XsdReading,
): ElementDeclaration {
  return createElement(name, { node, document }, true, reading);
}

/** A local element declaration; null when it has no name. */
export function readLocalElement(origin: Origin, reading: XsdReading): ElementDeclaration | null {
  const { node, document } = origin;
  const localName = collapse(attributeOf(node, 'name') ?? '');
  if (localName === '') return null;
  const form = attributeOf(node, 'form');
  const qualified = form === undefined ? document.elementsQualified : collapse(form) === 'qualified';
  const target = attributeOf(node, 'targetNamespace');
  const namespaceUri = target ?? (qualified ? document.targetNamespace : '');
  const element = createElement({ namespaceUri, localName }, origin, false, reading);
  readElement(element, reading);
  return element;
}

/** Reads what an element declaration says (XSD Part 1 §3.3.2) into its shell. */
export function readElement(element: ElementDeclaration, reading: XsdReading): void {
  const { origin } = element;
  const { node, document } = origin;
  reading.count(origin);
  reading.elements.push(element);
  element.nillable = readBoolean(node, 'nillable');
  element.abstract = readBoolean(node, 'abstract');
  element.default = attributeOf(node, 'default');
  element.fixed = attributeOf(node, 'fixed');
  element.block = readControls(attributeOf(node, 'block'), document.blockDefault);
  element.final = readControls(attributeOf(node, 'final'), document.finalDefault);
  element.documentation = readDocumentation(node);
  if (element.default !== undefined && element.fixed !== undefined) {
    reading.report.error(
      'xsd_default_and_fixed',
      'default and fixed exclude each other',
      origin,
      element.key,
    );
  }
  const type = readType(element, reading);
  if (type !== null) {
    element.type = type;
    element.typed = true;
  }
  const head = element.global ? attributeOf(node, 'substitutionGroup') : undefined;
  if (head !== undefined) {
    const [first = ''] = collapse(head).split(' ');
    element.head = reading.references.findComponent('element', first, origin).component;
  }
  element.identityConstraints = readIdentityConstraints(origin, reading);
  if (firstXsdChild(node, 'alternative') !== undefined) {
    const message = 'Type alternatives (XSD 1.1) are not applied; documents choose by xsi:type';
    reading.report.info('xsd_alternative_ignored', message, origin, element.key);
  }
}

function readType(element: ElementDeclaration, reading: XsdReading): TypeDefinition | null {
  const { origin } = element;
  const named = attributeOf(origin.node, 'type');
  const inline = firstXsdChild(origin.node, 'simpleType', 'complexType');
  if (named !== undefined && inline !== undefined) {
    reading.report.error(
      'xsd_two_types',
      `Both a type attribute and a ${inline.name.localName} are given`,
      origin,
      element.key,
    );
  }
  if (inline !== undefined) {
    const inlineOrigin = within(origin, inline);
    return inline.name.localName === 'simpleType'
      ? readSimpleType(createSimpleType(null, inlineOrigin, reading), reading)
      : readComplexType(createComplexType(null, inlineOrigin, reading), reading);
  }
  return named === undefined ? null : reading.references.findComponent('type', named, origin).component;
}

export function readBoolean(node: Origin['node'], attribute: string): boolean {
  const value = attributeOf(node, attribute);
  if (value === undefined) return false;
  const text = collapse(value);
  return text === 'true' || text === '1';
}
