/** What a PostgreSQL spends on the rows that executors have copied when plain COPY brings them, over as many connections. */
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { BenchDatabase } from '../database.ts';
import { serverSeconds } from './processes.ts';

const schema = 'bench_spark';
const copy = 'bench_spark_copy';

/** Rows of the tables of the last run. Answers the server's seconds of a processor, for COPY alone: tables have no keys. */
export async function copyAlone({ sql }: BenchDatabase, connections: number): Promise<number> {
  const [setting] = await sql`SELECT current_setting('data_directory') AS folder`;
  const folder = String(setting!['folder']);
  const tables = await sql`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${schema} AND table_type = 'BASE TABLE'`;
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${copy} CASCADE; CREATE SCHEMA ${copy}`);
  const parts: (readonly [table: string, file: string, from: number, to: number])[][] = Array.from(
    { length: connections },
    () => [],
  );
  const files: string[] = [];
  for (const { name } of tables) {
    const file = `${folder}/bench_spark_${name}.copy`;
    files.push(file);
    await sql.unsafe(`CREATE TABLE ${copy}."${name}" (LIKE ${schema}."${name}");
      COPY ${schema}."${name}" TO '${file}'`);
    const ends = await lineEnds(file, connections);
    for (const [part, list] of parts.entries())
      if (ends[part + 1]! > ends[part]!) list.push([String(name), file, ends[part]!, ends[part + 1]! - 1]);
  }
  const before = serverSeconds(folder);
  await Promise.all(
    parts.map(async (list) => {
      for (const [table, file, start, end] of list)
        await pipeline(
          createReadStream(file, { start, end, highWaterMark: 256 * 1024 }),
          await sql.unsafe(`COPY ${copy}."${table}" FROM STDIN`).writable(),
        );
    }),
  );
  const spent = serverSeconds(folder) - before;
  for (const file of files) await rm(file);
  await sql.unsafe(`DROP SCHEMA ${copy} CASCADE`);
  return spent;
}

/** Offsets that cut a file into so many parts of whole lines: 0, …, its size. */
async function lineEnds(file: string, parts: number): Promise<number[]> {
  const { size } = await stat(file);
  const bytes = await readFile(file);
  const ends = Array.from({ length: parts - 1 }, (_, part) => {
    const wanted = Math.floor((size * (part + 1)) / parts);
    return wanted === 0 ? 0 : bytes.indexOf(10, wanted - 1) + 1;
  });
  return [0, ...ends, size];
}
