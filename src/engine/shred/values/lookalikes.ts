/**
 * Texts that a column's type cannot hold but that look like the encoded form of one of its values: a reader of the rows would take `t`
 * for true and `{a,b}` for a list of two.
 */
import type { ColumnType } from '../../model/relational-model.ts';
import { takesListsApart, type EncodingName } from '../rows/encoding.ts';
import { isNumber } from '../json-lines/members.ts';

const [openBrace, closeBrace, quote, backslash] = [0x7b, 0x7d, 0x22, 0x5c];

function isInBraces(text: Uint8Array): boolean {
  return text.length >= 2 && text[0] === openBrace && text.at(-1) === closeBrace;
}

/**
 * Returns the content of the cell for a text that does not fit: if the text would be read as a list, a list with the text as its only
 * item; otherwise the text.
 */
export function cellOfMisfit(text: Uint8Array, type: ColumnType, encoding: EncodingName): Uint8Array {
  if (type.list !== true || !takesListsApart(encoding) || !isInBraces(text)) return text;
  const literal = [openBrace, quote];
  for (const byte of text) {
    if (byte === quote || byte === backslash) literal.push(backslash);
    literal.push(byte);
  }
  return Uint8Array.of(...literal, quote, closeBrace);
}

/** A number of XML Schema, and one that JSON has in the same form. */
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const numberOfJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** True if the text must be kept beside the row, because in some encoding the row does not distinguish it from a value of the type. */
export function isMistakable(text: string, { kind, list }: ColumnType): boolean {
  if (list === true) return text.startsWith('{') && text.endsWith('}');
  if (isNumber(kind) && number.test(text) && !numberOfJson.test(text)) return true;
  switch (kind) {
    case 'boolean':
      return text === 't' || text === 'f';
    case 'real':
    case 'double':
      return text === 'Infinity' || text === '-Infinity';
    default:
      return false;
  }
}
