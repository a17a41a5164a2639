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
import crypto, { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { AppError, isDiskFull } from '../../errors.ts';

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
function lacksLinks(error: unknown): boolean {
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
  // removes a file that a dead attempt left, or a link that somebody put there, so that it is not written to
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

/** approximate number of characters written at once */
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

export async function readIfExists(path: string): Promise<string | null> {
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

export async function renameIfExists(from: string, to: string): Promise<void> {
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

/** Replaces a file by a whole and durable one. `drafts`: as for `createOnce`. */
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

/** Writes a new file and syncs its content; the caller syncs the name. Returns false if the file exists. */
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

// Faults of the file system (full disk, missing rights, too many files) as errors of the service.

const full = 'the disk is full; make room there and run the job again, or name another place';
const tooManyFiles = 'too many files are open on this machine; run the job again later, or raise the limit';
/** Faults that may pass, each with advice for the meantime. */
const passing: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  EIO: 'its disk does not work now',
  ESTALE: 'its file system was remounted during the run; run the job again',
};
const noRight = 'this user has no permission; grant it, or name another place';
/** Faults of the place, each with advice. */
const refused: Readonly<Record<string, string>> = {
  EACCES: noRight,
  EPERM: noRight,
  EROFS: 'its file system is read-only; name another place',
  ENOTDIR: 'there is a file where a folder is needed; name another folder',
  EEXIST: 'there is a file where a folder is needed; name another folder',
  EISDIR: 'there is a folder where a file is needed; name a file in it',
  ENOENT:
    'nothing can be created there because the folder does not exist or a link is broken; name another place',
  ENAMETOOLONG: 'the name is too long; name a shorter one',
  ELOOP: 'the path contains a link; name the folder itself',
};

/** Faults of a folder that is only read: no file but a lock is created there. */
const unreadable: Readonly<Record<string, string>> = {
  EROFS:
    'it is locked while it is read, and its file system is read-only; copy it to another place, and name that',
  ENOENT: 'it, or a file of it, does not exist; name its current place',
};

/** Codes of faults that DuckDB reports in the system's words. */
const codesOfDuckDb: Readonly<Record<string, string>> = {
  'Is a directory': 'EISDIR',
  'Permission denied': 'EACCES',
  'Read-only file system': 'EROFS',
};

/** Faults of the file system and of DuckDB become AppErrors; others stay as they are. */
export function fileFault(error: unknown, label: string, what: 'written' | 'read' = 'written'): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (Object.hasOwn(passing, code)) {
    return new AppError('service_unavailable', `${label}: cannot be ${what}: ${passing[code]} (${code}).`, {
      cause: error,
      ...(isDiskFull(error) ? { outage: { of: 'room' } } : {}),
    });
  }
  const told = (what === 'read' ? unreadable[code] : undefined) ?? refused[code];
  if (Object.hasOwn(refused, code)) {
    return new AppError('target_not_allowed', `${label}: cannot be ${what}: ${told} (${code}).`, {
      cause: error,
    });
  }
  const refusal = /^IO Error: .*(Is a directory|Permission denied|Read-only file system)/.exec(
    error.message,
  )?.[1];
  if (refusal !== undefined) {
    const why = refused[codesOfDuckDb[refusal]!];
    return new AppError('target_not_allowed', `${label}: cannot be ${what}: ${why}.`, { cause: error });
  }
  if (/No space left on device|Out of Memory Error|failed to offload|could not write/i.test(error.message)) {
    return new AppError('service_unavailable', `${label}: ${firstLine(error)}`, {
      cause: error,
      ...(error.message.includes('No space left on device') ? { outage: { of: 'room' } } : {}),
    });
  }
  // something of the user's hangs on a table: an index, a foreign key
  if (/^(?:Dependency|Catalog|Constraint) Error/.test(error.message)) {
    return new AppError('conflict', `${label}: ${firstLine(error)}`, { cause: error });
  }
  return error;
}

function firstLine(error: Error): string {
  return error.message.split('\n', 1)[0]!.replace(/[.]?$/, '.');
}

// Computes SHA-256 of data in memory.

/** Returns the hash in hex; avoids creating an object for it if Node can (20.12). */
export const sha256Of: (content: string | Uint8Array) => string =
  typeof crypto.hash === 'function'
    ? (content) => crypto.hash('sha256', content)
    : (content) => crypto.createHash('sha256').update(content).digest('hex');
