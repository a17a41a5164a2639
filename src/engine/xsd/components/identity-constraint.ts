/** Identity constraints: key, unique, keyref. */
import { clarkName } from '../../model/source-model.ts';
import type { IdentityConstraintDefinition, Origin } from './terms.ts';
import { qualifiedName } from '../values/lexical-form.ts';
import { within, type XsdReading } from './context.ts';
import { attributeOf, isXsd } from '../read/file.ts';
import { collapse } from '../read/grammar.ts';

const kinds = new Set(['key', 'unique', 'keyref']);

/** Reads the key, unique and keyref children of an element declaration (XSD Part 1 §3.11). */
export function readIdentityConstraints(
  element: Origin,
  reading: XsdReading,
): IdentityConstraintDefinition[] {
  const found: IdentityConstraintDefinition[] = [];
  for (const node of element.node.children) {
    if (!isXsd(node) || !kinds.has(node.name.localName)) continue;
    const origin = within(element, node);
    const localName = attributeOf(node, 'name');
    if (localName === undefined) {
      const name = reading.references.expand(attributeOf(node, 'ref') ?? '', origin);
      if (name !== null) reading.constraintReferences.push({ name, origin, constraints: found });
      continue;
    }
    reading.count(origin);
    let selector = '';
    const fields: string[] = [];
    for (const child of node.children) {
      if (!isXsd(child)) continue;
      const xpath = attributeOf(child, 'xpath');
      if (xpath === undefined) continue;
      if (child.name.localName === 'selector') selector = collapse(xpath);
      else if (child.name.localName === 'field') fields.push(collapse(xpath));
      else continue;
      checkXPath(collapse(xpath), child.name.localName, within(element, child), reading);
    }
    const refer = attributeOf(node, 'refer');
    const definition: IdentityConstraintDefinition = {
      kind: node.name.localName as IdentityConstraintDefinition['kind'],
      name: { namespaceUri: element.document.targetNamespace, localName: collapse(localName) },
      origin,
      refer: refer === undefined ? null : reading.references.expand(refer, origin),
      selector,
      fields,
      namespaces: { ...prefixesOf([selector, ...fields], origin), ...defaultNamespaceOf(origin) },
    };
    found.push(definition);
    reading.identityConstraints.push(definition);
  }
  return found;
}

/** Adds to each element the constraints that it refers to (XSD 1.1); all that are declared have been read. */
export function resolveConstraintReferences(reading: XsdReading): void {
  const byName = new Map(reading.identityConstraints.map((one) => [clarkName(one.name), one]));
  for (const { name, origin, constraints } of reading.constraintReferences) {
    const key = clarkName(name);
    const declared = byName.get(key);
    if (declared !== undefined) constraints.push(declared);
    else reading.report.error('xsd_unknown_key', `There is no identity constraint named ${key}`, origin, key);
  }
}

/** The namespace of names without a prefix in the XPaths of a constraint (XSD 1.1 Part 1 §3.13.2); in XSD 1.0 they have none. */
function defaultNamespaceOf({ node, document }: Origin): Record<string, string> {
  const selector = node.children.find((child) => isXsd(child) && child.name.localName === 'selector') as
    | Origin['node']
    | undefined;
  const written =
    (selector === undefined ? undefined : attributeOf(selector, 'xpathDefaultNamespace')) ??
    attributeOf(document.file.root, 'xpathDefaultNamespace');
  const value = collapse(written ?? '##local');
  if (value === '##local') return {};
  if (value === '##targetNamespace') return { '': document.targetNamespace };
  return { '': value === '##defaultNamespace' ? (node.namespaces.get('') ?? '') : value };
}

function prefixesOf(xpaths: readonly string[], { node }: Origin): Record<string, string> {
  const namespaces: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const xpath of xpaths) {
    for (const match of xpath.matchAll(/([^\s/|@:.*]+):(?!:)/gu)) {
      const uri = node.namespaces.get(match[1]!);
      if (uri !== undefined) namespaces[match[1]!] = uri;
    }
  }
  return { ...namespaces };
}

/** Selector and field use a small part of XPath (§3.11.6): paths of child steps, `.//` in front, an attribute last in fields. */
function checkXPath(xpath: string, role: 'selector' | 'field', at: Origin, reading: XsdReading): void {
  for (const path of xpath.split('|')) {
    const steps = path
      .trim()
      .replace(/^\.\s*\/\/\s*/u, '')
      .split('/')
      .map((step) => step.trim());
    for (const [index, step] of steps.entries()) {
      const isAttribute = step.startsWith('@') || /^attribute\s*::/u.test(step);
      const test = step.replace(/^@\s*|^(child|attribute)\s*::\s*/u, '');
      const misplaced = isAttribute && (role === 'selector' || index < steps.length - 1);
      const named =
        test === '*' ||
        (test.endsWith(':*') ? qualifiedName.test(`${test.slice(0, -1)}x`) : qualifiedName.test(test));
      if ((step !== '.' && !named) || misplaced) {
        reading.report.error('xsd_bad_xpath', `"${xpath}" is not a ${role} path`, at);
        return;
      }
      const colon = test.indexOf(':');
      if (colon > 0 && !at.node.namespaces.has(test.slice(0, colon)) && !test.startsWith('xml:')) {
        reading.report.error('xsd_unbound_prefix', `The prefix of "${test}" is not declared`, at, xpath);
        return;
      }
    }
  }
}

/** Names are unique in the set, and a keyref names a key or unique with as many fields (c-props-correct). */
export function checkIdentityConstraints(reading: XsdReading): void {
  const byName = new Map<string, IdentityConstraintDefinition>();
  for (const definition of reading.identityConstraints) {
    const key = clarkName(definition.name);
    const other = byName.get(key);
    if (other === undefined) byName.set(key, definition);
    else if (other.origin.node !== definition.origin.node) {
      const location = `${other.origin.document.file.name}, line ${other.origin.node.line}`;
      reading.report.error(
        'xsd_duplicate_component',
        `A second identity constraint of that name; the first is at ${location}`,
        definition.origin,
        key,
      );
    }
  }
  for (const { kind, refer, fields, origin, name } of reading.identityConstraints) {
    if (kind !== 'keyref' || refer === null) continue;
    const path = clarkName(name);
    const target = byName.get(clarkName(refer));
    if (target === undefined || target.kind === 'keyref') {
      reading.report.error(
        'xsd_unknown_key',
        `There is no key or unique named ${clarkName(refer)}`,
        origin,
        path,
      );
    } else if (target.fields.length !== fields.length) {
      const message = `It has ${fields.length} fields, ${clarkName(refer)} has ${target.fields.length}`;
      reading.report.error('xsd_key_fields_differ', message, origin, path);
    }
  }
}
