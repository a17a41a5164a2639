/**
 * Expanded names in rows (`element`, `type`, paths of `_unmapped`). They are short if they are unique in the model, and always
 * reversible: `local`, `prefix:local` with a prefix of the model, or `{uri}local`.
 */
import { membersOf } from './packed/reader.ts';
import type { PlanEdge, RelationalModel } from './relational-model.ts';
import { clarkName, type QName } from './source-model.ts';
import { ncName } from '../xsd/values/lexical-form.ts';

export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
export const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance';
export const xsdNamespace = 'http://www.w3.org/2001/XMLSchema';

export interface NameLabels {
  /** no prefix for names in the root's namespace and in none; `{}local` for no namespace if both have an element with the name */
  element(name: QName): string;
  /** no prefix in the root's namespace; `{}local` for no namespace if the root has one */
  type(name: QName): string;
  /** no prefix for no namespace */
  attribute(name: QName): string;
  /** the name of a label, or null for a text that is not a label of this model */
  typeOf(label: string): QName | null;
  attributeOf(label: string): QName | null;
}

export function createNameLabels(model: RelationalModel): NameLabels {
  const rootUri = model.roots[0]?.name.namespaceUri ?? '';
  const prefixes = new Map([[xmlNamespace, 'xml']]);
  for (const [prefix, uri] of Object.entries(model.namespaces))
    if (!prefixes.has(uri)) prefixes.set(uri, prefix);
  const uris = new Map([...prefixes].map(([uri, prefix]) => [prefix, uri]));
  let known: Set<string> | null = rootUri === '' ? new Set() : null;
  // walks through the whole model, for models with elements in no namespace in addition to the root's
  const inBoth = (): Set<string> => (known ??= localsInBoth(model, rootUri));

  const qualified = (name: QName): string => {
    const prefix = prefixes.get(name.namespaceUri);
    return prefix === undefined ? clarkName(name) : `${prefix}:${name.localName}`;
  };
  const parse = (label: string, unprefixedUri: string): QName | null => {
    const [, uri, prefix, localName] = /^(?:\{([^}]*)\}|([^:]+):)?([^:\s]+)$/.exec(label) ?? [];
    const namespaceUri = prefix === undefined ? (uri ?? unprefixedUri) : uris.get(prefix);
    if (localName === undefined || namespaceUri === undefined || !ncName.test(localName)) return null;
    return { namespaceUri, localName };
  };
  return {
    element(name) {
      if (name.namespaceUri === '')
        return inBoth().has(name.localName) ? `{}${name.localName}` : name.localName;
      return name.namespaceUri === rootUri ? name.localName : qualified(name);
    },
    type(name) {
      if (name.namespaceUri === rootUri) return name.localName;
      return name.namespaceUri === '' ? `{}${name.localName}` : qualified(name);
    },
    attribute: (name) => (name.namespaceUri === '' ? name.localName : qualified(name)),
    typeOf: (label) => parse(label, rootUri),
    attributeOf: (label) => parse(label, ''),
  };
}

/** Local names that elements have both in no namespace and in `uri`. */
function localsInBoth(model: RelationalModel, uri: string): Set<string> {
  const bare = new Set<string>();
  const qualified = new Set<string>();
  const note = (edges: readonly PlanEdge[]): void => {
    for (const { name } of edges) {
      if (name.namespaceUri === '') bare.add(name.localName);
      else if (name.namespaceUri === uri) qualified.add(name.localName);
    }
  };
  note(model.roots);
  for (const edges of membersOf(model.nodes, 'edges')) note(edges);
  return bare.intersection(qualified);
}

/** The steps of an absolute path; a `{uri}` may hold slashes. */
export function pathSteps(xpath: string): string[] {
  return xpath.match(/(?:\{[^}]*\}|[^/{])+/g) ?? [];
}
