/**
 * Merges the statistics of several runs. A run over documents 1 … n has the same statistics, to the last byte, as runs over 1 … k and k + 1
 * … n that are merged in this order, so that several processes can read the documents.
 */
import { packOrdinals, unpackOrdinals, nameByType } from './declared-places.ts';
import {
  addToSketch,
  emptyElementStatistics,
  forgetDigits,
  isLess,
  type DocumentStatistics,
  type ElementStatistics,
  type ValueStatistics,
  emptyStatistics,
} from './statistics.ts';
import { CLASS_DECIMAL } from './value-classes.ts';
import type { QName } from '../model/source-model.ts';

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

// Merges statistics of ranges of one document (src/engine/shred/open-document.ts). Each range is read between the tags of the elements that
// are open around it, and the result is the same, to the last byte, as for the whole document.

/** Adds to the statistics of one document's beginning those of its next range, around which `open` elements are, outermost first. */
function continueStatistics(
  into: DocumentStatistics,
  from: DocumentStatistics,
  open: readonly QName[],
): void {
  addByType(into, from, (begun, next) => continueStatistics(begun, next, open));
  into.bytes += from.bytes;
  for (const [prefix, uri] of Object.entries(from.namespaces)) into.namespaces[prefix] ??= uri;
  const targets = pairElements(into, from);
  const around = elementsAround(from, open);
  for (const [index, element] of from.elements.entries()) {
    const target = into.elements[targets[index]!]!;
    if (around.has(index)) goOn(into, target, from, element, targets, around);
    else {
      const before = target.count;
      addElement(target, element);
      target.documents = 1;
      for (const attribute of target.attributes) attribute.documents = 1;
      addChildren(into, target, before, from, element, targets);
    }
  }
}

/** Indexes of the elements that are open. */
function elementsAround({ elements, roots }: DocumentStatistics, open: readonly QName[]): Set<number> {
  const around = new Set<number>();
  let candidates: readonly number[] = roots;
  for (const name of open) {
    // the open element is the first candidate with this name, whatever the types of the candidates
    const index = candidates.find(
      (candidate) => nameOf(nameByType(elements[candidate]!).name) === nameOf(name),
    );
    if (index === undefined) break;
    around.add(index);
    candidates = elements[index]!.children.map(({ element }) => element);
  }
  return around;
}

/** The element that has begun in `into` has more children. */
function goOn(
  into: DocumentStatistics,
  target: ElementStatistics,
  from: DocumentStatistics,
  { withChildren, withText, children }: ElementStatistics,
  targets: readonly number[],
  around: ReadonlySet<number>,
): void {
  target.withChildren = Math.max(target.withChildren, withChildren);
  target.withText = Math.max(target.withText, withText);
  target.mixed = Math.min(target.withChildren, target.withText);
  const ordinals = new Map(
    target.children.map(({ element }, ordinal) => [nameOf(into.elements[element]!), ordinal]),
  );
  const knownCount = target.children.length;
  const ordinalsOfFrom = children.map(({ element, minOccurs, maxOccurs }) => {
    const ordinal = ordinals.get(nameOf(from.elements[element]!));
    if (ordinal === undefined)
      return target.children.push({ element: targets[element]!, minOccurs, maxOccurs, precededBy: [] }) - 1;
    const known = target.children[ordinal]!;
    // one of them has begun before
    const begun = around.has(element) ? 1 : 0;
    known.minOccurs += minOccurs - begun;
    known.maxOccurs += maxOccurs - begun;
    return ordinal;
  });
  for (const [index, { precededBy }] of children.entries()) {
    const ordinal = ordinalsOfFrom[index]!;
    if (ordinal < knownCount) continue;
    // the first of its name: all children in the previous ranges preceded it
    const before = new Set(unpackOrdinals(precededBy).map((one) => ordinalsOfFrom[one]!));
    target.children[ordinal]!.precededBy = packOrdinals(
      target.children.length,
      (one) => one < knownCount || before.has(one),
    );
  }
}

/** Statistics of units in the order of the documents. */
export class UnitStatistics {
  readonly #all = emptyStatistics();
  /** statistics of the document whose ranges are being added */
  #begun: DocumentStatistics | null = null;

  /** `open`: around a range of one document, outermost first, none around its first; null: the unit has whole documents. */
  add(statistics: DocumentStatistics, open: readonly QName[] | null): void {
    if (this.#begun !== null && open !== null && open.length > 0) {
      continueStatistics(this.#begun, statistics, open);
      return;
    }
    this.#end();
    if (open === null) addStatistics(this.#all, statistics);
    else this.#begun = statistics;
  }

  /** Returns the statistics of all units. */
  result(): DocumentStatistics {
    this.#end();
    return this.#all;
  }

  #end(): void {
    if (this.#begun !== null) addStatistics(this.#all, this.#begun);
    this.#begun = null;
  }
}
