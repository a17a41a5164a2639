/** Prefixes for the namespaces of a set, for people to read. */
import { xmlNamespaceUri } from '../read/file.ts';
import type { SchemaDocument } from './terms.ts';

/**
 * Chooses one prefix per namespace: the first free one that a document of the set declares for it, otherwise `ns1`, `ns2`, … Prefixes
 * differ in more than case.
 */
export function choosePrefixes(
  namespaceUris: Iterable<string>,
  documents: readonly SchemaDocument[],
): Record<string, string> {
  const declared = new Map<string, string[]>();
  for (const { file } of documents) {
    for (const [prefix, uri] of file.root.namespaces) {
      if (prefix === '' || prefix === 'xml') continue;
      const prefixes = declared.get(uri);
      if (prefixes === undefined) declared.set(uri, [prefix]);
      else if (!prefixes.includes(prefix)) prefixes.push(prefix);
    }
  }
  const chosen = new Map<string, string>();
  const taken = new Set(['xml', 'xmlns']);
  const take = (prefix: string, uri: string) => {
    taken.add(prefix.toLowerCase());
    chosen.set(prefix, uri);
  };
  const left: string[] = [];
  for (const uri of new Set(namespaceUris)) {
    if (uri === '') continue;
    if (uri === xmlNamespaceUri) {
      chosen.set('xml', uri);
      continue;
    }
    const prefix = declared.get(uri)?.find((candidate) => !taken.has(candidate.toLowerCase()));
    if (prefix === undefined) left.push(uri);
    else take(prefix, uri);
  }
  let number = 1;
  for (const uri of left) {
    while (taken.has(`ns${number}`)) number++;
    take(`ns${number}`, uri);
  }
  return Object.fromEntries(chosen);
}
