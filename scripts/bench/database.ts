/** The embedded database of a bench, our tool on it, and COPY alone of the bytes that our tool has loaded. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stopEmbeddedPostgres, startEmbeddedPostgres } from '../../src/process/embedded-postgres/server.ts';
import { connectPostgres, type Sql } from '../../src/postgres/connect.ts';
import type { Command } from './measured-process.ts';

const projectRoot = join(import.meta.dirname, '../..');

export interface BenchDatabase {
  readonly url: string;
  readonly sql: Sql;
  /** `xsd2er`, as `tool` */
  compile(...args: readonly string[]): Command;
  /** `xml2er` with these arguments, its executable called directly */
  tool(...args: readonly string[]): Command;
  /** `er2xml`, as `tool` */
  writeBack(...args: readonly string[]): Command;
  /** Tables are made anew by every contestant: to remove those of the run before is no part of loading. */
  dropTarget(sqlSchema: string): Promise<void>;
  /** rows of all tables of a schema, side tables aside */
  countRows(sqlSchema: string): Promise<number>;
  /** Notes the COPY bytes of a schema's tables and their primary keys. */
  prepareCopyAlone(sqlSchema: string): Promise<CopyAlone>;
  close(): Promise<void>;
}

export interface CopyAlone {
  readonly bytes: number;
  /**
   * Loads the bytes into tables without keys, from files that the server reads, then makes the keys; answers seconds. Over one
   * connection, or each table over its own.
   */
  run(connections: 'one' | 'many'): Promise<number>;
}

const atOnce = 4;

export async function openBenchDatabase(directory: string): Promise<BenchDatabase> {
  const home = join(directory, 'home');
  await mkdir(home, { recursive: true });
  // the service's part, so that the database does not end between two runs
  const server = await startEmbeddedPostgres({ directory: join(home, 'db') });
  const sql = connectPostgres(server.url, { applicationName: 'bench', max: atOnce });
  const command = (name: string, args: readonly string[]): Command => ({
    file: process.execPath,
    args: [join(projectRoot, 'bin', name), ...args, '--json'],
    env: { SVC_HOME: home },
  });
  return {
    url: server.url,
    sql,
    compile: (...args) => command('xsd2er.mjs', args),
    tool: (...args) => command('xml2er.mjs', args),
    writeBack: (...args) => command('er2xml.mjs', args),
    dropTarget: (sqlSchema) => dropSchema(sql, sqlSchema),
    async countRows(sqlSchema) {
      const tables = await tablesOf(sql, sqlSchema);
      let rows = 0;
      for (const table of tables) {
        const [count] = await sql.unsafe(`SELECT count(*)::int AS n FROM "${sqlSchema}"."${table}"`);
        rows += (count as unknown as { n: number }).n;
      }
      return rows;
    },
    prepareCopyAlone: (sqlSchema) => prepareCopyAlone(sql, sqlSchema),
    async close() {
      await sql.end({ timeout: 5 });
      await server.stop();
      await stopEmbeddedPostgres(join(home, 'db')).catch(() => undefined);
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function dropSchema(sql: Sql, sqlSchema: string): Promise<void> {
  await sql.unsafe(`DROP SCHEMA IF EXISTS "${sqlSchema}" CASCADE`);
  await sql.unsafe('CHECKPOINT');
}

async function tablesOf(sql: Sql, sqlSchema: string): Promise<string[]> {
  const rows = await sql`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${sqlSchema} AND table_name !~ '^_' ORDER BY 1`;
  return rows.map(({ name }) => String(name));
}

async function prepareCopyAlone(sql: Sql, sqlSchema: string): Promise<CopyAlone> {
  const tables = await tablesOf(sql, sqlSchema);
  const keys = new Map<string, string>();
  let bytes = 0;
  const [setting] = await sql`SELECT current_setting('data_directory') AS folder`;
  const fileOf = (table: string): string => `${String(setting!['folder'])}/bench_${sqlSchema}_${table}.copy`;
  for (const table of tables) {
    await sql.unsafe(`COPY "${sqlSchema}"."${table}" TO '${fileOf(table)}'`);
    const [size] = await sql.unsafe(`SELECT size FROM pg_stat_file('${fileOf(table)}')`);
    bytes += Number((size as unknown as { size: unknown }).size);
    const [key] = await sql`
      SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
      WHERE contype = 'p' AND conrelid = ${`"${sqlSchema}"."${table}"`}::regclass`;
    if (key !== undefined) keys.set(table, String(key['text']));
  }
  return {
    bytes,
    async run(connections) {
      await dropSchema(sql, 'bench_copy');
      await sql.unsafe('CREATE SCHEMA bench_copy');
      const started = performance.now();
      const load = async (table: string): Promise<void> => {
        await sql.unsafe(
          `CREATE TABLE bench_copy."${table}" (LIKE "${sqlSchema}"."${table}"); COPY bench_copy."${table}" FROM '${fileOf(table)}'`,
        );
        const key = keys.get(table);
        if (key !== undefined) await sql.unsafe(`ALTER TABLE bench_copy."${table}" ADD ${key}`);
      };
      if (connections === 'many') await Promise.all(tables.map(load));
      else for (const table of tables) await load(table);
      return (performance.now() - started) / 1000;
    },
  };
}
