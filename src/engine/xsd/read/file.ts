/** Parses XSD files, and collects their references to others. Leaves out content that is meant for other processors. */
import { type XmlElement, parseXmlTree } from '../../xml/tree.ts';
import { collapse } from './grammar.ts';
import { xsdNamespace } from '../../model/name-labels.ts';
import type { EngineLimits } from '../../limits.ts';
import { InputError, type Diagnostic } from '../../diagnostics.ts';
import { isCatalog } from './oasis-catalog.ts';

// Conditional inclusion by the versioning namespace (XSD 1.1).

const versioningNamespace = 'http://www.w3.org/2007/XMLSchema-versioning';
/** the version that this compiler supports: XSD 1.0, and from 1.1 the parts that the model can represent */
const version = 1.1;

/** A document as it is read, and the elements of it that are not. */
interface IncludedContent {
  readonly root: XmlElement;
  readonly excluded: readonly XmlElement[];
}

/**
 * Removes elements that are meant for other processors (XSD 1.1 Part 1 §4.2.2), so that alternative definitions of one component do not
 * clash. Documents that do not use the versioning namespace are returned unchanged.
 */
function includeConditionally(
  root: XmlElement,
  isTypeKnown: (localName: string) => boolean,
): IncludedContent {
  const excluded: XmlElement[] = [];
  const uses = [...root.namespaces.values()].includes(versioningNamespace);
  return { root: uses ? prune(root, isTypeKnown, excluded) : root, excluded };
}

function prune(
  node: XmlElement,
  isTypeKnown: (localName: string) => boolean,
  excluded: XmlElement[],
): XmlElement {
  const children: (XmlElement | string)[] = [];
  for (const child of node.children) {
    if (typeof child === 'string') children.push(child);
    else if (isIncluded(child, isTypeKnown)) children.push(prune(child, isTypeKnown, excluded));
    else excluded.push(child);
  }
  return { ...node, children };
}

function isIncluded(node: XmlElement, isTypeKnown: (localName: string) => boolean): boolean {
  const known = (qualifiedName: string) => isTypeKnown(qualifiedName.slice(qualifiedName.indexOf(':') + 1));
  for (const { name, value } of node.attributes) {
    if (name.namespaceUri !== versioningNamespace) continue;
    const words = collapse(value).split(' ');
    const isMet =
      name.localName === 'minVersion'
        ? Number(words[0]) <= version
        : name.localName === 'maxVersion'
          ? version < Number(words[0])
          : name.localName === 'typeAvailable'
            ? words.every(known)
            : name.localName === 'typeUnavailable'
              ? !words.every(known)
              : name.localName !== 'facetUnavailable';
    if (!isMet) return false;
  }
  return true;
}

// Detects documents that are written for XSD 1.1: their sets may use constructs that XSD 1.0 forbids.

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
function usesLaterVersion(root: XmlElement): boolean {
  // a loop, because elements may nest deeper than recursive calls can
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

// Files and their references.

export const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance';
export const xmlNamespaceUri = 'http://www.w3.org/XML/1998/namespace';

type ReferenceKind = 'include' | 'import' | 'redefine' | 'override';

/** An include, import, redefine or override element. */
export interface DocumentReference {
  readonly kind: ReferenceKind;
  readonly node: XmlElement;
  /** location as given; null when absent */
  readonly location: string | null;
  /** import only; '' for no namespace */
  readonly namespace: string;
}

/** One uploaded XSD file, parsed. */
export interface SchemaFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly root: XmlElement;
  /** target namespace as written; '' when absent */
  readonly targetNamespace: string;
  readonly references: readonly DocumentReference[];
  /** it is written for XSD 1.1 */
  readonly later: boolean;
  /** elements of it that are meant for processors of other versions and are not part of `root` */
  readonly excluded: readonly XmlElement[];
  /** why it cannot be used: not well-formed, or not an XSD document; such a file counts as empty */
  readonly fault: Diagnostic | null;
  /** root element of a file that is not an XSD document but an OASIS XML Catalog */
  readonly catalog: XmlElement | null;
}

/** Value of an attribute without namespace. */
export function attributeOf(node: XmlElement, localName: string): string | undefined {
  for (const { name, value } of node.attributes) {
    if (name.localName === localName && name.namespaceUri === '') return value;
  }
  return undefined;
}

/** True for an element of the XSD namespace. */
export function isXsd(child: XmlElement | string): child is XmlElement {
  return typeof child !== 'string' && child.name.namespaceUri === xsdNamespace;
}

/** The first child element of the XSD namespace with one of the names. */
export function firstXsdChild(node: XmlElement, ...localNames: string[]): XmlElement | undefined {
  return node.children.find(
    (child): child is XmlElement => isXsd(child) && localNames.includes(child.name.localName),
  );
}

/** Parses one file. A fault is stored in `fault`, and reported when the file is needed. */
export function parseSchemaFile(
  { name, bytes }: { name: string; bytes: Uint8Array },
  limits: EngineLimits,
  isTypeKnown: (localName: string) => boolean,
): SchemaFile {
  let content: IncludedContent;
  try {
    content = includeConditionally(parseXmlTree(bytes, { limits, fileName: name }), isTypeKnown);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return emptyFile(name, bytes, null, { ...error.diagnostic, file: name });
  }
  const { root, excluded } = content;
  if (root.name.localName !== 'schema' || root.name.namespaceUri !== xsdNamespace) {
    const message = `The root element is ${root.name.localName}, not schema of ${xsdNamespace}`;
    const { line, column } = root;
    return emptyFile(name, bytes, isCatalog(root) ? root : null, {
      code: 'xsd_not_a_schema',
      severity: 'error',
      message,
      file: name,
      line,
      column,
    });
  }
  const references: DocumentReference[] = [];
  for (const child of root.children) {
    if (!isXsd(child)) continue;
    const kind = child.name.localName;
    if (kind !== 'include' && kind !== 'import' && kind !== 'redefine' && kind !== 'override') continue;
    const location = attributeOf(child, 'schemaLocation');
    references.push({
      kind,
      node: child,
      location: location === undefined ? null : collapse(location),
      namespace: collapse(attributeOf(child, 'namespace') ?? ''),
    });
  }
  const targetNamespace = collapse(attributeOf(root, 'targetNamespace') ?? '');
  const later = usesLaterVersion(root);
  return { name, bytes, root, targetNamespace, references, later, excluded, fault: null, catalog: null };
}

function emptyFile(
  name: string,
  bytes: Uint8Array,
  catalog: XmlElement | null,
  fault: Diagnostic,
): SchemaFile {
  const root: XmlElement = {
    name: { namespaceUri: xsdNamespace, localName: 'schema' },
    attributes: [],
    children: [],
    namespaces: new Map(),
    line: 1,
    column: 1,
  };
  return {
    name,
    bytes,
    root,
    targetNamespace: '',
    references: [],
    later: false,
    excluded: [],
    fault,
    catalog,
  };
}
