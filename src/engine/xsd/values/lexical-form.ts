/** Lexical forms of the primitive types. */
import type { BuiltInType } from '../../model/source-model.ts';

const nameStart =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const nameCharacter = `${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`;
const ncNamePattern = `[${nameStart.slice(1)}][${nameCharacter.slice(1)}]*`;

export const ncName = new RegExp(`^${ncNamePattern}$`, 'u');
export const qualifiedName = new RegExp(`^${ncNamePattern}(:${ncNamePattern})?$`, 'u');
const name = new RegExp(`^[${nameStart}][${nameCharacter}]*$`, 'u');
const nameToken = new RegExp(`^[${nameCharacter}]+$`, 'u');

const integer = /^[+-]?\d+$/u;
const zone = '(Z|[+-](0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?';
const year = '-?([1-9]\\d{4,}|\\d{4})';
const month = '(0[1-9]|1[0-2])';
const day = '(0[1-9]|[12]\\d|3[01])';
const clock = '(([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?|24:00:00(\\.0+)?)';

/** Lexical spaces of XSD Part 2 §3; types that are not listed allow any text. The white space of values has already been processed. */
const forms: Readonly<Partial<Record<BuiltInType, RegExp>>> = {
  language: /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/u,
  NMTOKEN: nameToken,
  Name: name,
  NCName: ncName,
  ID: ncName,
  IDREF: ncName,
  ENTITY: ncName,
  boolean: /^(true|false|1|0)$/u,
  decimal: /^[+-]?(\d+(\.\d*)?|\.\d+)$/u,
  float: /^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?INF|NaN)$/u,
  double: /^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?INF|NaN)$/u,
  duration: /^-?P(?=.)(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/u,
  dateTime: new RegExp(`^${year}-${month}-${day}T${clock}${zone}$`, 'u'),
  time: new RegExp(`^${clock}${zone}$`, 'u'),
  date: new RegExp(`^${year}-${month}-${day}${zone}$`, 'u'),
  gYearMonth: new RegExp(`^${year}-${month}${zone}$`, 'u'),
  gYear: new RegExp(`^${year}${zone}$`, 'u'),
  gMonthDay: new RegExp(`^--${month}-${day}${zone}$`, 'u'),
  gDay: new RegExp(`^---${day}${zone}$`, 'u'),
  gMonth: new RegExp(`^--${month}(--)?${zone}$`, 'u'),
  hexBinary: /^([0-9a-fA-F]{2})*$/u,
  base64Binary:
    /^(([A-Za-z0-9+/] ?){4})*((([A-Za-z0-9+/] ?){3}[A-Za-z0-9+/])|(([A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?=)|([A-Za-z0-9+/] ?[AQgw] ?= ?=))?$/u,
  QName: qualifiedName,
  NOTATION: qualifiedName,
};

/** Least and greatest values of the integer types. */
const integerRanges: Readonly<Partial<Record<BuiltInType, readonly [bigint | null, bigint | null]>>> = {
  integer: [null, null],
  nonPositiveInteger: [null, 0n],
  negativeInteger: [null, -1n],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-32768n, 32767n],
  byte: [-128n, 127n],
  nonNegativeInteger: [0n, null],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65535n],
  unsignedByte: [0n, 255n],
  positiveInteger: [1n, null],
};

/** Returns the primitive type of a built-in one. */
export function primitiveOf(type: BuiltInType): BuiltInType {
  if (type in integerRanges) return 'decimal';
  switch (type) {
    case 'normalizedString':
    case 'token':
    case 'language':
    case 'NMTOKEN':
    case 'Name':
    case 'NCName':
    case 'ID':
    case 'IDREF':
    case 'ENTITY':
      return 'string';
    default:
      return type;
  }
}

/** True when the text, white space processed, is in the lexical space of the atomic built-in type. */
export function hasLexicalForm(type: BuiltInType, text: string): boolean {
  const range = integerRanges[type];
  if (range !== undefined) {
    if (!integer.test(text)) return false;
    if (range[0] === null && range[1] === null) return true;
    const value = BigInt(text.replace('+', ''));
    return (range[0] === null || value >= range[0]) && (range[1] === null || value <= range[1]);
  }
  const form = forms[type];
  if (form !== undefined && !form.test(text)) return false;
  if (type === 'dateTime' || type === 'date') return isCalendarDate(text);
  if (type === 'gYear' || type === 'gYearMonth') return !/^-?0000/u.test(text);
  if (type === 'gMonthDay') return isCalendarDate(`2000${text.slice(1)}`);
  return true;
}

/** The day exists in its month; there is no year 0000 in XSD 1.0. */
function isCalendarDate(text: string): boolean {
  const parts = /^-?(\d+)-(\d\d)-(\d\d)/u.exec(text)!;
  const [yearNumber, monthNumber, dayNumber] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (yearNumber === 0) return false;
  const leap = yearNumber % 4 === 0 && (yearNumber % 100 !== 0 || yearNumber % 400 === 0);
  const days = monthNumber === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(monthNumber) ? 30 : 31;
  return dayNumber <= days;
}
