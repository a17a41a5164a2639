/** Reads back what `load.sqlite.sql` made: the items of lists put together again, as PostgreSQL writes arrays. */
import { DatabaseSync } from 'node:sqlite';
import { dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { withListTables } from '../../../../src/engine/sql/list-tables.ts';
import type { ColumnType, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { TargetReader, TextRow } from '../../row-sinks/readers.ts';

export function sqliteReader(file: string, model: RelationalModel): TargetReader {
  const { model: drawn, lists } = withListTables(model, dialectOf('sqlite'));
  return {
    read: async (table) => {
      const database = new DatabaseSync(file);
      try {
        const owner = model.tables.findIndex(({ name }) => name === table);
        const columns = columnsOf(database, table);
        if (columns.length === 0) return null;
        const rows = rowsOf(database, table, columns[0]!);
        const types = new Map(model.tables[owner]?.columns.map(({ name, type }) => [name, type]));
        const joined = lists
          // a list that became text is a column like another
          .filter(
            (list) =>
              list.owner === owner && !columns.includes(model.tables[owner]!.columns[list.column]!.name),
          )
          .map((list) => {
            const { name, type } = model.tables[owner]!.columns[list.column]!;
            const own = drawn.tables[list.table!]!;
            const [key, parentKey, position, item] = own.columns.map((column) => column.name) as [
              string,
              string,
              string,
              string,
            ];
            const items = Map.groupBy(rowsOf(database, own.name, key), (row) => String(row[parentKey]));
            const of = (rowKey: string): string[] =>
              (items.get(rowKey) ?? []).map((row, at) => {
                if (Number(row[position]) !== at + 1)
                  throw new Error(`position ${String(row[position])} in ${own.name}`);
                return textOf(row[item]!, type)!;
              });
            return { name, count: drawn.tables[owner]!.columns[list.column]!.name, of };
          });
        return rows.map((row): TextRow => {
          const read: Record<string, string | null> = {};
          for (const column of columns) {
            const list = joined.find(({ count }) => count === column);
            if (list === undefined) read[column] = textOf(row[column]!, types.get(column));
            else if (row[column] === null) read[list.name] = null;
            else {
              const items = list.of(String(row[columns[0]!]));
              if (items.length !== Number(row[column]))
                throw new Error(`${items.length} items in ${table}.${list.name}`);
              read[list.name] =
                `{${items.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
            }
          }
          return read;
        });
      } finally {
        database.close();
      }
    },
  };
}

type Value = string | number | bigint | Uint8Array | null;

function columnsOf(database: DatabaseSync, table: string): string[] {
  return database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name));
}

function rowsOf(database: DatabaseSync, table: string, key: string): Record<string, Value>[] {
  const statement = database.prepare(`select * from ${quoted(table)} order by ${quoted(key)}`);
  statement.setReadBigInts(true);
  return statement.all() as Record<string, Value>[];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function textOf(value: Value, type: ColumnType | undefined): string | null {
  if (value === null) return null;
  if (type?.kind === 'boolean' && typeof value === 'bigint') return value === 1n ? 'true' : 'false';
  return String(value);
}
