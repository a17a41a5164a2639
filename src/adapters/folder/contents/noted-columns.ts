/** Columns that values changed, by the names of their tables, and that in words. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { columnId } from '../../row-sinks/staged-rows.ts';

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

export function inWords(noted: NotedColumns, what: string): string[] {
  return [...noted].flatMap(([table, columns]) =>
    [...columns].map((column) => `${table}.${column}: ${what}`),
  );
}
