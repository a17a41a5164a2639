/** Converts statistics to a source model: the possible content of documents like these. */
import { addChildren, addElement, nameOf } from './merge-statistics.ts';
import type { DocumentStatistics, ElementStatistics, ValueStatistics } from './statistics.ts';
import { maxDecimalDigits } from '../model/relational-model.ts';
import type {
  BuiltInType,
  SourceAttribute,
  SourceChild,
  SourceElement,
  SourceModel,
  SourceType,
  ValueType,
} from '../model/source-model.ts';
import { someOrdinal } from './declared-places.ts';
import {
  CLASS_BOOLEAN,
  CLASS_DATE,
  CLASS_DATETIME_LOCAL,
  CLASS_DATETIME_ZONED,
  CLASS_DECIMAL,
  CLASS_INTEGER,
  CLASS_SCIENTIFIC,
  CLASS_TIME,
} from './value-classes.ts';

// Elements directly inside an element of their own name. They may be the same thing (sections in sections), or another thing with the same
// name (`<Comment><Date/><Comment>text</Comment></Comment>`). Statistics count the first such element separately. All documents decide
// together, so that neither their order nor their division into runs matters.

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

// The model.

/** One element and one anonymous type per distinct path; recursion leads back to the ancestor's. */
export function inferSourceModel(collected: DocumentStatistics): SourceModel {
  const statistics = uniteNestedElements(collected);
  const types = statistics.elements.map((element) => inferType(element));
  const elements = statistics.elements.map((element, index): SourceElement => ({
    name: { namespaceUri: element.namespaceUri, localName: element.localName },
    type: index,
    global: statistics.roots.includes(index),
    nillable: element.nil > 0,
    abstract: false,
    substitutes: [],
    identityConstraints: [],
  }));
  const firstRoot = statistics.elements[statistics.roots[0] ?? -1];
  return {
    elements,
    types,
    roots: statistics.roots,
    primaryRoots: statistics.roots.length,
    targetNamespace: firstRoot === undefined || firstRoot.namespaceUri === '' ? null : firstRoot.namespaceUri,
    namespaces: prefixesFor(statistics),
    inferred: true,
  };
}

function inferType(element: ElementStatistics): SourceType {
  const attributes = element.attributes.map((attribute): SourceAttribute => ({
    name: { namespaceUri: attribute.namespaceUri, localName: attribute.localName },
    type: inferValue(attribute.value),
    required: attribute.count === element.count,
  }));
  const hasChildren = element.withChildren > 0;
  // text in some elements and children in others is also mixed content
  const mixed = hasChildren && element.withText > 0;
  // an element that never has a value only has attributes; without these, it may still get a value
  const valueless = attributes.length > 0 && element.text.count === element.text.empty;
  const content = mixed ? 'mixed' : hasChildren ? 'elements' : valueless ? 'empty' : 'simple';
  return {
    name: null,
    complex: hasChildren || attributes.length > 0,
    abstract: false,
    content,
    value: content === 'simple' ? inferValue(element.text) : null,
    attributes,
    children: inferChildren(element),
    anyElement: null,
    anyAttribute: null,
    base: null,
    derivation: null,
    derived: [],
  };
}

/**
 * Returns the children in an order that no parent contradicts. Children that occur once need no position, unless parents disagree about
 * their order; if others are between them, these have positions.
 */
function inferChildren(element: ElementStatistics): SourceChild[] {
  const { children } = element;
  const single = children.map((child) => child.maxOccurs <= 1);
  const waiting = new Set(children.keys());
  const order: number[] = [];
  const disordered = new Set<number>();
  const blocked = (ordinal: number): boolean =>
    someOrdinal(
      children[ordinal]!.precededBy,
      (before) => before !== ordinal && single[before] === true && waiting.has(before),
    );
  const unblocked = (): number | undefined => {
    for (const ordinal of waiting) if (!single[ordinal] || !blocked(ordinal)) return ordinal;
    return undefined;
  };
  while (waiting.size > 0) {
    let next = unblocked();
    if (next === undefined) {
      // every remaining child comes after another one in some element
      for (const ordinal of waiting) disordered.add(ordinal);
      next = Math.min(...waiting);
    }
    waiting.delete(next);
    order.push(next);
  }
  return order.map((ordinal) => {
    const child = children[ordinal]!;
    return {
      element: child.element,
      minOccurs: Number.isFinite(child.minOccurs) ? child.minOccurs : 0,
      maxOccurs: child.maxOccurs > 1 ? null : 1,
      orderImplied: !disordered.has(ordinal),
    };
  });
}

function atomic(base: BuiltInType, more: Partial<ValueType> = {}): ValueType {
  return { variety: 'atomic', base, facets: {}, guessed: true, ...more };
}

/** Decimals, some of which have an exponent: a column of these has their digits, and none is rounded to a double. */
export const scientificNumber: ValueType = {
  variety: 'union',
  base: 'anySimpleType',
  facets: {},
  memberTypes: [
    { variety: 'atomic', base: 'decimal', facets: {} },
    { variety: 'atomic', base: 'double', facets: {} },
  ],
  guessed: true,
};

/** The narrowest type that all values have and that gives their text back; empty ones aside. */
export function inferValue(value: ValueStatistics): ValueType {
  const type = inferFilled(value);
  return value.empty > 0 && type.base !== 'string' ? { ...type, mayBeEmpty: true } : type;
}

function inferFilled(value: ValueStatistics): ValueType {
  if (value.count === value.empty) return atomic('string', value.count > 0 ? { unfilled: true } : {});
  const { classes } = value;
  if ((classes & CLASS_BOOLEAN) !== 0) return atomic('boolean');
  if ((classes & CLASS_INTEGER) !== 0) {
    // one digit less than the widest value of the type, because later documents may have larger numbers
    if (value.wholeDigits <= 9) return atomic('int');
    if (value.wholeDigits <= 18) return atomic('long');
    // without a scale, most databases would add zeros after the point
    const isBounded = value.wholeDigits <= maxDecimalDigits;
    return atomic(
      'decimal',
      isBounded ? { facets: { totalDigits: maxDecimalDigits, fractionDigits: 0 } } : {},
    );
  }
  if ((classes & CLASS_DECIMAL) !== 0) {
    const uniform = value.minFraction === value.maxFraction && value.maxFraction > 0;
    // a fixed scale prints every value unchanged; values with different scales need a column without one
    const totalDigits = Math.max(18, value.wholeDigits + value.maxFraction + 6);
    return atomic('decimal', uniform ? { facets: { totalDigits, fractionDigits: value.maxFraction } } : {});
  }
  if ((classes & CLASS_SCIENTIFIC) !== 0) return scientificNumber;
  if ((classes & CLASS_DATE) !== 0) return atomic('date', { zone: 'never' });
  if ((classes & CLASS_TIME) !== 0) return atomic('time', { zone: 'never' });
  if ((classes & CLASS_DATETIME_LOCAL) !== 0) return atomic('dateTime', { zone: 'never' });
  if ((classes & CLASS_DATETIME_ZONED) !== 0)
    return atomic('dateTime', {
      zone: 'always',
      ...(value.withOffset === undefined ? {} : { offsets: true as const }),
    });
  return atomic('string');
}

/** Returns unique prefixes for all namespaces: those of the documents if they declared one. */
function prefixesFor(statistics: DocumentStatistics): Record<string, string> {
  const prefixes: Record<string, string> = {};
  const bound = new Set<string>();
  for (const [prefix, uri] of Object.entries(statistics.namespaces)) {
    if (bound.has(uri)) continue;
    prefixes[prefix] = uri;
    bound.add(uri);
  }
  let number = 0;
  for (const element of statistics.elements) {
    for (const uri of [
      element.namespaceUri,
      ...element.attributes.map((attribute) => attribute.namespaceUri),
    ]) {
      if (uri === '' || bound.has(uri)) continue;
      do number += 1;
      while (`ns${number}` in prefixes);
      prefixes[`ns${number}`] = uri;
      bound.add(uri);
    }
  }
  return prefixes;
}
