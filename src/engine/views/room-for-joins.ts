/** How many tables a query joins: no more than databases take. */
import type { JoinedRows } from './joined-rows.ts';

export interface RoomForJoins {
  /** Whether there is room for a column of those rows that lies in a table, which is another one where it continues the first. */
  take(of: JoinedRows | null, table: number, first: number): boolean;
  /** For one more that is joined to those rows: texts that repeat below them, or a row that they refer to. */
  takeOther(of: JoinedRows | null): boolean;
}

/** `most`: tables that there is room for. */
export function roomForJoins(most: number): RoomForJoins {
  const joined = new Map<JoinedRows | null, Set<number>>([[null, new Set()]]);
  let count = 0;
  /** With what the rows hang from, tables that continue them, and others. */
  const take = (of: JoinedRows | null, continued: readonly number[], others: number): boolean => {
    const missing: JoinedRows[] = [];
    for (let at = of; at !== null && !joined.has(at); at = at.to) missing.push(at);
    const further = continued.filter((table) => !joined.get(of)?.has(table));
    const more = missing.length + further.length + others;
    if (count + more > most) return false;
    count += more;
    for (const rows of missing) joined.set(rows, new Set());
    for (const table of further) joined.get(of)!.add(table);
    return true;
  };
  return {
    take: (of, table, first) => take(of, table === first ? [] : [table], 0),
    takeOther: (of) => take(of, [], 1),
  };
}
