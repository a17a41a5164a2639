/** A document into TSV with two workers, whole, and by its rows (`--row-tag`), these with one worker, too. */
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
  const whole = [input.path, '-o', rows, '-f', 'tsv'];
  const parts = [...whole, '--row-tag', 'order'];
  for (const [argv, contestants] of [
    [whole, [[names.tsvTwo, '2']]],
    [
      parts,
      [
        [names.rowTag, '1'],
        [names.rowTagTwo, '2'],
      ],
    ],
  ] as const) {
    await rm(rows, { recursive: true, force: true });
    const inferred = await measure(database.tool(...argv));
    for (const [name, workers] of contestants) {
      await rm(rows, { recursive: true, force: true });
      const known = ['-x', String(inferred.printed['origin']), '-e', 'd', '--workers', workers];
      await contest(name, input, database.tool(...argv, ...known));
    }
  }
  await rm(rows, { recursive: true, force: true });
}
