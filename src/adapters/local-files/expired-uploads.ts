/** Removes expired uploads from the folders `files/<id_org>/uploads/<random>/<name>`. */
import type { Dirent } from 'node:fs';
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExpiredUploads } from '../../ports/files/organisation-files.ts';

/** name prefix of an incomplete upload, which is stored beside the folders of complete ones */
export const partPrefix = '.part-';

/** Links are removed as such, never followed; a file that disappears meanwhile is no error. */
export async function removeExpiredUploads(filesDirectory: string, which: ExpiredUploads): Promise<number> {
  let removed = 0;
  for (const org of await entriesOf(filesDirectory)) {
    if (!org.isDirectory() || !/^\d+$/.test(org.name)) continue;
    const uploads = join(filesDirectory, org.name, 'uploads');
    for (const entry of await entriesOf(uploads)) {
      const path = join(uploads, entry.name);
      if (!entry.isDirectory()) {
        if (entry.name.startsWith(partPrefix)) removed += await removeOlder(path, which.partialOlderThan);
        continue;
      }
      const folder = `${org.name}/uploads/${entry.name}`;
      if (which.except.has(folder)) continue;
      for (const file of await entriesOf(path)) {
        if (file.isDirectory() || which.except.has(`${folder}/${file.name}`)) continue;
        removed += await removeOlder(join(path, file.name), which.olderThan);
      }
      // removes the folder only if it is empty now
      await rmdir(path).catch(() => undefined);
    }
  }
  return removed;
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(() => []);
}

async function removeOlder(path: string, olderThan: number): Promise<number> {
  try {
    if ((await lstat(path)).mtimeMs >= olderThan) return 0;
    await unlink(path);
    return 1;
  } catch {
    return 0;
  }
}
