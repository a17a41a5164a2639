/** The files below a folder of this machine, one by one: a folder may have more of them than memory has room for. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** entries that are read at once */
const bufferSize = 256;

export interface WalkOptions {
  /** called for each file and folder; an exception ends the walk */
  readonly onEntry?: () => void;
  /** folders that cannot be read are empty (false: their fault ends the walk) */
  readonly skipsUnreadable?: boolean;
}

/**
 * Paths of files at any depth, in the order of the file system. Links are left out, and so is a folder below the first one that vanishes
 * meanwhile.
 */
export async function* walkFiles(
  directory: string,
  { onEntry, skipsUnreadable = false }: WalkOptions = {},
): AsyncGenerator<string> {
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder, { bufferSize }).catch((error: NodeJS.ErrnoException) => {
      if (skipsUnreadable || (folder !== directory && error.code === 'ENOENT')) return null;
      throw error;
    });
    // leaving the loop closes the folder
    for await (const entry of entries ?? []) {
      onEntry?.();
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) yield path;
    }
  }
}
