/** Absolute XPaths as the interface shows them: no predicates, prefixes only where they tell something. */
import type { QName, SourceModel } from '../model/source-model.ts';

export interface PathPrinter {
  root(element: number): string;
  child(parent: string, name: QName): string;
  attribute(parent: string, name: QName): string;
}

/** A step has a prefix of the model's `namespaces` only where its namespace is not the (first) root's. */
export function createPathPrinter(model: SourceModel, roots: readonly number[]): PathPrinter {
  const first = roots[0];
  const rootNamespace = first === undefined ? '' : model.elements[first]!.name.namespaceUri;
  const prefixes = new Map(Object.entries(model.namespaces).map(([prefix, uri]) => [uri, prefix]));
  const step = (name: QName): string => {
    if (name.namespaceUri === '' || name.namespaceUri === rootNamespace) return name.localName;
    const prefix = prefixes.get(name.namespaceUri);
    return prefix === undefined ? name.localName : `${prefix}:${name.localName}`;
  };
  return {
    root: (element) => `/${step(model.elements[element]!.name)}`,
    child: (parent, name) => `${parent}/${step(name)}`,
    attribute: (parent, name) => `${parent}/@${step(name)}`,
  };
}
