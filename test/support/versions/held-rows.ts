/** What tables of a target hold, and that later loads leave it as it is. */
import { expect } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import type { ServiceHome } from '../service/start.ts';

/** rows by their key */
type TableRows = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Tables of a target: what one load has left there has the same names and values after the next. */
export class HeldRows {
  readonly #home: ServiceHome;
  readonly #schema: string;
  #tables = new Map<string, TableRows>();

  constructor(home: ServiceHome, schema: string) {
    this.#home = home;
    this.#schema = schema;
  }

  async expectKept(): Promise<void> {
    const sql = connectPostgres(await this.#home.databaseUrl(), { applicationName: 'test', max: 1 });
    try {
      const now = await this.#read(sql);
      for (const [table, rows] of this.#tables) {
        const later = now.get(table);
        expect(later, table).toBeDefined();
        for (const [key, row] of rows) expect(later!.get(key), `${table} ${key}`).toMatchObject(row);
      }
      this.#tables = now;
    } finally {
      await sql.end();
    }
  }

  async #read(sql: Sql): Promise<Map<string, TableRows>> {
    const tables = new Map<string, TableRows>();
    const keys = await sql<{ table: string; key: string }[]>`
      select c.relname as table, a.attname as key from pg_index i join pg_class c on c.oid = i.indrelid
      join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where i.indisprimary and n.nspname = ${this.#schema} and c.relname not like '\\_%'`;
    for (const { table, key } of keys) {
      const rows = await sql<{ row: Record<string, unknown> }[]>`
        select to_jsonb(t) as row from ${sql(this.#schema)}.${sql(table)} t`;
      tables.set(table, new Map(rows.map(({ row }) => [String(row[key]), row])));
    }
    return tables;
  }
}
