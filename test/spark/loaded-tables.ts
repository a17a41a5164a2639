/** All that a job left in its target, to be compared by value. */
import { join } from 'node:path';
import { connectPostgres } from '../../src/postgres/connect.ts';
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

const ofJobs = new Set(['loaded_at', 'job', 'job_uuid', 'valid_from']);

async function contents(reader: TargetReader, tables: readonly string[]): Promise<LoadedTables> {
  const found: Record<string, string[]> = {};
  for (const table of tables.toSorted()) {
    if (table === '_loads') continue;
    const rows = ((await reader.read(table)) ?? []).map((row) =>
      JSON.stringify(Object.entries(row).filter(([column]) => !ofJobs.has(column))),
    );
    found[table] = rows.toSorted();
  }
  return found;
}

/** Documents have columns of such names, too (`param_key` of a `param` with an attribute `key`). */
function isKey(column: string, value: unknown): boolean {
  return column.endsWith('_key') && /^-?\d+$/.test(String(value));
}

/**
 * With each key as its place among all keys of that name: alike where rows of two loads hang together alike and ascend alike, whatever
 * numbers they have.
 */
export function keysAsRanks(tables: LoadedTables): LoadedTables {
  type Row = readonly (readonly [column: string, value: unknown])[];
  const values = new Map<string, Set<string>>();
  const parsed = Object.entries(tables).flatMap(([table, rows]) =>
    table === '_keys' ? [] : [[table, rows.map((row) => JSON.parse(row) as Row)] as const],
  );
  for (const [, rows] of parsed)
    for (const [column, value] of rows.flat())
      if (isKey(column, value)) {
        const known = values.get(column);
        if (known === undefined) values.set(column, new Set([String(value)]));
        else known.add(String(value));
      }
  const ranks = new Map(
    [...values].map(([column, known]) => {
      const ascending = [...known].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
      return [column, new Map(ascending.map((value, rank) => [value, rank]))] as const;
    }),
  );
  return Object.fromEntries(
    parsed.map(([table, rows]) => [
      table,
      rows
        .map((row) =>
          JSON.stringify(
            row.map(([column, value]) => [
              column,
              isKey(column, value) ? ranks.get(column)!.get(String(value)) : value,
            ]),
          ),
        )
        .toSorted(),
    ]),
  );
}
