/** Opens input files. The path that a job names was checked before, and the opened file is checked again. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { AppError } from '../errors.ts';

/**
 * `follow`: symbolic links are followed, as for a person's own files. `refuse`: links of the path were resolved and its place was
 * allowed; if it contains a link now, AppError `path_not_allowed`.
 */
export type Links = 'follow' | 'refuse';

const readBytes = 256 * 1024;

/** Up to here a file is read at once: of thousands of small ones, most time went into handing each step to another thread. */
export const smallFileBytes = 128 * 1024;

/** A named pipe in place of the file must not hold the job up. */
const withoutLinks = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function openInputFile(path: string, links: Links): Promise<FileHandle> {
  if (links === 'follow')
    return open(path, 'r').catch((error: unknown) => {
      throw inputFault(error, path);
    });
  const file = await open(path, withoutLinks).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? moved(path) : inputFault(error, path);
  });
  try {
    const [opened, there, real] = await Promise.all([file.stat(), stat(path), realpath(path)]);
    // Someone may have put a link into the path and removed it again, so that another file was opened
    if (real !== path || opened.ino !== there.ino || opened.dev !== there.dev || !opened.isFile())
      throw moved(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Like `openInputFile`, but synchronous. Returns a descriptor that the caller must close. */
export function openSmallFile(path: string, links: Links): number {
  let file: number;
  try {
    file = openSync(path, links === 'follow' ? 'r' : withoutLinks);
  } catch (error) {
    const isLink = links === 'refuse' && (error as NodeJS.ErrnoException).code === 'ELOOP';
    throw isLink ? moved(path) : inputFault(error, path);
  }
  if (links === 'follow') return file;
  try {
    const [opened, there] = [fstatSync(file), statSync(path)];
    const isSame = opened.ino === there.ino && opened.dev === there.dev;
    if (realpathSync.native(path) !== path || !isSame || !opened.isFile()) throw moved(path);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Reads the first bytes of a file into `buffer`; returns their number. */
export function readHead(path: string, links: Links, buffer: Uint8Array): number {
  const file = openSmallFile(path, links);
  try {
    return readSync(file, buffer, 0, buffer.length, 0);
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a whole small file at once into `buffer`, which has room for more than `expected` bytes; returns their number. Returns null if
 * the file has grown.
 */
export function readSmallFile(
  path: string,
  links: Links,
  buffer: Uint8Array,
  expected: number,
): number | null {
  const file = openSmallFile(path, links);
  try {
    let read = 0;
    // a file that has as many bytes as are known of is asked for no more
    do {
      const more = readSync(file, buffer, read, buffer.length - read, read);
      if (more === 0) return read;
      read += more;
    } while (read !== expected && read < buffer.length);
    return read < buffer.length ? read : null;
  } finally {
    closeSync(file);
  }
}

/** Bytes of a file: `to` is behind the last. */
export interface FileSection {
  readonly from: number;
  readonly to: number;
}

const whole: FileSection = { from: 0, to: Number.MAX_SAFE_INTEGER };

export async function* inputFileChunks(path: string, links: Links): AsyncIterable<Uint8Array> {
  const file = await openInputFile(path, links);
  try {
    for await (const chunk of file.createReadStream({ highWaterMark: readBytes, autoClose: false }))
      yield chunk as Uint8Array;
  } finally {
    await file.close();
  }
}

type BufferPair = readonly [Uint8Array, Uint8Array];

/** Reusable buffers for reading files, one after the other. */
export class ReadBuffers {
  #free: BufferPair | null = null;

  take(): BufferPair {
    const pair = this.#free ?? [new Uint8Array(readBytes), new Uint8Array(readBytes)];
    this.#free = null;
    return pair;
  }

  /** Nobody looks at them any more. */
  giveBack(pair: BufferPair): void {
    this.#free = pair;
  }
}

/**
 * Like `inputFileChunks`, without a buffer for each chunk: the bytes of a chunk are valid until the next is requested. The next chunk
 * is read while the caller processes the current one. Yields what there is of a file that is shorter than the range.
 */
export async function* fleetingFileChunks(
  path: string,
  links: Links,
  range: FileSection = whole,
  reused: ReadBuffers = new ReadBuffers(),
): AsyncIterable<Uint8Array> {
  const file = await openInputFile(path, links);
  const buffers = reused.take();
  let at = range.from;
  const read = (buffer: Uint8Array) => file.read(buffer, 0, Math.min(readBytes, range.to - at), at);
  let reading = read(buffers[0]);
  try {
    for (;;) {
      const { bytesRead, buffer } = await reading;
      if (bytesRead === 0) return;
      at += bytesRead;
      reading = read(buffer === buffers[0] ? buffers[1] : buffers[0]);
      // the fault is handled by the caller that awaits it
      reading.catch(() => undefined);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    // the file is closed only when nobody reads it; a fault past its reader is of no use
    await reading.catch(() => undefined);
    reused.giveBack(buffers);
    await file.close();
  }
}

/** Returns an AppError that says why an input cannot be read; returns other faults unchanged. */
export function inputFault(error: unknown, path: string): unknown {
  const { code, path: missing = path } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return new AppError(
      'input_not_found',
      `${missing}: this user may not read it; grant the user read permission`,
    );
  if (code === 'ENOENT' && mayBeMisnamed(missing))
    return new AppError('input_not_found', `${missing}: ${isMisnamed}`);
  if (code === 'ENOENT')
    return new AppError(
      'input_not_found',
      `${missing}: it existed when the job began, but was removed since`,
    );
  return error;
}

export const isMisnamed = 'its name is not UTF-8; rename it';

/** Returns whether a name may have been invalid UTF-8: invalid bytes are read as U+FFFD, and no file has such a name. */
export function mayBeMisnamed(name: string): boolean {
  return name.includes('\ufffd');
}

function moved(path: string): AppError {
  return new AppError(
    'path_not_allowed',
    `${path}: it, or a folder above it, became a link after it was checked`,
  );
}
