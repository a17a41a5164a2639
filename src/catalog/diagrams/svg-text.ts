/**
 * A drawing as text that XML and HTML read alike: elements, attributes and text, without declaration, comments, CDATA sections, entities of
 * its own, or attributes of other namespaces than those of SVG documents.
 */
import type { Steps } from '../../engine/in-slices.ts';
import { XML_NAMESPACE } from '../../engine/xml/names/namespace-contexts.ts';
import type { XmlElement } from '../../engine/xml/tree.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';
const xlinkNamespace = 'http://www.w3.org/1999/xlink';

/** `root`: an `<svg>`, all of whose elements are of SVG. */
export function* writeSvg(root: XmlElement): Steps<string> {
  const pieces: string[] = [];
  /** an element that begins, or text that ends one */
  const rest: (XmlElement | string)[] = [root];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') {
      pieces.push(next);
      continue;
    }
    yield;
    const { localName } = next.name;
    pieces.push(`<${localName}${next === root ? namespaces : ''}${attributesOf(next)}`);
    if (next.children.length === 0) {
      pieces.push('/>');
      continue;
    }
    pieces.push('>');
    rest.push(`</${localName}>`);
    for (const child of next.children.toReversed())
      rest.push(typeof child === 'string' ? escapeText(child) : child);
  }
  return pieces.join('');
}

const namespaces = ` xmlns="${svgNamespace}"`;

function attributesOf({ attributes }: XmlElement): string {
  const names = new Set(attributes.flatMap(({ name }) => (name.namespaceUri === '' ? [name.localName] : [])));
  return attributes
    .flatMap(({ name: { localName, namespaceUri }, value }) => {
      if (namespaceUri === '') return [` ${localName}="${escapeText(value)}"`];
      // since SVG 2, without a namespace
      if (namespaceUri === xlinkNamespace)
        return localName === 'href' && !names.has('href') ? [` href="${escapeText(value)}"`] : [];
      if (namespaceUri === XML_NAMESPACE && (localName === 'lang' || localName === 'space'))
        return [` xml:${localName}="${escapeText(value)}"`];
      return [];
    })
    .join('');
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('`', '&#96;')
    .replaceAll(/[\t\n\r]/g, (blank) => (blank === '\n' ? '\n' : `&#${blank.charCodeAt(0)};`));
}
