/** Writing files that survive a crash of the machine. */
import { constants } from 'node:fs';
import { copyFile, open, rename, rm } from 'node:fs/promises';

/** Writes a new file that only its owner may read; it is on disk when this resolves. Rejects with EEXIST where there is one. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives a file that is on the disk another path, which is new; where that is on another disk, it is copied there. */
export async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
    const copy = await open(to, 'r');
    await copy.sync().finally(() => copy.close());
    await rm(from);
  }
}
