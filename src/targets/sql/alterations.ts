/** Determines how an existing table must change so that it can hold the rows of a job. */
import type { FoundColumn, DrawnModel } from './found-tables.ts';

/** The alteration of a column, in the order of the model's columns; `at`: the column of the model. */
export type ColumnAlteration<Column extends FoundColumn = FoundColumn> =
  | { readonly kind: 'add'; readonly at: number; readonly type: string }
  | { readonly kind: 'widen'; readonly at: number; readonly there: Column; readonly type: string }
  /** drops NOT NULL */
  | { readonly kind: 'loosen'; readonly there: Column };

/** The columns of incoming rows. */
interface Incoming<Column extends FoundColumn> {
  foldedName(name: string): string;
  /** Returns the type of a column, and whether rows may lack its value. */
  column(at: number): { readonly type: string; readonly nullable: boolean };
  /** Returns a type that holds values of both, or the present one if it holds all. */
  settle(there: Column, at: number): Promise<string> | string;
  /** Returns whether the addition of a missing column is reported as a change (default: true). */
  isAdded?(at: number): boolean;
  /** Returns whether a change to this type drops NOT NULL of the column. */
  isLoosened?(there: Column, type: string): boolean;
}

/** Returns the alterations, and the types that the model's columns have after them. Adds a description of each to `changes`. */
export async function findAlterations<Column extends FoundColumn>(
  { drawn, changes }: { readonly drawn: DrawnModel; readonly changes: string[] },
  index: number,
  known: { readonly columns: ReadonlyMap<string, Column> },
  incoming: Incoming<Column>,
): Promise<{ readonly alterations: readonly ColumnAlteration<Column>[]; readonly types: string[] }> {
  const { name, columns, primaryKey } = drawn.tables[index]!;
  const alterations: ColumnAlteration<Column>[] = [];
  const types: string[] = [];
  const loosen = (there: Column, column: string): void => {
    alterations.push({ kind: 'loosen', there });
    changes.push(`${name}.${column}: NOT NULL dropped`);
  };
  for (const [at, column] of columns.entries()) {
    const { type, nullable } = incoming.column(at);
    const there = known.columns.get(incoming.foldedName(column.name));
    if (there === undefined) {
      alterations.push({ kind: 'add', at, type });
      types.push(type);
      if (incoming.isAdded?.(at) !== false) changes.push(`${name}.${column.name}: added`);
      continue;
    }
    const settled = await incoming.settle(there, at);
    types.push(settled);
    const isWider = settled !== there.type;
    if (isWider) {
      alterations.push({ kind: 'widen', at, there, type: settled });
      changes.push(`${name}.${column.name}: ${there.type} widened to ${settled}`);
    }
    const isFree = isWider && incoming.isLoosened?.(there, settled) === true;
    if (there.notNull && nullable && !primaryKey.includes(column.name) && !isFree) loosen(there, column.name);
  }
  const ours = new Set(columns.map((column) => incoming.foldedName(column.name)));
  for (const [folded, there] of known.columns)
    if (!ours.has(folded) && there.notNull && !there.hasDefault) loosen(there, there.name);
  return { alterations, types };
}
