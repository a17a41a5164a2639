/** Rows that a view joins: those above the rows it is of, and those that hang from them once. */
import { keyHolders } from '../model/child-keys.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import {
  rowContents,
  type HangingRows,
  type RoleOfRows,
  type RowContent,
  type RowValue,
} from './hanging-rows.ts';

/** `names`: texts that name rows which several others also refer to */
export const mostJoins = { hanging: 30, above: 12, names: 12 } as const;
const deepestJoin = 4;
/** the factor by which a row must have more values than another to be the other's purpose */
const muchMore = 2;

/** Rows that are joined to others: rows above them, or rows that hang from them. */
export interface JoinedRows {
  /** null: the rows of the view itself */
  readonly to: JoinedRows | null;
  readonly table: number;
  /** column of the row below with the key of the row above; if `isHeld`, column of the row above with the key of the row below */
  readonly keyColumn: number;
  readonly isHeld: boolean;
  readonly role: RoleOfRows | null;
  readonly isAbove: boolean;
  /** local names from the row that the view is of, or from the row above it */
  readonly steps: readonly string[];
  /** the row that `steps` start at always has the first step */
  readonly firstRequired: boolean;
  /** they hang from rows that several other rows share */
  readonly isOfShared: boolean;
  /** they, or the rows that they hang from, are shared: apart from their names, they have no weight for the rows of the view */
  readonly isAside: boolean;
}

export interface WhatIsThere {
  /** tables that there are */
  readonly has: (table: number) => boolean;
  /** columns that these have, by indexes of table and column */
  readonly hasColumn: (table: number, column: number) => boolean;
}

/** A value of a row that there is a column for. */
export interface ValueThere {
  readonly value: RowValue;
  readonly place: RowColumn;
}

export interface RowsOfModel {
  content(table: number): RowContent;
  columnsOf(table: number): readonly RowColumn[];
  isThere(place: RowColumn): boolean;
  valuesOf(table: number): readonly ValueThere[];
  /** True if the table has rows of several other tables, or of several places in one. */
  isShared(table: number): boolean;
  /**
   * Returns the table of the only row that a row of the table wraps: that row has many more columns, more repeating rows hang from it,
   * and it is not an alternative to another one. Rows without values may be between the two. Returns null if there is none.
   */
  wrappedBy(table: number): number | null;
  /** Returns the rows that hang from those of the table and that these wrap, and the rows that those in turn wrap. */
  wrappedRows(table: number, hanging: readonly JoinedRows[]): readonly JoinedRows[];
  /** Returns the rows above, nearest first, as long as the rows are below rows of only one table. */
  rowsAbove(table: number): readonly JoinedRows[];
  /** Rows that hang from those of the table, each at most once; those nearest to them first. `of`: that row above, null: the row that the view is of. */
  hangingOnce(
    table: number,
    of: JoinedRows | null,
    most: number,
    wanted: (rows: HangingRows) => boolean,
  ): readonly JoinedRows[];
}

export function rowsOfModel(model: RelationalModel, { has, hasColumn }: WhatIsThere): RowsOfModel {
  const all = rowContents(model);
  const columnsOf = rowColumnsOf(model);
  const holders = keyHolders(model);
  const contents = new Map<number, RowContent>();
  const values = new Map<number, readonly ValueThere[]>();

  function isThere(place: RowColumn | undefined): place is RowColumn {
    return place !== undefined && has(place.table) && hasColumn(place.table, place.at);
  }

  function content(table: number): RowContent {
    let known = contents.get(table);
    if (known === undefined) {
      const { values: said, hanging } = all(table);
      known = {
        values: said,
        hanging: hanging.filter(
          ({ table: below, keyColumn, isHeld, role }) =>
            isThere(columnsOf(isHeld ? table : below)[keyColumn]) &&
            (role === null || columnsOf(below)[role.column]?.table === below),
        ),
      };
      contents.set(table, known);
    }
    return known;
  }

  function valuesOf(table: number): readonly ValueThere[] {
    let known = values.get(table);
    if (known === undefined) {
      known = content(table).values.flatMap((value) => {
        const place = columnsOf(table)[value.column];
        return isThere(place) && place.column.role === 'value' ? [{ value, place }] : [];
      });
      values.set(table, known);
    }
    return known;
  }

  const keys = new Map<number, readonly KeyAbove[]>();

  /** Returns the keys to rows above: the keys that rows of the table have, and the keys to them in other tables. */
  function keysAbove(table: number): readonly KeyAbove[] {
    const known = keys.get(table);
    if (known !== undefined) return known;
    const own = columnsOf(table).flatMap(({ column: { role, references } }, at): KeyAbove[] =>
      role === 'parent_key' && references !== null ? [{ at, parent: references, isHeld: false }] : [],
    );
    const held = (holders.get(table) ?? []).map((holder): KeyAbove => {
      const parent = model.tables[holder.table]!.continues ?? holder.table;
      const at = columnsOf(parent).findIndex(
        (place) => place.table === holder.table && place.at === holder.column,
      );
      return { at, parent, isHeld: true };
    });
    keys.set(table, [...own, ...held]);
    return keys.get(table)!;
  }

  function isShared(table: number): boolean {
    return keysAbove(table).length > 1;
  }

  function saysMuchMore(table: number, than: number): boolean {
    return content(table).values.length > content(than).values.length * muchMore;
  }

  function saysNothing(table: number): boolean {
    return content(table).values.length === 0 && !isShared(table);
  }

  function wraps(table: number, other: number): boolean {
    return (
      !isShared(other) &&
      saysMuchMore(other, table) &&
      repeatingBelow(content(other)) > repeatingBelow(content(table))
    );
  }

  function wrappedBy(table: number): number | null {
    const open = [table];
    const found = new Set<number>();
    for (const at of open)
      for (const { single, table: other } of content(at).hanging) {
        if (!single || !has(other) || open.includes(other)) continue;
        if (wraps(table, other)) found.add(other);
        else if (saysNothing(other)) open.push(other);
      }
    const [one] = found;
    return found.size === 1 ? one! : null;
  }

  /** True for rows that hang from shared rows and therefore have little weight, unless the shared rows exist only for them. */
  function isFromShared(from: JoinedRows, table: number): boolean {
    return from.isAside || (isShared(from.table) && !saysMuchMore(table, from.table));
  }

  return {
    content,
    columnsOf,
    isThere,
    valuesOf,
    isShared,
    wrappedBy,

    wrappedRows(table, hanging) {
      const wrapped: JoinedRows[] = [];
      let next = wrappedBy(table);
      for (const rows of hanging) {
        if (rows.table !== next) continue;
        wrapped.push(rows);
        next = wrappedBy(next);
      }
      return wrapped;
    },

    rowsAbove(table) {
      const found: JoinedRows[] = [];
      const seen = new Set([table]);
      let to: JoinedRows | null = null;
      while (found.length < mostJoins.above) {
        const below: number = to?.table ?? table;
        const keys = keysAbove(below);
        const [key] = keys;
        if (keys.length !== 1 || key === undefined || seen.has(key.parent) || !has(key.parent)) break;
        const { at: keyColumn, parent, isHeld } = key;
        const place = columnsOf(isHeld ? parent : below)[keyColumn];
        // the key in a table that continues the rows above would repeat these
        if (!isThere(place) || (isHeld && place.table !== parent)) break;
        seen.add(parent);
        const steps: string[] = [];
        to = {
          to,
          table: parent,
          keyColumn,
          isHeld,
          role: null,
          isAbove: true,
          steps,
          firstRequired: true,
          isOfShared: false,
          isAside: false,
        };
        found.push(to);
      }
      return found;
    },

    hangingOnce(table, of, most, wanted) {
      const found: JoinedRows[] = [];
      let level: Level[] = [{ table, rows: of, steps: [] }];
      for (let depth = 0; depth < deepestJoin && level.length > 0; depth += 1) {
        const next: Level[] = [];
        for (const from of level)
          for (const rows of content(from.table).hanging) {
            if (!rows.single || rows.table === table || !has(rows.table) || found.length >= most) continue;
            if (from.rows === of && !wanted(rows)) continue;
            const isAside = of === null && from.rows !== of && isFromShared(from.rows!, rows.table);
            if (isAside && from.rows!.isAside) continue;
            const isOnTheWay = saysNothing(rows.table);
            if (isOnTheWay && isBelow(from.rows, rows.table)) continue;
            const steps = [...from.steps, ...rows.steps];
            const joined: JoinedRows = {
              to: from.rows,
              table: rows.table,
              keyColumn: rows.keyColumn,
              isHeld: rows.isHeld,
              role: rows.role,
              isAbove: false,
              steps,
              firstRequired: from.rows === of ? rows.firstRequired : from.rows!.firstRequired,
              isOfShared: from.rows !== of && isShared(from.table),
              isAside,
            };
            found.push(joined);
            // rows without values are on the way: the rows that hang from them count as equally near
            (isOnTheWay ? level : next).push({ table: rows.table, rows: joined, steps });
          }
        level = next;
      }
      return found;
    },
  };
}

interface KeyAbove {
  readonly at: number;
  readonly parent: number;
  /** a column of the row above */
  readonly isHeld: boolean;
}

/** Rows at the same number of joins, from which others hang. */
interface Level {
  readonly table: number;
  readonly rows: JoinedRows | null;
  readonly steps: readonly string[];
}

/** The row above that the rows belong to; null: the row that the view is of. */
export function rowAboveOf(of: JoinedRows | null): JoinedRows | null {
  let at = of;
  while (at !== null && !at.isAbove) at = at.to;
  return at;
}

function isBelow(of: JoinedRows | null, table: number): boolean {
  let at = of;
  while (at !== null && at.table !== table) at = at.to;
  return at !== null;
}

function repeatingBelow({ hanging }: RowContent): number {
  return hanging.filter(({ single }) => !single).length;
}
