/** Chooses the elements of a source model that documents can have as their root. */
import { clarkName, type QName, type SourceModel } from '../model/source-model.ts';

/** Returns the indexes of the wanted root elements, in the source model's order; unknown names are left out. */
export function chooseRoots(source: SourceModel, wanted: readonly QName[] | undefined): number[] {
  if (wanted === undefined || wanted.length === 0)
    return source.primaryRoots > 0 ? source.roots.slice(0, source.primaryRoots) : [...source.roots];
  const roots = rootsNamed(source, wanted);
  const known = new Set(roots.map((root) => clarkName(source.elements[root]!.name)));
  return [
    ...roots,
    ...innerElements(
      source,
      wanted.map(clarkName).filter((name) => !known.has(name)),
    ),
  ];
}

/**
 * Returns the elements of these names that documents may start with. A name without a namespace matches elements of any namespace if there
 * is no exact match.
 */
export function rootsNamed(source: SourceModel, wanted: readonly QName[]): number[] {
  const names = new Set(wanted.map(clarkName));
  const bare = new Set(wanted.filter((name) => name.namespaceUri === '').map((name) => name.localName));
  const exact = source.roots.filter((root) => names.has(clarkName(source.elements[root]!.name)));
  return exact.length > 0
    ? exact
    : source.roots.filter((root) => bare.has(source.elements[root]!.name.localName));
}

/**
 * Returns elements whose parts of documents may be documents themselves (`--row-tag`): the first of each name, among elements that no
 * document starts with.
 */
function innerElements(source: SourceModel, wanted: readonly string[]): number[] {
  if (wanted.length === 0) return [];
  const missing = new Set(wanted);
  return source.elements.flatMap(({ name }, index) => (missing.delete(clarkName(name)) ? [index] : []));
}

/** Returns whether documents of the model may start with an element of that name. */
export function startsWith(model: SourceModel, { namespaceUri, localName }: QName): boolean {
  return model.roots.some((at) => {
    const { name } = model.elements[at]!;
    return name.namespaceUri === namespaceUri && name.localName === localName;
  });
}
