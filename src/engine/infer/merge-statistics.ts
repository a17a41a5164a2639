/**
 * Statistics of several runs as those of one. A run over documents 1 … n says the same, to the last byte, as runs over 1 … k and
 * k + 1 … n that are merged in this order: so documents may be read by many processes.
 */
import { packOrdinals, unpackOrdinals } from './sibling-order.ts';
import {
  addToSketch,
  emptyElementStatistics,
  forgetDigits,
  isLess,
  type DocumentStatistics,
  type ElementStatistics,
  type ValueStatistics,
} from './statistics.ts';
import { CLASS_DECIMAL } from './values/classes.ts';

/** The statistics of both runs together; neither argument is changed. */
export function mergeStatistics(a: DocumentStatistics, b: DocumentStatistics): DocumentStatistics {
  const merged = structuredClone(a);
  addStatistics(merged, b);
  return merged;
}

/** Adds the statistics of a later run. `from` is not changed and shares nothing with `into` afterwards. */
export function addStatistics(into: DocumentStatistics, from: DocumentStatistics): void {
  addByType(into, from, addStatistics);
  into.documents += from.documents;
  into.bytes += from.bytes;
  for (const [prefix, uri] of Object.entries(from.namespaces)) into.namespaces[prefix] ??= uri;
  const targets = pairElements(into, from);
  for (const [index, element] of from.elements.entries()) {
    const target = into.elements[targets[index]!]!;
    const before = target.count;
    addElement(target, element);
    addChildren(into, target, before, from, element, targets);
  }
}

/** Adds to the statistics by type, before anything is added to those of names alone, from which they begin. */
export function addByType(
  into: DocumentStatistics,
  from: DocumentStatistics,
  add: (into: DocumentStatistics, from: DocumentStatistics) => void,
): void {
  if (into.byType === undefined && from.byType === undefined) return;
  into.byType ??= structuredClone(into);
  const { byType, ...byName } = from;
  add(into.byType, byType ?? byName);
}

/** Returns, for each element of `from`, the one of `into` with the same path. New ones are added in the order of their first occurrence. */
export function pairElements(into: DocumentStatistics, from: DocumentStatistics): readonly number[] {
  const parents = parentsOf(from);
  const known = new Map<number, Map<string, number>>();
  const childrenOf = (index: number): Map<string, number> => {
    let children = known.get(index);
    if (children === undefined) {
      const links = into.elements[index]!.children;
      children = new Map(links.map(({ element }) => [nameOf(into.elements[element]!), element]));
      known.set(index, children);
    }
    return children;
  };
  const isApart = (index: number): boolean => into.elements[index]!.apart === true;
  /** The child of the element itself, or of the one of its name around it or in it: their children are on one path. */
  const childOf = (parent: number, name: string): number | undefined => {
    const target = targets[parent]!;
    const found = childrenOf(target).get(name);
    const own = nameOf(from.elements[parent]!);
    if (found !== undefined || name === own || isApart(target)) return found;
    const outer = parents[parent];
    const isNested = outer !== undefined && nameOf(from.elements[outer]!) === own;
    if (isNested) return childrenOf(targets[outer]!).get(name);
    const inner = childrenOf(target).get(own);
    // one that was there before the element is around it, not in it
    return inner === undefined || inner < target || isApart(inner) ? undefined : childrenOf(inner).get(name);
  };
  const roots = new Map(into.roots.map((index) => [nameOf(into.elements[index]!), index]));
  const targets: number[] = [];
  for (const [index, element] of from.elements.entries()) {
    const parent = parents[index];
    const name = nameOf(element);
    const found = parent === undefined ? roots.get(name) : childOf(parent, name);
    const target =
      found ??
      into.elements.push({
        ...emptyElementStatistics(element.namespaceUri, element.localName),
        ...(element.apart === true ? { apart: true as const } : {}),
      }) - 1;
    if (parent === undefined && found === undefined) into.roots.push(target);
    targets.push(target);
  }
  return targets;
}

/**
 * Returns, for each element, the one it first occurred in, or undefined for roots. A child that precedes its parent is a recursive
 * ancestor.
 */
function parentsOf({ elements, roots }: DocumentStatistics): readonly (number | undefined)[] {
  const parents: (number | undefined)[] = elements.map(() => undefined);
  const isRoot = new Set(roots);
  for (const [index, { children }] of elements.entries())
    for (const { element } of children)
      if (element > index && !isRoot.has(element)) parents[element] ??= index;
  return parents;
}

/** `before`: number of occurrences of the element before those of `from`; `targets`: the elements that correspond to those of `from`. */
export function addChildren(
  into: DocumentStatistics,
  target: ElementStatistics,
  before: number,
  from: DocumentStatistics,
  element: ElementStatistics,
  targets: readonly number[],
): void {
  const ordinals = new Map(
    target.children.map(({ element: child }, ordinal) => [nameOf(into.elements[child]!), ordinal]),
  );
  const knownCount = target.children.length;
  const met = new Set<number>();
  const ordinalsOfFrom = element.children.map((child) => {
    const ordinal = ordinals.get(nameOf(from.elements[child.element]!));
    const known = ordinal === undefined ? undefined : target.children[ordinal]!;
    if (ordinal === undefined || known === undefined) {
      const minOccurs = before > 0 ? 0 : child.minOccurs;
      const { maxOccurs } = child;
      return (
        target.children.push({ element: targets[child.element]!, minOccurs, maxOccurs, precededBy: [] }) - 1
      );
    }
    known.minOccurs = Math.min(known.minOccurs, child.minOccurs);
    known.maxOccurs = Math.max(known.maxOccurs, child.maxOccurs);
    met.add(ordinal);
    return ordinal;
  });
  if (element.count > 0)
    for (let ordinal = 0; ordinal < knownCount; ordinal += 1)
      if (!met.has(ordinal)) target.children[ordinal]!.minOccurs = 0;
  for (const [index, { precededBy }] of element.children.entries()) {
    const child = target.children[ordinalsOfFrom[index]!]!;
    const before = new Uint8Array(target.children.length);
    for (const ordinal of unpackOrdinals(child.precededBy)) before[ordinal] = 1;
    for (const ordinal of unpackOrdinals(precededBy)) before[ordinalsOfFrom[ordinal]!] = 1;
    child.precededBy = packOrdinals(before.length, (ordinal) => before[ordinal] === 1);
  }
}

export function nameOf({
  namespaceUri,
  localName,
}: {
  readonly namespaceUri: string;
  readonly localName: string;
}): string {
  return `${localName} ${namespaceUri}`;
}

/** Adds everything except the children. */
export function addElement(into: ElementStatistics, from: ElementStatistics): void {
  into.count += from.count;
  into.documents += from.documents;
  into.withChildren += from.withChildren;
  into.withText += from.withText;
  into.mixed += from.mixed;
  into.nil += from.nil;
  into.textRuns += from.textRuns;
  if (from.withOthers !== undefined) into.withOthers = (into.withOthers ?? 0) + from.withOthers;
  addValues(into.text, from.text);
  const known = new Map(into.attributes.map((attribute) => [nameOf(attribute), attribute]));
  for (const attribute of from.attributes) {
    const same = known.get(nameOf(attribute));
    if (same === undefined) into.attributes.push(structuredClone(attribute));
    else {
      same.count += attribute.count;
      same.documents += attribute.documents;
      addValues(same.value, attribute.value);
    }
  }
}

export function addValues(into: ValueStatistics, from: ValueStatistics): void {
  const intoSeen = into.count > into.empty;
  const fromSeen = from.count > from.empty;
  if (fromSeen) {
    into.minLength = intoSeen ? Math.min(into.minLength, from.minLength) : from.minLength;
    into.maxLength = Math.max(into.maxLength, from.maxLength);
    into.minFraction = intoSeen ? Math.min(into.minFraction, from.minFraction) : from.minFraction;
    into.maxFraction = Math.max(into.maxFraction, from.maxFraction);
    into.wholeDigits = Math.max(into.wholeDigits, from.wholeDigits);
  }
  into.count += from.count;
  into.empty += from.empty;
  into.classes &= from.classes;
  if ((into.classes & CLASS_DECIMAL) === 0) forgetDigits(into);
  if (from.min !== null && (into.min === null || isLess(from.min, into.min))) into.min = from.min;
  if (from.max !== null && (into.max === null || isLess(into.max, from.max))) into.max = from.max;
  for (const hash of from.sketch) addToSketch(into.sketch, hash);
  if (from.withOffset !== undefined) into.withOffset = (into.withOffset ?? 0) + from.withOffset;
}
