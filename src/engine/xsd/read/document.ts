/** Schema documents: the files of a set, each read for a target namespace. */
import type { SchemaLocation, XsdReport } from '../report.ts';
import { type CatalogAnswer, catalogNamespace } from './oasis-catalog.ts';
import { leavesSet, type SchemaLocator } from './location.ts';
import {
  attributeOf,
  firstXsdChild,
  xmlNamespaceUri,
  type DocumentReference,
  type SchemaFile,
} from './file.ts';
import type { DerivationControl, SchemaDocument } from '../components/terms.ts';
import { collapse } from './grammar.ts';
import { xsdNamespace } from '../../model/name-labels.ts';

/** A reference from document to document that was found in the set. */
export interface DocumentLink {
  readonly reference: DocumentReference;
  readonly from: SchemaDocument;
  readonly to: SchemaDocument;
}

interface MissingDocument {
  readonly reference: DocumentReference;
  readonly from: SchemaDocument;
  /** namespace of the components that it would have held */
  readonly namespace: string;
  /** index of its diagnostic */
  readonly diagnostic: number;
}

export interface DocumentSet {
  /** breadth first from the entries */
  readonly documents: readonly SchemaDocument[];
  readonly links: readonly DocumentLink[];
  readonly missing: readonly MissingDocument[];
}

const derivationControls: readonly DerivationControl[] = [
  'extension',
  'restriction',
  'substitution',
  'list',
  'union',
];
const noControls: ReadonlySet<DerivationControl> = new Set();

/** Reads a block, final, blockDefault or finalDefault value; absent = `byDefault`. */
export function readControls(
  value: string | undefined,
  byDefault: ReadonlySet<DerivationControl> = noControls,
): ReadonlySet<DerivationControl> {
  if (value === undefined) return byDefault;
  const text = collapse(value);
  if (text === '') return noControls;
  if (text === '#all') return new Set(derivationControls);
  return new Set(
    text
      .split(' ')
      .filter((word): word is DerivationControl => (derivationControls as string[]).includes(word)),
  );
}

function createDocument(file: SchemaFile, targetNamespace: string): SchemaDocument {
  const { root } = file;
  const imports = new Set<string>();
  for (const reference of file.references) if (reference.kind === 'import') imports.add(reference.namespace);
  return {
    file,
    targetNamespace,
    chameleon: targetNamespace !== file.targetNamespace,
    elementsQualified: collapse(attributeOf(root, 'elementFormDefault') ?? '') === 'qualified',
    attributesQualified: collapse(attributeOf(root, 'attributeFormDefault') ?? '') === 'qualified',
    blockDefault: readControls(attributeOf(root, 'blockDefault')),
    finalDefault: readControls(attributeOf(root, 'finalDefault')),
    defaultOpenContent: firstXsdChild(root, 'defaultOpenContent'),
    defaultAttributes: attributeOf(root, 'defaultAttributes'),
    imports,
    redefined: null,
  };
}

/**
 * Follows all references from the entries. Nothing but the files given is ever read.
 *
 * Throws `XsdSetError` with the fault of each file reached that is not well-formed or no XSD document.
 */
export function loadDocuments(
  entries: readonly SchemaFile[],
  locator: SchemaLocator,
  missingIs: 'fail' | 'wildcard',
  report: XsdReport,
): DocumentSet {
  const byKey = new Map<string, SchemaDocument>();
  const documents: SchemaDocument[] = [];
  const links: DocumentLink[] = [];
  const missing: MissingDocument[] = [];
  const faulty = new Set<SchemaFile>();
  const documentFor = (file: SchemaFile, namespace: string) => {
    const key = `${namespace} ${file.name}`;
    let document = byKey.get(key);
    if (document === undefined) {
      document = createDocument(file, namespace);
      byKey.set(key, document);
      documents.push(document);
      if (file.fault !== null && !faulty.has(file)) {
        // one file is a document for each namespace that it is included in
        faulty.add(file);
        report.fatalDiagnostic(file.fault);
      }
    }
    return document;
  };
  for (const entry of entries) documentFor(entry, entry.targetNamespace);
  for (let i = 0; i < documents.length; i++) {
    const from = documents[i]!;
    for (const reference of from.file.references) {
      const at = { node: reference.node, document: from };
      const isImport = reference.kind === 'import';
      if (isImport && reference.namespace === from.targetNamespace) {
        report.error(
          'xsd_import_of_own_namespace',
          'An import must name another namespace than its document has',
          at,
        );
        continue;
      }
      const target = locator.locate(from.file, reference);
      if (target === undefined) {
        const mapped = locator.mapped(reference);
        if (mapped !== null) reportMapping(mapped, reference, at, report);
        if (isImport && (reference.location === null || reference.namespace === xmlNamespaceUri)) {
          if (reference.namespace !== xmlNamespaceUri)
            missing.push({ reference, from, namespace: reference.namespace, diagnostic: -1 });
          continue;
        }
        if (reference.location === null) continue;
        missing.push({
          reference,
          from,
          namespace: isImport ? reference.namespace : from.targetNamespace,
          diagnostic: report.diagnostics.length,
        });
        const message = `The document "${reference.location}" is not in the set`;
        if (missingIs === 'fail' && leavesSet(from.file.name, reference.location)) {
          const advice = 'give the folder that holds both, as an archive or by its path';
          report.fatal(
            'xsd_missing_document',
            `${message}, and its location is outside the set: ${advice}`,
            at,
          );
        } else report.warning('xsd_missing_document', message, at);
        continue;
      }
      const expected = isImport ? reference.namespace : from.targetNamespace;
      const chameleon = !isImport && target.targetNamespace === '';
      if (target.targetNamespace !== expected && !chameleon && target.fault === null) {
        const has =
          target.targetNamespace === ''
            ? 'no target namespace'
            : `the target namespace ${target.targetNamespace}`;
        const wanted = expected === '' ? 'none' : expected;
        report.error('xsd_namespace_mismatch', `${target.name} has ${has}, not ${wanted}`, at);
        if (isImport) continue;
      }
      const to = documentFor(target, chameleon ? from.targetNamespace : target.targetNamespace);
      links.push({ reference, from, to });
    }
  }
  // components missing because a file cannot be read are not faults of the files that need them
  if (faulty.size > 0) report.throwIfUnusable();
  return { documents, links, missing };
}

/** An entry of a catalog that leads to nothing. */
function reportMapping(
  { path, uri, catalog, line }: CatalogAnswer,
  { location, namespace }: DocumentReference,
  at: SchemaLocation,
  report: XsdReport,
): void {
  const what = location === null || location === '' ? namespace : location;
  const where = path === null ? 'which is outside the set' : `and ${path} is not in the set`;
  report.warning(
    'xsd_catalog_target',
    `${catalog}, line ${line}, says that "${what}" is "${uri}", ${where}`,
    at,
  );
}

/** The document of the built-in xml: attributes, for sets without one. */
export function xmlNamespaceDocument(file: SchemaFile): SchemaDocument {
  return createDocument(file, xmlNamespaceUri);
}

/** True for files of the set that are not XSD documents. */
function isOther({ fault }: SchemaFile): boolean {
  return fault?.code === 'xsd_not_a_schema';
}

/**
 * Returns the XSD files that no other file includes, imports or redefines. For files that only refer to each other in a circle, returns
 * the first of each circle that no file outside refers to.
 */
export function defaultEntries(files: readonly SchemaFile[], locator: SchemaLocator): readonly SchemaFile[] {
  const targets = new Map<SchemaFile, SchemaFile[]>();
  const referred = new Set<SchemaFile>();
  for (const file of files) {
    const found: SchemaFile[] = [];
    for (const reference of file.references) {
      const target = locator.locate(file, reference);
      if (target === undefined || target === file) continue;
      found.push(target);
      referred.add(target);
    }
    targets.set(file, found);
  }
  const reach = (from: SchemaFile, reached: Set<SchemaFile>) => {
    reached.add(from);
    const pending = [from];
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      for (const target of targets.get(file) ?? []) {
        if (reached.has(target)) continue;
        reached.add(target);
        pending.push(target);
      }
    }
  };
  const entries = files.filter((file) => !referred.has(file) && !isOther(file));
  const reached = new Set<SchemaFile>();
  for (const entry of entries) reach(entry, reached);
  const candidates: SchemaFile[] = [];
  for (const file of files) {
    if (reached.has(file) || isOther(file)) continue;
    candidates.push(file);
    reach(file, reached);
  }
  // a circle may lead to candidates before it, and to none behind it
  const led = new Set<SchemaFile>();
  const circles: SchemaFile[] = [];
  for (const file of candidates.toReversed()) {
    if (led.has(file)) continue;
    circles.push(file);
    reach(file, led);
  }
  return [...entries, ...circles.toReversed()];
}

// Classifies a file by its start: an XML document, with its root element, or something else.

/** The first element of a document, as far as it is in the first bytes. */
interface RootTag {
  readonly localName: string;
  /** '': none that this tag declares */
  readonly namespaceUri: string;
  /** the tag declares namespaces other than that of XHTML */
  readonly declaresOthers: boolean;
}

type DocumentStart =
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
