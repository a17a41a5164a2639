/** The built-in simple types. */
import type { BuiltInType, QName } from '../../model/source-model.ts';
import type { ComplexType, SimpleType, Wildcard } from '../components/terms.ts';
import { xsdNamespace } from '../../model/name-labels.ts';

/** Each built-in type with its base type (XSD Part 2 §3); a trailing `[]` marks a list of the named item type. */
const derivations: readonly (readonly [BuiltInType, BuiltInType | null])[] = [
  ['anySimpleType', null],
  ['string', 'anySimpleType'],
  ['normalizedString', 'string'],
  ['token', 'normalizedString'],
  ['language', 'token'],
  ['NMTOKEN', 'token'],
  ['Name', 'token'],
  ['NCName', 'Name'],
  ['ID', 'NCName'],
  ['IDREF', 'NCName'],
  ['ENTITY', 'NCName'],
  ['boolean', 'anySimpleType'],
  ['decimal', 'anySimpleType'],
  ['integer', 'decimal'],
  ['nonPositiveInteger', 'integer'],
  ['negativeInteger', 'nonPositiveInteger'],
  ['long', 'integer'],
  ['int', 'long'],
  ['short', 'int'],
  ['byte', 'short'],
  ['nonNegativeInteger', 'integer'],
  ['unsignedLong', 'nonNegativeInteger'],
  ['unsignedInt', 'unsignedLong'],
  ['unsignedShort', 'unsignedInt'],
  ['unsignedByte', 'unsignedShort'],
  ['positiveInteger', 'nonNegativeInteger'],
  ['float', 'anySimpleType'],
  ['double', 'anySimpleType'],
  ['duration', 'anySimpleType'],
  ['dateTime', 'anySimpleType'],
  ['time', 'anySimpleType'],
  ['date', 'anySimpleType'],
  ['gYearMonth', 'anySimpleType'],
  ['gYear', 'anySimpleType'],
  ['gMonthDay', 'anySimpleType'],
  ['gDay', 'anySimpleType'],
  ['gMonth', 'anySimpleType'],
  ['hexBinary', 'anySimpleType'],
  ['base64Binary', 'anySimpleType'],
  ['anyURI', 'anySimpleType'],
  ['QName', 'anySimpleType'],
  ['NOTATION', 'anySimpleType'],
];

const listTypes: readonly (readonly [BuiltInType, BuiltInType])[] = [
  ['NMTOKENS', 'NMTOKEN'],
  ['IDREFS', 'IDREF'],
  ['ENTITIES', 'ENTITY'],
];

/** XSD 1.1 types that an XSD 1.0 type can represent. */
const laterTypes: Readonly<Record<string, BuiltInType>> = {
  anyAtomicType: 'anySimpleType',
  yearMonthDuration: 'duration',
  precisionDecimal: 'decimal',
  dayTimeDuration: 'duration',
};

export interface BuiltInTypes {
  readonly anyType: ComplexType;
  readonly anySimpleType: SimpleType;
  /** XSD 1.1: the type without instances, with which a declaration forbids its element */
  readonly error: SimpleType;
  /** the built-in simple type of that name */
  simple(name: BuiltInType): SimpleType;
  /** by local name in the XSD namespace, including the ur-type; null for names that are not types */
  findType(localName: string): SimpleType | ComplexType | null;
}

/** A new set of built-in types; each compilation has its own. */
export function createBuiltInTypes(): BuiltInTypes {
  const types = new Map<string, SimpleType>();
  const none: ReadonlySet<never> = new Set();
  const add = (localName: BuiltInType, base: SimpleType | null, itemType: SimpleType | null) => {
    const name: QName = { namespaceUri: xsdNamespace, localName };
    const variety = itemType === null ? 'atomic' : 'list';
    types.set(localName, {
      kind: 'simple',
      name,
      origin: null,
      base,
      variety,
      builtIn: localName,
      itemType,
      memberTypes: [],
      step: null,
      facets: {},
      fixedFacets: none,
      final: none,
      value: null,
    });
  };
  for (const [name, base] of derivations) add(name, base === null ? null : types.get(base)!, null);
  const anySimpleType = types.get('anySimpleType')!;
  // XSD 1.1: its values have a time zone
  const dateTimeStamp: SimpleType = {
    ...types.get('dateTime')!,
    name: { namespaceUri: xsdNamespace, localName: 'dateTimeStamp' },
    base: types.get('dateTime')!,
    zone: 'always',
  };
  const error: SimpleType = {
    ...anySimpleType,
    name: { namespaceUri: xsdNamespace, localName: 'error' },
    base: anySimpleType,
  };
  for (const [name, item] of listTypes) add(name, anySimpleType, types.get(item)!);
  const anything: Wildcard = { kind: 'wildcard', namespaces: '##any', processContents: 'lax', origin: null };
  const anyType: ComplexType = {
    kind: 'complex',
    name: { namespaceUri: xsdNamespace, localName: 'anyType' },
    origin: null,
    base: null,
    derivation: 'restriction',
    abstract: false,
    final: none,
    block: none,
    written: {
      style: 'short',
      mixed: true,
      baseMissing: false,
      particle: null,
      attributes: { uses: [], groups: [], wildcard: null },
      facets: [],
      simpleType: null,
    },
    content: 'mixed',
    particle: { minOccurs: 0, maxOccurs: Infinity, term: anything, origin: null },
    simpleType: null,
    attributes: [],
    anyAttribute: anything,
    derived: true,
  };
  return {
    anyType,
    anySimpleType,
    error,
    simple: (name) => types.get(name)!,
    findType: (localName) => {
      if (localName === 'anyType') return anyType;
      if (localName === 'dateTimeStamp') return dateTimeStamp;
      if (localName === 'error') return error;
      return types.get(localName) ?? types.get(laterTypes[localName] ?? '') ?? null;
    },
  };
}
