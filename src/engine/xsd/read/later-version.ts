/** Detects XSD documents that are written for XSD 1.1: their sets may use constructs that XSD 1.0 forbids. */
import { xsdNamespace } from '../../model/name-labels.ts';
import type { XmlElement } from '../../xml/tree.ts';
import { versioningNamespace } from './conditional-inclusion.ts';
import { collapse } from './grammar.ts';

const laterElements: ReadonlySet<string> = new Set([
  'alternative',
  'assert',
  'assertion',
  'defaultOpenContent',
  'explicitTimezone',
  'openContent',
  'override',
]);
const laterAttributes: ReadonlySet<string> = new Set([
  'defaultAttributes',
  'defaultAttributesApply',
  'inheritable',
  'notNamespace',
  'notQName',
  'xpathDefaultNamespace',
]);

/** True if it has an element or attribute that XSD 1.0 does not have, or excludes something for processors of 1.0. */
export function usesLaterVersion(root: XmlElement): boolean {
  // elements may nest deeper than calls
  const open = [root];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    if (element.name.namespaceUri !== xsdNamespace || element.name.localName === 'annotation') continue;
    if (isLater(element)) return true;
    for (const child of element.children) if (typeof child !== 'string') open.push(child);
  }
  return false;
}

function isLater({ name, attributes }: XmlElement): boolean {
  if (laterElements.has(name.localName)) return true;
  const isLocal = name.localName === 'element' || name.localName === 'attribute';
  for (const { name: attribute, value } of attributes) {
    if (attribute.namespaceUri === versioningNamespace) {
      if (attribute.localName === 'minVersion' && Number(collapse(value)) > 1) return true;
    } else if (attribute.namespaceUri === '') {
      if (laterAttributes.has(attribute.localName)) return true;
      if (isLocal && attribute.localName === 'targetNamespace') return true;
    }
  }
  return false;
}
