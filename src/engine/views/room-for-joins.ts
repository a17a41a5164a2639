/** Limits the number of tables that a query joins to what databases support. */
import type { JoinedRows } from './joined-rows.ts';

export interface RoomForJoins {
  /**
   * Reserves room for a column of those rows in a table, which differs from `first` if it continues that. Returns false if there is none.
   */
  take(of: JoinedRows | null, table: number, first: number): boolean;
  /** Reserves room for another table joined to those rows: repeating texts below them, or a row that they refer to. */
  takeOther(of: JoinedRows | null): boolean;
}

/** `most`: tables that there is room for. */
export function roomForJoins(most: number): RoomForJoins {
  const joined = new Map<JoinedRows | null, Set<number>>([[null, new Set()]]);
  let count = 0;
  /** Counts the rows that these hang from, the tables that continue them, and others. */
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
