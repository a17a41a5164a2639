/** What a view of one table holds: columns of its rows, of the rows above them, and of those that hang from them once. */
import type { Enumeration } from '../metadata/enumerations.ts';
import { keyHolders } from '../model/child-keys.ts';
import { tellsRole } from '../model/key-roles.ts';
import type { Column, RelationalModel } from '../model/relational-model.ts';
import { rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import {
  rowContents,
  type HangingRows,
  type RoleOfRows,
  type RowContent,
  type RowValue,
} from './hanging-rows.ts';
import { directionsOf, isMeasure, isToldBelow, namesOrIdentifies } from './significant-columns.ts';

/** Databases that take the fewest tables in one query take 61. */
const mostJoins = { hanging: 30, above: 12 } as const;
const mostJoinedColumns = 120;
const deepestJoin = 4;
/** a table that nothing else shares tells all of its values where these are few */
const fewValues = 12;

/** Rows that are joined to others: those above them, or those that hang from them. */
export interface JoinedRows {
  /** null: the rows that the view is of */
  readonly to: JoinedRows | null;
  readonly table: number;
  /** column of the row below that refers to the one above; where `isHeld`, of that above, which refers to the one below */
  readonly keyColumn: number;
  readonly isHeld: boolean;
  readonly role: RoleOfRows | null;
  readonly isAbove: boolean;
  /** local names from the row that the view is of, or from the row above it */
  readonly steps: readonly string[];
  /** that row always has the first of the steps */
  readonly firstRequired: boolean;
}

export interface ViewColumn {
  /** null: the rows that the view is of */
  readonly of: JoinedRows | null;
  readonly place: RowColumn;
  readonly steps: readonly string[];
  /** of a measure with a direction: values of that column which leave its sign and turn it */
  readonly signedBy?: {
    readonly place: RowColumn;
    readonly of: JoinedRows | null;
    readonly values: readonly [credit: string, debit: string];
  };
}

/** Texts that repeat below a row, put together in their order. */
export interface JoinedTexts {
  readonly of: JoinedRows | null;
  readonly table: number;
  readonly keyColumn: number;
  readonly role: RoleOfRows | null;
  readonly place: RowColumn;
  readonly steps: readonly string[];
}

export interface ViewContent {
  readonly table: number;
  /** the outermost first */
  readonly above: readonly JoinedRows[];
  readonly columns: readonly ViewColumn[];
  readonly texts: readonly JoinedTexts[];
}

export interface ViewContentsOptions {
  /** values that a column can have, by indexes of table and column; null where that is not told */
  readonly enumeration: (table: number, column: number) => Enumeration | null;
  /** tables that there are */
  readonly has: (table: number) => boolean;
  /** columns that these have, by indexes of table and column */
  readonly hasColumn: (table: number, column: number) => boolean;
}

export interface ViewContents {
  of(table: number): ViewContent;
  content(table: number): RowContent;
}

export function viewContents(
  model: RelationalModel,
  { enumeration, has, hasColumn }: ViewContentsOptions,
): ViewContents {
  const all = rowContents(model);
  const columnsOf = rowColumnsOf(model);
  const holders = keyHolders(model);

  function isThere(place: RowColumn | undefined): place is RowColumn {
    return place !== undefined && has(place.table) && hasColumn(place.table, place.at);
  }

  function content(table: number): RowContent {
    const { values, hanging } = all(table);
    return {
      values,
      hanging: hanging.filter(
        ({ table: below, keyColumn, isHeld, role }) =>
          isThere(columnsOf(isHeld ? table : below)[keyColumn]) &&
          (role === null || columnsOf(below)[role.column]?.table === below),
      ),
    };
  }

  function valuesOf(table: number): { readonly value: RowValue; readonly place: RowColumn }[] {
    return content(table).values.flatMap((value) => {
      const place = columnsOf(table)[value.column];
      return isThere(place) && place.column.role === 'value' ? [{ value, place }] : [];
    });
  }

  /** Rows above, nearest first: as long as rows lie below rows of one table alone. */
  function rowsAbove(table: number): JoinedRows[] {
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
      // a key in a table that continues the rows above has those come twice
      if (!isThere(place) || (isHeld && place.table !== parent)) break;
      seen.add(parent);
      const steps: string[] = [];
      to = { to, table: parent, keyColumn, isHeld, role: null, isAbove: true, steps, firstRequired: true };
      found.push(to);
    }
    return found;
  }

  function isShared(table: number): boolean {
    return keysAbove(table).length > 1;
  }

  /** Of the rows above: the keys that rows of the table have, and those that have keys of them. */
  function keysAbove(table: number): readonly KeyAbove[] {
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
    return [...own, ...held];
  }

  /** Rows that hang from those of the table, each at most once; those nearest to them first. */
  function hangingOnce(
    table: number,
    of: JoinedRows | null,
    most: number,
    wanted: (rows: HangingRows) => boolean,
  ): JoinedRows[] {
    const found: JoinedRows[] = [];
    let level: {
      readonly table: number;
      readonly rows: JoinedRows | null;
      readonly steps: readonly string[];
    }[] = [{ table, rows: of, steps: [] }];
    for (let depth = 0; depth < deepestJoin && level.length > 0; depth += 1) {
      const next: typeof level = [];
      for (const from of level)
        for (const rows of content(from.table).hanging) {
          if (!rows.single || rows.table === table || !has(rows.table) || found.length >= most) continue;
          if (depth === 0 && !wanted(rows)) continue;
          // of what is shared, what hangs from it in turn is of no weight here
          if (depth > 0 && of === null && isShared(from.table)) continue;
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
          };
          found.push(joined);
          next.push({ table: rows.table, rows: joined, steps });
        }
      level = next;
    }
    return found;
  }

  function significant(table: number): (value: RowValue, column: Column) => boolean {
    const isSmall = !isShared(table) && content(table).values.length <= fewValues;
    return isSmall ? () => true : namesOrIdentifies;
  }

  /** What the rows above tell of themselves; with their measures, what qualifies them and which way they go. */
  function toldBelow(above: JoinedRows): ViewColumn[] {
    const own = [{ rows: above as JoinedRows, values: valuesOf(above.table) }];
    for (const rows of hangingOnce(above.table, above, mostJoins.above, (one) => one.steps.length === 1))
      own.push({
        rows,
        values: valuesOf(rows.table).map(({ value, place }) => ({
          place,
          value: {
            ...value,
            steps: [...rows.steps, ...value.steps],
            firstRequired: rows.firstRequired,
          },
        })),
      });
    const measured = new Set<string>();
    for (const { values } of own)
      for (const { value, place } of values)
        if (value.steps.length === 1 && isMeasure(value, place.column)) measured.add(value.steps.join('/'));
    return own.flatMap(({ rows, values }) =>
      values.flatMap(({ value, place }) => {
        const { steps } = value;
        const isTold =
          isToldBelow(value, place.column) ||
          (value.qualifies && measured.has(steps.slice(0, -1).join('/'))) ||
          (steps.length === 1 && directionsOf(enumeration(place.table, place.at) ?? []) !== null);
        return isTold ? [{ of: rows, place, steps }] : [];
      }),
    );
  }

  /** Texts below a row that may be several, where they are all that their table holds. */
  function textsBelow(table: number, of: JoinedRows | null, steps: readonly string[]): JoinedTexts[] {
    return content(table).hanging.flatMap((rows) => {
      if (rows.single || !has(rows.table)) return [];
      const texts = valuesOf(rows.table).filter(({ value }) => !value.qualifies);
      const [text] = texts;
      const isText = text?.place.column.type.kind === 'text' && text.place.column.type.list !== true;
      if (texts.length !== 1 || text === undefined || !isText || text.place.table !== rows.table) return [];
      if (content(rows.table).hanging.length > 0) return [];
      return [
        {
          of,
          table: rows.table,
          keyColumn: rows.keyColumn,
          role: rows.role,
          place: text.place,
          steps: [...steps, ...rows.steps],
        },
      ];
    });
  }

  return {
    content,
    of(table) {
      const above = rowsAbove(table);
      const columns: ViewColumn[] = [
        ...above.toReversed().flatMap(toldBelow),
        ...columnsOf(table).flatMap((place): ViewColumn[] =>
          tellsRole(place.column) && isThere(place) ? [{ of: null, place, steps: ['role'] }] : [],
        ),
        ...valuesOf(table).map(({ value, place }) => ({ of: null, place, steps: value.steps })),
      ];
      const texts = textsBelow(table, null, []);
      let joinedColumns = 0;
      for (const rows of hangingOnce(table, null, mostJoins.hanging, () => true)) {
        const isTold = significant(rows.table);
        for (const { value, place } of valuesOf(rows.table)) {
          if (joinedColumns >= mostJoinedColumns || !isTold(value, place.column)) continue;
          joinedColumns += 1;
          columns.push({ of: rows, place, steps: [...rows.steps, ...value.steps] });
        }
        if (!isShared(rows.table)) texts.push(...textsBelow(rows.table, rows, rows.steps));
      }
      return { table, above: above.toReversed(), columns: signed(columns, enumeration), texts };
    },
  };
}

interface KeyAbove {
  readonly at: number;
  readonly parent: number;
  /** a column of the row above */
  readonly isHeld: boolean;
}

/** The row above that the rows belong to; null: the row that the view is of. */
export function rowAboveOf(of: JoinedRows | null): JoinedRows | null {
  let at = of;
  while (at !== null && !at.isAbove) at = at.to;
  return at;
}

/** Behind each measure that a column beside it gives a direction, the measure with its sign. */
function signed(
  columns: readonly ViewColumn[],
  enumeration: ViewContentsOptions['enumeration'],
): ViewColumn[] {
  const found = new Map<JoinedRows | null, Map<string, NonNullable<ViewColumn['signedBy']>>>();
  for (const { of, place, steps } of columns) {
    const values = directionsOf(enumeration(place.table, place.at) ?? []);
    if (values === null) continue;
    const own = found.get(rowAboveOf(of)) ?? new Map<string, NonNullable<ViewColumn['signedBy']>>();
    found.set(rowAboveOf(of), own.set(steps.slice(0, -1).join('/'), { of, place, values }));
  }
  return columns.flatMap((column) => {
    const { of, place, steps } = column;
    const signedBy = found.get(rowAboveOf(of))?.get(steps.slice(0, -1).join('/'));
    const value = { column: 0, steps, isAttribute: false, qualifies: false, firstRequired: true };
    return signedBy === undefined || !isMeasure(value, place.column)
      ? [column]
      : [column, { ...column, signedBy }];
  });
}
