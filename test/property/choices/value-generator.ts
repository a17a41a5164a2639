/** Values of simple types, as white space processing leaves them; `writtenForm` gives them another look. */
import type { BuiltInType, QName } from '../../../src/engine/model/source-model.ts';
import type { SimpleTypeTerm, ValueMaker, ValueSpace } from '../schemas/terms.ts';

/** Marks a QName in a value: the writer of a document puts a prefix in its place. */
const nameMark = { open: '\uE000', middle: '\uE001', close: '\uE002' };

export function markedName(name: QName): string {
  return `${nameMark.open}${name.namespaceUri}${nameMark.middle}${name.localName}${nameMark.close}`;
}

export function replaceMarkedNames(value: string, write: (name: QName) => string): string {
  return value.replace(
    /\uE000([^\uE001]*)\uE001([^\uE002]*)\uE002/g,
    (_, namespaceUri: string, local: string) => write({ namespaceUri, localName: local }),
  );
}

const pieces = ['a', 'B', '7', ' ', 'é', '&', '<', '>', '"', "'", ',', ';', '\\', '\\N', '{', '}', '(', '%'];
const oddPieces = [
  '😀',
  '名',
  '\u00A0',
  '\u2028',
  '\u0085',
  ']]>',
  'NULL',
  "''",
  '$1',
  'e\u0301',
  '--',
  '/*',
  '\uFFFD',
];
const spaces = ['\n', '\t', '  ', '\r', '\r\n', ' '];

const samples: Readonly<Partial<Record<BuiltInType, readonly string[]>>> = {
  language: ['en', 'de-CH', 'x-klingon', 'zh-Hant-TW'],
  NMTOKEN: ['a', '-1.a:b', '007', 'é', '·x', 'a.5'],
  Name: ['a', 'a:b', '_x', 'é.1'],
  NCName: ['a', '_x-1', 'Größe', 'b.c'],
  IDREF: ['a', 'n1'],
  ENTITY: ['picture'],
  boolean: ['true', 'false', '1', '0'],
  float: ['0', '1.5', '-2.25', '1E5', '1e-10', 'INF', '-INF', 'NaN', '0.1', '16777216', '-0', '3.4028234E38'],
  double: [
    '0',
    '1.5',
    '-2.25E10',
    '1e-100',
    'INF',
    '-INF',
    'NaN',
    '0.1',
    '12345678.123',
    '-0',
    '1.7976931348623157E308',
  ],
  duration: ['P1Y', 'PT0S', '-P1Y2M3DT4H5M6.7S', 'P400D', 'P1M'],
  dateTime: [
    '2024-02-29T23:59:59',
    '2024-01-31T00:00:00Z',
    '1999-12-31T12:00:00.123+14:00',
    '2001-01-01T01:01:01.1234567-05:30',
    '2024-06-30T24:00:00',
    '0001-01-01T00:00:00Z',
    '2024-01-31T10:00:00.500',
    '9999-12-31T23:59:59-12:00',
  ],
  time: ['00:00:00', '23:59:59.999999', '24:00:00', '12:30:00Z', '01:02:03.4567890+02:00', '12:00:00.50'],
  date: ['2024-02-29', '2000-01-01Z', '1970-12-31-05:00', '0001-01-01', '9999-12-31+14:00'],
  gYearMonth: ['2024-02', '1999-12Z'],
  gYear: ['2024', '1999+02:00', '0033'],
  gMonthDay: ['--02-29', '--12-31Z'],
  gDay: ['---31', '---01-05:00'],
  gMonth: ['--12', '--01Z'],
  hexBinary: ['', '0aFF', 'CAFE', '00'],
  base64Binary: ['', 'YQ==', 'YWJj', 'AAAA'],
  anyURI: ['', 'http://example.org/a?b=c#d', 'urn:a:b', '../x', '#top', 'http://example.org/%20'],
};

const extremeSamples: Readonly<Partial<Record<BuiltInType, readonly string[]>>> = {
  float: ['1e-45', '1.17549E-39', '3.4028236e38'],
  double: ['4.9E-324', '2.2250738585072011e-308', '1e-400'],
  dateTime: ['12024-01-01T00:00:00', '-0044-03-15T12:00:00Z', '2024-01-01T00:00:00.123456789012'],
  date: ['-0044-03-15', '12345-06-07', '-20000-01-01Z'],
  gYear: ['-0044', '12024'],
  gYearMonth: ['-0001-01'],
  duration: ['P99999999999999999999Y', '-PT0.000000000000001S'],
};

/** Declared names of no document: a QName needs only a prefix. */
const qNames: readonly QName[] = [
  { namespaceUri: 'urn:names', localName: 'a' },
  { namespaceUri: 'urn:one', localName: 'b' },
  { namespaceUri: '', localName: 'plain' },
  { namespaceUri: 'http://www.w3.org/2001/XMLSchema', localName: 'int' },
];

export function valueOf(type: SimpleTypeTerm, maker: ValueMaker): string {
  const { choices } = maker;
  const { values } = type;
  if (values.options !== null) return choices.pick(values.options);
  if (type.variety === 'union') return valueOf(choices.pick(membersOf(type)), maker);
  if (type.variety === 'list') {
    const item = itemOf(type);
    const least = values.minLength;
    const length = choices.between(least, Math.max(least, Math.min(values.maxLength, least + 3)));
    return Array.from({ length }, () => valueOf(item, maker)).join(' ');
  }
  return atomicValue(values, maker);
}

export function itemOf(type: SimpleTypeTerm): SimpleTypeTerm {
  return type.item ?? itemOf(type.base!);
}

export function membersOf(type: SimpleTypeTerm): readonly SimpleTypeTerm[] {
  return type.members.length > 0 ? type.members : membersOf(type.base!);
}

function atomicValue(values: ValueSpace, maker: ValueMaker): string {
  const { choices, extreme } = maker;
  const { base } = values;
  switch (base) {
    case 'string':
    case 'anySimpleType':
    case 'normalizedString':
    case 'token':
      return textValue(values, maker);
    case 'ID':
      return maker.nextId();
    case 'QName':
      return markedName(choices.pick(qNames));
    case 'decimal':
      return decimalValue(values, maker);
    default:
  }
  if (values.low !== null || values.high !== null || base === 'integer')
    return String(integerValue(values, maker));
  const usual = samples[base];
  if (usual === undefined) throw new Error(`no values of ${base}`);
  const all = extreme ? [...usual, ...(extremeSamples[base] ?? [])] : usual;
  const fitting = all.filter(
    (sample) => sample.length >= values.minLength && sample.length <= values.maxLength,
  );
  return choices.pick(fitting.length > 0 ? fitting : usual);
}

function textValue(
  { base, whiteSpace, minLength, maxLength }: ValueSpace,
  { choices, extreme }: ValueMaker,
): string {
  const length = choices.between(minLength, Math.min(maxLength, minLength + (extreme ? 12 : 5)));
  let text = '';
  const kinds = choices.chance(20) ? [...pieces, ...oddPieces] : pieces.slice(0, 3);
  for (let at = 0; at < length; at += 1) {
    const preserved = whiteSpace === 'preserve' && base !== 'normalizedString';
    text += preserved && choices.chance(10) ? choices.pick(spaces) : choices.pick(kinds);
  }
  if (whiteSpace === 'collapse') text = text.replace(/ +/g, ' ').replace(/^ | $/g, '');
  const characters = [...text];
  if (characters.length > maxLength) text = characters.slice(0, maxLength).join('');
  if (whiteSpace === 'collapse') text = text.trimEnd();
  return text + 'z'.repeat(Math.max(0, minLength - [...text].length));
}

function integerValue({ low, high, wholeDigits }: ValueSpace, { choices, extreme }: ValueMaker): bigint {
  const reach = wholeDigits === null ? (extreme ? 10n ** 30n : 10n ** 12n) : 10n ** BigInt(wholeDigits) - 1n;
  const least = low ?? (high === null || high > -reach ? -reach : high - reach);
  const most = high ?? (least < reach ? reach : least + reach);
  const near = [0n, 1n, -1n, 7n, 42n, 1000n].filter((value) => value >= least && value <= most);
  if (near.length > 0 && choices.chance(60)) return choices.pick(near);
  return choices.pick([least, most, (least + most) / 2n, least + (most - least) / 3n]);
}

function decimalValue(values: ValueSpace, maker: ValueMaker): string {
  const { choices, extreme } = maker;
  const fraction = values.fractionDigits ?? choices.between(0, extreme ? 25 : 4);
  const whole = integerValue(values, maker);
  // a bound is met by whole numbers alone
  if (fraction === 0 || values.low !== null || values.high !== null) return String(whole);
  const digits = Array.from({ length: choices.between(0, fraction) }, () => String(choices.below(10))).join(
    '',
  );
  return digits === '' ? String(whole) : `${whole}.${digits}`;
}

/** Another way to write the same value: zeros, signs, white space that processing takes away. */
export function writtenForm(type: SimpleTypeTerm, value: string, maker: ValueMaker): string {
  const { choices, unusual } = maker;
  const { whiteSpace, base, freeForm } = type.values;
  let form = value;
  if (type.variety === 'atomic' && freeForm && choices.chance(15)) {
    const isNumber =
      /^-?\d+(?:\.\d+)?$/.test(form) &&
      (base === 'decimal' ||
        base === 'integer' ||
        /Integer|long|int|short|byte|Long|Int|Short|Byte/.test(base));
    if (isNumber) {
      const sign = form.startsWith('-') ? '-' : choices.chance(30) && unusual ? '+' : '';
      form = `${sign}${'0'.repeat(choices.below(3))}${form.replace('-', '')}`;
      if (base === 'decimal') form += form.includes('.') ? '0' : choices.pick(['', '.0', '.00']);
    }
  }
  if (type.variety === 'list' && choices.chance(15))
    form = form.replaceAll(' ', choices.pick(['  ', '\n', '\t ']));
  if (whiteSpace !== 'collapse' || !choices.chance(10)) return form;
  const [before, after] = [choices.pick(['', ' ', '\n  ', '\t']), choices.pick(['', ' ', '\n', '\r\n '])];
  return unusual ? `${before}${form}${after}` : form;
}
