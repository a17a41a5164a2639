/** Random simple types: restrictions with facets, lists, unions, and those of XSD itself. */
import type { BuiltInType, QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from '../choices/random.ts';
import type { SimpleTypeTerm, ValueMaker, ValueSpace } from './terms.ts';
import { itemOf, membersOf, valueOf } from '../choices/value-generator.ts';

const ranges: Readonly<Partial<Record<BuiltInType, readonly [bigint | null, bigint | null]>>> = {
  integer: [null, null],
  nonPositiveInteger: [null, 0n],
  negativeInteger: [null, -1n],
  nonNegativeInteger: [0n, null],
  positiveInteger: [1n, null],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-32768n, 32767n],
  byte: [-128n, 127n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65535n],
  unsignedByte: [0n, 255n],
};

const atomicNames: readonly BuiltInType[] = [
  'string',
  'int',
  'decimal',
  'boolean',
  'date',
  'dateTime',
  'normalizedString',
  'token',
  'language',
  'NMTOKEN',
  'Name',
  'NCName',
  'IDREF',
  'integer',
  'nonPositiveInteger',
  'negativeInteger',
  'nonNegativeInteger',
  'positiveInteger',
  'long',
  'short',
  'byte',
  'unsignedLong',
  'unsignedInt',
  'unsignedShort',
  'unsignedByte',
  'float',
  'double',
  'duration',
  'time',
  'gYearMonth',
  'gYear',
  'gMonthDay',
  'gDay',
  'gMonth',
  'hexBinary',
  'base64Binary',
  'anyURI',
  'QName',
  'ENTITY',
  'anySimpleType',
];
/** items without white space of their own */
const itemNames: readonly BuiltInType[] = [
  'int',
  'NMTOKEN',
  'decimal',
  'boolean',
  'date',
  'NCName',
  'dateTime',
  'double',
  'QName',
  'unsignedByte',
  'gYear',
  'time',
];

const listNames: readonly [BuiltInType, BuiltInType][] = [
  ['NMTOKENS', 'NMTOKEN'],
  ['IDREFS', 'IDREF'],
  ['ENTITIES', 'ENTITY'],
];

const preserved: ReadonlySet<BuiltInType> = new Set<BuiltInType>(['string', 'anySimpleType']);

export function builtInType(name: BuiltInType): SimpleTypeTerm {
  const list = listNames.find(([listName]) => listName === name);
  const [low, high] = ranges[name] ?? [null, null];
  return {
    kind: 'simple',
    name: null,
    builtIn: name,
    variety: list === undefined ? 'atomic' : 'list',
    base: null,
    facets: [],
    item: list === undefined ? null : builtInType(list[1]),
    members: [],
    values: {
      base: name,
      whiteSpace: preserved.has(name) ? 'preserve' : name === 'normalizedString' ? 'replace' : 'collapse',
      minLength: list === undefined ? 0 : 1,
      maxLength: 1000,
      low,
      high,
      fractionDigits: null,
      wholeDigits: null,
      options: null,
      freeForm: true,
    },
  };
}

export const idType = builtInType('ID');

/** A type of XSD itself, of any of the named ones, or a new anonymous one. */
export function anySimpleTypeTerm(choices: Choices, named: readonly SimpleTypeTerm[]): SimpleTypeTerm {
  if (named.length > 0 && choices.chance(35)) return choices.pick(named);
  if (choices.chance(20)) return newSimpleType(choices, named, null);
  return choices.chance(5) ? builtInType(choices.pick(listNames)[0]) : builtInType(choices.pick(atomicNames));
}

export function newSimpleType(
  choices: Choices,
  named: readonly SimpleTypeTerm[],
  name: QName | null,
): SimpleTypeTerm {
  if (choices.chance(15)) return listOf(itemType(choices, named), name);
  if (choices.chance(15)) {
    const members = choices.several(1, 3, () => {
      const atomic = named.filter((type) => type.variety === 'atomic' && type.values.base !== 'ENTITY');
      return atomic.length > 0 && choices.chance(40)
        ? choices.pick(atomic)
        : builtInType(choices.pick(atomicNames.slice(0, 36)));
    });
    const base = builtInType('anySimpleType');
    return {
      ...base,
      name,
      builtIn: null,
      variety: 'union',
      members,
      values: { ...base.values, whiteSpace: 'preserve', freeForm: false },
    };
  }
  const base =
    named.length > 0 && choices.chance(40)
      ? choices.pick(named)
      : builtInType(choices.pick(atomicNames.slice(0, -1)));
  return restricted(choices, base, name);
}

function itemType(choices: Choices, named: readonly SimpleTypeTerm[]): SimpleTypeTerm {
  const fitting = named.filter((type) => type.variety === 'atomic' && itemNames.includes(type.values.base));
  return fitting.length > 0 && choices.chance(40)
    ? choices.pick(fitting)
    : builtInType(choices.pick(itemNames));
}

function listOf(item: SimpleTypeTerm, name: QName | null): SimpleTypeTerm {
  const base = builtInType('anySimpleType');
  return {
    ...base,
    name,
    builtIn: null,
    variety: 'list',
    item,
    values: { ...base.values, whiteSpace: 'collapse', freeForm: item.values.freeForm },
  };
}

/** A restriction; of a type that can take no further facet here, one without any. */
export function restricted(choices: Choices, base: SimpleTypeTerm, name: QName | null): SimpleTypeTerm {
  const { facets, values } = choices.chance(85) ? narrowed(choices, base) : { facets: [], values: {} };
  return {
    kind: 'simple',
    name,
    builtIn: null,
    variety: base.variety,
    base,
    facets,
    item: null,
    members: [],
    values: { ...base.values, ...values },
  };
}

type Narrowing = { facets: [string, string][]; values: Partial<ValueSpace> };

const nothing: Narrowing = { facets: [], values: {} };

function narrowed(choices: Choices, base: SimpleTypeTerm): Narrowing {
  const { values } = base;
  if (values.options !== null)
    return values.options.length > 1 && choices.chance(50) ? enumerated(values.options.slice(1)) : nothing;
  if (choices.chance(30)) return enumeration(choices, base);
  if (base.variety === 'union') return nothing;
  if (base.variety === 'list') return lengths(choices, values);
  switch (values.base) {
    case 'string':
    case 'normalizedString':
    case 'token':
      return choices.chance(20) ? pattern(choices, values) : lengths(choices, values);
    case 'decimal':
      return decimalFacets(choices, values);
    default:
      return values.low !== null || values.high !== null || values.base === 'integer'
        ? bounds(choices, values)
        : nothing;
  }
}

function enumeration(choices: Choices, base: SimpleTypeTerm): Narrowing {
  if (!mayEnumerate(base)) return nothing;
  const maker: ValueMaker = { choices, extreme: false, unusual: false, nextId: () => 'id' };
  const options = new Set(choices.several(1, 4, () => valueOf(base, maker)));
  return enumerated([...options]);
}

/** QNames would need prefixes in the XSD, carriage returns references, booleans must not. */
function mayEnumerate(type: SimpleTypeTerm): boolean {
  if (type.variety === 'union') return membersOf(type).every(mayEnumerate);
  if (type.variety === 'list') return mayEnumerate(itemOf(type));
  return !['boolean', 'QName', 'ENTITY', 'ID'].includes(type.values.base);
}

function enumerated(options: readonly string[]): Narrowing {
  return { facets: options.map((option) => ['enumeration', option]), values: { options, freeForm: false } };
}

function lengths(choices: Choices, values: ValueSpace): Narrowing {
  const least = choices.between(values.minLength, Math.min(values.maxLength, values.minLength + 2));
  const most = choices.between(least, Math.min(values.maxLength, least + 6));
  if (choices.chance(25))
    return { facets: [['length', String(least)]], values: { minLength: least, maxLength: least } };
  const facets: [string, string][] = [];
  if (choices.chance(50)) facets.push(['minLength', String(least)]);
  if (facets.length === 0 || choices.chance(50)) facets.push(['maxLength', String(most)]);
  const has = (facet: string): boolean => facets.some(([name]) => name === facet);
  return {
    facets,
    values: {
      minLength: has('minLength') ? least : values.minLength,
      maxLength: has('maxLength') ? most : values.maxLength,
    },
  };
}

const patterns: readonly (readonly [pattern: string, options: readonly string[]])[] = [
  ['[A-Z]{2}\\d{3}', ['AB123', 'ZZ000']],
  ['(a|b)+c?', ['a', 'abc', 'bb']],
  ['\\i\\c*', ['x', 'a-1']],
  ['\\p{L}{1,3}', ['é', 'abc']],
];

function pattern(choices: Choices, values: ValueSpace): Narrowing {
  const [text, options] = choices.pick(patterns);
  const fitting = options.filter(
    (option) => option.length >= values.minLength && option.length <= values.maxLength,
  );
  if (fitting.length === 0) return nothing;
  return { facets: [['pattern', text]], values: { options: fitting, freeForm: false } };
}

function bounds(choices: Choices, values: ValueSpace): Narrowing {
  const low = values.low ?? -1000n;
  const high = values.high ?? low + 5000n;
  const width = high - low;
  const least = low + (width * BigInt(choices.below(4))) / 8n;
  const most = high - (width * BigInt(choices.below(4))) / 8n;
  if (values.high !== null && values.low === null) {
    return { facets: [['minInclusive', String(values.high - 100n)]], values: { low: values.high - 100n } };
  }
  const exclusive = most - least > 4n && choices.chance(30);
  return {
    facets: exclusive
      ? [
          ['minExclusive', String(least)],
          ['maxExclusive', String(most)],
        ]
      : [
          ['minInclusive', String(least)],
          ['maxInclusive', String(most)],
        ],
    values: exclusive ? { low: least + 1n, high: most - 1n } : { low: least, high: most },
  };
}

function decimalFacets(choices: Choices, values: ValueSpace): Narrowing {
  const isBounded = values.low !== null || values.high !== null;
  const isPlain = !isBounded && values.fractionDigits === null && values.wholeDigits === null;
  if (isPlain && choices.chance(30)) {
    return {
      facets: [
        ['minInclusive', '-99.5'],
        ['maxExclusive', '1000'],
      ],
      values: { low: -99n, high: 999n },
    };
  }
  const fraction = choices.between(0, Math.min(values.fractionDigits ?? 4, 4));
  const facets: [string, string][] = [['fractionDigits', String(fraction)]];
  if (isBounded || choices.chance(40)) return { facets, values: { fractionDigits: fraction } };
  const whole = choices.between(1, Math.min(values.wholeDigits ?? 6, 6));
  return {
    facets: [...facets, ['totalDigits', String(whole + fraction)]],
    values: { fractionDigits: fraction, wholeDigits: whole },
  };
}
