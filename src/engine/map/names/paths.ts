/** Absolute XPaths as the interface shows them: without predicates, and with prefixes only if they are needed. */
import type { QName, SourceModel } from '../../model/source-model.ts';

export interface PathPrinter {
  root(element: number): string;
  child(parent: string, name: QName): string;
  attribute(parent: string, name: QName): string;
}

/**
 * Prints a prefix of the model's `namespaces` only for steps whose namespace is not that of the (first) root. If that namespace and no
 * namespace have the same local name, elements of the latter are `{}local`, and attributes of the former have their prefix.
 */
export function createPathPrinter(model: SourceModel, roots: readonly number[]): PathPrinter {
  const first = roots[0];
  const rootNamespace = first === undefined ? '' : model.elements[first]!.name.namespaceUri;
  const prefixes = new Map(Object.entries(model.namespaces).map(([prefix, uri]) => [uri, prefix]));
  const elementsInBoth = localsInBoth(model.elements, rootNamespace);
  const attributes = rootNamespace === '' ? [] : model.types.flatMap((type) => type.attributes);
  const attributesInBoth = localsInBoth(attributes, rootNamespace);
  const prefixed = ({ namespaceUri, localName }: QName): string => {
    const prefix = prefixes.get(namespaceUri);
    return prefix === undefined ? localName : `${prefix}:${localName}`;
  };
  const step = (name: QName): string => {
    const { namespaceUri, localName } = name;
    if (namespaceUri === '') return elementsInBoth.has(localName) ? `{}${localName}` : localName;
    return namespaceUri === rootNamespace ? localName : prefixed(name);
  };
  const attributeStep = (name: QName): string => {
    const { namespaceUri, localName } = name;
    const isPlain =
      namespaceUri === '' || (namespaceUri === rootNamespace && !attributesInBoth.has(localName));
    return isPlain ? localName : prefixed(name);
  };
  return {
    root: (element) => `/${step(model.elements[element]!.name)}`,
    child: (parent, name) => `${parent}/${step(name)}`,
    attribute: (parent, name) => `${parent}/@${attributeStep(name)}`,
  };
}

/** Local names that occur both in no namespace and in `uri`. */
function localsInBoth(declarations: readonly { readonly name: QName }[], uri: string): ReadonlySet<string> {
  if (uri === '') return new Set();
  const bare = new Set<string>();
  const qualified = new Set<string>();
  for (const { name } of declarations) {
    if (name.namespaceUri === '') bare.add(name.localName);
    else if (name.namespaceUri === uri) qualified.add(name.localName);
  }
  return bare.intersection(qualified);
}
