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
import { copyFile, link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';

/** Writes a new file that only its owner may read; it is on disk when this resolves. Rejects with EEXIST if the file exists. */
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
 * Renames a file. Throws EEXIST, and does not move it, if the new name exists. On a file system without links, an empty file has the
 * name for a moment: a process that ends there leaves it.
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

/** Moves a file that is on disk to a new path; if that is on another disk, the file is copied there. */
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
    // a full disk may accept only a part of the bytes
    left = left.flatMap((piece) => {
      const taken = Math.min(bytesWritten, piece.length);
      bytesWritten -= taken;
      return taken === piece.length ? [] : [piece.subarray(taken)];
    });
  }
}

/** Temporary file, fsync, rename, fsync of the folder: the text, whole or in pieces, is there whole, or not at all. */
export async function writeDurably(
  directory: string,
  name: string,
  text: string | Iterable<string>,
): Promise<void> {
  const draft = join(directory, `${name.startsWith('.') ? '' : '.'}${name}.new`);
  // what a dead attempt left, or a link that somebody put there, is not written to
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o666);
  try {
    await file.writeFile(typeof text === 'string' ? text : inLongPieces(text));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(directory, name));
  await syncPath(directory);
}

/** characters of what is written at once, more or less */
const pieceLength = 256 * 1024;

function* inLongPieces(texts: Iterable<string>): Generator<string, void, void> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** Makes what was written outlive a crash of the machine: a file's bytes, a folder's names. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function readIfThere(path: string): Promise<string | null> {
  // a named pipe must not hold the job up
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  try {
    return (await file?.readFile('utf8')) ?? null;
  } finally {
    await file?.close();
  }
}

export async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // a first try moved it
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

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
