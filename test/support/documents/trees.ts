/** Documents as trees that can be changed, and written again. */
import { xmlNamespace } from '../../../src/engine/model/name-labels.ts';
import type { QName } from '../../../src/engine/model/source-model.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';

export interface TreeElement {
  readonly name: QName;
  attributes: { readonly name: QName; readonly value: string }[];
  children: (TreeElement | string)[];
  /** prefixes in scope where it was read, for names in values */
  readonly namespaces: ReadonlyMap<string, string>;
}

/** Comments and processing instructions are left out. */
export function readTree(document: Uint8Array): TreeElement {
  return parseXmlTree(document, {}) as unknown as TreeElement;
}

export function writeTree(root: TreeElement): string {
  return written(root, new Map());
}

/** Every element declares what it needs, and the prefixes that were in scope, for names in values. */
function written(element: TreeElement, scope: ReadonlyMap<string, string>): string {
  const declared = new Map(scope);
  let declarations = '';
  for (const [prefix, uri] of element.namespaces) {
    if (prefix === '' || prefix === 'xml' || declared.get(prefix) === uri) continue;
    declared.set(prefix, uri);
    declarations += ` xmlns:${prefix}="${escaped(uri)}"`;
  }
  if ((declared.get('') ?? '') !== (element.namespaces.get('') ?? '')) {
    declared.set('', element.namespaces.get('') ?? '');
    declarations += ` xmlns="${escaped(element.namespaces.get('') ?? '')}"`;
  }
  let made = 0;
  const qualified = ({ namespaceUri, localName }: QName, isAttribute: boolean): string => {
    if (namespaceUri === xmlNamespace) return `xml:${localName}`;
    if (namespaceUri === '' && isAttribute) return localName;
    if (!isAttribute && (declared.get('') ?? '') === namespaceUri) return localName;
    if (namespaceUri === '') {
      declarations = declarations.replace(/ xmlns="[^"]*"/, '') + ' xmlns=""';
      declared.set('', '');
      return localName;
    }
    made += 1;
    declarations += ` xmlns:made${made}="${escaped(namespaceUri)}"`;
    return `made${made}:${localName}`;
  };
  const tag = qualified(element.name, false);
  const attributes = element.attributes
    .map(({ name, value }) => ` ${qualified(name, true)}="${escaped(value)}"`)
    .join('');
  const content = element.children
    .map((child) => (typeof child === 'string' ? escaped(child) : written(child, declared)))
    .join('');
  return `<${tag}${declarations}${attributes}>${content}</${tag}>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
