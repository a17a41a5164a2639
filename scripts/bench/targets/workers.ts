/** A document by its rows (`--row-tag`) into TSV, with one worker and with two. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchDatabase } from '../database.ts';
import type { BenchInput } from '../inputs.ts';
import { measure, type Command, type Measured } from '../measured-process.ts';
import { contestants as names } from '../names.ts';

type Contest = (name: string, input: BenchInput, command: Command) => Promise<Measured>;

/** `input`: the element-heavy shape. */
export async function benchWorkers(
  contest: Contest,
  input: BenchInput,
  database: BenchDatabase,
  directory: string,
): Promise<void> {
  const rows = join(directory, 'rows');
  const parts = [input.path, '--row-tag', 'order', '-o', rows, '-f', 'tsv'];
  const inferred = await measure(database.tool(...parts));
  for (const [name, workers] of [
    [names.rowTag, '1'],
    [names.rowTagTwo, '2'],
  ] as const) {
    await rm(rows, { recursive: true, force: true });
    const known = ['-x', String(inferred.printed['origin']), '-e', 'd', '--workers', workers];
    await contest(name, input, database.tool(...parts, ...known));
  }
  await rm(rows, { recursive: true, force: true });
}
