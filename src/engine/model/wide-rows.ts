/**
 * Rows that are wider than one table (docs/decisions/model/wide-rows.md). The first table of a row has its structure and as many values
 * as fit into one table. The rest is in continuation tables, which have one row for each row of the first, with the same row key. The
 * plan numbers a row's columns consecutively: those of the first table, then those of each continuation, including its row key.
 */
import { memberOf } from './packed/reader.ts';
import type { Column, RelationalModel, Table } from './relational-model.ts';

/** A column of a row, located by index of table and column in the model. */
export interface RowColumn {
  readonly table: number;
  readonly at: number;
  readonly column: Column;
}

type Tables = Pick<RelationalModel, 'tables'>;

/** A table and those that continue its rows, in order: they follow it directly. */
export function rowTables({ tables }: Tables, table: number): readonly number[] {
  const parts = [table];
  for (let next = table + 1; next < tables.length; next += 1) {
    if (memberOf(tables, next, 'continues') !== table) break;
    parts.push(next);
  }
  return parts;
}

/** The columns of a table's rows as the plan counts them. `columnsOf`: how the columns of a table are read. */
export function rowColumns(
  model: Tables,
  table: number,
  columnsOf = ({ columns }: Table): readonly Column[] => columns,
): readonly RowColumn[] {
  return rowTables(model, table).flatMap((part) =>
    columnsOf(model.tables[part]!).map((column, at) => ({ table: part, at, column })),
  );
}

/** `rowColumns` of any table, each found once. */
export function rowColumnsOf(model: Tables): (table: number) => readonly RowColumn[] {
  const known: (readonly RowColumn[] | undefined)[] = [];
  return (table) => (known[table] ??= rowColumns(model, table));
}
