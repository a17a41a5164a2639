/** The namespaces that a wildcard of an XSD lets in. */
import type { QName, SourceWildcard } from './source-model.ts';

export type WildcardNamespaces = SourceWildcard['namespaces'];

/** `not` allows neither its namespace nor unqualified names (XSD Part 1 §3.10.4, cvc-wildcard-namespace). */
export function allowsNamespace(
  namespaces: WildcardNamespaces,
  namespaceUri: QName['namespaceUri'],
): boolean {
  if (namespaces === '##any') return true;
  if (isListed(namespaces)) return namespaces.includes(namespaceUri);
  return namespaceUri !== '' && namespaceUri !== namespaces.not;
}

export function isListed(namespaces: WildcardNamespaces): namespaces is readonly string[] {
  return Array.isArray(namespaces);
}
