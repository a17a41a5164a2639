/** Files and folders by paths that somebody else may have named: plain ones, with no link in them that would lead elsewhere. */
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AppError } from '../../errors.ts';

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

/** For what opens files itself: a name in a target is a plain file there, or nothing yet. AppError `target_not_allowed`. */
export async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found !== null && !found.isFile())
    throw new AppError('target_not_allowed', `${basename(path)} is no plain file.`);
}
