/** Equality of values as XSD 1.0 Part 2 defines it, with the zone of times kept apart. */
import { clarkName, type BuiltInType, type ValueType } from '../../../src/engine/model/source-model.ts';
import { qualifiedName } from '../../../src/engine/xsd/values/lexical-form.ts';

export interface WrittenValue {
  readonly text: string;
  /** in scope where it stands: a QName is read with them */
  readonly namespaces: ReadonlyMap<string, string>;
}

export function sameValue(type: ValueType, a: WrittenValue, b: WrittenValue): boolean {
  if (a.text === b.text && !namesInside(type)) return true;
  if (type.variety === 'union') {
    const members = type.memberTypes ?? [];
    return members.some((member) => sameValue(member, a, b));
  }
  if (type.variety === 'list') {
    const [items, others] = [a.text, b.text].map((text) =>
      text.split(/[ \t\r\n]+/).filter((item) => item !== ''),
    );
    const item = type.itemType ?? { variety: 'atomic', base: 'string', facets: {} };
    return (
      items!.length === others!.length &&
      items!.every((text, at) => sameValue(item, { ...a, text }, { ...b, text: others![at]! }))
    );
  }
  return valueKey(type, a) === valueKey(type, b);
}

function namesInside(type: ValueType): boolean {
  if (type.variety === 'list') return type.itemType !== undefined && namesInside(type.itemType);
  return type.base === 'QName' || type.base === 'NOTATION';
}

const decimals: ReadonlySet<BuiltInType> = new Set<BuiltInType>([
  'decimal',
  'integer',
  'nonPositiveInteger',
  'negativeInteger',
  'nonNegativeInteger',
  'positiveInteger',
  'long',
  'int',
  'short',
  'byte',
  'unsignedLong',
  'unsignedInt',
  'unsignedShort',
  'unsignedByte',
]);

/** A text that two values share exactly when they are equal. What is no value of the type stands for itself. */
function valueKey(type: ValueType, { text, namespaces }: WrittenValue): string {
  const { base } = type;
  const whiteSpace =
    type.facets.whiteSpace ??
    (base === 'string' || base === 'anySimpleType'
      ? 'preserve'
      : base === 'normalizedString'
        ? 'replace'
        : 'collapse');
  const replaced = whiteSpace === 'preserve' ? text : text.replace(/[\t\r\n]/g, ' ');
  const value = whiteSpace === 'collapse' ? replaced.replace(/ +/g, ' ').replace(/^ | $/g, '') : replaced;
  if (decimals.has(base)) return decimalKey(value);
  switch (base) {
    case 'boolean':
      return value === '1' ? 'true' : value === '0' ? 'false' : value;
    case 'float':
    case 'double':
      return floatKey(value, base === 'float');
    case 'dateTime':
    case 'time':
      return value
        .replace(/(\.\d*?)0+(?=$|[Z+-])/, '$1')
        .replace(/\.(?=$|[Z+-])/, '')
        .replace(/[+-]00:00$/, 'Z');
    case 'date':
      return value.replace(/[+-]00:00$/, 'Z');
    case 'hexBinary':
      return value.toUpperCase();
    case 'base64Binary':
      return value.replaceAll(' ', '');
    case 'QName':
    case 'NOTATION': {
      const [, prefix, localName] = qualifiedName.test(value) ? /^(?:(.*):)?(.*)$/.exec(value)! : [];
      const namespaceUri = namespaces.get(prefix ?? '') ?? (prefix === undefined ? '' : null);
      return localName === undefined || namespaceUri === null
        ? value
        : clarkName({ namespaceUri, localName });
    }
    default:
      return value;
  }
}

function decimalKey(value: string): string {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(value);
  if (match === null || !/\d/.test(value)) return value;
  const [, sign, whole, fraction = ''] = match;
  const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}

function floatKey(value: string, single: boolean): string {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) return value === '+INF' ? 'INF' : value;
  const number = single ? Math.fround(Number(value)) : Number(value);
  return String(number === 0 ? 0 : number);
}
