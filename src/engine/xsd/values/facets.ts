/** Facets of simple types: read, derived, compared. */
import { clarkName, type Facets, type ValueType, type BuiltInType } from '../../model/source-model.ts';
import { readDocumentation, readLabel } from '../components/annotation.ts';
import type { FacetStep, Origin, SimpleType, WrittenFacet } from '../components/terms.ts';
import { primitiveOf, hasLexicalForm } from './lexical-form.ts';
import { translatePattern } from './pattern.ts';
import { within, type XsdReading } from '../components/context.ts';
import { attributeOf, firstXsdChild, isXsd } from '../read/file.ts';
import { collapse } from '../read/grammar.ts';

const bounds = ['minInclusive', 'minExclusive', 'maxInclusive', 'maxExclusive'] as const;
const lengths = ['length', 'minLength', 'maxLength'] as const;
const digits = ['totalDigits', 'fractionDigits'] as const;
type Bound = (typeof bounds)[number];
type Count = (typeof lengths)[number] | (typeof digits)[number];

const facetNames = new Set<string>([
  ...bounds,
  ...lengths,
  ...digits,
  'whiteSpace',
  'enumeration',
  'pattern',
]);

/** Mutable while the steps are merged. */
type MergedFacets = { -readonly [K in keyof Facets]: Facets[K] };

/** The facet elements of one restriction, in document order. */
export function readFacets(restriction: Origin): FacetStep {
  const step: WrittenFacet[] = [];
  for (const node of restriction.node.children) {
    if (!isXsd(node) || !facetNames.has(node.name.localName)) continue;
    const value = attributeOf(node, 'value');
    if (value === undefined) continue;
    const fixed = collapse(attributeOf(node, 'fixed') ?? 'false');
    step.push({
      name: node.name.localName as WrittenFacet['name'],
      value,
      fixed: fixed === 'true' || fixed === '1',
      node,
    });
  }
  return step;
}

/** The facet explicitTimezone of XSD 1.1 in a restriction; undefined: there is none, or it says nothing. */
export function zoneOfRestriction({ node }: Origin): ValueType['zone'] {
  const facet = firstXsdChild(node, 'explicitTimezone');
  const value = facet === undefined ? '' : collapse(attributeOf(facet, 'value') ?? '');
  return value === 'required' ? 'always' : value === 'prohibited' ? 'never' : undefined;
}

/** True for facets that the value spaces of the type have (XSD Part 2 §4.1.5). */
function applies(name: WrittenFacet['name'], type: SimpleType): boolean {
  if (name === 'pattern') return true;
  if (type.variety === 'union') return name === 'enumeration';
  if (name === 'whiteSpace') return true;
  const isLength = (lengths as readonly string[]).includes(name);
  if (type.variety === 'list') return name === 'enumeration' || isLength;
  const primitive = primitiveOf(type.builtIn);
  if (primitive === 'anySimpleType') return true;
  if (primitive === 'boolean') return false;
  if (name === 'enumeration') return true;
  const counted = ['string', 'hexBinary', 'base64Binary', 'anyURI', 'QName', 'NOTATION'].includes(primitive);
  if (isLength) return counted;
  return (digits as readonly string[]).includes(name) ? primitive === 'decimal' : !counted;
}

/** Adds the facets of one step to those of the base, and checks that they restrict it (XSD Part 2 §4.3). */
export function deriveFacets(
  type: SimpleType,
  base: SimpleType,
  step: FacetStep,
  at: Origin,
  reading: XsdReading,
): void {
  const merged: MergedFacets = { ...base.facets };
  const fixed = new Set(base.fixedFacets);
  const seen = new Set<string>();
  const enumerated = new Set(base.facets.enumeration);
  const enumeration: string[] = [];
  const said = saidOfValues(base.facets, 'enumerationDocumentation');
  const called = saidOfValues(base.facets, 'enumerationLabels');
  const patterns: string[] = [];
  const path = type.name === null ? undefined : clarkName(type.name);
  for (const facet of step) {
    const origin = within(at, facet.node);
    const wrong = (message: string) =>
      reading.report.error('xsd_bad_facet', `${facet.name}: ${message}`, origin, path);
    if (!applies(facet.name, base)) {
      wrong(`not for values of ${base.variety === 'atomic' ? base.builtIn : `a ${base.variety}`}`);
      continue;
    }
    if (facet.name === 'pattern') {
      if (translatePattern(facet.value) === null) wrong(`"${facet.value}" is not a regular expression`);
      patterns.push(facet.value);
      continue;
    }
    if (facet.name === 'enumeration') {
      const value = processWhiteSpace(facet.value, whiteSpaceOf(base));
      const why = enumerated.has(value) ? null : whyInvalid(base, facet.value);
      if (why !== null) wrong(`not a value of the base type: ${why}`);
      if (base.variety === 'atomic' && base.builtIn === 'NOTATION') {
        const name = reading.references.expand(value, origin);
        if (name !== null && !reading.references.has('notation', name))
          wrong(`the notation ${value} is not declared`);
      }
      enumeration.push(value);
      const documentation = readDocumentation(facet.node);
      if (documentation !== undefined) said.set(value, documentation);
      const label = readLabel(facet.node);
      if (label !== undefined) called.set(value, label);
      continue;
    }
    if (seen.has(facet.name)) wrong('given twice');
    seen.add(facet.name);
    const before = merged[facet.name as Exclude<keyof Facets, 'enumeration' | 'patterns'>];
    if (facet.name === 'whiteSpace') mergeWhiteSpace(merged, facet, base, wrong);
    else if ((bounds as readonly string[]).includes(facet.name)) mergeBound(merged, facet, base, wrong);
    else mergeCount(merged, facet, base, wrong);
    if (fixed.has(facet.name) && String(before) !== collapse(facet.value))
      wrong(`fixed at ${String(before)} by the base type`);
    if (facet.fixed) fixed.add(facet.name);
  }
  if (enumeration.length > 0) {
    merged.enumeration = enumeration;
    for (const [member, texts] of [
      ['enumerationDocumentation', said],
      ['enumerationLabels', called],
    ] as const) {
      delete merged[member];
      if (enumeration.some((value) => texts.has(value)))
        merged[member] = enumeration.map((value) => texts.get(value) ?? null);
    }
  }
  if (patterns.length > 0) merged.patterns = [...(base.facets.patterns ?? []), patterns];
  const clash = whyInconsistent(merged, seen, primitiveOf(base.builtIn));
  if (clash !== null) reading.report.error('xsd_bad_facet', clash, at, path);
  type.facets = merged;
  type.fixedFacets = fixed;
}

/** Returns the documentation by value. A type that repeats values of its base need not document them again. */
function saidOfValues(
  facets: Facets,
  member: 'enumerationDocumentation' | 'enumerationLabels',
): Map<string, string> {
  const texts = facets[member] ?? [];
  return new Map(
    (facets.enumeration ?? []).flatMap((value, at) => {
      const text = texts[at] ?? null;
      return text === null ? [] : [[value, text] as const];
    }),
  );
}

const looseness = ['preserve', 'replace', 'collapse'];

function mergeWhiteSpace(
  merged: MergedFacets,
  facet: WrittenFacet,
  base: SimpleType,
  wrong: (message: string) => void,
): void {
  const value = collapse(facet.value);
  if (!looseness.includes(value)) return wrong(`"${value}" is not preserve, replace or collapse`);
  if (looseness.indexOf(value) < looseness.indexOf(whiteSpaceOf(base)))
    return wrong('looser than in the base type');
  merged.whiteSpace = value as 'preserve' | 'replace' | 'collapse';
}

function mergeCount(
  merged: MergedFacets,
  facet: WrittenFacet,
  base: SimpleType,
  wrong: (message: string) => void,
): void {
  const name = facet.name as Count;
  const text = collapse(facet.value);
  if (!/^\+?\d+$/u.test(text) || (name === 'totalDigits' && Number(text) === 0)) {
    return wrong(`"${text}" is not a ${name === 'totalDigits' ? 'positive' : 'non-negative'} integer`);
  }
  const value = Number(text);
  const before = base.facets[name];
  if (before !== undefined) {
    const loosens =
      name === 'minLength' ? value < before : name === 'length' ? value !== before : value > before;
    if (loosens) wrong(`${value} is not within ${before}, the value in the base type`);
  }
  const integral =
    base.variety === 'atomic' && base.builtIn !== 'decimal' && primitiveOf(base.builtIn) === 'decimal';
  if (name === 'fractionDigits' && value > 0 && integral) wrong('integers have no fraction digits');
  merged[name] = value;
}

function mergeBound(
  merged: MergedFacets,
  facet: WrittenFacet,
  base: SimpleType,
  wrong: (message: string) => void,
): void {
  const name = facet.name as Bound;
  const value = collapse(facet.value);
  const primitive = primitiveOf(base.builtIn);
  const isBoundOfBase =
    base.facets[name] !== undefined && compareValues(primitive, base.facets[name], value) === 0;
  const why = isBoundOfBase
    ? null
    : whyInvalid({ ...base, facets: { ...base.facets, patterns: undefined, enumeration: undefined } }, value);
  if (why !== null && !isTouchingBound(base, name, value))
    wrong(`"${value}" is not a value of the base type: ${why}`);
  merged[name] = value;
  const sibling = {
    minInclusive: 'minExclusive',
    minExclusive: 'minInclusive',
    maxInclusive: 'maxExclusive',
    maxExclusive: 'maxInclusive',
  } as const;
  if (merged[sibling[name]] === base.facets[sibling[name]]) delete merged[sibling[name]];
}

/** True if an exclusive bound equals the inclusive one of the base, which is allowed (the value check refuses the reverse). */
function isTouchingBound(base: SimpleType, name: Bound, value: string): boolean {
  const primitive = primitiveOf(base.builtIn);
  const same = (bound: string | undefined) =>
    bound !== undefined && compareValues(primitive, bound, value) === 0;
  return (
    (name === 'minExclusive' && same(base.facets.minExclusive)) ||
    (name === 'maxExclusive' && same(base.facets.maxExclusive))
  );
}

/** Returns the contradiction between two facets of the merged set; `step` names the facets given in this step. */
function whyInconsistent(
  facets: Facets,
  step: ReadonlySet<string>,
  primitive: ReturnType<typeof primitiveOf>,
): string | null {
  const { length, minLength, maxLength, totalDigits, fractionDigits } = facets;
  if (step.has('length') && (step.has('minLength') || step.has('maxLength')))
    return 'length excludes minLength and maxLength';
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    return 'minLength is greater than maxLength';
  if (length !== undefined && ((minLength ?? 0) > length || (maxLength ?? Infinity) < length)) {
    return 'length is not between minLength and maxLength';
  }
  if (totalDigits !== undefined && fractionDigits !== undefined && fractionDigits > totalDigits) {
    return 'fractionDigits is greater than totalDigits';
  }
  if (step.has('minInclusive') && step.has('minExclusive')) return 'minInclusive excludes minExclusive';
  if (step.has('maxInclusive') && step.has('maxExclusive')) return 'maxInclusive excludes maxExclusive';
  const low = facets.minInclusive ?? facets.minExclusive;
  const high = facets.maxInclusive ?? facets.maxExclusive;
  if (low === undefined || high === undefined) return null;
  const order = compareValues(primitive, low, high);
  if (order === null) return null;
  const mixed = (facets.minInclusive === undefined) !== (facets.maxInclusive === undefined);
  return order > 0 || (order === 0 && mixed)
    ? `the least value ${low} is not below the greatest, ${high}`
    : null;
}

// The order of values of a primitive type.

/** Longer numerals are not compared: arithmetic on them costs more than a check is worth. */
const maxDigits = 10_000;

/**
 * Compares two values of a primitive type: negative, 0 or positive; null when the type has no order or the two have none
 * (XSD Part 2 §3.2), as when one is no value of the type. Values without a time zone count as UTC.
 */
export function compareValues(primitive: BuiltInType, a: string, b: string): number | null {
  switch (primitive) {
    case 'decimal':
      return compareDecimals(a, b);
    case 'float':
    case 'double':
      return compareNumbers(floatOf(a), floatOf(b));
    case 'duration':
      return compareDurations(a, b);
    case 'dateTime':
    case 'date':
    case 'time':
    case 'gYear':
    case 'gYearMonth':
    case 'gMonth':
    case 'gMonthDay':
    case 'gDay':
      return compareNumbers(secondsOf(primitive, a), secondsOf(primitive, b));
    case 'boolean':
      return /^[1t]/u.test(a) === /^[1t]/u.test(b) ? 0 : null;
    case 'hexBinary':
      return a.toLowerCase() === b.toLowerCase() ? 0 : null;
    default:
      return a === b ? 0 : null;
  }
}

function compareNumbers(a: number, b: number): number | null {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : null;
  return a < b ? -1 : a > b ? 1 : 0;
}

function floatOf(text: string): number {
  return text === 'INF' ? Infinity : text === '-INF' ? -Infinity : Number(text);
}

function compareDecimals(a: string, b: string): number | null {
  if (a.length > maxDigits || b.length > maxDigits) return null;
  if (!hasLexicalForm('decimal', a) || !hasLexicalForm('decimal', b)) return null;
  const scale = Math.max(fractionLength(a), fractionLength(b));
  const [left, right] = [scaled(a, scale), scaled(b, scale)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function fractionLength(text: string): number {
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : text.length - dot - 1;
}

function scaled(text: string, scale: number): bigint {
  const digits = text.replace(/[+-]/u, '');
  const value = BigInt(digits.replace('.', '') + '0'.repeat(scale - fractionLength(text)) || '0');
  return text.startsWith('-') ? -value : value;
}

/** Decided when months and seconds agree in direction; null otherwise. */
function compareDurations(a: string, b: string): number | null {
  const [left, right] = [durationOf(a), durationOf(b)];
  const months = Math.sign(left.months - right.months);
  const seconds = Math.sign(left.seconds - right.seconds);
  if (months === 0 || seconds === 0 || months === seconds) return months === 0 ? seconds : months;
  const difference = (left.months - right.months) * 30.436875 * 86_400 + left.seconds - right.seconds;
  const margin = 4 * 86_400;
  return Math.abs(difference) > margin ? Math.sign(difference) : null;
}

function durationOf(text: string): { months: number; seconds: number } {
  const parts = /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/u.exec(
    text,
  );
  if (parts === null) return { months: 0, seconds: 0 };
  const sign = parts[1] === '-' ? -1 : 1;
  const at = (index: number) => Number(parts[index] ?? 0);
  return {
    months: sign * (at(2) * 12 + at(3)),
    seconds: sign * (at(4) * 86_400 + at(5) * 3600 + at(6) * 60 + at(7)),
  };
}

/** Seconds on one time line; missing fields as on 1 January 2000. */
function secondsOf(primitive: BuiltInType, text: string): number {
  const zoned = /(Z|[+-]\d\d:\d\d)$/u.exec(text);
  const bare = zoned === null ? text : text.slice(0, zoned.index);
  let [years, months, days, clock] = [2000, 1, 1, ''];
  if (primitive === 'time') clock = bare;
  else if (primitive === 'gMonth') months = Number(bare.slice(2, 4));
  else if (primitive === 'gDay') days = Number(bare.slice(3, 5));
  else if (primitive === 'gMonthDay') [months, days] = [Number(bare.slice(2, 4)), Number(bare.slice(5, 7))];
  else {
    const parts = /^(-?\d+)(?:-(\d\d))?(?:-(\d\d))?(?:T(.*))?$/u.exec(bare);
    if (parts === null) return Number.NaN;
    [years, months, days, clock] = [
      Number(parts[1]),
      Number(parts[2] ?? 1),
      Number(parts[3] ?? 1),
      parts[4] ?? '',
    ];
  }
  const [hours = 0, minutes = 0, seconds = 0] = clock === '' ? [] : clock.split(':').map(Number);
  const offset = zoned === null || zoned[1] === 'Z' ? 0 : offsetMinutes(zoned[1]!);
  return daysSinceEpoch(years, months, days) * 86_400 + hours * 3600 + (minutes - offset) * 60 + seconds;
}

function offsetMinutes(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** Proleptic Gregorian day number, for any year. */
function daysSinceEpoch(years: number, months: number, days: number): number {
  const shifted = months <= 2 ? years - 1 : years;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (months + (months > 2 ? -3 : 9)) + 2) / 5) + days - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  );
}

// Tests if a text is a value of a simple type.

/** White space as the type treats it (XSD Part 2 §4.3.6). */
function whiteSpaceOf(type: SimpleType): 'preserve' | 'replace' | 'collapse' {
  if (type.facets.whiteSpace !== undefined) return type.facets.whiteSpace;
  if (type.variety !== 'atomic') return 'collapse';
  if (type.builtIn === 'string' || type.builtIn === 'anySimpleType') return 'preserve';
  return type.builtIn === 'normalizedString' ? 'replace' : 'collapse';
}

function processWhiteSpace(text: string, whiteSpace: 'preserve' | 'replace' | 'collapse'): string {
  if (whiteSpace === 'preserve') return text;
  const replaced = text.replace(/[\t\n\r]/gu, ' ');
  return whiteSpace === 'replace' ? replaced : replaced.replace(/ +/gu, ' ').replace(/^ | $/gu, '');
}

/**
 * Returns the reason why the text is not a value of the type (cvc-simple-type), or null if it is one. Patterns are not checked, because
 * matching a user's expression can take unbounded time.
 */
export function whyInvalid(type: SimpleType, text: string): string | null {
  if (type.variety === 'union') {
    const member = type.memberTypes.find((candidate) => whyInvalid(candidate, text) === null);
    if (member === undefined && type.memberTypes.length > 0) return `"${text}" is a value of no member type`;
    const value = member === undefined ? text : processWhiteSpace(text, whiteSpaceOf(member));
    return whyOutsideFacets(type.facets, value, [], primitiveOf(member?.builtIn ?? 'string'));
  }
  const value = processWhiteSpace(text, whiteSpaceOf(type));
  if (type.variety === 'list') {
    const items = value === '' ? [] : value.split(' ');
    for (const item of items) {
      const why = type.itemType === null ? null : whyInvalid(type.itemType, item);
      if (why !== null) return why;
    }
    return whyOutsideFacets(type.facets, value, items, 'string');
  }
  if (!hasLexicalForm(type.builtIn, value)) return `"${value}" is not a valid ${type.builtIn}`;
  return whyOutsideFacets(type.facets, value, null, primitiveOf(type.builtIn));
}

/** Items null for atomic values; primitive that of the value. */
function whyOutsideFacets(
  facets: Facets,
  value: string,
  items: readonly string[] | null,
  primitive: BuiltInType,
): string | null {
  const length = items === null ? lengthOf(value, primitive) : items.length;
  if (length !== null) {
    if (facets.length !== undefined && length !== facets.length) return `its length is not ${facets.length}`;
    if (facets.minLength !== undefined && length < facets.minLength)
      return `it is shorter than ${facets.minLength}`;
    if (facets.maxLength !== undefined && length > facets.maxLength)
      return `it is longer than ${facets.maxLength}`;
  }
  if (primitive === 'decimal' && (facets.totalDigits !== undefined || facets.fractionDigits !== undefined)) {
    const [whole = '', fraction = ''] = value.replace(/^[+-]?0*/u, '').split('.');
    const used = fraction.replace(/0+$/u, '');
    if (facets.fractionDigits !== undefined && used.length > facets.fractionDigits)
      return 'it has too many fraction digits';
    if (facets.totalDigits !== undefined && whole.length + used.length > facets.totalDigits)
      return 'it has too many digits';
  }
  const order = (bound: string) => compareValues(primitive, value, bound);
  const { minInclusive, maxInclusive, minExclusive, maxExclusive } = facets;
  if (minInclusive !== undefined && (order(minInclusive) ?? 0) < 0) return `it is less than ${minInclusive}`;
  if (maxInclusive !== undefined && (order(maxInclusive) ?? 0) > 0)
    return `it is greater than ${maxInclusive}`;
  if (minExclusive !== undefined && (order(minExclusive) ?? 1) <= 0)
    return `it is not greater than ${minExclusive}`;
  if (maxExclusive !== undefined && (order(maxExclusive) ?? -1) >= 0)
    return `it is not less than ${maxExclusive}`;
  if (
    facets.enumeration !== undefined &&
    items === null &&
    !isEnumerated(facets.enumeration, value, primitive)
  ) {
    return `"${value}" is not enumerated`;
  }
  return null;
}

function isEnumerated(enumeration: readonly string[], value: string, primitive: BuiltInType): boolean {
  if (enumeration.includes(value)) return true;
  if (primitive === 'string' || primitive === 'anyURI')
    return enumeration.some((text) => processWhiteSpace(text, 'collapse') === value);
  return enumeration.some(
    (text) => compareValues(primitive, processWhiteSpace(text, 'collapse'), value) === 0,
  );
}

/** Returns the length in characters or octets, or null if the facet does not apply (QName, NOTATION). */
function lengthOf(value: string, primitive: BuiltInType): number | null {
  switch (primitive) {
    case 'hexBinary':
      return value.length / 2;
    case 'base64Binary': {
      const characters = value.replace(/ /gu, '');
      return (characters.length / 4) * 3 - (characters.endsWith('==') ? 2 : characters.endsWith('=') ? 1 : 0);
    }
    case 'QName':
    case 'NOTATION':
      return null;
    default: {
      let length = 0;
      for (const _ of value) length++;
      return length;
    }
  }
}
