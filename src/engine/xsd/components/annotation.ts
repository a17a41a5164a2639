/** Documentation of components. */
import type { XmlElement } from '../../xml/tree.ts';
import { isXsd } from '../read/file.ts';

/** Longer texts are cut: they end up in comments of tables and columns. */
const maxDocumentationLength = 500;

/** The text of a component's own documentation elements, white space collapsed; undefined without any. */
export function readDocumentation(node: XmlElement): string | undefined {
  const first = node.children.find((child) => typeof child !== 'string');
  if (first === undefined || !isXsd(first) || first.name.localName !== 'annotation') return undefined;
  let text = '';
  for (const child of first.children) {
    if (!isXsd(child) || child.name.localName !== 'documentation') continue;
    text += ` ${textOf(child)}`;
    if (text.length > 4 * maxDocumentationLength) break;
  }
  const trimmed = text.replace(/\s+/gu, ' ').trim();
  if (trimmed === '') return undefined;
  return trimmed.length <= maxDocumentationLength ? trimmed : `${cut(trimmed).trimEnd()}…`;
}

/** The first characters, no surrogate pair torn apart. */
function cut(text: string): string {
  const end = maxDocumentationLength - 1;
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end);
}

function textOf(node: XmlElement): string {
  let text = '';
  for (const child of node.children) text += typeof child === 'string' ? child : ` ${textOf(child)} `;
  return text;
}
