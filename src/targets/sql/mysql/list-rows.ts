/** Lists of values, which MySQL has no arrays for: from a row of COPY text to a number of items, and a row for each of them. */
import { createHash } from 'node:crypto';

export interface MysqlListTarget {
  /** of the list in the rows */
  readonly column: number;
  /** keys of rows that are still to come, and have text in its place: one of its items is no value of the type */
  readonly asText: Set<string>;
  /** takes rows of the list's own table */
  add(rows: Uint8Array, count: number): void;
  /** key of an item */
  key(parent: string, position: number): bigint;
}

/** The rows with counts in place of lists. */
export function withoutLists(rows: Uint8Array, lists: readonly MysqlListTarget[]): Uint8Array {
  const lines = Buffer.from(rows.buffer, rows.byteOffset, rows.length).toString('utf8').split('\n');
  lines.pop();
  const items = lists.map((): string[] => []);
  const owners = lines.map((line) => {
    const cells = line.split('\t');
    for (const [at, { column, key, asText }] of lists.entries()) {
      const values = asText.delete(cells[0]!) ? wordsOf(cells[column]!) : itemsOf(cells[column]!);
      cells[column] = values === null ? '\\N' : String(values.length);
      for (const [position, item] of (values ?? []).entries())
        items[at]!.push(`${key(cells[0]!, position + 1)}\t${cells[0]!}\t${position + 1}\t${escaped(item)}\n`);
    }
    return `${cells.join('\t')}\n`;
  });
  for (const [at, list] of lists.entries())
    if (items[at]!.length > 0) list.add(Buffer.from(items[at]!.join('')), items[at]!.length);
  return Buffer.from(owners.join(''));
}

/** Keys that follow from the row of the list alone. */
export function hashedKey(table: string, parent: string, position: number): bigint {
  const digest = createHash('sha256').update(`${table}\n${parent}\n${position}`).digest();
  return digest.readBigUInt64BE() >> 1n;
}

const letters: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** Items of an array literal, `{1,2}` or `{"a b","c"}`, in a cell of COPY text; null for NULL. */
export function itemsOf(cell: string): string[] | null {
  if (cell === '\\N') return null;
  const literal = unescaped(cell);
  const items: string[] = [];
  for (const match of literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs))
    items.push(match[1] === undefined ? match[2]! : match[1].replaceAll(/\\(.)/gs, '$1'));
  return items;
}

/** Items of a list as documents have it. */
function wordsOf(cell: string): string[] {
  return unescaped(cell)
    .split(/[ \t\r\n]+/)
    .filter((word) => word !== '');
}

function unescaped(cell: string): string {
  return cell.replaceAll(/\\(.)/gs, (_, letter: string) => letters[letter] ?? letter);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character]!);
}
