/** Values of targets in one form each, so that they can be compared whatever database or file they were read from. */
import type { ColumnType } from '../../../src/engine/model/relational-model.ts';

export type CanonicalRow = Readonly<Record<string, string | null>>;

/** `types`: of columns, by name. In an order of the rows' own. */
export function canonicalRows(
  types: ReadonlyMap<string, ColumnType>,
  rows: readonly CanonicalRow[],
): CanonicalRow[] {
  return rows
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, canonicalValue(types.get(name)!, value)]),
      ),
    )
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

/** A value read as text, in the form that all other spellings of it have too; text that is no value of the type stays as it is. */
export function canonicalValue(type: ColumnType, text: string | null): string | null {
  if (text === null) return null;
  if (type.list === true) {
    // where the column became text, items stand as XML has them
    const items = arrayItems(text) ?? text.split(/\s+/).filter((item) => item !== '');
    return JSON.stringify(items.map((item) => scalar(type.kind, item)));
  }
  return scalar(type.kind, text);
}

function scalar(kind: ColumnType['kind'], text: string): string {
  switch (kind) {
    case 'text':
      return text;
    case 'boolean':
      return ({ t: 'true', f: 'false' } as Record<string, string>)[text] ?? text;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
      return decimal(text);
    case 'real':
    case 'double':
      return float(kind, text);
    case 'time':
      return clock(text);
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return instant(text);
  }
}

function decimal(text: string): string {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text);
  if (match === null) return text;
  const [, sign, whole, fraction = ''] = match as unknown as [string, string, string, string?];
  if (whole === '' && fraction === '') return '0';
  return `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function float(kind: 'real' | 'double', text: string): string {
  const named = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (named !== null) return `${named[1] === '-' ? '-' : ''}INF`;
  if (/^nan$/i.test(text)) return 'NaN';
  const value = Number(text);
  if (Number.isNaN(value)) return text;
  return String(kind === 'real' ? Math.fround(value) : value);
}

/** Of a fraction of a second, six digits: columns have no more, and none of these is rounded. */
function micros(fraction: string): bigint {
  return BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

function clock(text: string): string {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(text);
  return match === null ? text : `${match[1]}:${match[2]}:${match[3]}.${micros(match[4] ?? '0')}`;
}

/** Microseconds since 1970; a value without zone is taken as if it were UTC. */
function instant(text: string): string {
  const match =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/.exec(
      text,
    );
  if (match === null) return text;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((at) => Number(match[at] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1) return text;
  const offset = (match[8] === '-' ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute - offset, second);
  return String(BigInt(milliseconds) * 1000n + micros(match[7] ?? '0'));
}

/** Items of an array literal (PostgreSQL manual §8.15.2); null for other text. */
function arrayItems(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const items: string[] = [];
  for (let at = 1; at < text.length - 1; at += 1) {
    let item = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"'; at += 1) {
        if (text[at] === '\\') at += 1;
        item += text[at];
      }
      at += 1;
    } else while (at < text.length - 1 && text[at] !== ',') item += text[at++];
    items.push(item);
  }
  return items;
}
