/**
 * Selects the columns of a view of one table: columns of its rows, of the rows above them, and of the rows that hang from them at most
 * once.
 */
import type { Enumeration } from '../metadata/enumerations.ts';
import { tellsRole } from '../model/key-roles.ts';
import type { MeantIdsOf } from '../model/references.ts';
import type { Column, RelationalModel } from '../model/relational-model.ts';
import type { RowColumn } from '../model/wide-rows.ts';
import type { RoleOfRows, RowContent, RowValue } from './hanging-rows.ts';
import { mostJoins, rowAboveOf, rowsOfModel, type JoinedRows, type WhatIsThere } from './joined-rows.ts';
import { roomForJoins } from './room-for-joins.ts';
import { directionsOf, isMeasure, isToldBelow, namesOrIdentifies } from './significant-columns.ts';
import { isCalled, nearest, toldOnce, weighedValues } from './told-once.ts';

/** Some databases allow at most 61 tables in a query; the tables of the rows and of the documents are two more. */
const mostJoinedTables = 58;
/** the most columns that a view takes from one row above, unless each such row has more of them */
const mostToldAbove = 30;
/** steps from a row above to another one that hangs from it */
const deepestToldAbove = 2;
/** most references that are resolved if several tables may have their ids; those of the rows themselves come first */
const mostFollowed = 12;

export interface ViewColumn {
  /** null: the rows of the view itself */
  readonly of: JoinedRows | null;
  readonly place: RowColumn;
  readonly steps: readonly string[];
  /** for a measure with a direction: values of that column that keep the measure's sign (credit) and that reverse it (debit) */
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
  /** the rows of `above` whose keys the view has: rows with selected columns, or wrappers that have a view of their own */
  readonly keyed: readonly JoinedRows[];
  readonly columns: readonly ViewColumn[];
  readonly texts: readonly JoinedTexts[];
  /** of the columns, the references to ids of several tables that the view has room to resolve */
  readonly followed: ReadonlySet<ViewColumn>;
  /** single references among the values of the rows themselves */
  readonly references: number;
  /** number of columns and texts that describe a row, not counting amounts and times of rows that hang from it */
  readonly weight: number;
}

export interface ViewContentsOptions extends WhatIsThere {
  /** returns the possible values of a column, by indexes of table and column, or null if they are not known */
  readonly enumeration: (table: number, column: number) => Enumeration | null;
  readonly meantIds: MeantIdsOf;
}

export interface ViewContents {
  of(table: number): ViewContent;
  content(table: number): RowContent;
  /** Rows of the table are but wrappers of the one row below each. */
  isWrapper(table: number): boolean;
}

export function viewContents(
  model: RelationalModel,
  { enumeration, meantIds, ...there }: ViewContentsOptions,
): ViewContents {
  const rowsOf = rowsOfModel(model, there);
  const { content, columnsOf, valuesOf, isShared } = rowsOf;
  const weighedValuesOf = weighedValues(rowsOf, ({ place }) => directions(place) !== null);

  function directions({ table, at }: RowColumn): ReturnType<typeof directionsOf> {
    return directionsOf(enumeration(table, at) ?? []);
  }

  /**
   * Returns the columns that the rows above contribute: their own and, with their measures, the columns that qualify these and give their
   * direction.
   */
  function toldBelow(above: JoinedRows, isTold: (rows: JoinedRows) => boolean): ViewColumn[] {
    const own = [{ rows: above, values: valuesOf(above.table) }];
    const hanging = rowsOf
      .hangingOnce(above.table, above, mostJoins.above, (one) => one.steps.length <= deepestToldAbove)
      .filter(isTold);
    for (const rows of hanging)
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
    const told = own.flatMap(({ rows, values }) =>
      values.flatMap(({ value, place }) => {
        const { steps } = value;
        const saysWhich =
          isToldBelow(value, place.column) ||
          (value.qualifies && measured.has(steps.slice(0, -1).join('/'))) ||
          (steps.length === 1 && directions(place) !== null);
        const isOptional = place.column.nullable && steps.length > 1 && !value.qualifies;
        return saysWhich ? [{ column: { of: rows, place, steps }, isOptional }] : [];
      }),
    );
    // the required date of a document comes before that of an optional part
    const [first, optional] = [false, true].map((is) =>
      told.flatMap(({ column, isOptional }) => (isOptional === is ? [column] : [])),
    ) as [ViewColumn[], ViewColumn[]];
    return [...first, ...optional.slice(0, Math.max(0, mostToldAbove - first.length))];
  }

  function wrapsOneOf({ table }: JoinedRows, below: readonly JoinedRows[]): boolean {
    const wrapped = rowsOf.wrappedBy(table);
    return below.some((rows) => rows.table === wrapped);
  }

  /** Returns repeating texts below a row if their table has no other values. */
  function textsBelow(
    table: number,
    of: JoinedRows | null,
    isTold: (value: RowValue, column: Column) => boolean,
  ): JoinedTexts[] {
    return content(table).hanging.flatMap((rows) => {
      if (rows.single || !there.has(rows.table)) return [];
      const texts = valuesOf(rows.table).filter(({ value }) => !value.qualifies);
      const [text] = texts;
      const isText = text?.place.column.type.kind === 'text' && text.place.column.type.list !== true;
      if (texts.length !== 1 || text === undefined || !isText || text.place.table !== rows.table) return [];
      if (content(rows.table).hanging.length > 0) return [];
      const { value, place } = text;
      if (!isTold({ ...value, steps: [...rows.steps, ...value.steps] }, place.column)) return [];
      const { table: below, keyColumn, role } = rows;
      return [{ of, table: below, keyColumn, role, place, steps: [...(of?.steps ?? []), ...rows.steps] }];
    });
  }

  function isReference({ place: { table, column } }: ViewColumn, fewest: number): boolean {
    return (
      column.sourceType === 'IDREF' &&
      column.type.list !== true &&
      meantIds(model.tables[table]!, column).length >= fewest
    );
  }

  return {
    content,
    isWrapper: (table) => rowsOf.wrappedBy(table) !== null,
    of(table) {
      const above = rowsOf.rowsAbove(table);
      const onTheWay = new Set([table, ...above.map((rows) => rows.table)]);
      const hanging = rowsOf.hangingOnce(table, null, mostJoins.hanging, () => true);
      const told = nearest(toldOnce(weighedValuesOf, hanging, new Set(rowsOf.wrappedRows(table, hanging))));
      const weighty = told.filter(({ weight }) => weight === 0).length;
      const joins = roomForJoins(mostJoinedTables);
      const roomFor = (columns: readonly ViewColumn[]): ViewColumn[] =>
        signed(
          columns.filter(({ of, place }) => joins.take(of, place.table, of?.table ?? table)),
          directions,
        );
      const repeated = roomFor(
        above.toReversed().flatMap((rows) => toldBelow(rows, (other) => !isOneOf(other, onTheWay))),
      );
      const keyed = above
        .toReversed()
        .filter(
          (rows, at, all) =>
            repeated.some(({ of }) => rowAboveOf(of) === rows) ||
            (wrapsOneOf(rows, all.slice(at + 1)) && joins.take(rows, rows.table, rows.table)),
        );
      const own = roomFor([
        ...columnsOf(table).flatMap((place): ViewColumn[] =>
          tellsRole(place.column) && rowsOf.isThere(place) ? [{ of: null, place, steps: ['role'] }] : [],
        ),
        ...valuesOf(table).map(({ value, place }) => ({ of: null, place, steps: value.steps })),
        ...told.map(({ column }) => column),
      ]);
      const [alone, others] = [true, false].map((isAlone) =>
        hanging.filter((rows) => (!rows.isAside && !isShared(rows.table)) === isAlone),
      ) as [JoinedRows[], JoinedRows[]];
      const texts = [
        ...textsBelow(table, null, () => true),
        ...alone.flatMap((rows) => textsBelow(rows.table, rows, () => true)),
      ];
      const names = others.flatMap((rows) =>
        textsBelow(rows.table, rows, (value, column) =>
          rows.isAside ? isCalled(rows, value, 'text') : namesOrIdentifies(value, column),
        ),
      );
      const columns = [...repeated, ...own];
      const joinedTexts = [...texts, ...names.slice(0, mostJoins.names)].filter(({ of }) =>
        joins.takeOther(of),
      );
      const followed = columns
        .filter((column) => isReference(column, 2))
        .toSorted((a, b) => Number(a.of !== null) - Number(b.of !== null))
        .slice(0, mostFollowed)
        .filter(({ of }) => joins.takeOther(of));
      return {
        table,
        above: above.toReversed(),
        keyed,
        columns,
        texts: joinedTexts,
        followed: new Set(followed),
        references: own.filter((column) => column.of === null && isReference(column, 1)).length,
        weight: own.length - (told.length - weighty) + texts.length,
      };
    },
  };
}

/** True if rows that hang from a row above are those of a table with its own columns in the view, or hang from these. */
function isOneOf(rows: JoinedRows, tables: ReadonlySet<number>): boolean {
  for (let at: JoinedRows | null = rows; at !== null && !at.isAbove; at = at.to)
    if (at.role === null && tables.has(at.table)) return true;
  return false;
}

/** Inserts after each measure whose direction another column gives the measure with its sign. */
function signed(
  columns: readonly ViewColumn[],
  directions: (place: RowColumn) => ReturnType<typeof directionsOf>,
): ViewColumn[] {
  const found = new Map<JoinedRows | null, Map<string, NonNullable<ViewColumn['signedBy']>>>();
  for (const { of, place, steps } of columns) {
    const values = directions(place);
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
