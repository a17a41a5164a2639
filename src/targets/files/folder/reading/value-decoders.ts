/** What the encodings of rows make of the forms of XSD, taken back. */
import type { ColumnType } from '../../../../engine/model/relational-model.ts';
import { FORM_BOOLEAN, FORM_FLOAT, FORM_LIST, FORM_PLAIN } from '../../../../engine/records/kernel/layout.ts';
import type { RecordFormat } from '../../../../engine/records/split.ts';
import { textOf, utf8Of } from '../../../../engine/unshred/rows/values.ts';
import type { ValueDecoder } from '../../../rows/field-blocks.ts';

const [yes, no] = [utf8Of('true'), utf8Of('false')];
const [letterF, letterI, letterT, openBrace, backslash] = [0x66, 0x49, 0x74, 0x7b, 0x5c];

/** What is to be done to values of a format, whose escapes are those of the file; `plain`: to what they stand for. */
const ofFormats: Readonly<Record<RecordFormat, (plain: ValueDecoder | null) => ValueDecoder | null>> = {
  csv: (plain) => plain,
  tsv: copyDecoder,
  // values of lines are decoded as they are read
  jsonl: () => null,
};

/** As `typeDecoder`, of values whose escapes are those of the file. */
export function valueDecoder(format: RecordFormat, type: ColumnType | undefined): ValueDecoder | null {
  return type === undefined ? null : ofFormats[format](typeDecoder(type));
}

/** Null where values of the type are those of XSD. */
export function typeDecoder(type: ColumnType | undefined): ValueDecoder | null {
  if (type?.list === true) return listDecoder(type.kind);
  switch (type?.kind) {
    case 'boolean':
      return (bytes, from, to) => {
        if (to - from !== 1) return null;
        return bytes[from] === letterT ? yes : bytes[from] === letterF ? no : null;
      };
    case 'real':
    case 'double':
      return (bytes, from, to) =>
        bytes[from] === letterI || bytes[from + 1] === letterI
          ? utf8Of(infinity(textOf(bytes, from, to)))
          : null;
    default:
      return null;
  }
}

/** What the kernel for records is to look for in values of the type: FORM_… of src/engine/records/kernel/layout.ts. */
export function typeForm(type: ColumnType | undefined): number {
  if (type?.list === true) return FORM_LIST;
  switch (type?.kind) {
    case 'boolean':
      return FORM_BOOLEAN;
    case 'real':
    case 'double':
      return FORM_FLOAT;
    default:
      return FORM_PLAIN;
  }
}

/** As `typeForm`, of JSON Lines, where values are those of XSD once they are read. */
export function jsonForm(type: ColumnType | undefined): number {
  if (type?.kind !== 'real' && type?.kind !== 'double') return FORM_PLAIN;
  return type.list === true ? FORM_LIST : FORM_FLOAT;
}

function infinity(text: string): string {
  return text === 'Infinity' ? 'INF' : text === '-Infinity' ? '-INF' : text;
}

function listDecoder(kind: ColumnType['kind']): ValueDecoder {
  const item = typeDecoder({ kind });
  return (bytes, from, to) => {
    const items = bytes[from] === openBrace ? arrayItems(textOf(bytes, from, to)) : null;
    if (items === null) return null;
    const texts = items.map((text) => {
      const known = utf8Of(text);
      const decoded = item?.(known, 0, known.length) ?? known;
      return textOf(decoded, 0, decoded.length);
    });
    return utf8Of(texts.join(' '));
  };
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Of PostgreSQL's COPY text; `plain`: what is to be done to the value that it stands for. */
function copyDecoder(plain: ValueDecoder | null): ValueDecoder {
  return (bytes, from, to) => {
    let at = from;
    while (at < to && bytes[at] !== backslash) at += 1;
    if (at === to) return plain === null ? null : plain(bytes, from, to);
    const text = textOf(bytes, from, to).replaceAll(
      /\\(.)/g,
      (_, letter: string) => escapes[letter] ?? letter,
    );
    const value = utf8Of(text);
    return plain?.(value, 0, value.length) ?? value;
  };
}

/** Items of an array literal (PostgreSQL manual §8.15.2); null for other text. */
function arrayItems(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const items: string[] = [];
  const pattern = /"((?:[^"\\]|\\.)*)"|([^,"]+)/g;
  for (const [, quoted, plain] of text.slice(1, -1).matchAll(pattern))
    items.push(quoted === undefined ? plain! : quoted.replaceAll(/\\(.)/g, '$1'));
  return items;
}
