/** Rows that wait in the text of PostgreSQL's COPY, and what their values are to SQLite: nothing is guessed, nothing is rounded. */
import { createReadStream } from 'node:fs';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { isText } from './types.ts';

const pieceBytes = 64 * 1024;

/** Pieces of a file, each of them whole rows. */
export async function* stagedRows(path: string): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest: string[] = [];
  for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
    const text = decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      rest.push(text);
      continue;
    }
    const rows = rest.join('') + text.slice(0, end);
    rest = [text.slice(end)];
    yield rows;
  }
}

/** Pieces of a file: the lines of its rows. */
export async function* stagedLines(path: string): AsyncIterable<readonly string[]> {
  for await (const rows of stagedRows(path)) yield rows.slice(0, -1).split('\n');
}

/** Null for NULL. */
export function fieldsOf(line: string): (string | null)[] {
  const fields: (string | null)[] = line.split('\t');
  if (line.includes('\\'))
    for (let at = 0; at < fields.length; at += 1)
      if (fields[at]!.includes('\\')) fields[at] = unescaped(fields[at]!);
  return fields;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Null for NULL. */
export function unescaped(field: string): string | null {
  return field === '\\N' ? null : field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter]!);
}

export type BoundValue = string | number | null;
export type Converter = (text: string) => BoundValue;

/** Whole numbers of so many characters, and decimals of so many digits, are the same number in 64 bits of floating point. */
const safeLength = 15;

/** For a value of the type, in a column that is declared as `sqlType`. A list is one text of its items. */
export function converterFor(type: ColumnType, sqlType: string): Converter {
  if (type.list === true) {
    const convert = converterFor({ ...type, list: false }, 'TEXT');
    return (text) => {
      const items = listItems(text);
      return items === null ? text : items.map(convert).join(' ');
    };
  }
  const asText = isText(sqlType);
  switch (type.kind) {
    case 'boolean':
      return asText
        ? (text) => (text === 't' ? 'true' : text === 'f' ? 'false' : text)
        : (text) => (text === 't' ? 1 : text === 'f' ? 0 : text);
    case 'smallint':
    case 'integer':
    case 'bigint':
      return asText ? plainNumber : (text) => (text.length <= safeLength ? numberOf(text) : text);
    case 'numeric':
      return asText
        ? plainNumber
        : (text) => (text.length <= safeLength + 1 ? numberOf(text) : plainNumber(text));
    case 'real':
    case 'double':
      return asText
        ? (text) => (infinite.test(text) ? text.replace('Infinity', 'INF') : plainNumber(text))
        : numberOf;
    default:
      return (text) => text;
  }
}

function numberOf(text: string): BoundValue {
  const number = +text;
  // INF and NaN stay the text they are; what is no number at all would have made the column one of text
  return Number.isFinite(number) ? number : text;
}

const infinite = /^-?Infinity$/;

const plain = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Without what says nothing: a plus sign, zeros before it; with digits on both sides of the point. */
function plainNumber(text: string): string {
  if (plain.test(text)) return text;
  const found = /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text);
  if (found === null) return text;
  const [, sign, whole = '', fraction = '', exponent = ''] = found;
  if (whole === '' && fraction === '') return text;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}

/** Whether text of a document would be taken for what a row has of a value of the type. */
export function looksStaged(text: string, { kind, list }: ColumnType): boolean {
  if (list === true) return listItems(text) !== null;
  if (kind === 'boolean') return text === 't' || text === 'f';
  return (kind === 'real' || kind === 'double') && infinite.test(text);
}

/** `{1,2}`, or `{"a","b"}`, whose quotes and backslashes follow a backslash; null for a value that is no list. */
export function listItems(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  if (text === '{}') return [];
  if (text[1] !== '"') return text.slice(1, -1).split(',');
  return text
    .slice(2, -2)
    .split('","')
    .map((item) => (item.includes('\\') ? item.replaceAll(/\\(.)/g, '$1') : item));
}
