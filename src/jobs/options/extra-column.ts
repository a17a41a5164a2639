/** `-R NAME[:TYPE] NOW | ID | FILENAME | FILEPATH | =VALUE`: a column that every table gets. */
import { ByteBuffer } from '../../engine/shred/rows/byte-buffer.ts';
import { copyTextEncoder } from '../../engine/shred/rows/output.ts';
import { conversionFor, EMPTY, UNCONVERTED } from '../../engine/shred/values/conversion.ts';
import { reservedName } from './values.ts';
import type { ExtraColumn } from '../request/shape.ts';
import type { RequestDraft } from '../request/tool-request.ts';

/** the kinds that a person may request */
type ColumnKind = Exclude<ExtraColumn['kind'], 'carried'>;
type ColumnTypeName = ExtraColumn['type'];

const kindWords: Readonly<Record<string, ColumnKind>> = {
  NOW: 'now',
  ID: 'id',
  FILENAME: 'filename',
  FILEPATH: 'filepath',
};

/** The fixed list of type names, with the usual other names of each. */
const typeNames: Readonly<Record<string, ColumnTypeName>> = {
  text: 'text',
  varchar: 'text',
  string: 'text',
  boolean: 'boolean',
  bool: 'boolean',
  smallint: 'smallint',
  integer: 'integer',
  int: 'integer',
  bigint: 'bigint',
  numeric: 'numeric',
  decimal: 'numeric',
  real: 'real',
  double: 'double',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
};

/** Types a kind can fill, its default first; `value` takes any. */
const typesOfKind: Readonly<Record<Exclude<ColumnKind, 'value'>, readonly ColumnTypeName[]>> = {
  now: ['timestamptz', 'timestamp', 'date', 'time', 'text'],
  id: ['bigint', 'numeric', 'text'],
  filename: ['text'],
  filepath: ['text'],
};

const form = 'must be NAME[:TYPE] followed by NOW, ID, FILENAME, FILEPATH or =VALUE';

function apply(draft: RequestDraft, value: string): string | null {
  const match = /^([^\s:=]+)(?::([A-Za-z]+))?(?:\s+(NOW|ID|FILENAME|FILEPATH)|\s*=([^]*))$/.exec(value);
  if (match === null) return form;
  const [, name, typeName, word, literal] = match as unknown as [string, string, string?, string?, string?];
  if (/\p{Cc}/u.test(name) || name.length > 128) return 'the name is too long or has control characters';
  if (draft.extraColumns.some((known) => known.name.toLowerCase() === name.toLowerCase()))
    return `column ${name} is given twice`;
  const reserved = reservedName(name);
  if (reserved !== null) return reserved;
  const kind = word === undefined ? 'value' : kindWords[word]!;
  const allowed = kind === 'value' ? null : typesOfKind[kind];
  const key = typeName?.toLowerCase();
  if (key !== undefined && !Object.hasOwn(typeNames, key))
    return `the type must be one of ${Object.keys(typeNames).join(', ')}`;
  const type = key === undefined ? (allowed?.[0] ?? 'text') : typeNames[key]!;
  if (allowed !== null && !allowed.includes(type)) return `${word} cannot fill a column of type ${typeName}`;
  if (kind === 'value' && !holds(type, literal ?? '')) return `${literal} is no value of type ${typeName}`;
  draft.extraColumns = [
    ...draft.extraColumns,
    kind === 'value' ? { name, type, kind, value: literal ?? '' } : { name, type, kind },
  ];
  return null;
}

/** Values are written as in documents: `true`, `2026-03-04`, `12.50`. */
function holds(kind: ColumnTypeName, value: string): boolean {
  const column = { name: '', role: 'extra', type: { kind }, nullable: true, xpath: null, path: '' } as const;
  const bytes = new TextEncoder().encode(value);
  const convert = conversionFor({ ...column, sourceType: null, references: null }, copyTextEncoder);
  const result = convert(bytes, 0, bytes.length, new ByteBuffer());
  return result !== UNCONVERTED && result !== EMPTY;
}

function joinsNext(value: string, next: string | undefined): string | null {
  if (next === undefined || /[\s=]/.test(value)) return null;
  return Object.hasOwn(kindWords, next) || next.startsWith('=') ? `${value} ${next}` : null;
}

export const parseExtraColumn = { apply, joinsNext };
