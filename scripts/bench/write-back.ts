/**
 * Rows written back as a document, beside the load of the same document: from PostgreSQL, and from a folder of Parquet. What other
 * folders of files take, too, and what DuckDB takes to write the rows of that Parquet again.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchDatabase } from './database.ts';
import type { BenchInput } from './inputs.ts';
import type { Command, Measured } from './measured-process.ts';
import { contestants as names } from './names.ts';

type Contest = (name: string, input: BenchInput, command: Command) => Promise<Measured>;

/** Answers what our Parquet files have of the size of DuckDB's. */
export async function benchWriteBack(
  contest: Contest,
  input: BenchInput,
  database: BenchDatabase,
  directory: string,
): Promise<number> {
  const schema = `bench_${input.shape}`;
  const target = ['-o', `metadb:${schema}`, '--indexes', 'none'];
  await database.dropTarget(schema);
  const inferred = await contest(names.infer, input, database.tool(input.path, ...target));
  const known = [input.path, '-x', String(inferred.printed['origin']), '-e', 'd'];
  await database.dropTarget(schema);
  await contest(names.load, input, database.tool(...known, ...target));
  const [rows, documents] = [join(directory, 'rows'), join(directory, 'written')];
  await contest(names.writeBack, input, database.writeBack('-i', `metadb:${schema}`, '-o', documents));
  await contest(names.parquet, input, database.tool(...known, '-o', rows, '-f', 'parquet'));
  await contest(names.writeBackParquet, input, database.writeBack('-i', rows, '-o', documents));
  const copied = join(directory, 'copied');
  const copy = await contest(names.duckdbParquet, input, {
    file: process.execPath,
    args: [join(import.meta.dirname, 'runs/duckdb-parquet.ts'), rows, copied],
  });
  await rm(copied, { recursive: true, force: true });
  for (const [name, format] of [
    [names.tsv, 'tsv'],
    [names.jsonLines, 'jsonl'],
  ] as const) {
    await rm(rows, { recursive: true, force: true });
    await contest(name, input, database.tool(...known, '-o', rows, '-f', format));
  }
  for (const folder of [rows, documents]) await rm(folder, { recursive: true, force: true });
  return Number(copy.printed['readBytes']) / Number(copy.printed['writtenBytes']);
}
