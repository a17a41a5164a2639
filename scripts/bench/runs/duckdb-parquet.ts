/**
 * DuckDB's own writing of rows that it reads from a folder of Parquet, into another with the same compression: `scripts/bench/runs/duckdb-parquet.ts FROM TO`.
 * Prints the size of both, too.
 */
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

const [from, to] = process.argv.slice(2) as [string, string];
const tables = (await readdir(from)).filter((name) => name.endsWith('.parquet'));
await mkdir(to, { recursive: true });
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const quoted = (folder: string, name: string): string => `'${join(folder, name).replaceAll("'", "''")}'`;
const started = performance.now();
for (const table of tables)
  await connection.run(
    `COPY (FROM read_parquet(${quoted(from, table)})) TO ${quoted(to, table)} (FORMAT parquet, COMPRESSION zstd)`,
  );
const seconds = (performance.now() - started) / 1000;
connection.closeSync();
instance.closeSync();
const sizeOf = async (folder: string): Promise<number> => {
  const sizes = await Promise.all(tables.map(async (table) => (await stat(join(folder, table))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};
console.log(JSON.stringify({ seconds, readBytes: await sizeOf(from), writtenBytes: await sizeOf(to) }));
