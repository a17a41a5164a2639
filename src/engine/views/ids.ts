/** The view `_ids`: of each `xs:ID` in the documents, which row it is of, so that references (`xs:IDREF`) are followed by joins. */
import { allIds } from '../model/references.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { physicalName } from '../sql/physical-names.ts';
import { commentStatement, type CreatedView } from './create-view.ts';
import { selectedIds } from './selected-ids.ts';

export const idsViewName = '_ids';

export interface IdsViewOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  readonly has: (table: number) => boolean;
  readonly hasColumn: (table: number, column: number) => boolean;
}

/** Returns null if no existing table has ids. */
export function idsView(
  model: RelationalModel,
  { dialect, sqlSchema, has, hasColumn }: IdsViewOptions,
): CreatedView | null {
  const there = allIds(model).filter(({ table, column }) => has(table) && hasColumn(table, column));
  const { columns, union } = selectedIds(model, there, { dialect, sqlSchema });
  if (union === '') return null;
  const view = { sqlSchema, table: physicalName(dialect, idsViewName) };
  // outside of the union, so that PostgreSQL looks up an id in the index of each table
  const query = `SELECT * FROM (\n${union}\n) i WHERE ${columns.id} IS NOT NULL`;
  const comment =
    'One row for each id that documents have: the table and the key of the row it is of. A reference is followed by the key of its document and its value.';
  const create = `CREATE VIEW ${qualified(dialect, view)} AS\n${query}`;
  return {
    name: view.table,
    comment,
    query,
    statements: [create, ...commentStatement(dialect, view, comment)],
  };
}
