/** Reads a SQLite file as an independent reader would, every value as text, in the words of PostgreSQL. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { TargetReader, TextRow } from '../readers.ts';

/** Lists come from the tables of their items: a column `X_count` beside a table `TABLE_X` is the list `X`. */
export function sqliteReader(file: string): TargetReader {
  return {
    read: async (table) => {
      if (!existsSync(file)) return null;
      const database = new DatabaseSync(file);
      try {
        return readTable(database, table);
      } finally {
        database.close();
      }
    },
  };
}

function readTable(database: DatabaseSync, table: string): TextRow[] | null {
  const columns = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(table) as {
    name: string;
    type: string;
  }[];
  if (columns.length === 0) return null;
  const key = quoted(columns[0]!.name);
  const rows = database.prepare(`SELECT * FROM ${quoted(table)} ORDER BY ${key}`);
  rows.setReadBigInts(true);
  return (rows.all() as Record<string, bigint | number | string | null>[]).map((row) =>
    Object.fromEntries(
      columns.map(({ name, type }) => {
        const list = /^(.+)_count$/.exec(name)?.[1];
        const items =
          list === undefined ? null : itemsOf(database, `${table}_${list}`, row[columns[0]!.name]!);
        return items === null
          ? [name, textOf(row[name]!, type)]
          : [list, row[name] === null ? null : `{${items.join(',')}}`];
      }),
    ),
  );
}

function itemsOf(database: DatabaseSync, table: string, parent: unknown): string[] | null {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
  if (columns.length !== 4) return null;
  const [, owner, position, item] = columns.map(({ name }) => quoted(name));
  return (
    database
      .prepare(`SELECT ${item} AS item FROM ${quoted(table)} WHERE ${owner} = ? ORDER BY ${position}`)
      .all(parent as bigint) as { item: string | number }[]
  ).map(({ item: value }) => String(value));
}

function textOf(value: bigint | number | string | null, type: string): string | null {
  if (value === null || typeof value === 'string') return value;
  const scale = /^NUMERIC\(\d+,(\d+)\)$/.exec(type)?.[1];
  if (scale !== undefined) return Number(value).toFixed(Number(scale));
  if (type === 'BOOLEAN') return value === 1n ? 'true' : 'false';
  return String(value);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
