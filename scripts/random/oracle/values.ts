/** Whether two texts are the same value, by the declaration they were made from or by the type of a column. */
import type { ColumnType } from '../../../src/engine/model/relational-model.ts';
import { keyOf, type Name, type Primitive, type Simple } from '../schema/terms.ts';

/** Resolves a QName of a text. */
export type Resolve = (name: string) => Name;

/** QNames in values of generated documents are marked. */
export const resolveMarked: Resolve = (text) => {
  const [, uri = '?', local = '?'] = /^\uE000([^\uE001]*)\uE001([^\uE002]*)\uE002$/.exec(text) ?? [];
  return { uri, local };
};

/** Returns one text for all texts of one value; `type` null: nothing is known of the value. */
export function canonical(type: Simple | null, text: string, resolve: Resolve): string {
  if (type === null) return text;
  const processed = processSpace(type, text);
  if (type.item !== null)
    return processed
      .split(' ')
      .map((item) => canonical(type.item, item, resolve))
      .join(' ');
  return type.primitive === 'QName' && processed !== ''
    ? keyOf(resolve(processed))
    : canonicalOf(type.primitive, processed);
}

export function processSpace({ space }: Simple, text: string): string {
  if (space === 'preserve') return text;
  const replaced = text.replaceAll(/[\t\n\r]/g, ' ');
  return space === 'replace' ? replaced : replaced.replaceAll(/ +/g, ' ').replaceAll(/^ | $/g, '');
}

function canonicalOf(primitive: Primitive, text: string): string {
  switch (primitive) {
    case 'boolean':
      return text === 'true' || text === '1' ? 'true' : text === 'false' || text === '0' ? 'false' : text;
    case 'decimal':
      return canonicalDecimal(text);
    case 'double':
      return canonicalFloat(text, (value) => value);
    case 'float':
      return canonicalFloat(text, Math.fround);
    case 'hex':
      return text.toUpperCase();
    case 'date':
    case 'time':
    case 'dateTime':
      return canonicalTime(text);
    default:
      return text;
  }
}

function canonicalDecimal(text: string): string {
  const [, sign, whole = '', fraction = ''] = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (sign === undefined || /^[+-]?\.?$/.test(text)) return text;
  const number = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
  return sign === '-' && number !== '0' ? `-${number}` : number;
}

function canonicalFloat(text: string, round: (value: number) => number): string {
  const number = Number(text.replace(/inf(?:inity)?$/i, 'Infinity'));
  return text === '' || (Number.isNaN(number) && !/^nan$/i.test(text)) ? text : String(round(number) + 0);
}

/** Zeros at the end of a fraction say nothing, and 24:00:00 is the next day. */
function canonicalTime(text: string): string {
  const trimmed = text.replace(/(:\d\d\.\d*?)0+(?=$|Z|[+-])/, '$1').replace(/\.(?=$|Z|[+-])/, '');
  if (!/(?:^|T)24:00:00/.test(trimmed)) return trimmed;
  const [, day = '', zone = ''] = /^(?:(.*)T)?24:00:00(.*)$/.exec(trimmed) ?? [];
  if (day === '') return `00:00:00${zone}`;
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString();
  return `${next.startsWith('+') ? next.slice(2, 12) : next.slice(0, 10)}T00:00:00${zone}`;
}

/** Whether the cell of a column, as text, is what the column can hold of a text of a document. */
export function isCellOf(type: ColumnType, cell: string, text: string, declared: Simple | null): boolean {
  const processed = declared === null ? text : processSpace(declared, text);
  if (type.list === true) {
    const items = processed.trim() === '' ? [] : processed.trim().split(/\s+/);
    const cells = itemsOf(cell);
    return items.length === cells.length && items.every((item, at) => isScalar(type, cells[at]!, item, item));
  }
  return isScalar(type, cell, processed, text);
}

function isScalar({ kind }: ColumnType, cell: string, text: string, raw: string): boolean {
  const bare = text.trim();
  if (cell === text || cell === raw) return true;
  switch (kind) {
    case 'text':
      return text.includes('\uE000') && localNames(cell.trim()) === localNames(bare);
    case 'boolean':
      return (
        canonicalOf('boolean', cell.replace(/^t$/, 'true').replace(/^f$/, 'false')) ===
        canonicalOf('boolean', bare)
      );
    case 'real':
    case 'double': {
      const round = kind === 'real' ? Math.fround : (value: number): number => value;
      return canonicalFloat(cell, round) === canonicalFloat(bare, round);
    }
    case 'timestamptz':
    case 'timestamp':
      // a column of times gets a zone as soon as documents have one
      if (kind === 'timestamptz' || /(?:Z|[+-]\d\d(?::\d\d)?)$/.test(cell.slice(10)))
        return instantOf(cell) === instantOf(bare);
      return withoutZone(cell) === withoutZone(bare);
    case 'date':
    case 'time':
      return withoutZone(cell) === withoutZone(bare);
    default:
      if (/[eE]/.test(bare)) return Number(cell) === Number(bare);
      return canonicalDecimal(cell) === canonicalDecimal(bare);
  }
}

/** QNames have the prefixes of their document, or their namespace, before them. */
function localNames(text: string): string {
  return text
    .replaceAll(/\uE000[^\uE001]*\uE001([^\uE002]*)\uE002/g, '$1')
    .replaceAll(/(?<=^|\s)(?:\{[^}]*\}|[^\s:]+:)/g, '');
}

/** Columns keep six digits of a second. */
function withoutZone(text: string): string {
  const [value = ''] = canonicalTime(text.replace(' ', 'T').replace(/(\.\d{6})\d+/, '$1')).split(
    /Z$|[+-]\d\d:\d\d$/,
  );
  return value.replace(/(?<=\d)T00:00:00$/, '');
}

function instantOf(text: string): string {
  const value = canonicalTime(text.replace(' ', 'T').replace(/(\.\d{6})\d+/, '$1'));
  const [, minute = '', seconds = '', zone = ''] =
    /^(-?\d+-\d\d-\d\dT\d\d:\d\d):([\d.]+)(.*)$/.exec(value) ?? [];
  const offset = zone === '' || zone === 'Z' ? 0 : offsetOf(zone);
  const whole = Date.parse(`${minute}:00Z`) / 60_000 - offset;
  return Number.isNaN(whole) ? text : `${whole} ${Number(seconds)}`;
}

/** Minutes ahead of UTC. */
export function offsetOf(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function itemsOf(cell: string): string[] {
  const inside = cell.replace(/^[{[](.*)[\]}]$/s, '$1');
  const items = inside.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return items.map((item) =>
    item.startsWith('"') ? item.slice(1, -1).replaceAll(/\\(.)/g, '$1') : item.trim(),
  );
}
