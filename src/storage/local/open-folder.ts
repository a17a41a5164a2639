/**
 * Folders held open, and files by paths that somebody else may have named. Node has no `openat`, but names below `/proc/self/fd` in Linux
 * have the same effect: they are names in the folder that was opened, even if another folder or link has taken its former path.
 */
import { constants } from 'node:fs';
import { open, readlink, realpath, lstat } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { basename, join } from 'node:path';

export interface PinnedFolder {
  /** path for this process alone; the folder's own path on systems without `/proc` */
  readonly path: string;
  close(): Promise<void>;
}

/**
 * `links`: `follow`: a person's own path, with links to any place. `refuse`: a path whose links were resolved and whose place was
 * allowed; if it contains a link now, AppError `path_not_allowed`.
 */
export async function pinFolder(path: string, links: 'follow' | 'refuse'): Promise<PinnedFolder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | (links === 'refuse' ? constants.O_NOFOLLOW : 0);
  const folder = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw links === 'refuse' && (error.code === 'ELOOP' || error.code === 'ENOTDIR') ? moved() : error;
  });
  try {
    const pinned = `/proc/self/fd/${folder.fd}`;
    const real = await readlink(pinned).catch(() => null);
    if (links === 'refuse' && (real ?? (await realpath(path))) !== path) throw moved();
    return { path: real === null ? path : pinned, close: () => folder.close() };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Returns the result of `work` for the folder, which is held open meanwhile. Returns null if the folder does not exist. */
export async function inPinnedFolder<T>(
  path: string,
  links: 'follow' | 'refuse',
  work: (path: string) => Promise<T>,
): Promise<T | null> {
  const pinned = await pinFolder(path, links).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (pinned === null) return null;
  try {
    return await work(pinned.path);
  } finally {
    await pinned.close();
  }
}

function moved(): AppError {
  return new AppError(
    'path_not_allowed',
    'the folder, or one above it, became a link after its path was checked',
  );
}

// Plain files and folders, whose paths contain no link that would lead elsewhere.

/** The whole path of a file of the table. AppError `target_not_allowed` for what is not a plain file in plain folders. */
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
    `${name}: a link or special file is in the place of a file or folder of a table.`,
  );
}

/** Checks a file that another program will open: it must be a plain file, or not exist yet. AppError `target_not_allowed` otherwise. */
export async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found !== null && !found.isFile())
    throw new AppError('target_not_allowed', `${basename(path)} is not a plain file.`);
}
