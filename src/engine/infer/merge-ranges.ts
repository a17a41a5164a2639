/**
 * Statistics of ranges of one document (src/engine/shred/open-document.ts) as those of all of it, to the last byte: each range was read between
 * the tags of the elements that are open around it.
 */
import type { QName } from '../model/source-model.ts';
import { nameByType } from './elements-by-type.ts';
import {
  addByType,
  addChildren,
  addElement,
  addStatistics,
  nameOf,
  pairElements,
} from './merge-statistics.ts';
import { packOrdinals, unpackOrdinals } from './sibling-order.ts';
import { emptyStatistics, type DocumentStatistics, type ElementStatistics } from './statistics.ts';

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
