/** Opens input files: what a job names was checked by its path, and is checked again by what was opened. */
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { AppError } from '../errors.ts';

/**
 * `follow`: symbolic links lead where they lead, as for a person's own files. `refuse`: the path is one whose links were
 * resolved and whose place was allowed; where a link stands in it by now, AppError `path_not_allowed`.
 */
export type Links = 'follow' | 'refuse';

const readBytes = 256 * 1024;
const leastReadBytes = 4 * 1024;

export async function openInputFile(path: string, links: Links): Promise<FileHandle> {
  if (links === 'follow') return open(path, 'r');
  // a named pipe in place of the file must not hold the job up
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? moved(path) : error;
  });
  try {
    const [opened, there, real] = await Promise.all([file.stat(), stat(path), realpath(path)]);
    // Whoever put a link somewhere above and took it away again has had another file opened
    if (real !== path || opened.ino !== there.ino || opened.dev !== there.dev || !opened.isFile())
      throw moved(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Bytes of a file: `to` is behind the last. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const whole: ByteRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

export async function* inputFileChunks(path: string, links: Links): AsyncIterable<Uint8Array> {
  const file = await openInputFile(path, links);
  try {
    for await (const chunk of file.createReadStream({ highWaterMark: readBytes, autoClose: false }))
      yield chunk as Uint8Array;
  } finally {
    await file.close();
  }
}

/**
 * As `inputFileChunks`, without a buffer for each chunk: the bytes of one are valid until the next is asked for. While a chunk is
 * looked at, the next is being read. Of a file that is shorter than the range, what there is. `expected` bytes decide how large
 * the chunks are: of thousands of small files each would else be given buffers for a large one.
 */
export async function* fleetingFileChunks(
  path: string,
  links: Links,
  range: ByteRange = whole,
  expected = readBytes,
): AsyncIterable<Uint8Array> {
  const file = await openInputFile(path, links);
  const size = Math.max(leastReadBytes, Math.min(readBytes, expected));
  const buffers = [new Uint8Array(size), new Uint8Array(size)] as const;
  let at = range.from;
  const read = (buffer: Uint8Array) => file.read(buffer, 0, Math.min(size, range.to - at), at);
  let reading = read(buffers[0]);
  try {
    for (;;) {
      const { bytesRead, buffer } = await reading;
      if (bytesRead === 0) return;
      at += bytesRead;
      reading = read(buffer === buffers[0] ? buffers[1] : buffers[0]);
      // its fault is met by who waits for it
      reading.catch(() => undefined);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await reading.catch(() => undefined);
    await file.close();
  }
}

function moved(path: string): AppError {
  return new AppError(
    'path_not_allowed',
    `${path}: it, or a folder above it, became a link after it was checked`,
  );
}
