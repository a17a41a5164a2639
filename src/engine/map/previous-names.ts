/** Names that an earlier version of a model gave: what stands at the same path keeps its name, so that targets can be upgraded. */
import type { ColumnRole, RelationalModel, Table } from '../model/relational-model.ts';
import { rowTables } from '../model/wide-rows.ts';
import { columnBytes, type PreviousParts } from './split-tables.ts';

export interface PreviousNames {
  /** name of the table whose rows stood at this path */
  table(kind: Table['kind'], xpath: string): string | undefined;
  /** name of the column there; `parent`: path of the table a parent key leads to. Each name is given once. */
  column(table: string, role: ColumnRole, xpath: string | null, parent: string | null): string | undefined;
  /** how the rows of this table were dealt out over tables; null: there was no such table */
  parts(table: string): PreviousParts | null;
  /** name of the table that part (1, 2 …) of these rows lay in */
  continuation(table: string, part: number): string | undefined;
}

export const noPreviousNames: PreviousNames = {
  table: () => undefined,
  column: () => undefined,
  parts: () => null,
  continuation: () => undefined,
};

export function namesOf(model: RelationalModel): PreviousNames {
  const tables = new Map<string, string>();
  const columns = new Map<string, string[]>();
  const rows = new Map<string, readonly Table[]>();
  for (const [index, first] of model.tables.entries()) {
    if (first.continues !== undefined) continue;
    const parts = rowTables(model, index).map((part) => model.tables[part]!);
    tables.set(`${first.kind}:${first.xpath}`, first.name);
    rows.set(first.name, parts);
    for (const column of parts.flatMap((part) => part.columns)) {
      if (column.role === 'row_key' && column.references !== null) continue;
      // their names are asked for each time, and no path tells one from another
      if (column.role === 'extra') continue;
      const parent = column.references === null ? null : model.tables[column.references]!.xpath;
      const key = columnKey(first.name, column.role, column.xpath, parent);
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
    parts(table) {
      const parts = rows.get(table);
      return parts === undefined ? null : partsOf(parts);
    },
    continuation: (table, part) => rows.get(table)?.[part]?.name,
  };
}

function partsOf(parts: readonly Table[]): PreviousParts {
  const places = new Map(
    parts.flatMap(({ columns }, at) =>
      columns.flatMap(({ name, role, references }) =>
        role === 'extra' || (role === 'row_key' && references !== null) ? [] : [[name, at] as const],
      ),
    ),
  );
  return {
    bytes: parts.map(({ columns }) => columns.reduce((sum, { role }) => sum + columnBytes(role), 0)),
    partOf: (column) => places.get(column),
  };
}

function columnKey(table: string, role: ColumnRole, xpath: string | null, parent: string | null): string {
  return [table, role, xpath ?? '', parent ?? ''].join('\n');
}
