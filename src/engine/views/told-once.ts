/** Selects the values that rows contribute to others from which they hang at most once. */
import type { RowColumn } from '../model/wide-rows.ts';
import type { RowValue } from './hanging-rows.ts';
import type { JoinedRows, RowsOfModel, ValueThere } from './joined-rows.ts';
import { isNameOf, isToldOnce, measuredSteps, namesOrIdentifies } from './significant-columns.ts';

const mostJoinedColumns = 120;
/** the most steps from a shared row to its name: one element, or a text in a repeating one */
const mostStepsAside = { value: 1, text: 2 } as const;
/** a table that is not shared contributes all of its values if it has at most this many */
const fewValues = 12;

/** A value of a row that is joined once. If there are too many, those with the highest priority and the nearest are selected. */
export interface ToldOnce {
  readonly column: { readonly of: JoinedRows; readonly place: RowColumn; readonly steps: readonly string[] };
  /**
   * 0: it names or identifies, or its row has few values; 1: a date, an amount, a name of a shared row; 2: any other value of a wrapped
   * row
   */
  readonly weight: 0 | 1 | 2;
  /** steps from the row that the view is of */
  readonly distance: number;
}

export interface WeighedValue extends ValueThere {
  /** null: only used for rows that are wrapped */
  readonly weight: 0 | 1 | null;
}

/**
 * Returns a function that gives the weighed values of a table's rows that are joined once, regardless of the rows they hang from.
 * Computes each table once.
 */
export function weighedValues(
  rowsOf: RowsOfModel,
  isDirection: (value: ValueThere) => boolean,
): (table: number) => readonly WeighedValue[] {
  const known = new Map<number, readonly WeighedValue[]>();
  return (table) => {
    let found = known.get(table);
    if (found === undefined) {
      const isShared = rowsOf.isShared(table);
      const isSmall = !isShared && rowsOf.content(table).values.length <= fewValues;
      const values = rowsOf.valuesOf(table);
      const measured = measuredSteps(values, isShared);
      found = values.map((one) => {
        const { value, place } = one;
        const isWeighty = isSmall || namesOrIdentifies(value, place.column);
        const isTold = isToldOnce(value, place.column, { isShared, measured, isDirection: isDirection(one) });
        return { value, place, weight: isWeighty ? 0 : isTold ? 1 : null };
      });
      known.set(table, found);
    }
    return found;
  };
}

/** `wrapped`: of the rows that hang from those of the view, those that these are wrappers of. */
export function toldOnce(
  valuesOf: (table: number) => readonly WeighedValue[],
  hanging: readonly JoinedRows[],
  wrapped: ReadonlySet<JoinedRows>,
): readonly ToldOnce[] {
  return hanging.flatMap((rows) =>
    valuesOf(rows.table).flatMap(({ value, place, weight: own }): ToldOnce[] => {
      if (rows.isAside && !isCalled(rows, value, 'value')) return [];
      const weight = rows.isAside ? 1 : (own ?? (wrapped.has(rows) ? 2 : null));
      if (weight === null) return [];
      const steps = [...rows.steps, ...value.steps];
      return [{ column: { of: rows, place, steps }, weight, distance: steps.length }];
    }),
  );
}

/** True if the value names or identifies the very thing that the shared rows are of. */
export function isCalled(rows: JoinedRows, value: RowValue, as: keyof typeof mostStepsAside): boolean {
  return (
    !value.isAttribute && value.steps.length <= mostStepsAside[as] && isNameOf(rows.steps.at(-1)!, value)
  );
}

/**
 * Returns as many columns as a view has room for, in their order. A value that is neither a date nor an amount counts as a step further
 * away.
 */
export function nearest(told: readonly ToldOnce[]): readonly ToldOnce[] {
  if (told.length <= mostJoinedColumns) return told;
  const isNeeded = ({ weight }: ToldOnce): number => (weight === 0 ? 0 : 1);
  const steps = ({ weight, distance }: ToldOnce): number => distance + (weight === 2 ? 1 : 0);
  const chosen = new Set(
    told
      .toSorted((a, b) => isNeeded(a) - isNeeded(b) || steps(a) - steps(b) || a.weight - b.weight)
      .slice(0, mostJoinedColumns),
  );
  return told.filter((one) => chosen.has(one));
}
