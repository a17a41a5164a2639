/** The size of all files below a folder, which others write into meanwhile. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** files that are asked for at a time */
const batch = 256;

/** Without files whose name begins so. Links count for nothing, and neither does what vanishes. */
export async function bytesBelow(directory: string, leftOut: string): Promise<number> {
  let bytes = 0;
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const parent = folder;
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    const files: string[] = [];
    for (const entry of entries) {
      const path = join(parent, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && !entry.name.startsWith(leftOut)) files.push(path);
    }
    for (let from = 0; from < files.length; from += batch) {
      const sizes = await Promise.all(
        files.slice(from, from + batch).map((path) =>
          lstat(path).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
      for (const size of sizes) bytes += size;
    }
  }
  return bytes;
}
