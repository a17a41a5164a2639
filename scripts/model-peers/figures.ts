/** What the tables of a tool are like, asked of the database, whatever tool has made them. */
import type { Sql } from '../../src/adapters/postgres/client/connect.ts';

export interface TableFigures {
  readonly tables: number;
  readonly columns: number;
  /** no row has a value there */
  readonly emptyColumns: number;
  /** of tables and columns: closed by digits of a hash, or as long as the tool lets them be, which is how it has cut them */
  readonly brokenNames: number;
  /** in bytes */
  readonly longestName: number;
  readonly rows: number;
}

/** Tables whose name begins with an underscore are the ledger of our tool. */
export async function figuresOf(sql: Sql, sqlSchema: string, nameBytes: number): Promise<TableFigures> {
  const columns = await sql<{ table: string; column: string }[]>`
    select c.table_name as table, c.column_name as column
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = ${sqlSchema} and table_type = 'BASE TABLE' and table_name not like ${'\\_%'}
     order by c.table_name, c.ordinal_position`;
  const tables = Map.groupBy(columns, ({ table }) => table);
  let [rows, emptyColumns] = [0, 0];
  for (const [table, own] of tables) {
    const counts = own.map(({ column }) => `count(${quoted(column)})::int`).join(', ');
    const [counted] = await sql.unsafe(
      `select count(*)::int as rows, array_to_json(array[${counts}])::text as counts from ${quoted(sqlSchema)}.${quoted(table)}`,
    );
    rows += Number(counted!['rows']);
    emptyColumns += (JSON.parse(String(counted!['counts'])) as number[]).filter(
      (count) => count === 0,
    ).length;
  }
  const names = [...tables.keys(), ...columns.map(({ column }) => column)];
  return {
    tables: tables.size,
    columns: columns.length,
    emptyColumns,
    brokenNames: names.filter((name) => name.length >= nameBytes || isHashed(name)).length,
    longestName: Math.max(0, ...names.map((name) => Buffer.byteLength(name))),
    rows,
  };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function isHashed(name: string): boolean {
  const digits = /_([0-9a-f]{7,8})$/.exec(name)?.[1];
  return digits !== undefined && /\d/.test(digits) && /[a-f]/.test(digits);
}
