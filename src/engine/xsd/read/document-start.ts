/** Classifies a file by its start: an XML document, with its root element, or something else. */
import { xsdNamespace } from '../../model/name-labels.ts';
import { catalogNamespace } from './oasis-catalog.ts';

/** The first element of a document, as far as it is in the first bytes. */
export interface RootTag {
  readonly localName: string;
  /** '': none that this tag declares */
  readonly namespaceUri: string;
  /** the tag declares namespaces other than that of XHTML */
  readonly declaresOthers: boolean;
}

export type DocumentStart =
  /** `root` null: it comes after the first bytes, or their encoding is not supported */
  | { readonly kind: 'document'; readonly root: RootTag | null }
  | { readonly kind: 'dtd' | 'json' | 'empty' | 'other' };

const xhtmlNamespace = 'http://www.w3.org/1999/xhtml';
/** Namespaces of WSDL 1.1 and 2.0, with their root elements. */
export const wsdlRoots: Readonly<Record<string, string>> = {
  'http://schemas.xmlsoap.org/wsdl/': 'definitions',
  'http://www.w3.org/ns/wsdl': 'description',
};

/** Reads the start of a file, up to its first tag. `head`: its first bytes, some thousands; after that many nothing is looked for. */
export function documentStart(head: Uint8Array): DocumentStart {
  const text = decoded(head);
  if (text === null) return { kind: 'document', root: null };
  let at = behindSpace(text, 0);
  if (at === text.length) return { kind: head.length === 0 || isBlank(text) ? 'empty' : 'other' };
  let declared = false;
  for (;;) {
    if (text.startsWith('<?', at)) {
      const end = text.indexOf('?>', at);
      const isXml = /^<\?xml(?:-[\w-]+)?[ \t\r\n]/.test(text.slice(at, at + 40));
      if (end < 0) return isXml ? { kind: 'document', root: null } : { kind: 'other' };
      // a text declaration without a version belongs to a part of a document or to a DTD
      const declaration = text.slice(at, end);
      if (/^<\?xml[ \t\r\n]/.test(declaration)) {
        if (!/\sversion\s*=/.test(declaration)) return { kind: 'dtd' };
        declared = true;
      }
      at = behindSpace(text, end + 2);
    } else if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at);
      if (end < 0) return { kind: 'document', root: null };
      at = behindSpace(text, end + 3);
    } else if (/^<!DOCTYPE[ \t\r\n]/i.test(text.slice(at, at + 10))) {
      const end = doctypeEnd(text, at);
      if (end < 0) return { kind: 'document', root: null };
      at = behindSpace(text, end);
    } else break;
    // the text so far may precede a document
    if (at === text.length) return { kind: 'document', root: null };
  }
  if (/^(?:<!(?:ELEMENT|ATTLIST|ENTITY|NOTATION)[ \t\r\n]|<!\[|%[\w:.-]+;)/.test(text.slice(at, at + 80)))
    return { kind: 'dtd' };
  if (/^<[^\s!?/<>&"'=%]/.test(text.slice(at, at + 2)))
    return { kind: 'document', root: rootTag(text.slice(at)) };
  // text that was declared to be XML but is not is reported as the document that it should be
  if (declared) return { kind: 'document', root: null };
  return { kind: text[at] === '{' || text[at] === '[' ? 'json' : 'other' };
}

/** Returns, in words, the kind of document that describes or locates others, or null if the document is of no such kind. */
export function describesOthers(root: RootTag): 'an XML Schema' | 'a WSDL' | 'an OASIS XML catalogue' | null {
  const { localName, namespaceUri } = root;
  if (localName === 'schema' && namespaceUri === xsdNamespace) return 'an XML Schema';
  if (Object.hasOwn(wsdlRoots, namespaceUri) && wsdlRoots[namespaceUri] === localName) return 'a WSDL';
  return localName === 'catalog' && namespaceUri === catalogNamespace ? 'an OASIS XML catalogue' : null;
}

/** True if the tag is that of an HTML page. Inline XBRL declares other namespaces, too. */
export function isHtmlPage({ localName, namespaceUri, declaresOthers }: RootTag): boolean {
  return (
    localName.toLowerCase() === 'html' &&
    (namespaceUri === '' || namespaceUri === xhtmlNamespace) &&
    !declaresOthers
  );
}

/**
 * Returns one character for each byte of an encoding that includes ASCII, or null for UTF-32 or EBCDIC, whose first bytes only occur in
 * documents.
 */
function decoded(head: Uint8Array): string | null {
  const [a, b, c, d] = head;
  if (a === 0x4c && b === 0x6f && c === 0xa7 && d === 0x94) return null;
  const isWide32 =
    (a === 0xff && b === 0xfe && c === 0 && d === 0) ||
    (a === 0 && b === 0 && c === 0xfe && d === 0xff) ||
    (a === 0 && b === 0 && c === 0 && d === 0x3c) ||
    (a === 0x3c && b === 0 && c === 0 && d === 0);
  if (isWide32) return null;
  const label =
    (a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)
      ? 'utf-16be'
      : (a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)
        ? 'utf-16le'
        : 'latin1';
  const text = new TextDecoder(label, { ignoreBOM: true }).decode(head);
  return label === 'latin1' ? text.replace(/^(?:\u00ef\u00bb\u00bf)+/, '') : text.replace(/^\ufeff+/, '');
}

function isBlank(text: string): boolean {
  return behindSpace(text, 0) === text.length;
}

function behindSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1;
  return at;
}

/** Returns the position after a document type declaration, or -1 if it ends later. */
function doctypeEnd(text: string, from: number): number {
  let isWithin = false;
  for (let at = from + 2; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"' || character === "'") {
      const end = text.indexOf(character, at + 1);
      if (end < 0) return -1;
      at = end;
    } else if (text.startsWith('<!--', at) || text.startsWith('<?', at)) {
      const closing = text[at + 1] === '?' ? '?>' : '-->';
      const end = text.indexOf(closing, at);
      if (end < 0) return -1;
      at = end + closing.length - 1;
    } else if (character === '[') isWithin = true;
    else if (character === ']') isWithin = false;
    else if (character === '>' && !isWithin) return at + 1;
  }
  return -1;
}

const attribute = /\s([^\s=<>/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Returns the root tag of a text that begins with a start tag, which may be truncated. */
function rootTag(text: string): RootTag {
  const name = /^<([^\s/>]+)/.exec(text)![1]!;
  const prefix = name.includes(':') ? name.slice(0, name.indexOf(':')) : '';
  // values may contain '>'
  const tag = /^<[^\s/>]+(?:\s+[^\s=<>/"']+\s*=\s*(?:"[^"]*"|'[^']*'))*/.exec(text)![0];
  let namespaceUri = '';
  let declaresOthers = false;
  for (const [, key, quoted, single] of tag.matchAll(attribute)) {
    const value = quoted ?? single!;
    if (key === (prefix === '' ? 'xmlns' : `xmlns:${prefix}`)) namespaceUri = value.trim();
    if (/^xmlns(?:$|:)/.test(key!) && value.trim() !== xhtmlNamespace) declaresOthers = true;
  }
  return { localName: name.slice(name.indexOf(':') + 1), namespaceUri, declaresOthers };
}
