/** The size of all files below a folder, which others write into meanwhile. */
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { walkFiles } from './walk.ts';

/** files that are asked for at a time */
const batch = 256;

/** Sums the sizes of files whose names do not begin with `leftOut`. Links, and files that disappear meanwhile, do not count. */
export async function bytesBelow(directory: string, leftOut: string): Promise<number> {
  let bytes = 0;
  let paths: string[] = [];
  const add = async (): Promise<void> => {
    const sizes = await Promise.all(
      paths.map((path) =>
        lstat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    for (const size of sizes) bytes += size;
    paths = [];
  };
  for await (const path of walkFiles(directory, { skipsUnreadable: true })) {
    if (!basename(path).startsWith(leftOut)) paths.push(path);
    if (paths.length === batch) await add();
  }
  await add();
  return bytes;
}
