/** Files of a folder that no job wrote: they stay as they are. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../../errors.ts';

/** Files that no manifest lists belong to somebody else. `known`: names of those that jobs wrote. */
export async function refuseForeignFiles(
  directory: string,
  label: string,
  known: ReadonlySet<string>,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    if (known.has(name) || !(await exists(join(directory, name)))) continue;
    throw new AppError('conflict', `${label}: ${name} exists and was not written by a job.`);
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
