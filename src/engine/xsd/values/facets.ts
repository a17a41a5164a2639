/** Facets of simple types: read, derived, compared. */
import { clarkName, type Facets, type ValueType } from '../../model/source-model.ts';
import { readDocumentation, readLabel } from '../components/annotation.ts';
import type { FacetStep, Origin, SimpleType, WrittenFacet } from '../components/terms.ts';
import { primitiveOf } from './lexical-form.ts';
import { translatePattern } from './pattern.ts';
import { within, type XsdReading } from '../components/context.ts';
import { attributeOf, firstXsdChild, isXsd } from '../read/file.ts';
import { compareValues } from './order.ts';
import { processWhiteSpace, whiteSpaceOf, whyInvalid } from './validity.ts';
import { collapse } from '../read/white-space.ts';

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
          wrong(`there is no notation ${value}`);
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
    return wrong('looser than that of the base type');
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
    if (loosens) wrong(`${value} is not within ${before}, that of the base type`);
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
    return 'minLength is over maxLength';
  if (length !== undefined && ((minLength ?? 0) > length || (maxLength ?? Infinity) < length)) {
    return 'length is not between minLength and maxLength';
  }
  if (totalDigits !== undefined && fractionDigits !== undefined && fractionDigits > totalDigits) {
    return 'fractionDigits is over totalDigits';
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
