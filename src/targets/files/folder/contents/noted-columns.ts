/** Columns that values changed, by the names of their tables, and that in words. */
import { memberOf, passed } from '../../../../engine/model/packed/lazy-array.ts';
import { lookedAt } from '../../../../engine/model/packed/reader.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import { columnId, tableOfId, widenedWords, type WidenedTypes } from '../../../rows/unfit-columns.ts';

/** columns by table name */
export type NotedColumns = ReadonlyMap<string, ReadonlySet<string>>;

/** `ids`: see `columnId`; in the order of the model. */
export function columnsIn({ tables }: RelationalModel, ids: ReadonlySet<string>): NotedColumns {
  return new Map(
    tablesOf(ids).map((table) => {
      const columns = lookedAt(passed(tables, table), 'columns');
      const noted = columns.filter((_, column) => ids.has(columnId(table, column)));
      return [memberOf(tables, table, 'name'), new Set(noted.map((column) => column.name))] as const;
    }),
  );
}

/** Types of columns by their names, by table name. */
export type NotedTypes = ReadonlyMap<string, ReadonlyMap<string, ColumnType>>;

/** In the order of the model. */
export function typesIn({ tables }: RelationalModel, widened: WidenedTypes): NotedTypes {
  return new Map(
    tablesOf(widened).map((table) => {
      const noted = lookedAt(passed(tables, table), 'columns').flatMap((column, at) => {
        const type = widened.get(columnId(table, at));
        return type === undefined ? [] : [[column.name, type] as const];
      });
      return [memberOf(tables, table, 'name'), new Map(noted)] as const;
    }),
  );
}

/** The tables of these columns, in the order of the model. */
function tablesOf(ids: ReadonlySet<string> | WidenedTypes): number[] {
  return [...new Set([...ids.keys()].map(tableOfId))].toSorted((a, b) => a - b);
}

export function widenedInWords(noted: NotedTypes): string[] {
  return [...noted].flatMap(([table, columns]) =>
    [...columns].map(([column, type]) => `${table}.${column}: ${widenedWords(type)}`),
  );
}

export function inWords(noted: NotedColumns, what: string): string[] {
  return [...noted].flatMap(([table, columns]) =>
    [...columns].map((column) => `${table}.${column}: ${what}`),
  );
}
