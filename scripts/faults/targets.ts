/** Where rows go to, and how many lie there: counted in the place itself, never by what the service says of it. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Sql } from '../../src/postgres/connect.ts';
import { withDatabase } from './cycles.ts';
import type { Scene } from './scene.ts';

export const targetKinds = ['metadb', 'postgresql', 'duckdb', 'csv', 'jsonl', 'parquet'] as const;
export type TargetKind = (typeof targetKinds)[number];

export interface FaultTarget {
  /** options of xml2er */
  readonly options: readonly (readonly [string, string])[];
  /** rows of all tables, and of `_documents` alone */
  count(): Promise<Counted>;
  /** what lies there beside tables: staging of attempts that died */
  remove(): Promise<void>;
}

export interface Counted {
  readonly rows: number;
  readonly documents: number;
}

/** `name`: of an SQL schema, a file or a folder. */
export function targetOf(scene: Scene, kind: TargetKind, name: string): FaultTarget {
  if (kind === 'metadb' || kind === 'postgresql') return schemaTarget(scene, kind, name);
  const path = join(scene.folder, `${name}${kind === 'duckdb' ? '.duckdb' : ''}`);
  return {
    options:
      kind === 'duckdb'
        ? [['-o', `duckdb:${path}`]]
        : [
            ['-o', path],
            ['-f', kind],
          ],
    count: () => (kind === 'duckdb' ? countFile(path) : countFolder(path, kind)),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

function schemaTarget(
  { installation, databaseUrl }: Scene,
  kind: 'metadb' | 'postgresql',
  name: string,
): FaultTarget {
  const { host, username, password, pathname } = new URL(databaseUrl);
  return {
    options:
      kind === 'metadb'
        ? [['-o', `metadb:${name}`]]
        : [
            ['-o', `postgresql://${host}${pathname}?schema=${name}`],
            ['-u', decodeURIComponent(username)],
            ...(password === '' ? [] : ([['-p', decodeURIComponent(password)]] as const)),
          ],
    count: () => withDatabase(installation, (sql) => countSchema(sql, name)),
    remove: () =>
      withDatabase(installation, async (sql) => void (await sql`drop schema if exists ${sql(name)} cascade`)),
  };
}

async function countSchema(sql: Sql, name: string): Promise<Counted> {
  const tables = await sql<{ table: string }[]>`
    select table_name as table from information_schema.tables where table_schema = ${name} and table_type = 'BASE TABLE'`;
  const counts = new Map<string, number>();
  for (const { table } of tables) {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from ${sql(name)}.${sql(table)}`;
    counts.set(table, row!.n);
  }
  return counted(counts);
}

async function countFile(path: string): Promise<Counted> {
  return inDuckDb(path, async (ask) => {
    const counts = new Map<string, number>();
    for (const [table] of await ask(`SELECT table_name FROM information_schema.tables`))
      counts.set(String(table), Number((await ask(`SELECT count(*) FROM "${String(table)}"`))[0]![0]));
    return counted(counts);
  });
}

async function countFolder(path: string, kind: 'csv' | 'jsonl' | 'parquet'): Promise<Counted> {
  const read = { csv: 'read_csv', jsonl: 'read_json', parquet: 'read_parquet' }[kind];
  const more = { csv: ', all_varchar=true, header=true', jsonl: ", format='newline_delimited'", parquet: '' }[
    kind
  ];
  const files = (await readdir(path)).filter((file) => file.endsWith(`.${kind}`));
  return inDuckDb(':memory:', async (ask) => {
    const counts = new Map<string, number>();
    for (const file of files) {
      const rows = await ask(`SELECT count(*) FROM ${read}('${join(path, file)}'${more})`);
      // a folder that is added to has a file of each job
      const table = file.startsWith('_documents') ? '_documents' : file;
      counts.set(table, (counts.get(table) ?? 0) + Number(rows[0]![0]));
    }
    return counted(counts);
  });
}

/** Tables beside the data tell of jobs and values, but for the documents. */
function counted(counts: ReadonlyMap<string, number>): Counted {
  let rows = 0;
  for (const [table, count] of counts) if (!table.startsWith('_')) rows += count;
  return { rows, documents: counts.get('_documents') ?? 0 };
}

async function inDuckDb<T>(
  path: string,
  work: (ask: (query: string) => Promise<unknown[][]>) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  try {
    return await work(async (query) => (await connection.runAndReadAll(query)).getRows());
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
