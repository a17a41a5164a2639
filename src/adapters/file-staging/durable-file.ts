/** Writing files: whole, and such that they survive a crash of the machine. */
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  type BigIntStats,
} from 'node:fs';
import { copyFile, open, rename, rm, type FileHandle } from 'node:fs/promises';

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

/** Whether the file system, as FAT or some mounts of other machines, has no second names of files. */
export function lacksLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Renames a file; throws EEXIST, and leaves it where it is, where the new name is another's by now. A file system without links has an empty file of the
 * name for a moment: whoever ends there leaves it.
 */
export function takeName(from: string, to: string, link = linkSync): void {
  try {
    link(from, to);
  } catch (error) {
    if (lacksLinks(error)) return takeReserved(from, to);
    // a server that was asked twice may have made it the first time
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !areOneFile(from, to)) throw error;
  }
  unlinkSync(from);
}

function areOneFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => lstatSync(path, { bigint: true })) as [BigIntStats, BigIntStats];
  return a.ino === b.ino && a.dev === b.dev;
}

function takeReserved(from: string, to: string): void {
  closeSync(openSync(to, 'wx'));
  try {
    renameSync(from, to);
  } catch (error) {
    unlinkSync(to);
    throw error;
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

/** Writes all of the pieces behind one another; a file that others write into at the same time may have theirs between them. */
export async function writeWhole(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  let left = pieces.filter((piece) => piece.length > 0);
  while (left.length > 0) {
    let { bytesWritten } = await file.writev(left);
    // what is written of a full disk is a part
    left = left.flatMap((piece) => {
      const taken = Math.min(bytesWritten, piece.length);
      bytesWritten -= taken;
      return taken === piece.length ? [] : [piece.subarray(taken)];
    });
  }
}
