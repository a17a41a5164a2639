/** Complex type definitions as written. Their inherited parts are added later. */
import { clarkName, type QName } from '../../model/source-model.ts';
import { readDocumentation } from './annotation.ts';
import { readAttributes, readWildcard } from './attributes.ts';
import type {
  ComplexType,
  ModelGroup,
  Origin,
  Particle,
  TypeDefinition,
  Wildcard,
  WrittenContent,
} from './terms.ts';
import { readBoolean } from './element-declaration.ts';
import { readFacets, zoneOfRestriction } from '../values/facets.ts';
import { readContentParticle } from './model-group.ts';
import { within, type XsdReading } from './context.ts';
import { readControls } from '../read/document.ts';
import { attributeOf, firstXsdChild } from '../read/file.ts';
import { createSimpleType, readSimpleType } from './simple-type.ts';
import { collapse } from '../read/grammar.ts';

/** The shell of a complex type definition; `name` null for anonymous ones. */
export function createComplexType(name: QName | null, origin: Origin, reading: XsdReading): ComplexType {
  const { node, document } = origin;
  return {
    kind: 'complex',
    name,
    origin,
    base: reading.builtIns.anyType,
    derivation: 'restriction',
    abstract: readBoolean(node, 'abstract'),
    final: readControls(attributeOf(node, 'final'), document.finalDefault),
    block: readControls(attributeOf(node, 'block'), document.blockDefault),
    written: reading.builtIns.anyType.written,
    content: 'empty',
    particle: null,
    simpleType: null,
    attributes: [],
    anyAttribute: null,
    derived: false,
  };
}

/** Reads a `complexType` element (XSD Part 1 §3.4.2) into the shell and returns it. */
export function readComplexType(type: ComplexType, reading: XsdReading): ComplexType {
  const origin = type.origin!;
  reading.count(origin);
  reading.complexTypes.push(type);
  type.documentation = readDocumentation(origin.node);
  readContent(type, origin, reading);
  type.written = withDefaultAttributes(type.written, origin, reading);
  return type;
}

function readContent(type: ComplexType, origin: Origin, reading: XsdReading): void {
  const content = firstXsdChild(origin.node, 'simpleContent', 'complexContent');
  if (content === undefined) {
    type.written = readBody(origin, 'short', readBoolean(origin.node, 'mixed'), false, reading);
    return;
  }
  const how = firstXsdChild(content, 'restriction', 'extension');
  const style = content.name.localName as 'simpleContent' | 'complexContent';
  const mixedHere = attributeOf(content, 'mixed') === undefined ? origin.node : content;
  const mixed = style === 'complexContent' && readBoolean(mixedHere, 'mixed');
  if (how === undefined) {
    type.written = readBody(within(origin, content), style, mixed, false, reading);
    return;
  }
  const derivation = within(origin, how);
  type.derivation = how.name.localName as 'restriction' | 'extension';
  const base = readBase(type, derivation, style, reading);
  if (base !== null) type.base = base;
  type.written = readBody(derivation, style, mixed, base === null, reading);
}

/** Adds the attribute group that a document applies to all of its complex types (XSD 1.1 Part 1 §3.4.2.4). */
function withDefaultAttributes(written: WrittenContent, origin: Origin, reading: XsdReading): WrittenContent {
  const { defaultAttributes, file } = origin.document;
  const applies = attributeOf(origin.node, 'defaultAttributesApply');
  if (
    defaultAttributes === undefined ||
    (applies !== undefined && !readBoolean(origin.node, 'defaultAttributesApply'))
  )
    return written;
  const at = within(origin, file.root);
  const { component: group } = reading.references.findComponent('attributeGroup', defaultAttributes, at);
  const { attributes } = written;
  if (group === null || attributes.groups.some((reference) => reference.group === group)) return written;
  const groups = [...attributes.groups, { group, node: file.root, after: attributes.uses.length }];
  return { ...written, attributes: { ...attributes, groups } };
}

function readBase(
  type: ComplexType,
  origin: Origin,
  style: 'simpleContent' | 'complexContent',
  reading: XsdReading,
): TypeDefinition | null {
  const named = attributeOf(origin.node, 'base');
  if (named === undefined) return null;
  const { component } = reading.references.findComponent('type', named, origin);
  if (component === null || component.kind === 'complex') return component;
  if (style === 'simpleContent' && type.derivation === 'extension') return component;
  const path = type.name === null ? undefined : clarkName(type.name);
  const message = `The base of a ${style} ${type.derivation} must be a complex type`;
  reading.report.error('xsd_complex_base_needed', message, origin, path);
  return style === 'simpleContent' ? component : null;
}

/** The particle, attributes and facets under a complexType, restriction or extension element. */
function readBody(
  origin: Origin,
  style: WrittenContent['style'],
  mixed: boolean,
  baseMissing: boolean,
  reading: XsdReading,
): WrittenContent {
  const { node } = origin;
  if (firstXsdChild(node, 'assert') !== undefined) {
    reading.report.info('xsd_assertion_ignored', 'Assertions (XSD 1.1) are not checked', origin);
  }
  const isSimple = style === 'simpleContent';
  const inline = isSimple ? firstXsdChild(node, 'simpleType') : undefined;
  return {
    style,
    mixed,
    baseMissing,
    particle: isSimple ? null : withOpenContent(readContentParticle(origin, reading), origin),
    attributes: readAttributes(origin, reading),
    facets: isSimple ? readFacets(origin) : [],
    zone: isSimple ? zoneOfRestriction(origin) : undefined,
    simpleType:
      inline === undefined
        ? null
        : readSimpleType(createSimpleType(null, within(origin, inline), reading), reading),
  };
}

/** XSD 1.1 open content, of the type or by the document's default, becomes a wildcard after the content. */
function withOpenContent(particle: Particle | null, typeOrigin: Origin): Particle | null {
  const own = firstXsdChild(typeOrigin.node, 'openContent');
  const open = own ?? typeOrigin.document.defaultOpenContent;
  if (open === undefined || collapse(attributeOf(open, 'mode') ?? '') === 'none') return particle;
  if (own === undefined && particle === null && !readBoolean(open, 'appliesToEmpty')) return null;
  const any = firstXsdChild(open, 'any');
  const origin = within(typeOrigin, any ?? open);
  const wildcard: Wildcard = { ...readWildcard(origin), yields: true };
  const anything: Particle = { minOccurs: 0, maxOccurs: Infinity, term: wildcard, origin };
  const group: ModelGroup = {
    kind: 'group',
    compositor: 'sequence',
    particles: particle === null ? [anything] : [particle, anything],
    origin: within(typeOrigin, open),
  };
  return { minOccurs: 1, maxOccurs: 1, term: group, origin: group.origin };
}
