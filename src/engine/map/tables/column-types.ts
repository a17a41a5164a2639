/** Maps the simple types of XSD (Part 2) to logical column types. */
import { maxDecimalDigits, type ColumnType, type KeptBeside } from '../../model/relational-model.ts';
import {
  holdsNames,
  type BuiltInType,
  type Facets,
  type ValueType,
  isValueName,
  type SourceAttribute,
  type SourceModel,
  type SourceType,
} from '../../model/source-model.ts';
import { collapses } from '../../model/white-space.ts';
import { holdsAsciiAlone, lengthsOfPatterns, mayHoldCharacter } from '../../xsd/values/pattern.ts';
import { calendarTexts } from '../../xsd/values/calendar-texts.ts';
import { decimalTexts } from '../../xsd/values/decimal-texts.ts';
import { numberTexts, type NumberTexts } from '../../xsd/values/number-texts.ts';
import { anyForm, formOfValues, type FormOfValues } from './written-forms.ts';
import { zoneOf } from './zones.ts';

const text: ColumnType = { kind: 'text' };

/**
 * Kinds that hold every value of the built-in type. `integer` and its unbounded relatives get `bigint`: a value beyond it
 * widens the column when it occurs, which a column of arbitrary precision for every counter would not be worth.
 */
const kinds: Readonly<Record<BuiltInType, ColumnType>> = {
  anySimpleType: text,
  string: text,
  normalizedString: text,
  token: text,
  language: text,
  NMTOKEN: text,
  Name: text,
  NCName: text,
  ID: text,
  IDREF: text,
  ENTITY: text,
  NMTOKENS: { kind: 'text', list: true },
  IDREFS: { kind: 'text', list: true },
  ENTITIES: { kind: 'text', list: true },
  boolean: { kind: 'boolean' },
  decimal: { kind: 'numeric' },
  integer: { kind: 'bigint' },
  nonPositiveInteger: { kind: 'bigint' },
  negativeInteger: { kind: 'bigint' },
  nonNegativeInteger: { kind: 'bigint' },
  positiveInteger: { kind: 'bigint' },
  long: { kind: 'bigint' },
  int: { kind: 'integer' },
  short: { kind: 'smallint' },
  byte: { kind: 'smallint' },
  unsignedLong: { kind: 'numeric', precision: 20, scale: 0 },
  unsignedInt: { kind: 'bigint' },
  unsignedShort: { kind: 'integer' },
  unsignedByte: { kind: 'smallint' },
  // its 24 bits hold about seven digits; documents have amounts with more, which must be preserved
  float: { kind: 'double' },
  double: { kind: 'double' },
  duration: text,
  // without a rule: if values with a time zone are loaded into a target, they make it `timestamptz`
  dateTime: { kind: 'timestamp' },
  time: { kind: 'time' },
  date: { kind: 'date' },
  gYearMonth: text,
  gYear: text,
  gMonthDay: text,
  gDay: text,
  gMonth: text,
  hexBinary: text,
  base64Binary: text,
  anyURI: text,
  QName: text,
  NOTATION: text,
};

/** The number of digits that always fit into `bigint`. */
export const longDigits = 18;

/** The type for whole numbers that exceed `bigint`, or may exceed it later. */
export const widestInteger: ColumnType = { kind: 'numeric', precision: maxDecimalDigits, scale: 0 };

const unboundedIntegers: ReadonlySet<BuiltInType | null> = new Set<BuiltInType>([
  'integer',
  'nonPositiveInteger',
  'negativeInteger',
  'nonNegativeInteger',
  'positiveInteger',
]);

export function isUnboundedInteger(type: BuiltInType | null): boolean {
  return unboundedIntegers.has(type);
}

/** Names of the built-in simple types. */
export const builtInTypeNames: readonly string[] = Object.keys(kinds);

/** The greatest bound for which `varchar(n)` is used; text with a greater one is plain text. */
const maxVarcharLength = 65_535;
const asciiText = /^[\0-\x7F]*$/u;
/** The greatest length for which `char(n)` is used. */
const maxCharLength = 255;

export interface ColumnTypeOptions {
  /** `--default-varchar-len`: bounds text without a length of its own */
  readonly textLength?: number | undefined;
  /** strings whose patterns allow only decimals are decimals, and those whose patterns allow only dates are dates; default false */
  readonly readsTexts?: boolean;
}

/** The column type of a simple type. */
export function columnTypeOf(value: ValueType, options: ColumnTypeOptions = {}): ColumnType {
  const { textLength: defaultTextLength } = options;
  const type = readTypeOf(value, options) ?? knownColumnType(value);
  if (type.kind === 'text' && type.length === undefined && defaultTextLength !== undefined && !type.list) {
    return { ...type, length: defaultTextLength };
  }
  return type;
}

/** The built-in type of a value, or of a list's items. */
export function itemBaseOf(value: ValueType): BuiltInType {
  return value.variety === 'list' && value.itemType !== undefined ? itemBaseOf(value.itemType) : value.base;
}

/** a cache, because a type of values is looked up at each of its uses */
const columnTypes = new WeakMap<ValueType, ColumnType>();

function knownColumnType(value: ValueType): ColumnType {
  let known = columnTypes.get(value);
  if (known === undefined) columnTypes.set(value, (known = exactColumnType(value)));
  return known;
}

function exactColumnType(value: ValueType): ColumnType {
  if (value.variety === 'list') {
    const item = value.itemType === undefined ? text : exactColumnType(value.itemType);
    // items of one length have no type of their own in an array
    const { fixed: _, ...open } = item;
    return item.list ? { kind: 'text', list: true } : { ...open, list: true };
  }
  if (value.variety === 'union') return unionColumnType(value.memberTypes ?? []);
  const base = kinds[value.base];
  if (base.kind === 'text') return base.list ? base : boundedText(value.base, value.facets);
  const texts = numberTextsOf(value.facets);
  if (base.kind === 'numeric') return boundedNumeric(base, value.facets, texts);
  if (base.kind === 'double' && texts !== null)
    return boundedNumeric({ kind: 'numeric' }, value.facets, texts);
  if (integerKinds.includes(base.kind)) return boundedInteger(base, value, texts);
  if (value.base === 'dateTime' && zoneOf(value) === 'always') return { kind: 'timestamptz' };
  return base;
}

const integerKinds: readonly ColumnType['kind'][] = ['smallint', 'integer', 'bigint'];

const textsOfNumbers = new WeakMap<Facets, NumberTexts | null>();

/** Returns null if there are no patterns, or if they say nothing about digits. */
function numberTextsOf(facets: Facets): NumberTexts | null {
  if (facets.patterns === undefined) return null;
  let texts = textsOfNumbers.get(facets);
  if (texts === undefined) textsOfNumbers.set(facets, (texts = numberTexts(facets.patterns)));
  return texts;
}

const strings: readonly BuiltInType[] = ['string', 'normalizedString', 'token'];

const decimalTypes = new WeakMap<Facets, ColumnType | null>();
const calendarTypes = new WeakMap<Facets, ColumnType | null>();

/** Returns the type of a string whose patterns allow only decimals or only dates; null for all other types. */
function readTypeOf({ variety, base, facets }: ValueType, options: ColumnTypeOptions): ColumnType | null {
  if (options.readsTexts !== true || variety !== 'atomic' || !strings.includes(base)) return null;
  const known = (types: typeof decimalTypes, typeOf: (facets: Facets) => ColumnType | null) => {
    let type = types.get(facets);
    if (type === undefined) types.set(facets, (type = typeOf(facets)));
    return type;
  };
  return known(decimalTypes, decimalTypeOfText) ?? known(calendarTypes, calendarTypeOfText);
}

function calendarTypeOfText({ patterns, enumeration }: Facets): ColumnType | null {
  if (patterns === undefined || enumeration !== undefined) return null;
  const kind = { date: 'date', local: 'timestamp', zoned: 'timestamptz' } as const;
  const texts = calendarTexts(patterns);
  return texts === null ? null : { kind: kind[texts] };
}

function decimalTypeOfText({ patterns, enumeration }: Facets): ColumnType | null {
  const texts = patterns === undefined || enumeration !== undefined ? null : decimalTexts(patterns);
  if (texts === null) return null;
  // a fixed scale prints every value unchanged; a varying one needs a column without scale
  const precision = texts.whole + texts.fraction;
  return texts.isUniform && precision <= maxDecimalDigits
    ? { kind: 'numeric', precision, scale: texts.fraction }
    : { kind: 'numeric' };
}

function isBoundedText({ kind, list, length }: ColumnType): boolean {
  return kind === 'text' && list !== true && length !== undefined;
}

const numbers: ReadonlySet<ColumnType['kind']> = new Set([
  'smallint',
  'integer',
  'bigint',
  'numeric',
  'double',
]);

/**
 * Decides whether the form of values must be kept, because the values alone are not enough. It must for guessed types; for numbers that may
 * be of several types, such as 1.50 and 1.5e0; for decimals and dates that are text in the XSD; and for values whose patterns do not allow
 * each of their forms.
 */
export function formOf(value: ValueType, options: ColumnTypeOptions): FormOfValues {
  const { variety, guessed, memberTypes = [] } = value;
  if (guessed === true || readTypeOf(value, options) !== null) return { ...anyForm, keepsForm: true };
  const types = memberTypes.map(exactColumnType);
  const isOfSeveral =
    variety === 'union' && areNumbers(types) && !types.every((type) => sameColumnType(type, types[0]!));
  return isOfSeveral ? { ...anyForm, keepsForm: true } : formOfValues(value, exactColumnType(value));
}

function areNumbers(types: readonly ColumnType[]): boolean {
  return types.every(({ kind, list }) => numbers.has(kind) && list !== true);
}

/**
 * Returns the column type of a union: the type of its members if they agree, a type that holds all members if they are numbers, or
 * otherwise text, the only type that holds all values as written.
 */
function unionColumnType(members: readonly ValueType[]): ColumnType {
  const [first, ...others] = members.map(exactColumnType);
  if (first === undefined || first.list) return text;
  if (others.every((other) => sameColumnType(other, first))) return first;
  if (areNumbers([first, ...others])) {
    // a decimal column also has the digits of a double; values that are not numbers make it text
    const isExact = [first, ...others].every(({ kind }) => kind !== 'double');
    return isExact ? others.reduce(widerColumnType, first) : { kind: 'numeric' };
  }
  return [first, ...others].every(isBoundedText) ? others.reduce(widerColumnType, first) : text;
}

/** Length facets bound character data only; for the binary types they count octets. Patterns bound it, too. */
function boundedText(base: BuiltInType, facets: Facets): ColumnType {
  if (base === 'hexBinary' || base === 'base64Binary' || holdsNames(base)) return text;
  const { enumeration, patterns = [] } = facets;
  const longestOption = (enumeration ?? []).reduce(
    (longest, option) => Math.max(longest, [...option].length),
    0,
  );
  const allowed = lengthsOfPatterns(patterns);
  const length = Math.min(
    facets.length ?? facets.maxLength ?? (enumeration === undefined ? Infinity : longestOption),
    allowed.max,
  );
  if (length === 0 || length > maxVarcharLength) return text;
  const isAscii =
    enumeration === undefined
      ? holdsAsciiAlone(patterns)
      : enumeration.every((option) => asciiText.test(option));
  // enumerations are compared after white space is collapsed; a value with preserved white space may be longer
  return {
    kind: 'text',
    length,
    ...(enumeration === undefined && isFixed(base, facets, length, allowed.min) ? { fixed: true } : {}),
    ...(isAscii ? { fitsBytes: true } : {}),
  };
}

/**
 * Tests for codes and similar values: all have the same length, and do not end in a blank. Enumerations are not considered, because lists
 * of codes grow.
 */
function isFixed(
  base: BuiltInType,
  { length, minLength = 0, patterns = [] }: Facets,
  most: number,
  least: number,
): boolean {
  if (most > maxCharLength || (length ?? Math.max(minLength, least)) !== most) return false;
  return base !== 'string' && base !== 'normalizedString' && base !== 'anySimpleType'
    ? true
    : patterns.length > 0 && !mayHoldCharacter(patterns, ' ');
}

/** Returns the type for the digits before and after the point, from totalDigits, fractionDigits and patterns. */
function boundedNumeric(base: ColumnType, facets: Facets, texts: NumberTexts | null): ColumnType {
  if (base.precision !== undefined) return base;
  const ofDigits = numericOfDigits(base, facets);
  return texts === null ? ofDigits : numericOfTexts(ofDigits, facets, texts);
}

/** `ofDigits`: the type without regard to patterns. */
function numericOfTexts(
  ofDigits: ColumnType,
  { totalDigits = Infinity, fractionDigits = Infinity }: Facets,
  { maxWhole, maxFraction }: NumberTexts,
): ColumnType {
  const { precision = Infinity, scale = 0 } = ofDigits;
  const isBounded = ofDigits.kind === 'numeric' && precision !== Infinity;
  const whole = Math.min(maxWhole, totalDigits, isBounded ? precision - scale : Infinity);
  const fraction = Math.min(maxFraction, fractionDigits);
  if (fraction === 0) return whole > maxDecimalDigits ? widestInteger : integerOfDigits(whole);
  // if any number of digits may precede the point, the whole part gets the digits that the fraction leaves
  const digits = whole === Infinity && fraction <= longDigits ? maxDecimalDigits : whole + fraction;
  return digits > maxDecimalDigits
    ? { kind: 'numeric' }
    : { kind: 'numeric', precision: digits, scale: fraction };
}

/**
 * Returns the type for totalDigits and fractionDigits, which together give numeric(p,s); only one of them cannot bound both sides of the
 * point.
 */
function numericOfDigits(base: ColumnType, { totalDigits, fractionDigits }: Facets): ColumnType {
  if (fractionDigits === 0) return totalDigits === undefined ? base : integerOfDigits(totalDigits);
  if (totalDigits === undefined || fractionDigits === undefined) return base;
  // totalDigits counts significant digits: 0.005 has one, and so has 5. A rate of 11 digits, 10 of them after the point, may well be 19.5.
  // If the fraction may take most of the digits, all of them may also precede the point.
  const isSmall = totalDigits - fractionDigits < fractionDigits;
  const precision = isSmall ? totalDigits + fractionDigits : totalDigits;
  return precision > maxDecimalDigits ? base : { kind: 'numeric', precision, scale: fractionDigits };
}

function integerOfDigits(digits: number): ColumnType {
  if (digits <= 4) return { kind: 'smallint' };
  if (digits <= 9) return { kind: 'integer' };
  if (digits <= 18) return { kind: 'bigint' };
  return { kind: 'numeric', precision: digits, scale: 0 };
}

/** Returns the narrower of the types that facets and patterns give. */
function boundedInteger(base: ColumnType, value: ValueType, texts: NumberTexts | null): ColumnType {
  const ofFacets = base.kind === 'bigint' ? integerOfFacets(base, value.facets) : base;
  if (texts === null || texts.maxWhole === Infinity) return ofFacets;
  const ofTexts = integerOfDigits(texts.maxWhole);
  const isOpen = ofFacets === base && isUnboundedInteger(value.base);
  const [ranked, other] = [ofFacets, ofTexts].map(({ kind }) => [...integerKinds, 'numeric'].indexOf(kind));
  return isOpen || other! < ranked! ? ofTexts : ofFacets;
}

function integerOfFacets(base: ColumnType, facets: Facets): ColumnType {
  if (facets.totalDigits !== undefined) return integerOfDigits(facets.totalDigits);
  const low = integerBound(facets.minInclusive ?? facets.minExclusive);
  const high = integerBound(facets.maxInclusive ?? facets.maxExclusive);
  if (low === undefined || high === undefined) return base;
  if (low >= -32_768n && high <= 32_767n) return { kind: 'smallint' };
  if (low >= -2_147_483_648n && high <= 2_147_483_647n) return { kind: 'integer' };
  const widest = 9_223_372_036_854_775_807n;
  if (low < -widest - 1n || high > widest) return { kind: 'numeric' };
  return base;
}

function integerBound(bound: string | undefined): bigint | undefined {
  return bound !== undefined && /^[+-]?\d{1,40}$/.test(bound.trim())
    ? BigInt(bound.trim().replace(/^\+/, ''))
    : undefined;
}

function sameColumnType(a: ColumnType, b: ColumnType): boolean {
  return (
    a.kind === b.kind &&
    a.length === b.length &&
    a.fixed === b.fixed &&
    a.fitsBytes === b.fitsBytes &&
    a.precision === b.precision &&
    a.scale === b.scale &&
    (a.list ?? false) === (b.list ?? false)
  );
}

/** Returns the narrowest type that holds the values of both: for a column that several declarations share. */
export function widerColumnType(a: ColumnType, b: ColumnType): ColumnType {
  if (sameColumnType(a, b)) return a;
  if (a.list || b.list) return a.list && b.list ? { kind: 'text', list: true } : text;
  const whole = ['smallint', 'integer', 'bigint'];
  const [i, j] = [whole.indexOf(a.kind), whole.indexOf(b.kind)];
  if (i >= 0 && j >= 0) return i > j ? a : b;
  const instants = ['timestamp', 'timestamptz'];
  if (instants.includes(a.kind) && instants.includes(b.kind)) return { kind: 'timestamptz' };
  // a decimal column also has the digits of a double
  if (numbers.has(a.kind) && numbers.has(b.kind)) return { kind: 'numeric' };
  if (a.kind === 'text' && b.kind === 'text' && a.length !== undefined && b.length !== undefined) {
    const length = Math.max(a.length, b.length);
    const isFixed = a.fixed === true && b.fixed === true && a.length === b.length;
    const isAscii = a.fitsBytes === true && b.fitsBytes === true;
    return {
      kind: 'text',
      length,
      ...(isFixed ? { fixed: true } : {}),
      ...(isAscii ? { fitsBytes: true } : {}),
    };
  }
  return text;
}

/**
 * Returns the type to read the values of both declarations as, in a column that several declarations share: it keeps white space if white
 * space is part of the values of one, and allows an exponent or a fraction if the values of one may have it.
 */
export function widerSourceType(a: BuiltInType | null, b: BuiltInType | null): BuiltInType | null {
  if (a === null || b === null || a === b) return a ?? b;
  const either = (type: BuiltInType): boolean => a === type || b === type;
  // names share no column with text
  if (holdsNames(a) || holdsNames(b)) return a;
  if (either('anySimpleType')) return 'anySimpleType';
  if (collapses(a) !== collapses(b)) return collapses(a) ? b : a;
  if ((either('double') || either('float')) && [a, b].every((type) => numbers.has(kinds[type].kind)))
    return 'double';
  return either('decimal') ? 'decimal' : a;
}

// Types of elements whose value is an attribute (FHIR's `<family value="Chalmers"/>`). They are declared as complex, because each element
// may have an id and extensions in addition to its value, but are read as values.

export interface ValueTypes {
  /** by index */
  readonly types: ReadonlySet<number>;
  /** the model in which an element of such a type holds only its value */
  readonly source: SourceModel;
  /** other content that those elements may have */
  readonly kept: readonly KeptBeside[];
  /** keyed by type: index in `kept` */
  readonly keptOf: ReadonlyMap<number, number>;
}

function isValueAttribute({ name }: SourceAttribute): boolean {
  return isValueName(name);
}

/** Finds the value types of a source model. The model's other types keep their indexes. */
export function findValueTypes(source: SourceModel): ValueTypes {
  const types = new Set(source.types.keys().filter((type) => holdsValueBesideBase(source, type)));
  // xsi:type may substitute a derivation for each of them
  for (const type of types)
    if (source.types[type]!.derived.some((other) => !types.has(other))) types.delete(type);
  const kept: KeptBeside[] = [];
  const places = new Map<string, number>();
  const keptOf = new Map<number, number>();
  for (const type of types) {
    const parts = besideValue(source, source.types[type]!);
    const identity = JSON.stringify(parts);
    const place = places.get(identity) ?? kept.push(parts) - 1;
    places.set(identity, place);
    keptOf.set(type, place);
  }
  if (types.size === 0) return { types, source, kept, keptOf };
  const plain = source.types.map((type, index) =>
    types.has(index)
      ? {
          ...type,
          content: 'empty' as const,
          attributes: type.attributes.filter(isValueAttribute),
          children: [],
        }
      : type,
  );
  return { types, source: { ...source, types: plain }, kept, keptOf };
}

/**
 * Tests for a derivation that adds only an attribute `value` to a base without required content. All other content of its elements may also
 * occur in elements of other types derived from the base.
 */
function holdsValueBesideBase({ types }: SourceModel, index: number): boolean {
  const type = types[index]!;
  const base = type.base === null ? undefined : types[type.base];
  if (base === undefined || type.derivation !== 'extension' || type.abstract || type.children.length === 0)
    return false;
  if (type.content !== 'elements' || type.anyElement !== null || type.anyAttribute !== null) return false;
  const [value, ...others] = type.attributes.filter(isValueAttribute);
  return (
    value !== undefined &&
    others.length === 0 &&
    !base.attributes.some(isValueAttribute) &&
    base.attributes.every(({ required }) => !required) &&
    base.attributes.length === type.attributes.length - 1 &&
    base.children.length === type.children.length &&
    type.children.every(
      ({ element, minOccurs }, at) => minOccurs === 0 && base.children[at]!.element === element,
    )
  );
}

function besideValue({ elements }: SourceModel, { attributes, children }: SourceType): KeptBeside {
  return {
    elements: children.flatMap(({ element }) =>
      [element, ...elements[element]!.substitutes].map((one) => elements[one]!.name),
    ),
    attributes: attributes.filter((attribute) => !isValueAttribute(attribute)).map(({ name }) => name),
  };
}
