/**
 * Writes an XSD set as files that other programs can read, in which every reference has the location of a file. Extracts the schemas of a
 * WSDL.
 */
import { defaultEngineLimits, type EngineLimits } from '../../limits.ts';
import { createEncodingReader } from '../../xml/encoding/reader.ts';
import { type XmlElement, parseXmlTree } from '../../xml/tree.ts';
import { createBuiltInTypes } from '../values/built-in-types.ts';
import type { XsdFile } from '../compile-set.ts';
import { createXsdReport } from '../report.ts';
import {
  defaultEntries,
  loadDocuments,
  type DocumentLink,
  describesOthers,
  documentStart,
  wsdlRoots,
} from './document.ts';
import { isXsd, parseSchemaFile, xmlNamespaceUri, type DocumentReference, type SchemaFile } from './file.ts';
import { xsdNamespace } from '../../model/name-labels.ts';
import { createSchemaLocator, xmlNamespaceSchema } from './location.ts';

const referenceKinds: ReadonlySet<string> = new Set(['include', 'import', 'redefine', 'override']);

/** An additional file for a program that finds documents by schemaLocation only. */
export interface StandaloneFile {
  /** letters and digits and `.xsd`: safe as a file name */
  readonly name: string;
  /** name in the set; null for files that were added */
  readonly source: string | null;
  /** UTF-8 */
  readonly bytes: Uint8Array;
}

export interface StandaloneXsdSet {
  /** name of the file to start from, which includes or imports all the others */
  readonly main: string;
  readonly files: readonly StandaloneFile[];
  /** number of assertions (XSD 1.1) that were removed; they only restrict the valid documents */
  readonly assertions: number;
}

/**
 * Returns an XSD set for another program. Each include, import and redefine refers to the document that the compiler uses for it,
 * wherever it was in the set; line numbers do not change. Many programs read one document per imported namespace, so a namespace with
 * several entry documents is imported by one document that includes them. Assertions, and attributes that only these use, are removed, so
 * that programs that only know XSD 1.0 can read a set that otherwise is of that version.
 */
export function standaloneXsdSet(
  files: readonly XsdFile[],
  options: { readonly entries?: readonly string[]; readonly limits?: EngineLimits } = {},
): StandaloneXsdSet {
  const limits = options.limits ?? defaultEngineLimits;
  const builtIns = createBuiltInTypes();
  const isTypeKnown = (name: string): boolean => builtIns.findType(name) !== null;
  const parsed = files.map((file) => parseSchemaFile(file, limits, isTypeKnown));
  const locator = createSchemaLocator(parsed);
  const given =
    options.entries === undefined
      ? defaultEntries(parsed, locator)
      : parsed.filter(({ name }) => options.entries!.includes(name));
  const entries = withoutLibraries(given.filter(({ fault }) => fault === null));
  const { documents, links } = loadDocuments(entries, locator, 'wildcard', createXsdReport());
  const used = [...new Set(documents.map(({ file }) => file))].filter(({ fault }) => fault === null);
  const nameOf = new Map(used.map((file, at) => [file, `f${at + 1}.xsd`]));

  const heads = new Map<string, Set<SchemaFile>>();
  const addHead = (file: SchemaFile): void => {
    if (!nameOf.has(file)) return;
    const known = heads.get(file.targetNamespace);
    if (known === undefined) heads.set(file.targetNamespace, new Set([file]));
    else known.add(file);
  };
  for (const entry of entries) addHead(entry);
  for (const { reference, to } of links) if (reference.kind === 'import') addHead(to.file);

  const added: StandaloneFile[] = [];
  const add = (name: string, text: string): string => {
    added.push({ name, source: null, bytes: new TextEncoder().encode(text) });
    return name;
  };
  // libxml2 reads such a file once, for the namespace that includes it, so an import needs a separate document
  const includedElsewhere = new Set(
    links.flatMap(({ reference, from, to }) =>
      reference.kind !== 'import' && from.file.targetNamespace !== to.file.targetNamespace ? [to.file] : [],
    ),
  );
  const importAs = new Map<string, string>();
  for (const [namespace, found] of heads) {
    const members = withoutIncluded(found, links);
    const includes = [...members].map((file) => `<xs:include schemaLocation="${nameOf.get(file)!}"/>`);
    const [only] = members;
    importAs.set(
      namespace,
      members.size === 1 && !includedElsewhere.has(only!)
        ? nameOf.get(only!)!
        : add(`n${importAs.size + 1}.xsd`, schemaText(namespace, includes)),
    );
  }
  if (!importAs.has(xmlNamespaceUri)) importAs.set(xmlNamespaceUri, add('xml.xsd', xmlNamespaceSchema));
  const empty = add('empty.xsd', schemaText('', []));
  const namespaces = [...new Set(entries.map(({ targetNamespace }) => targetNamespace))];
  const imports = namespaces.map((namespace) => {
    const named = namespace === '' ? '' : ` namespace="${escaped(namespace)}"`;
    return `<xs:import${named} schemaLocation="${importAs.get(namespace)!}"/>`;
  });
  const main = add('main.xsd', schemaText(unusedNamespace(used), imports));

  const linkOf = new Map(links.map((link) => [link.reference, link]));
  const locationFor = (reference: DocumentReference): string | null => {
    if (reference.kind === 'import') return importAs.get(reference.namespace) ?? null;
    const target = fileOf(linkOf.get(reference));
    return (target && nameOf.get(target)) ?? empty;
  };
  let assertions = 0;
  const written = used.map((file): StandaloneFile => {
    const later = laterParts(file.root);
    assertions += later.assertions.length;
    return { name: nameOf.get(file)!, source: file.name, bytes: redirected(file, later, locationFor) };
  });
  return { main, files: [...written, ...added], assertions };
}

/** The attributes that only assertions and type alternatives (XSD 1.1) use. */
const laterAttribute = /\s(?:xpathDefaultNamespace|inheritable)\s*=\s*(?:"[^"]*"|'[^']*')/gu;
const laterAttributes: ReadonlySet<string> = new Set(['xpathDefaultNamespace', 'inheritable']);

/** The parts of a document that are hidden from a program that only knows XSD 1.0, if it can use the rest. */
interface LaterParts {
  readonly assertions: XmlElement[];
  /** elements that have one of `laterAttributes` */
  readonly withAttributes: XmlElement[];
}

function laterParts(
  node: XmlElement,
  found: LaterParts = { assertions: [], withAttributes: [] },
): LaterParts {
  if (node.name.localName === 'assert' || node.name.localName === 'assertion') {
    found.assertions.push(node);
    return found;
  }
  if (node.attributes.some(({ name }) => name.namespaceUri === '' && laterAttributes.has(name.localName)))
    found.withAttributes.push(node);
  for (const child of node.children)
    if (isXsd(child) && child.name.localName !== 'annotation') laterParts(child, found);
  return found;
}

/** Removes entries that declare no element, because no document starts with their components. Such a file may not fit the set. */
function withoutLibraries(entries: readonly SchemaFile[]): readonly SchemaFile[] {
  const useful = entries.filter(({ root }) => {
    const names = root.children.flatMap((child) => (isXsd(child) ? child.name.localName : []));
    const declared = names.filter((name) => name !== 'annotation' && !referenceKinds.has(name));
    return declared.length === 0 || declared.includes('element');
  });
  return useful.length === 0 ? entries : useful;
}

/** Returns the files that no other file of `files` includes or imports. */
function withoutIncluded(
  files: ReadonlySet<SchemaFile>,
  links: readonly DocumentLink[],
): ReadonlySet<SchemaFile> {
  const included = Map.groupBy(
    links.filter(({ reference }) => reference.kind !== 'import'),
    ({ from }) => from.file,
  );
  const kept = new Set(files);
  for (const file of files) {
    if (!kept.has(file)) continue;
    const reached = new Set([file]);
    for (const at of reached) for (const { to } of included.get(at) ?? []) reached.add(to.file);
    for (const other of reached) if (other !== file) kept.delete(other);
  }
  return kept;
}

/**
 * Returns a namespace for the main file. No file of the set has it, and it is not the absent one: libxml2 reads one document for each
 * namespace, and would use the main file for imports without a namespace.
 */
function unusedNamespace(files: readonly SchemaFile[]): string {
  const known = new Set(files.map(({ targetNamespace }) => targetNamespace));
  let namespace = 'urn:conversion-job-service:set';
  while (known.has(namespace)) namespace += '-';
  return namespace;
}

function fileOf(link: DocumentLink | undefined): SchemaFile | undefined {
  return link?.to.file;
}

export function schemaText(namespace: string, content: readonly string[]): string {
  const target = namespace === '' ? '' : ` targetNamespace="${escaped(namespace)}"`;
  return `<xs:schema xmlns:xs="${xsdNamespace}"${target}>\n${content.join('\n')}\n</xs:schema>\n`;
}

export function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Returns the document in UTF-8 with changed references, without the parts for processors of other versions. */
function redirected(
  { bytes, references, excluded }: SchemaFile,
  { assertions, withAttributes }: LaterParts,
  locationFor: (reference: DocumentReference) => string | null,
): Uint8Array {
  const lines = textOf(bytes).split(/(?<=\r\n|\n|\r(?!\n))/u);
  lines[0] = lines[0]!.replace(/^(<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/u, '$1');
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    length += line.length;
  }
  const text = lines.join('');
  const pieces: string[] = [];
  let done = 0;
  const placeOf = ({ line, column }: XmlElement): number =>
    starts[line - 1]! + unitsOf(lines[line - 1]!, column - 1);
  const changes = [
    ...references.map((reference) => ({ from: placeOf(reference.node), reference, removed: false })),
    ...withAttributes.map((node) => ({ from: placeOf(node), reference: null, removed: false })),
    ...[...excluded, ...assertions].map((node) => ({ from: placeOf(node), reference: null, removed: true })),
  ];
  for (const { from, reference, removed } of changes.toSorted((a, b) => a.from - b.from)) {
    if (removed) {
      const end = endOfElement(text, from);
      pieces.push(text.slice(done, from), lineBreaksOf(text.slice(from, end)));
      done = end;
      continue;
    }
    const tag = /^<(?:[^<>"']|"[^"]*"|'[^']*')*>/u.exec(text.slice(from, from + 16_384))?.[0];
    // within an entity there is no tag to change
    if (tag === undefined) continue;
    const changed =
      reference === null
        ? tag.replaceAll(laterAttribute, lineBreaksOf)
        : redirectedTag(tag, locationFor(reference));
    pieces.push(text.slice(done, from), changed);
    done = from + tag.length;
  }
  return new TextEncoder().encode(pieces.join('') + text.slice(done));
}

function redirectedTag(tag: string, location: string | null): string {
  const attribute = /\sschemaLocation\s*=\s*(?:"[^"]*"|'[^']*')/u;
  const value = location === null ? '' : ` schemaLocation="${location}"`;
  const [old] = attribute.exec(tag) ?? [];
  if (old === undefined) return tag.replace(/\s*\/?>$/u, (end) => value + end);
  return tag.replace(old, value + lineBreaksOf(old));
}

function lineBreaksOf(text: string): string {
  return text.replaceAll(/[^\r\n]/gu, '');
}

/** Returns the end of the element whose start tag begins at `from`, or `from` itself if there is no tag, as within an entity. */
export function endOfElement(text: string, from: number): number {
  const markup = /<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<\/[^>]*>|<(?:[^<>"']|"[^"]*"|'[^']*')*>/gsu;
  markup.lastIndex = from;
  let depth = 0;
  for (let found = markup.exec(text); found !== null; found = markup.exec(text)) {
    const [tag] = found;
    if (depth === 0 && (found.index !== from || !/^<[^!?/]/u.test(tag))) return from;
    if (tag.startsWith('</')) depth--;
    else if (/^<[^!?]/u.test(tag) && !tag.endsWith('/>')) depth++;
    if (depth === 0) return markup.lastIndex;
  }
  return from;
}

/** UTF-16 units of the first `characters` of a line. */
export function unitsOf(line: string, characters: number): number {
  let units = 0;
  for (let i = 0; i < characters; i++) units += (line.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

export function textOf(bytes: Uint8Array): string {
  const decoder = new TextDecoder();
  let text = '';
  const reader = createEncodingReader(undefined, {
    take: (taken, from, to) => (text += decoder.decode(taken.subarray(from, to), { stream: true })),
    skip: () => undefined,
    fail: (_, message) => {
      throw new Error(message);
    },
  });
  reader.write(bytes);
  reader.end();
  return text + decoder.decode();
}

// The schemas of a WSDL (WSDL 1.1, 2.2; WSDL 2.0, 3.1), each as a separate document.

interface WsdlParts {
  /** lines are those of the WSDL */
  readonly schemas: readonly Uint8Array<ArrayBuffer>[];
  /** for each namespace of several schemas, a document that includes these, given by their indexes */
  readonly together: readonly { readonly namespace: string; readonly members: readonly number[] }[];
  /** locations of other WSDLs, or of schemas, that it imports or includes */
  readonly locations: readonly string[];
}

/** True if a file is a WSDL, by its first tag. */
export function isWsdl(bytes: Uint8Array): boolean {
  const start = documentStart(bytes.subarray(0, 64 * 1024));
  return start.kind === 'document' && start.root !== null && describesOthers(start.root) === 'a WSDL';
}

/** Throws `InputError` when it is not well-formed. */
export function wsdlParts(bytes: Uint8Array, fileName: string): WsdlParts {
  const root = parseXmlTree(bytes, { fileName });
  const found: XmlElement[] = [];
  const locations: string[] = [];
  const pending: XmlElement[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const { namespaceUri, localName } = node.name;
    if (namespaceUri === xsdNamespace && localName === 'schema') {
      found.push(node);
      continue;
    }
    if (Object.hasOwn(wsdlRoots, namespaceUri) && (localName === 'import' || localName === 'include')) {
      const location = attributeOf(node, 'location');
      if (location !== null && location.trim() !== '') locations.push(location.trim());
    }
    pending.push(...node.children.filter((child) => typeof child !== 'string').toReversed());
  }
  const lines = textOf(bytes).split(/(?<=\r\n|\n|\r(?!\n))/u);
  const schemas = found.map((node) => schemaDocument(node, lines));
  const byNamespace = Map.groupBy(found.keys(), (at) => attributeOf(found[at]!, 'targetNamespace') ?? '');
  const together = [...byNamespace]
    .filter(([, members]) => members.length > 1)
    .map(([namespace, members]) => ({ namespace, members }));
  return { schemas, together, locations };
}

/** Returns a document that includes others of one namespace. */
export function includingSchema(namespace: string, locations: readonly string[]): Uint8Array<ArrayBuffer> {
  const includes = locations.map((location) => `<xs:include schemaLocation="${escaped(location)}"/>`);
  return new TextEncoder().encode(schemaText(namespace, includes));
}

function attributeOf(node: XmlElement, localName: string): string | null {
  const found = node.attributes.find(({ name }) => name.localName === localName && name.namespaceUri === '');
  return found?.value ?? null;
}

/** Returns the element, after as many line breaks as precede it, with the namespaces in its scope. */
function schemaDocument(
  { line, column, namespaces }: XmlElement,
  lines: readonly string[],
): Uint8Array<ArrayBuffer> {
  const own = lines[line - 1]!;
  const text = own.slice(unitsOf(own, column - 1)) + lines.slice(line).join('');
  const end = endOfElement(text, 0);
  const tag = /^<(?:[^<>"']|"[^"]*"|'[^']*')*>/u.exec(text)?.[0] ?? '';
  const declared = new Set(
    [...tag.matchAll(/\sxmlns(?::([^\s=]+))?\s*=/gu)].map(([, prefix = '']) => prefix),
  );
  const inherited = [...namespaces]
    .filter(([prefix]) => prefix !== 'xml' && !declared.has(prefix))
    .map(([prefix, uri]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escaped(uri)}"`);
  const name = /^<[^\s/>]+/u.exec(tag)?.[0] ?? '';
  const document = `${'\n'.repeat(line - 1)}${name}${inherited.join('')}${text.slice(name.length, end)}`;
  return new TextEncoder().encode(document);
}
