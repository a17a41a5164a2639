/** Types of XSD whose patterns allow only some lexical forms, each with values that are valid; xmllint says the same of all of them. */

export interface PatternedType {
  readonly base: string;
  /** of one step of derivation after the other; alternatives of one step are written with `|` */
  readonly patterns: readonly string[];
  /** a list of such items, or a union of these types (by their places), which the patterns are of */
  readonly list?: true;
  readonly values: readonly string[];
}

const type = (
  base: string,
  pattern: string | readonly string[],
  ...values: readonly string[]
): PatternedType => ({
  base: `xs:${base}`,
  patterns: [pattern].flat(),
  values,
});
const listOf = (base: string, pattern: string, ...values: readonly string[]): PatternedType => ({
  ...type(base, pattern, ...values),
  list: true,
});

const moments = ['10:20:30', '10:20:30.5', '10:20:30.500', '10:20:30.000', '24:00:00', '10:20:30.123456789'];
const dateTimes = moments.flatMap((time) =>
  ['', 'Z', '+02:00', '-00:00', '-05:30'].map((zone) => `2024-02-29T${time}${zone}`),
);
/** Those of a pattern. */
const some = (values: readonly string[], pattern: string): string[] =>
  values.filter((value) => new RegExp(`^(?:${pattern})$`).test(value));
const dateTime = (pattern: string): PatternedType => type('dateTime', pattern, ...some(dateTimes, pattern));

export const patternedTypes: readonly PatternedType[] = [
  type(
    'decimal',
    String.raw`\d+\.\d{2}`,
    '100.00',
    '5.50',
    '0.10',
    '007.50',
    '0.00',
    '123456789012345678.91',
  ),
  type('decimal', String.raw`[\-]?[0-9]{1,11}\.[0-9]{2}`, '100.00', '-5.00', '-0.00', '99999999999.99'),
  type('decimal', '[0-9]{1,12}[.][0-9]{2,8}', '5.00', '0.12500', '22.12345678', '1.230'),
  type('decimal', String.raw`-?\d+(\.\d{1,2})?`, '5', '5.0', '5.50', '-0', '05'),
  type('decimal', String.raw`\d{1,3}(\.\d{2})?`, '5', '5.50', '100.00'),
  type('decimal', String.raw`\d{3}\.\d{3}`, '010.250', '000.000', '123.400'),
  type('decimal', String.raw`[1-9]\d*\.\d{2}|0\.00`, '0.00', '10.10'),
  type('decimal', String.raw`0\.\d{3}|1\.000`, '0.500', '1.000'),
  type('decimal', String.raw`\.\d+`, '.5', '.50'),
  type('decimal', String.raw`\-\d+\.\d`, '-5.0', '-0.0'),
  type('decimal', '.{4}', '5.00', '7.50', '0042', '10.0', '+5.1'),
  type('decimal', String.raw`5\.00|7\.5`, '5.00', '7.5'),
  type('decimal', [String.raw`[0-9.]{1,6}`, String.raw`.*\.\d0`], '5.10', '10.00'),
  type(
    'double',
    String.raw`-?[0-9]+\.[0-9]{2}`,
    '4202.00',
    '123456789012345678.91',
    '0.10',
    '1000000000000000000000.00',
  ),
  type('double', String.raw`\d{1,5}`, '5', '12345', '00042'),
  type('double', String.raw`-?\d+(\.\d+)?`, '5.00', '0.00001', '-12.5'),
  type('double', String.raw`\d+(\.\d+)?([eE][+\-]?\d+)?`, '5', '5.0', '5.00', '1e5', '1.5E-7', '0.00001'),
  type('double', String.raw`INF|\d+\.0`, 'INF', '5.0', '100.0'),
  type('float', String.raw`\d+\.\d`, '5.0', '16777217.5'),
  type('float', '.{1,8}', '5.0', 'NaN', '1e5', '+5', '-0'),
  type('integer', String.raw`\d{5}`, '00042', '12345'),
  type('integer', String.raw`0\d{3}|\d`, '0042', '7'),
  type('integer', String.raw`[+\-]\d+`, '+5', '-5', '+0'),
  type('integer', String.raw`\d{20}`, '12345678901234567890', '00000000000000000042'),
  type('int', String.raw`\d{4}`, '0042', '1234'),
  type('positiveInteger', '[1-9][0-9]{0,2}', '7', '100'),
  type('unsignedByte', String.raw`\d{3}`, '042', '255'),
  type('unsignedLong', String.raw`\d{20}`, '00000000000000000042'),
  type('boolean', '[01]', '1', '0'),
  type('boolean', 'true|false', 'true', 'false'),
  type('boolean', '1|0|true', '1', 'true', '0'),
  type('boolean', 'true|0', 'true', '0'),
  dateTime('.*[.][0-9]{3}Z'),
  dateTime('.*[.][0-9]{3}'),
  dateTime('[^Z.]*'),
  dateTime('.*[.][0-9]{9}Z'),
  dateTime('.*Z'),
  dateTime('.*00(Z|[+].*)?'),
  dateTime('[0-9]{4}-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.][0-9]{1,3})?([+]|-)[0-9:]{5}'),
  type('time', String.raw`\d\d:\d\d:\d\d\.\d{3}`, '10:20:30.500', '10:20:30.000'),
  type('time', String.raw`\d\d:\d\d:\d\d(\.0{1,3})?`, '10:20:30', '10:20:30.00', '24:00:00'),
  type('time', '.*Z', '10:20:30Z', '10:20:30.500Z'),
  type('date', '.*Z', '2024-02-29Z'),
  type('date', String.raw`\d{4}-\d\d-\d\d`, '2024-02-29'),
  listOf('decimal', String.raw`(\d+\.\d{2} ?)+`, '5.00 7.50', '100.00'),
  listOf('boolean', '[01 ]*', '1 0 1', '0'),
  listOf('int', String.raw`\d\d( \d\d)*`, '01 22', '07'),
  listOf('double', '[0-9.e ]+', '5.0 6.50', '1e5'),
  listOf('dateTime', '(.{23} ?)+', '2024-01-01T10:00:00.500 2024-01-01T10:00:00.000'),
];

const nameOf = (at: number): string => `t${at}`;

const fixedValues = [
  ['decimal', '1.50'],
  ['boolean', '1'],
  ['double', '1.0'],
  ['int', '007'],
  ['dateTime', '2024-01-01T10:00:00.500Z'],
  ['time', '10:00:00.0'],
] as const;

/** Elements and attributes of all types; elements of fixed values, which libxml2 compares by their text. */
export const patternedXsd: string = schemaOf(patternedTypes);

function schemaOf(types: readonly PatternedType[]): string {
  const declared = types.map(({ base, patterns, list }, at) => {
    const name = nameOf(at);
    const steps = patterns.map((pattern, step) => {
      const before = step > 0 ? `${name}-${step - 1}` : list === true ? `${name}-items` : base;
      const own = step === patterns.length - 1 ? name : `${name}-${step}`;
      const value = pattern.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<xs:simpleType name="${own}"><xs:restriction base="${before}"><xs:pattern value="${value}"/></xs:restriction></xs:simpleType>`;
    });
    const items = `<xs:simpleType name="${name}-items"><xs:list itemType="${base}"/></xs:simpleType>`;
    return `${list === true ? items : ''}${steps.join('')}`;
  });
  const elements = types.map(
    (_, at) => `<xs:element name="${nameOf(at)}" type="${nameOf(at)}"/>
    <xs:element name="a${at}"><xs:complexType><xs:attribute name="v" type="${nameOf(at)}"/></xs:complexType></xs:element>`,
  );
  const fixed = fixedValues.map(
    ([base, value], at) => `<xs:element name="f${at}" type="xs:${base}" fixed="${value}"/>`,
  );
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${declared.join('\n')}
  <xs:element name="r"><xs:complexType><xs:choice maxOccurs="unbounded">${[...elements, ...fixed].join('\n')}</xs:choice></xs:complexType></xs:element>
</xs:schema>`;
}

/** All values of all types. */
export const patternedDocument: string = `<r>${patternedTypes
  .flatMap(({ values }, at) =>
    values.map((value) => `<${nameOf(at)}>${value}</${nameOf(at)}><a${at} v="${value}"/>`),
  )
  .join('\n')}${fixedValues.map(([, value], at) => `<f${at}>${value}</f${at}>`).join('')}</r>`;
