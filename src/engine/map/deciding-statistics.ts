/**
 * Reduces document statistics to the part that decides how a pruned model is drawn. Most documents add only to the rest of the statistics,
 * so their model is the existing one.
 */
import type { DocumentStatistics, ElementStatistics, ValueStatistics } from '../infer/statistics.ts';
import { CLASS_INTEGER } from '../infer/value-classes.ts';
import type { SourceModel, SourceType } from '../model/source-model.ts';
import { longDigits } from './tables/column-types.ts';
import { metTypes } from './prune.ts';
import { someHaveZone } from './zones-of-documents.ts';

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
  const types = metTypes(source, statistics);
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
