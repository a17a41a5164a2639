/** Element declarations, global and local. */
import { clarkName, type QName } from '../../model/source-model.ts';
import { readDocumentation } from './annotation.ts';
import { createComplexType, readComplexType } from './complex-type.ts';
import type {
  ElementDeclaration,
  GlobalDeclaration,
  Origin,
  TypeAlternatives,
  TypeDefinition,
} from './terms.ts';
import { readIdentityConstraints } from './identity-constraint.ts';
import { within, type XsdReading } from './context.ts';
import { readControls } from '../read/document.ts';
import { attributeOf, firstXsdChild, isXsd } from '../read/file.ts';
import { createSimpleType, readSimpleType } from './simple-type.ts';
import { collapse } from '../read/grammar.ts';

const quotedOrCommented = /"[^"]*"|'[^']*'|\(:.*?:\)/gsu;
const variableReference = /\$\s*\p{L}/u;

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
    heads: [],
    alternatives: null,
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

/** Reads an element declaration (XSD Part 1 §3.3.2) into its shell. */
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
  const type = readType(origin, element.key, reading);
  if (type !== null) {
    element.type = type;
    element.typed = true;
  }
  const head = element.global ? attributeOf(node, 'substitutionGroup') : undefined;
  if (head !== undefined) {
    const names = collapse(head).split(' ');
    if (names.length > 1 && !reading.later) {
      const message = 'XSD 1.0 allows one head of a substitution group; all of these are used, as in XSD 1.1';
      reading.report.error('xsd_several_heads', message, origin, element.key);
    }
    element.heads = names.flatMap(
      (name) => reading.references.findComponent('element', name, origin).component ?? [],
    );
  }
  element.identityConstraints = readIdentityConstraints(origin, reading);
  element.alternatives = readAlternatives(element, reading);
}

/** Returns the types that `alternative` elements name or contain (XSD 1.1 Part 1 §3.12.2), or null if there are none. */
function readAlternatives({ origin, key }: ElementDeclaration, reading: XsdReading): TypeAlternatives | null {
  const types: TypeDefinition[] = [];
  let exhaustive = false;
  for (const node of origin.node.children) {
    if (!isXsd(node) || node.name.localName !== 'alternative') continue;
    const type = readType(within(origin, node), key, reading);
    // xs:error has no instances: it forbids the elements that would have it
    if (type !== null && type !== reading.builtIns.error) types.push(type);
    const test = attributeOf(node, 'test');
    exhaustive ||= test === undefined;
    if (test !== undefined && variableReference.test(test.replaceAll(quotedOrCommented, '')))
      reading.report.error(
        'xsd_bad_xpath',
        `"${test}" has a variable; tests have none`,
        within(origin, node),
        key,
      );
  }
  if (types.length === 0) return null;
  const message =
    'Tests of type alternatives (XSD 1.1) are not evaluated; the element gets the content of all its alternative types';
  reading.report.info('xsd_alternative_tests_ignored', message, origin, key);
  return { types, exhaustive };
}

/** The type that an element declaration or an alternative names or holds; null without one. */
function readType(origin: Origin, path: string, reading: XsdReading): TypeDefinition | null {
  const named = attributeOf(origin.node, 'type');
  const inline = firstXsdChild(origin.node, 'simpleType', 'complexType');
  if (named !== undefined && inline !== undefined) {
    reading.report.error(
      'xsd_two_types',
      `Both a type attribute and a ${inline.name.localName} are given`,
      origin,
      path,
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
