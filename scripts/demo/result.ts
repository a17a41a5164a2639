/** Reads what the demo's jobs wrote, straight from the database. */
import type { Sql } from 'postgres';

export interface TableCount {
  readonly table: string;
  readonly rows: number;
}

/** The tables of one SQL schema with their rows, biggest first; those beside the data begin with `_`. */
export async function countTables(sql: Sql, sqlSchema: string): Promise<TableCount[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = ${sqlSchema} and table_type = 'BASE TABLE' order by table_name`;
  const counts: TableCount[] = [];
  for (const { name } of tables) {
    const [row] = await sql<
      { rows: number }[]
    >`select count(*)::int as rows from ${sql(sqlSchema)}.${sql(name)}`;
    counts.push({ table: name, rows: row!.rows });
  }
  return counts.toSorted((a, b) => b.rows - a.rows);
}
