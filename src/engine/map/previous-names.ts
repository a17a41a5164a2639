/** Names that an earlier version of a model gave: what stands at the same path keeps its name, so that targets can be upgraded. */
import type { ColumnRole, RelationalModel, Table } from '../model/relational-model.ts';

export interface PreviousNames {
  /** name of the table whose rows stood at this path */
  table(kind: Table['kind'], xpath: string): string | undefined;
  /** name of the column there; `parent`: path of the table a parent key leads to. Each name is given once. */
  column(table: string, role: ColumnRole, xpath: string | null, parent: string | null): string | undefined;
}

export const noPreviousNames: PreviousNames = { table: () => undefined, column: () => undefined };

export function namesOf(model: RelationalModel): PreviousNames {
  const tables = new Map<string, string>();
  const columns = new Map<string, string[]>();
  for (const table of model.tables) {
    tables.set(`${table.kind}:${table.xpath}`, table.name);
    for (const column of table.columns) {
      const parent = column.references === null ? null : model.tables[column.references]!.xpath;
      const key = columnKey(table.name, column.role, column.xpath, parent);
      const names = columns.get(key);
      if (names === undefined) columns.set(key, [column.name]);
      else names.push(column.name);
    }
  }
  return {
    table: (kind, xpath) => tables.get(`${kind}:${xpath}`),
    column(table, role, xpath, parent) {
      // what several columns have in common (flags of folded elements) does not tell which of them is meant
      const names = columns.get(columnKey(table, role, xpath, parent));
      if (names === undefined) return undefined;
      if (role === 'parent_key') return names.shift();
      return names.length === 1 ? names[0] : undefined;
    },
  };
}

function columnKey(table: string, role: ColumnRole, xpath: string | null, parent: string | null): string {
  return [table, role, xpath ?? '', parent ?? ''].join('\n');
}
