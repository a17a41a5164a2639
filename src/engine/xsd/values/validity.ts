/** Tests if a text is a value of a simple type. */
import type { BuiltInType, Facets } from '../../model/source-model.ts';
import type { SimpleType } from '../components/terms.ts';
import { hasLexicalForm, primitiveOf } from './lexical-form.ts';
import { compareValues } from './order.ts';

/** White space as the type treats it (XSD Part 2 §4.3.6). */
export function whiteSpaceOf(type: SimpleType): 'preserve' | 'replace' | 'collapse' {
  if (type.facets.whiteSpace !== undefined) return type.facets.whiteSpace;
  if (type.variety !== 'atomic') return 'collapse';
  if (type.builtIn === 'string' || type.builtIn === 'anySimpleType') return 'preserve';
  return type.builtIn === 'normalizedString' ? 'replace' : 'collapse';
}

export function processWhiteSpace(text: string, whiteSpace: 'preserve' | 'replace' | 'collapse'): string {
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
  if (!hasLexicalForm(type.builtIn, value)) return `"${value}" is not of the form of ${type.builtIn}`;
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
