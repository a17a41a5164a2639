/** The text of CREATE TABLE, which SQLite keeps as it was written: comments are read from it, and columns changed in it. */

interface TableText {
  /** columns, then constraints, each with the comment behind it */
  readonly items: readonly string[];
  /** the closing parenthesis, and what follows it */
  readonly tail: string;
}

/** Null for a text that lists no columns. */
function readTableText(sql: string): TableText | null {
  const items: string[] = [];
  let depth = 0;
  let from = -1;
  const token =
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]|\/\*[\s\S]*?(?:\*\/|$)|--[^\n]*|[(),]/g;
  for (const { 0: text, index } of sql.matchAll(token)) {
    if (text === '(') {
      depth += 1;
      if (depth === 1 && from < 0) from = index + 1;
    } else if (text === ')') {
      depth -= 1;
      if (depth > 0) continue;
      items.push(sql.slice(from, index));
      return { items, tail: sql.slice(index) };
    } else if (text === ',' && depth === 1) {
      items.push(sql.slice(from, index));
      from = index + 1;
    }
  }
  return null;
}

/** Name, with its quotes, and what is said of it; null for a constraint of the table. */
function columnParts(
  item: string,
): { readonly head: string; readonly name: string; readonly rest: string } | null {
  const found =
    /^((?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n)*)("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[^\s"'`[(/]+)([\s\S]*)$/.exec(
      item,
    );
  if (found === null) return null;
  const [, space, written, rest] = found as unknown as [string, string, string, string];
  if (/^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/i.test(written)) return null;
  const quote = written[0]!;
  const name = /["'`]/.test(quote)
    ? written.slice(1, -1).replaceAll(quote + quote, quote)
    : written.replace(/^\[(.*)\]$/, '$1');
  return { head: space + written, name, rest };
}

/** Comments of columns, by name. */
export function columnComments(sql: string): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const item of readTableText(sql)?.items ?? []) {
    const parts = columnParts(item);
    const comment = parts === null ? null : /\/\* ([\s\S]*?) \*\//.exec(withoutStrings(parts.rest));
    if (comment != null) comments.set(parts!.name, comment[1]!);
  }
  return comments;
}

/** The comment of the table, behind the list of its columns; null if there is none. */
export function tableComment(sql: string): string | null {
  const tail = readTableText(sql)?.tail ?? '';
  return /\/\* ([\s\S]*?) \*\//.exec(withoutStrings(tail))?.[1] ?? null;
}

function withoutStrings(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (part) =>
    part.startsWith('/*') ? part : ' ',
  );
}

export interface ChangedColumn {
  /** absent: as it is */
  readonly type?: string;
  readonly dropsNotNull?: boolean;
}

/** The statement that makes a table called `name`, already quoted, with columns changed; null where the text cannot be understood. */
export function changedTable(
  sql: string,
  name: string,
  changes: ReadonlyMap<string, ChangedColumn>,
): string | null {
  const text = readTableText(sql);
  if (text === null) return null;
  let changed = 0;
  const items = text.items.map((item) => {
    const parts = columnParts(item);
    const change = parts === null ? undefined : changes.get(parts.name);
    if (change === undefined) return item;
    changed += 1;
    let { rest } = parts!;
    if (change.type !== undefined)
      rest = rest.replace(
        /^\s*(?:(?!(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)\b)[A-Za-z_]\w*\s*)*(?:\([^)]*\)\s*)?/i,
        ` ${change.type} `,
      );
    if (change.dropsNotNull === true)
      rest = rest.replace(/^([^'"/(]*(?:\([^)]*\))?[^'"/(]*?)\bNOT\s+NULL\b\s*/i, '$1');
    return parts!.head + rest;
  });
  return changed === changes.size ? `CREATE TABLE ${name} (${items.join(',')}${text.tail}` : null;
}
