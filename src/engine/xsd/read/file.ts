/** Parses XSD files, and collects their references to others. */
import type { EngineLimits } from '../../limits.ts';
import { includeConditionally, type IncludedContent } from './conditional-inclusion.ts';
import { InputError, type Diagnostic } from '../../diagnostics.ts';
import { parseXmlTree, type XmlElement } from '../../xml/tree.ts';
import { isCatalog } from './oasis-catalog.ts';
import { usesLaterVersion } from './later-version.ts';
import { collapse } from './grammar.ts';
import { xsdNamespace } from '../../model/name-labels.ts';

export const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance';
export const xmlNamespaceUri = 'http://www.w3.org/XML/1998/namespace';

export type ReferenceKind = 'include' | 'import' | 'redefine' | 'override';

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
