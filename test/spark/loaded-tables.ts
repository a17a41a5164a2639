/** All that a job left in its target, to be compared by value. */
import { join } from 'node:path';
import { connectPostgres } from '../../src/adapters/postgres/client/connect.ts';
import {
  deltaReader,
  duckDbReader,
  duckDbRows,
  folderManifest,
  folderReader,
  icebergReader,
  postgresReader,
  type TargetReader,
} from '../contracts/row-sinks/readers.ts';
import type { ServiceHome } from '../support/service/start.ts';

export type TargetKind = 'metadb' | 'csv' | 'jsonl' | 'parquet' | 'delta' | 'iceberg' | 'duckdb';

/** Rows as text, by table; without what differs between jobs: which jobs there were, and when and by which a document was loaded. */
export type LoadedTables = Readonly<Record<string, readonly string[]>>;

export function targetArguments(home: ServiceHome, kind: TargetKind, name: string): string[] {
  if (kind === 'metadb') return ['-o', `metadb:${name}`];
  if (kind === 'duckdb') return ['-o', `duckdb:${join(home.directory, `${name}.duckdb`)}`];
  return ['-o', join(home.directory, 'out', name), '-f', kind];
}

export async function loadedTables(home: ServiceHome, kind: TargetKind, name: string): Promise<LoadedTables> {
  if (kind === 'duckdb') {
    const file = join(home.directory, `${name}.duckdb`);
    const tables = await duckDbRows(file, '(SELECT table_name FROM duckdb_tables() WHERE NOT internal)');
    return contents(
      duckDbReader(file),
      tables.map((row) => row['table_name']!),
    );
  }
  if (kind !== 'metadb') {
    const folder = join(home.directory, 'out', name);
    const listed = (await folderManifest(folder))?.tables ?? [];
    const reader =
      kind === 'delta'
        ? deltaReader(folder)
        : kind === 'iceberg'
          ? icebergReader(folder)
          : folderReader(folder, kind);
    return contents(
      reader,
      listed.map((table) => table.name),
    );
  }
  const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
  try {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = ${name}`;
    return await contents(
      postgresReader(sql, name),
      tables.map((table) => table.name),
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function contents(reader: TargetReader, tables: readonly string[]): Promise<LoadedTables> {
  const found: Record<string, string[]> = {};
  for (const table of tables.toSorted()) {
    if (table === '_loads') continue;
    const rows = ((await reader.read(table)) ?? []).map((row) =>
      JSON.stringify(Object.entries(row).filter(([column]) => column !== 'loaded_at' && column !== 'job')),
    );
    found[table] = rows.toSorted();
  }
  return found;
}
