/** Extracts the schemas of a WSDL (WSDL 1.1, 2.2; WSDL 2.0, 3.1), each as a separate document. */
import { parseXmlTree, type XmlElement } from '../../xml/tree.ts';
import { describesOthers, documentStart, wsdlRoots } from './document.ts';
import { xsdNamespace } from '../../model/name-labels.ts';
import { endOfElement, escaped, schemaText, textOf, unitsOf } from './standalone-set.ts';

export interface WsdlParts {
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
