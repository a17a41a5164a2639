/**
 * Decides about elements directly inside one of their own name: they may be the same thing again (sections in sections), or another thing
 * with the same name (`<Comment><Date/><Comment>text</Comment></Comment>`). Statistics count the first such element separately. All
 * documents together decide, so that neither their order nor their division into runs matters.
 */
import { addChildren, addElement, nameOf } from './merge-statistics.ts';
import type { DocumentStatistics, ElementStatistics } from './statistics.ts';

/**
 * Returns the same paths, with elements that are the same thing again united with the elements that contain them. The argument is not
 * changed.
 */
export function uniteNestedElements(statistics: DocumentStatistics): DocumentStatistics {
  const pairs = findPairs(statistics).filter(([outer, inner]) => isSameThing(statistics, outer, inner));
  if (pairs.length === 0) return statistics;
  const united = structuredClone(statistics);
  const targets = [...united.elements.keys()];
  for (const [outer, inner] of pairs) targets[inner] = outer;
  for (const [outer, inner] of pairs) unite(united, outer, inner, targets);
  const kept = [...targets.keys()].filter((index) => targets[index] === index);
  const newIndexes = new Map(kept.map((index, newIndex) => [index, newIndex]));
  return {
    ...united,
    elements: kept.map((index) => {
      const element = united.elements[index]!;
      const children = element.children.map((child) => ({
        ...child,
        element: newIndexes.get(targets[child.element]!)!,
      }));
      return { ...element, children };
    }),
    roots: united.roots.map((root) => newIndexes.get(root)!),
  };
}

/** Elements and those of their name that they hold, by index. */
function findPairs({ elements }: DocumentStatistics): (readonly [number, number])[] {
  return elements.flatMap((element, outer) =>
    element.children.flatMap(({ element: inner }) =>
      inner > outer && elements[inner]!.apart !== true && nameOf(elements[inner]!) === nameOf(element)
        ? [[outer, inner] as const]
        : [],
    ),
  );
}

function isSameThing(statistics: DocumentStatistics, outer: number, inner: number): boolean {
  const around = statistics.elements[outer]!;
  const element = statistics.elements[inner]!;
  // it holds another one
  if (element.children.some((child) => child.element === inner)) return true;
  // one has values and the other elements: united, they would be mixed content, which neither is
  if (element.withChildren === 0 && element.withText > 0 && around.withText === 0) return false;
  const [held, heldAround] = [element, around].map((of) => membersOf(statistics, of));
  heldAround!.delete(nameOf(element));
  if (held!.size === 0 || heldAround!.size === 0) return true;
  return !held!.isDisjointFrom(heldAround!);
}

/** Returns the names of attributes and child elements, and of the text if there was any. */
function membersOf({ elements }: DocumentStatistics, element: ElementStatistics): Set<string> {
  return new Set([
    ...element.attributes.map((attribute) => `@${nameOf(attribute)}`),
    ...element.children.map((child) => nameOf(elements[child.element]!)),
    ...(element.withText > 0 ? ['text()'] : []),
  ]);
}

function unite(
  statistics: DocumentStatistics,
  outer: number,
  inner: number,
  targets: readonly number[],
): void {
  const around = statistics.elements[outer]!;
  const element = statistics.elements[inner]!;
  const { count, documents } = around;
  addElement(around, element);
  // every document that has the inner one has the outer one
  around.documents = documents;
  for (const attribute of around.attributes) attribute.documents = Math.min(attribute.documents, documents);
  addChildren(statistics, around, count, statistics, element, targets);
}
