/** Paths that a log names: below the folder of the table, with no link in them that would lead elsewhere. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../errors.ts';

/** The whole path of a file of the table. AppError `target_not_allowed` for what is no plain file in plain folders. */
export async function plainFile(directory: string, path: string): Promise<string> {
  const steps = path.split('/');
  for (let count = 1; count < steps.length; count += 1)
    await checkFolder(join(directory, ...steps.slice(0, count)), path);
  const whole = join(directory, path);
  const found = await lstat(whole).catch(nothing);
  if (found !== null && !found.isFile()) refuse(path);
  return whole;
}

/** A folder, or nothing yet; as `plainFile`. `name`: what it is called in messages. */
export async function checkFolder(path: string, name: string): Promise<void> {
  const found = await lstat(path).catch(nothing);
  if (found !== null && !found.isDirectory()) refuse(name);
}

/** Below the table's folder: whoever may write there must not make us read elsewhere. AppError `conflict` for another one. */
export function pathBelow(path: string | null, label: string): string {
  const steps = path?.split('/') ?? [''];
  if (
    path === null ||
    /^[a-z][a-z0-9+.-]*:/i.test(path) ||
    steps.some((step) => /^\.{0,2}$|\p{Cc}/u.test(step))
  )
    throw new AppError('conflict', `${label}: its log names a file outside of the table's folder.`);
  return path;
}

function nothing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

function refuse(name: string): never {
  throw new AppError(
    'target_not_allowed',
    `${name}: a link, or something that is no plain file, stands where a file or folder of a table is to be.`,
  );
}
