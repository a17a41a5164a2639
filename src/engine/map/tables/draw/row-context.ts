/** The position at which an element is drawn, and columns that do not come from the source. */
import type { ColumnType } from '../../../model/relational-model.ts';
import { roleStep } from '../../../model/keys.ts';
import type { MetChild } from '../met-children.ts';
import type { NewColumn, NodeDraft, TableDraft, TableOrigin } from '../model-builder.ts';

export const key: ColumnType = { kind: 'bigint' };
export const ordinal: ColumnType = { kind: 'integer' };
export const flag: ColumnType = { kind: 'boolean' };
export const plainText: ColumnType = { kind: 'text' };

/** Returns the column with the names of the elements that rows of a table are. `isOfRoles`: see ElementNames. */
export function elementNames(isOfRoles: boolean, xpath: string): NewColumn {
  const named = { role: 'element_name', type: plainText, xpath } as const;
  return isOfRoles
    ? { ...named, nameParts: ['role'], steps: roleStep }
    : { ...named, nameParts: ['element'] };
}

/** The position at which an element is drawn: the row it belongs to, and how its columns are distinguished there. */
export interface RowContext {
  readonly table: TableDraft;
  /** printed steps (`src/engine/map/names/use-paths.ts`) below the row's element: identity of columns within the table */
  readonly columnKey: string;
  /** local names below the row's element: words of column names */
  readonly nameParts: readonly string[];
  readonly path: readonly string[];
  readonly xpath: string;
  /** the node that opens this row, if values here are guaranteed as far as the element itself is; null below optional folds */
  readonly guarantor: NodeDraft | null;
  /** the documentation of the element that is folded here; the documentation of a row's own element is in its table */
  readonly documentation?: string | undefined;
  /** the content that documents had in the element that is folded here; other content of it is not drawn */
  readonly met?: MetChild | null;
  /** elements, by index, that have rows of their own in one of the types that share this row, and so in all of these types */
  readonly apart?: ReadonlySet<number>;
}

/** The identity of a table: rows with the same identity belong to one table, within a drawing and across the versions of a model. */
export interface TableIdentity {
  readonly identity: string;
  readonly origin: TableOrigin;
}
