/** Files that are made whole, once or not at all. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lacksLinks } from '../../../../adapters/file-staging/durable-file.ts';
import { syncPath } from '../../folder/contents/manifest.ts';

/** Durable; false where there is such a file. `drafts`: a folder of the same file system. */
export async function createOnce(path: string, text: string, drafts: string): Promise<boolean> {
  const draft = join(drafts, `.commit-${randomUUID()}`);
  await writeNew(draft, text);
  try {
    // a link is made whole, and fails where the name is taken: nobody ever sees half of a version
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    if (!lacksLinks(error)) throw error;
    if (!(await writeNew(path, text))) return false;
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(path));
  return true;
}

/** Over what stood there, whole and durable. `drafts`: as of `createOnce`. */
export async function replaceFile(path: string, content: string | Uint8Array, drafts: string): Promise<void> {
  const draft = join(drafts, `.draft-${randomUUID()}`);
  try {
    await writeNew(draft, content);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(path));
}

/** Durable but for its name; false where there is such a file. */
async function writeNew(path: string, content: string | Uint8Array): Promise<boolean> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o666).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file === null) return false;
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}
