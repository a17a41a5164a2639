/** Columns that values changed, by the names of their tables, and that in words. */
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import { columnId, widenedWords, type WidenedTypes } from '../../row-sinks/unfit-columns.ts';

/** columns by table name */
export type NotedColumns = ReadonlyMap<string, ReadonlySet<string>>;

/** `ids`: see `columnId`; in the order of the model. */
export function columnsIn({ tables }: RelationalModel, ids: ReadonlySet<string>): NotedColumns {
  if (ids.size === 0) return new Map();
  return new Map(
    tables.flatMap(({ name, columns }, table) => {
      const noted = columns.filter((_, column) => ids.has(columnId(table, column)));
      return noted.length === 0 ? [] : [[name, new Set(noted.map((column) => column.name))] as const];
    }),
  );
}

/** Types of columns by their names, by table name. */
export type NotedTypes = ReadonlyMap<string, ReadonlyMap<string, ColumnType>>;

/** In the order of the model. */
export function typesIn({ tables }: RelationalModel, widened: WidenedTypes): NotedTypes {
  if (widened.size === 0) return new Map();
  return new Map(
    tables.flatMap(({ name, columns }, table) => {
      const noted = columns.flatMap((column, at) => {
        const type = widened.get(columnId(table, at));
        return type === undefined ? [] : [[column.name, type] as const];
      });
      return noted.length === 0 ? [] : [[name, new Map(noted)] as const];
    }),
  );
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
