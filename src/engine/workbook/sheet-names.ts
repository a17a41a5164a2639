/** Names the sheets of tables: valid in Excel, and distinct for it. */
import { workbookLimits } from './parts.ts';

/** Returns a name for each table, in their order. The same tables always get the same names. */
export function sheetNames(tables: Iterable<string>): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const table of tables) {
    const name = fittingName(table);
    let free = name;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1) {
      const suffix = ` (${n})`;
      free = shortened(name, workbookLimits.sheetName - suffix.length) + suffix;
    }
    taken.add(free.toLowerCase());
    names.set(table, free);
  }
  return names;
}

/** Replaces the characters that Excel refuses, and the name `History`, which is reserved. */
function fittingName(table: string): string {
  const name = shortened(
    table.toWellFormed().replaceAll(/[:\\/?*[\]\p{Cc}]|^'|'$/gu, '_'),
    workbookLimits.sheetName,
  ).replace(/'$/, '_');
  return name === '' || name.toLowerCase() === 'history' ? `${name}_` : name;
}

/** Shortens a text to `length` UTF-16 units without splitting a character. */
function shortened(name: string, length: number): string {
  return name.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
