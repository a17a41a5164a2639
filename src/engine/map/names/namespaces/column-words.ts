/** Prefixes in names of columns distinguish elements of a row that have the same name in several namespaces. */
import type { ColumnDraft } from '../../tables/model-builder.ts';

/**
 * Returns the words of a column's name, from the row's element inwards: the name of each element or attribute, with the prefix of its
 * namespace before it if the rows have another of that name (`linux-def:object`, `unix-def:object`). The root's namespace has no prefix.
 */
export function createNameParts(columns: readonly ColumnDraft[]): (column: ColumnDraft) => readonly string[] {
  const prefixes = new Map(columns.map((column) => [column, prefixesOf(column)]));
  // by the way to it: the prefixes of its steps with the same name
  const alike = new Map<string, Set<string>>();
  for (const [column, own] of prefixes)
    for (const [at, prefix] of own.entries()) {
      const way = wayTo(column, at);
      const known = alike.get(way);
      if (known === undefined) alike.set(way, new Set([prefix]));
      else known.add(prefix);
    }
  return (column) => {
    const own = prefixes.get(column)!;
    return column.nameParts.map((part, at) => {
      const prefix = own[at] ?? '';
      return prefix === '' || alike.get(wayTo(column, at))!.size < 2 ? part : `${prefix}_${part}`;
    });
  };
}

/** Returns the way to a step. An attribute is marked, because it may have the name of an element of the same row. */
function wayTo({ nameParts, steps }: ColumnDraft, at: number): string {
  const isAttribute = at === nameParts.length - 1 && steps.slice(steps.lastIndexOf('/') + 1).startsWith('@');
  return `${nameParts.slice(0, at + 1).join('/')}${isAttribute ? '@' : ''}`;
}

/**
 * Returns the prefix of each word that is the name of a step. There may be more steps than words, because wrappers are not named, and more
 * words than steps: `present`.
 */
function prefixesOf({ nameParts, steps }: ColumnDraft): string[] {
  const found: string[] = [];
  for (const step of steps.split('/')) {
    const [, prefix = '', local] = /^@?(?:([^:{}]*):|\{[^}]*\})?([^:{}]+)$/.exec(step) ?? [];
    if (local !== undefined && local === nameParts[found.length]) found.push(prefix);
  }
  return found;
}
