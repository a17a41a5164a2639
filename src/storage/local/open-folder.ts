/**
 * A folder held open. Node has no `openat`, but names below `/proc/self/fd` in Linux do the same: they are names in the folder that was
 * opened, even if another folder or link has taken its former path.
 */
import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { AppError } from '../../errors.ts';

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
