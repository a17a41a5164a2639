/** What the tables of a tool are like, asked of the database, whatever tool has made them. */
import type { Sql } from '../../src/postgres/connect.ts';

export interface LoadedTable {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly LoadedColumn[];
}

export interface LoadedColumn {
  readonly name: string;
  readonly type: string;
  /** rows that have a value there */
  readonly values: number;
}

export interface TableFigures {
  readonly tables: number;
  readonly columns: number;
  /** no row has a value there */
  readonly emptyColumns: number;
  /** of tables and columns: closed by digits of a hash, or as long as the tool lets them be, which is how it has cut them */
  readonly brokenNames: number;
  /** another table, or column of the table, is called so but for the number at the end */
  readonly numberedNames: number;
  /** of more than 40 bytes */
  readonly longNames: number;
  /** in bytes */
  readonly longestName: number;
  readonly rows: number;
}

/** Tables whose name begins with an underscore are the ledger of our tool. */
export async function loadedTables(sql: Sql, sqlSchema: string): Promise<LoadedTable[]> {
  const declared = await sql<{ table: string; column: string; type: string }[]>`
    select c.table_name as table, c.column_name as column, c.data_type as type
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = ${sqlSchema} and table_type = 'BASE TABLE' and table_name not like ${'\\_%'}
     order by c.table_name, c.ordinal_position`;
  const tables: LoadedTable[] = [];
  for (const [name, own] of Map.groupBy(declared, ({ table }) => table)) {
    const counts = own.map(({ column }) => `count(${quoted(column)})::int`).join(', ');
    const [counted] = await sql.unsafe(
      `select count(*)::int as rows, array_to_json(array[${counts}])::text as counts from ${quoted(sqlSchema)}.${quoted(name)}`,
    );
    const values = JSON.parse(String(counted!['counts'])) as number[];
    const columns = own.map(({ column, type }, at) => ({ name: column, type, values: values[at]! }));
    tables.push({ name, rows: Number(counted!['rows']), columns });
  }
  return tables;
}

/** `nameBytes`: what is shorter has all its words. */
export function figuresOf(tables: readonly LoadedTable[], nameBytes: number): TableFigures {
  const columns = tables.flatMap((table) => table.columns);
  const names = [...tables, ...columns].map(({ name }) => name);
  const lengths = names.map((name) => Buffer.byteLength(name));
  return {
    tables: tables.length,
    columns: columns.length,
    emptyColumns: columns.filter(({ values }) => values === 0).length,
    brokenNames: names.filter((name) => name.length >= nameBytes || isHashed(name)).length,
    numberedNames: [tables, ...tables.map((table) => table.columns)]
      .map((named) => numbered(named.map(({ name }) => name)).length)
      .reduce((sum, count) => sum + count, 0),
    longNames: lengths.filter((length) => length > 40).length,
    longestName: Math.max(0, ...lengths),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function isHashed(name: string): boolean {
  const digits = /_([0-9a-f]{7,8})$/.exec(name)?.[1];
  return digits !== undefined && /\d/.test(digits) && /[a-f]/.test(digits);
}

function numbered(names: readonly string[]): string[] {
  const all = new Set(names);
  return names.filter((name) => /\d$/.test(name) && all.has(name.replace(/_?\d+$/, '')));
}
