/** Random simple types: each makes values that its facets allow. */
import type { Random } from '../../../test/fuzz/random.ts';
import type { Name, Primitive, Simple, ValueContext } from './terms.ts';

type Make = Simple['make'];

const between = (random: Random, low: number, high: number): number => low + random.below(high - low + 1);
const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => String(random.below(10))).join('');
const padded = (number: number, length: number): string => String(number).padStart(length, '0');
const from =
  (...values: string[]): Make =>
  ({ random }) =>
    random.pick(values);

const pieces = ['a', 'B', '7', 'word', 'é', '名', '&', '<', '>', '"', "'", ',', ';', '\\', '\\N', '{', '%'];
const oddPieces = [
  '😀',
  '\u00A0',
  '\u2028',
  ']]>',
  'NULL',
  '$1',
  '--',
  '\t',
  '\n',
  '  ',
  ' ',
  '0.10',
  'true',
];

function phrase(random: Random, low: number, high: number, isPlain = false): string {
  const wanted = between(random, low, high);
  let text = '';
  while ([...text].length < wanted)
    text += random.chance(0.15) ? random.pick(oddPieces) : random.pick(pieces);
  if (isPlain) text = text.replaceAll(/\s/g, '_');
  return [...text].slice(0, wanted).join('');
}

/** Texts as white space processing leaves them. */
const collapsed =
  (low: number, high: number): Make =>
  ({ random }) =>
    phrase(random, low, high, true).replace(/^_|_$/g, 'x');

const zone = (random: Random): string => random.pick(['', '', 'Z', '+02:00', '-05:30', '+00:00', '+14:00']);
const day = (random: Random): string =>
  random.chance(0.05)
    ? random.pick(['0001-01-03', '9999-12-30', '2024-02-29'])
    : `${between(random, 1890, 2090)}-${padded(between(random, 1, 12), 2)}-${padded(between(random, 1, 28), 2)}`;
const clock = (random: Random): string =>
  random.chance(0.05)
    ? '24:00:00'
    : `${padded(random.below(24), 2)}:${padded(random.below(60), 2)}:${padded(random.below(60), 2)}${random.pick(['', '', '.5', '.250', '.123456', '.1234567'])}`;
const decimal = (random: Random, whole: number, fraction: number): string => {
  const sign = random.chance(0.2) ? '-' : '';
  const before = random.chance(0.1) ? padded(random.below(99), 4) : String(Number(digits(random, whole)));
  return `${sign}${before}${fraction > 0 && random.chance(0.7) ? `.${digits(random, between(random, 1, fraction))}` : ''}`;
};
const integer =
  (low: number, high: number): Make =>
  ({ random }) =>
    random.chance(0.05) ? `0${Math.max(0, low)}` : String(between(random, low, high));

/** Built-in types with values. */
const builtIns: readonly (readonly [string, Primitive, Make])[] = [
  [
    'string',
    'text',
    ({ random }) => (random.chance(0.06) ? random.pick(['', ' ', '\n']) : phrase(random, 1, 6)),
  ],
  ['string', 'text', ({ random }) => phrase(random, 1, 3)],
  ['normalizedString', 'text', ({ random }) => phrase(random, 0, 5).replaceAll(/[\t\n]/g, ' ')],
  ['token', 'text', collapsed(1, 6)],
  ['int', 'decimal', integer(-100, 100_000)],
  [
    'integer',
    'decimal',
    ({ random }) => (random.chance(0.04) ? `-1${digits(random, 21)}` : String(random.below(9999))),
  ],
  ['long', 'decimal', from('0', '-9223372036854775808', '9223372036854775807', '12', '+7')],
  ['unsignedLong', 'decimal', from('0', '18446744073709551615', '5')],
  ['positiveInteger', 'decimal', integer(1, 500)],
  ['unsignedByte', 'decimal', integer(0, 255)],
  ['short', 'decimal', integer(-32_768, 32_767)],
  ['decimal', 'decimal', ({ random }) => decimal(random, 5, 4)],
  ['decimal', 'decimal', from('.5', '5.', '+1.50', '-0', '0.000001', '1234567890123456789.12345')],
  ['double', 'double', from('1.5', '-2.25E10', '1e-100', 'INF', '-INF', 'NaN', '0.1', '-0', '12345678.123')],
  ['float', 'float', from('0', '1.5', '1E5', '1e-10', 'INF', 'NaN', '0.1', '16777216', '3.4028234E38')],
  ['boolean', 'boolean', from('true', 'false', '1', '0')],
  ['date', 'date', ({ random }) => day(random)],
  ['date', 'date', ({ random }) => day(random) + zone(random)],
  ['time', 'time', ({ random }) => clock(random) + zone(random)],
  ['dateTime', 'dateTime', ({ random }) => `${day(random)}T${clock(random)}`],
  [
    'dateTime',
    'dateTime',
    ({ random }) => `${day(random)}T${clock(random)}${random.pick(['Z', '+02:00', '-11:30'])}`,
  ],
  ['dateTime', 'dateTime', ({ random }) => `${day(random)}T${clock(random)}${zone(random)}`],
  ['duration', 'text', from('P1Y', 'PT0S', '-P1Y2M3DT4H5M6.7S', 'P400D')],
  ['gYear', 'text', from('2024', '1999+02:00', '0033')],
  ['gYearMonth', 'text', from('2024-02', '1999-12Z')],
  ['gMonthDay', 'text', from('--02-29', '--12-31Z')],
  ['hexBinary', 'hex', from('', '0aFF', 'CAFE')],
  ['base64Binary', 'text', from('', 'YQ==', 'AAAA')],
  ['anyURI', 'text', from('http://example.org/a?b=c#d', 'urn:a:b', '#top', '../x%20y')],
  ['language', 'text', from('en', 'de-CH', 'zh-Hant-TW')],
  ['NMTOKEN', 'text', from('a', '-1.a:b', '007', 'é')],
  ['NCName', 'text', from('a', '_x-1', 'Größe')],
  ['QName', 'QName', from('\uE000urn:names\uE001a\uE002', '\uE000urn:m:one\uE001b\uE002')],
  ['ID', 'text', ({ unique }) => `id${unique()}`],
  ['anySimpleType', 'text', ({ random }) => phrase(random, 1, 4)],
];

const spaces: Readonly<Record<string, Simple['space']>> = {
  string: 'preserve',
  anySimpleType: 'preserve',
  normalizedString: 'replace',
};

export function builtIn(name: string, primitive: Primitive, make: Make): Simple {
  const space = spaces[name] ?? 'collapse';
  return {
    kind: 'simple',
    name: null,
    builtIn: name,
    base: null,
    facets: [],
    item: null,
    members: [],
    space,
    primitive,
    make,
  };
}

function builtInOf(random: Random, accepts: (name: string) => boolean = () => true): Simple {
  const [name, primitive, make] = random.pick(builtIns.filter(([one]) => accepts(one)));
  return builtIn(name, primitive, make);
}

/** Restrictions of built-in types, as facets with values that meet them. */
const restrictions: readonly ((random: Random) => readonly [string, Primitive, [string, string][], Make])[] =
  [
    () => ['string', 'text', [['pattern', '[A-Z]{2}\\d{3}']], ({ random }) => `AB${digits(random, 3)}`],
    () => ['string', 'text', [['pattern', '\\d{4}']], ({ random }) => digits(random, 4)],
    () => ['string', 'text', [['length', '3']], ({ random }) => phrase(random, 3, 3)],
    () => [
      'string',
      'text',
      [
        ['minLength', '0'],
        ['maxLength', '8'],
      ],
      ({ random }) => phrase(random, 0, 8),
    ],
    () => ['string', 'text', [['whiteSpace', 'collapse']], collapsed(1, 5)],
    () => ['token', 'text', [['maxLength', '12']], collapsed(0, 12)],
    () => ['decimal', 'decimal', [['fractionDigits', '2']], ({ random }) => decimal(random, 6, 2)],
    () => [
      'decimal',
      'decimal',
      [
        ['totalDigits', '7'],
        ['fractionDigits', '3'],
      ],
      ({ random }) => decimal(random, 4, 3).replace(/^(-?)0+(?=\d)/, '$1'),
    ],
    () => [
      'decimal',
      'decimal',
      [['pattern', '[\\-]?[0-9]{1,11}\\.[0-9]{2}']],
      ({ random }) => `${random.chance(0.2) ? '-' : ''}${between(random, 0, 99_999)}.${digits(random, 2)}`,
    ],
    () => [
      'decimal',
      'decimal',
      [
        ['minInclusive', '-100'],
        ['maxExclusive', '1000.5'],
      ],
      ({ random }) => decimal(random, 2, 2),
    ],
    () => [
      'double',
      'decimal',
      [['pattern', '\\d+(\\.\\d{1,6})?']],
      ({ random }) => `${digits(random, between(random, 1, 17))}.${digits(random, between(random, 1, 6))}`,
    ],
    () => [
      'float',
      'float',
      [['pattern', '\\d{1,3}\\.\\d{2}']],
      ({ random }) => `${random.below(1000)}.${digits(random, 2)}`,
    ],
    () => ['integer', 'decimal', [['pattern', '0\\d{3}']], ({ random }) => `0${digits(random, 3)}`],
    () => [
      'int',
      'decimal',
      [
        ['minInclusive', '-5'],
        ['maxInclusive', '300'],
      ],
      ({ random }) => String(between(random, -5, 300)),
    ],
    () => [
      'nonNegativeInteger',
      'decimal',
      [['totalDigits', '3']],
      ({ random }) => String(random.below(1000)),
    ],
    () => ['boolean', 'boolean', [['pattern', '0|1']], from('0', '1')],
    () => ['boolean', 'boolean', [['pattern', 'true|false']], from('true', 'false')],
    () => ['dateTime', 'dateTime', [['pattern', '.*Z']], ({ random }) => `${day(random)}T${clock(random)}Z`],
    () => [
      'dateTime',
      'dateTime',
      [['pattern', '[^.]*\\.\\d{3}([+\\-].*)?']],
      ({ random }) =>
        `${day(random)}T10:20:${padded(random.below(60), 2)}.${digits(random, 3)}${random.pick(['', '+01:00'])}`,
    ],
    () => [
      'time',
      'time',
      [['pattern', '\\d\\d:\\d\\d:00']],
      ({ random }) => `${padded(random.below(24), 2)}:30:00`,
    ],
    () => [
      'date',
      'date',
      [
        ['pattern', '.{10}'],
        ['minInclusive', '2000-01-01'],
      ],
      ({ random }) => `20${digits(random, 2)}-0${between(random, 1, 9)}-1${random.below(10)}`,
    ],
    (one) => {
      const codes = ['red', 'dark green', 'B', '10', '010', 'x&y'].filter(() => one.chance(0.6));
      return ['string', 'text', ['on', ...codes].map((code) => ['enumeration', code]), from('on', ...codes)];
    },
  ];

/** A type of XSD itself, a named one, or a new anonymous one; `accepts` sees the name of the built-in type. */
export function anySimple(random: Random, named: readonly Simple[]): Simple {
  if (named.length > 0 && random.chance(0.3)) return random.pick(named);
  return random.chance(0.3) ? newSimple(random, named, null) : builtInOf(random, (name) => name !== 'ID');
}

export function newSimple(random: Random, named: readonly Simple[], name: Name | null): Simple {
  const shape = random.below(10);
  if (shape === 0) return listOf(random, named, name);
  if (shape === 1) return unionOf(random, named, name);
  const bases = named.filter(
    (type) => type.item === null && type.members.length === 0 && type.primitive !== 'QName',
  );
  if (shape === 2 && bases.length > 0) return enumerated(random, random.pick(bases), name);
  const [base, primitive, facets, make] = random.pick(restrictions)(random);
  const type = builtIn(base, primitive, make);
  const space = facets.some(([, value]) => value === 'collapse') ? 'collapse' : type.space;
  return { ...type, builtIn: null, name, base: type, facets, space };
}

/** A restriction of a named type to a few of its values; booleans take no enumeration. */
function enumerated(random: Random, base: Simple, name: Name | null): Simple {
  const context: ValueContext = { random, unique: () => 1 };
  const values = [...new Set(Array.from({ length: 3 }, () => base.make(context)))];
  const isPlain = base.primitive !== 'boolean' && values.every((value) => value !== '' && !/\s/.test(value));
  const facets = isPlain ? values.map((value) => ['enumeration', value] as const) : [];
  return { ...base, name, builtIn: null, base, facets, ...(isPlain ? { make: from(...values) } : {}) };
}

const itemNames = new Set([
  'int',
  'decimal',
  'NMTOKEN',
  'date',
  'boolean',
  'double',
  'QName',
  'dateTime',
  'unsignedByte',
]);

function listOf(random: Random, named: readonly Simple[], name: Name | null): Simple {
  const usable = named.filter(
    (type) => itemNames.has(type.base?.builtIn ?? '') && type.primitive !== 'QName',
  );
  const item =
    usable.length > 0 && random.chance(0.4)
      ? random.pick(usable)
      : builtInOf(random, (one) => itemNames.has(one));
  const make: Make = (context) =>
    Array.from({ length: context.random.pick([0, 1, 2, 3]) }, () => item.make(context)).join(' ');
  return { ...builtIn('', item.primitive, make), name, builtIn: null, item, space: 'collapse' };
}

function unionOf(random: Random, named: readonly Simple[], name: Name | null): Simple {
  const usable = named.filter((type) => mayBeMember(type));
  const members = [1, 2].map(() =>
    usable.length > 0 && random.chance(0.4)
      ? random.pick(usable)
      : builtInOf(random, (one) => ['int', 'date', 'boolean', 'NCName', 'dateTime', 'decimal'].includes(one)),
  );
  const make: Make = (context) => context.random.pick(members).make(context);
  const [first, other] = members.map(({ primitive }) => primitive);
  const primitive = first === other ? first! : 'text';
  return { ...builtIn('', primitive, make), name, builtIn: null, members, space: 'collapse' };
}

function mayBeMember({ item, members, space, primitive }: Simple): boolean {
  return item === null && members.length === 0 && space === 'collapse' && primitive !== 'QName';
}
