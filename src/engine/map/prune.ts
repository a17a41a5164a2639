/**
 * `--prune`: an XSD allows far more than documents contain. Content that is absent from the statistics of documents is left out of the
 * model; if it occurs later, it is kept as unmapped content.
 */
import { addValues } from '../infer/merge-statistics.ts';
import { inferValue } from '../infer/source-model.ts';
import type {
  AttributeStatistics,
  DocumentStatistics,
  ElementStatistics,
  ValueStatistics,
} from '../infer/statistics.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { clarkName, type SourceAttribute, type SourceModel, type SourceType } from '../model/source-model.ts';
import { actualTypesOf, variantsOf } from './tables/type-graph.ts';
import { CLASS_INTEGER } from '../infer/value-classes.ts';
import { longDigits } from './tables/column-types.ts';
import { someHaveZone } from './tables/zones.ts';

/** the most attributes of one type allowed only by a wildcard for which each gets a column */
const maxWildcardAttributes = 100;

/**
 * Returns the same elements and types (by index) with the children, attributes, members and derivations that occurred. Attributes that only
 * a wildcard allows (SDMX's dimensions) become attributes of their own, of the type of their values; if there are too many, none of them
 * does.
 */
export function pruneSourceModel(source: SourceModel, statistics: DocumentStatistics): SourceModel {
  const used = findUsed(source, statistics);
  return {
    ...source,
    namespaces: withNamespacesMet(source.namespaces, used, statistics),
    elements: source.elements.map((element) =>
      element.substitutes.length === 0
        ? element
        : { ...element, substitutes: element.substitutes.filter((member) => used.elements.has(member)) },
    ),
    types: source.types.map((type, index) => ({
      ...type,
      ...prunedAttributes(type, index, used),
      children: used.types.has(index)
        ? type.children.filter((child) => used.children.has(`${index} ${child.element}`))
        : [],
      derived: type.derived.filter((derived) => used.derived.has(derived)),
    })),
  };
}

/** Adds the namespaces of attributes that only a wildcard allows, with the prefixes that documents use for them. */
function withNamespacesMet(
  known: SourceModel['namespaces'],
  { wildcards }: Used,
  statistics: DocumentStatistics,
): SourceModel['namespaces'] {
  const prefixes = new Map(Object.entries(known).map(([prefix, uri]) => [uri, prefix]));
  const taken = new Set(prefixes.values());
  const ofDocuments = Object.entries(statistics.namespaces);
  for (const attributes of wildcards.values())
    for (const { namespaceUri } of attributes.values()) {
      if (namespaceUri === '' || prefixes.has(namespaceUri)) continue;
      const [prefix = 'ns'] = ofDocuments.find(([, uri]) => uri === namespaceUri) ?? [];
      let free = prefix;
      for (let count = 2; taken.has(free); count += 1) free = `${prefix}${count}`;
      taken.add(free);
      prefixes.set(namespaceUri, free);
    }
  return Object.fromEntries(Array.from(prefixes, ([uri, prefix]) => [prefix, uri]));
}

/** Returns the types that elements of documents may have had. */
export function observedTypes(source: SourceModel, statistics: DocumentStatistics): SourceType[] {
  return [...findUsed(source, statistics).types].map((type) => source.types[type]!);
}

function prunedAttributes(
  type: SourceType,
  index: number,
  { types, attributes, wildcards }: Used,
): Pick<SourceType, 'attributes' | 'anyAttribute'> {
  if (!types.has(index))
    return { attributes: type.attributes.filter(({ required }) => required), anyAttribute: null };
  const declared = type.attributes.filter(
    (attribute) => attribute.required || attributes.has(`${index} ${clarkName(attribute.name)}`),
  );
  const others = [...(wildcards.get(index)?.values() ?? [])];
  const areMany = others.length > maxWildcardAttributes;
  const own = areMany
    ? []
    : others.map((met): SourceAttribute => {
        const { namespaceUri, localName, value } = met;
        return { name: { namespaceUri, localName }, type: inferValue(value), required: false };
      });
  return { attributes: [...declared, ...own], anyAttribute: areMany ? type.anyAttribute : null };
}

interface Used {
  /** elements that occurred, and the types that they may have had */
  readonly elements: ReadonlySet<number>;
  readonly types: ReadonlySet<number>;
  /** `type element` of children, `type name` of attributes that occurred */
  readonly children: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
  /** keyed by type: attributes that its wildcard allowed, by name, with the statistics over all of its elements */
  readonly wildcards: ReadonlyMap<number, ReadonlyMap<string, AttributeStatistics>>;
  /** types with content that only they have, which were therefore named by xsi:type */
  readonly derived: ReadonlySet<number>;
}

/** Returns indexes by Clark name. Only few elements of a large set are looked up, because the roots of documents are among its roots. */
function globalElements(
  { elements, roots }: SourceModel,
  wanted: ReadonlyMap<string, unknown>,
): Map<string, number> {
  const found = new Map<string, number>();
  const look = (at: number): void => {
    const { global, name } = elements[at]!;
    const key = clarkName(name);
    if (global && wanted.has(key) && !found.has(key)) found.set(key, at);
  };
  for (const root of roots) {
    if (found.size === wanted.size) return found;
    look(root);
  }
  for (let at = 0; at < elements.length && found.size < wanted.size; at += 1) look(at);
  return found;
}

/** Walks the paths that occurred together with the types they may have had. */
function findUsed(source: SourceModel, statistics: DocumentStatistics): Used {
  const elements = new Set<number>();
  const seen = new Set<number>();
  const children = new Set<string>();
  const attributes = new Set<string>();
  const derived = new Set<number>();
  const visited = new Set<string>();
  const wildcards = new Map<number, Map<string, AttributeStatistics>>();
  const counted = new Set<string>();
  const open: { readonly node: number; readonly element: number }[] = [];
  const starts = new Map(statistics.roots.map((root) => [clarkName(statistics.elements[root]!), root]));
  for (const [name, element] of globalElements(source, starts))
    open.push({ node: starts.get(name)!, element });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, element } = next;
    if (visited.has(`${node} ${element}`)) continue;
    visited.add(`${node} ${element}`);
    elements.add(element);
    const met = statistics.elements[node]!;
    const names = new Map(
      met.children.map((child) => [clarkName(statistics.elements[child.element]!), child.element]),
    );
    const typed = met.attributes.some(
      ({ localName, namespaceUri }) => localName === 'type' && namespaceUri.endsWith('XMLSchema-instance'),
    );
    const types = actualTypesOf(source, element);
    for (const type of typed ? types : types.slice(0, 1)) {
      seen.add(type);
      if (type !== source.elements[element]!.type) derived.add(type);
      for (const attribute of met.attributes) attributes.add(`${type} ${clarkName(attribute)}`);
      if (!counted.has(`${node} ${type}`)) addWildcards(type, met.attributes);
      counted.add(`${node} ${type}`);
      for (const child of source.types[type]!.children) {
        for (const variant of variantsOf(source, child.element)) {
          const childNode = names.get(clarkName(source.elements[variant.element]!.name));
          if (childNode === undefined) continue;
          children.add(`${type} ${child.element}`);
          open.push({ node: childNode, element: variant.element });
        }
      }
    }
  }
  return { elements, types: seen, children, attributes, wildcards, derived };

  function addWildcards(type: number, met: readonly AttributeStatistics[]): void {
    const { anyAttribute, attributes: declared } = source.types[type]!;
    if (anyAttribute === null) return;
    const names = new Set(declared.map(({ name }) => clarkName(name)));
    let known = wildcards.get(type);
    if (known === undefined) wildcards.set(type, (known = new Map()));
    for (const attribute of met) {
      const name = clarkName(attribute);
      if (names.has(name) || attribute.namespaceUri === xsiNamespace) continue;
      const same = known.get(name);
      if (same === undefined) known.set(name, structuredClone(attribute));
      else addValues(same.value, attribute.value);
    }
  }
}

// Reduces document statistics to the part that decides how a pruned model is drawn. Most documents add only to the rest of the statistics,
// so their model is the existing one.

/**
 * The choices that depend on values: whether dates with times have zones and offsets (of every type), the member of a union that a value
 * has, and the type of an attribute that a wildcard allows.
 */
type Decided = 'zone' | 'member' | 'type';

/** replaces values of which some have a time zone */
const zonedValue = '2000-01-01T00:00:00Z';
/** digits that `inferValue` distinguishes, in addition to `longDigits` */
const intDigits = 9;

/** Returns statistics that give the same pruned model of `source`, and the same drawing, as the given ones. */
export function decidingStatistics(statistics: DocumentStatistics, source: SourceModel): DocumentStatistics {
  const { namespaces, elements, roots } = statistics;
  const types = observedTypes(source, statistics);
  const ofTexts: Decided = hasUnions(types) ? 'member' : 'zone';
  const ofAttributes: Decided = types.some(({ anyAttribute }) => anyAttribute !== null) ? 'type' : ofTexts;
  return {
    format: 1,
    documents: 0,
    bytes: 0,
    namespaces,
    elements: elements.map((element) => decidingElement(element, ofTexts, ofAttributes)),
    roots,
  };
}

function hasUnions(types: readonly SourceType[]): boolean {
  return types.some(({ value, attributes }) =>
    [value, ...attributes.map(({ type }) => type)].some((type) => (type?.memberTypes?.length ?? 0) > 0),
  );
}

/** Reduces counts to whether the content occurred, or whether each element had it. */
function decidingElement(
  { namespaceUri, localName, ...met }: ElementStatistics,
  ofTexts: Decided,
  ofAttributes: Decided,
): ElementStatistics {
  const full = met.withChildren + met.withText - met.mixed;
  return {
    namespaceUri,
    localName,
    count: 1,
    documents: 1,
    withChildren: full >= met.count ? 1 : 0,
    withText: 0,
    mixed: 0,
    nil: met.nil > 0 ? 1 : 0,
    textRuns: 0,
    text: decidingValue(met.text, ofTexts),
    attributes: met.attributes.map((attribute) => ({
      namespaceUri: attribute.namespaceUri,
      localName: attribute.localName,
      count: attribute.count >= met.count ? 1 : 0,
      documents: 1,
      value: decidingValue(attribute.value, ofAttributes),
    })),
    children: met.children.map(({ element }) => ({ element, minOccurs: 0, maxOccurs: 1, precededBy: [] })),
  };
}

function decidingValue(value: ValueStatistics, decided: Decided): ValueStatistics {
  const isSeen = value.count > value.empty ? 1 : 0;
  const isEmpty = decided !== 'zone' && value.empty > 0 ? 1 : 0;
  return {
    count: isSeen + isEmpty,
    empty: isEmpty,
    classes: decided === 'zone' ? 0 : value.classes,
    minLength: 0,
    maxLength: 0,
    wholeDigits:
      decided === 'type'
        ? value.wholeDigits
        : decided === 'member'
          ? rangeOfDigits(value)
          : digitsBeyond(value),
    minFraction: decided === 'type' ? value.minFraction : 0,
    maxFraction: decided === 'type' ? value.maxFraction : 0,
    min: someHaveZone(value) ? zonedValue : null,
    max: null,
    sketch: [],
    ...(value.withOffset === undefined ? {} : { withOffset: 1 }),
  };
}

/** Returns the digits that decide on the member of a union. The digits of numbers that are not integers decide on none: 0. */
function rangeOfDigits({ classes, wholeDigits }: ValueStatistics): number {
  if ((classes & CLASS_INTEGER) === 0 || wholeDigits <= intDigits) return 0;
  return wholeDigits <= longDigits ? longDigits : longDigits + 1;
}

/** Returns a number of digits beyond `longDigits` if some integers need a wider type, otherwise 0. */
function digitsBeyond({ wholeDigits }: ValueStatistics): number {
  return wholeDigits <= longDigits ? 0 : longDigits + 1;
}
