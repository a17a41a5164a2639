/** Migration packages in folders of this machine: written beside their place, and put there whole. */
import { createHash, randomBytes } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { PackageFolder, PartDigest } from '../../ports/package-folder.ts';

/** Longest line, in bytes: far over any source model, far under what a text may hold. */
const maxLineBytes = 256 * 1024 * 1024;
const writeBytes = 256 * 1024;

export function createLocalPackageFolder(directory: string): PackageFolder {
  return {
    async list() {
      const found = await readdir(directory, { withFileTypes: true }).catch(
        (error: NodeJS.ErrnoException) => {
          throw unreadable(`its folder cannot be listed (${error.code ?? error.message})`);
        },
      );
      const stranger = found.find((entry) => !entry.isFile());
      if (stranger !== undefined) throw unreadable(`${JSON.stringify(stranger.name)} is no plain file`);
      return Promise.all(
        found.map(async ({ name }) => ({ name, bytes: (await lstat(join(directory, name))).size })),
      );
    },
    write: (name, lines) => writeLines(join(directory, name), lines),
    read: (name) => {
      const tally = createTally();
      return { lines: readLines(join(directory, name), name, tally), digest: () => tally.digest() };
    },
  };
}

/**
 * Lets `fill` write into a new folder and puts that in the place of `directory` when it is done. What stands there may be
 * nothing, an empty folder, or files that all are `known` ones; else AppError `conflict`, and nothing is touched.
 */
export async function replaceFolder<T>(
  directory: string,
  known: readonly string[],
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(dirname(directory), { recursive: true });
  await checkReplaceable(directory, known);
  const beside = (kind: string): string =>
    join(dirname(directory), `.${basename(directory)}.${kind}-${randomBytes(6).toString('hex')}`);
  const part = beside('part');
  await mkdir(part, { mode: 0o700 });
  try {
    const result = await fill(part);
    // asked again: a folder that got other files meanwhile is not ours to remove
    if (await checkReplaceable(directory, known)) {
      const old = beside('old');
      await rename(directory, old);
      await rename(part, directory);
      await rm(old, { recursive: true, force: true });
    } else await rename(part, directory);
    return result;
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw error;
  }
}

/** Whether something stands there. */
async function checkReplaceable(directory: string, known: readonly string[]): Promise<boolean> {
  const found = await lstat(directory).catch(() => null);
  if (found === null) return false;
  if (!found.isDirectory()) throw new AppError('conflict', 'the path is that of a file, not of a folder');
  const stranger = (await readdir(directory)).find((name) => !known.includes(name));
  if (stranger === undefined) return true;
  throw new AppError('conflict', 'the folder holds other files: a package needs one of its own');
}

interface Tally {
  add(bytes: Uint8Array, lines: number): void;
  digest(): PartDigest;
}

function createTally(): Tally {
  const hash: Hash = createHash('sha256');
  let records = 0;
  let bytes = 0;
  return {
    add(chunk, lines) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      records += lines;
    },
    digest: () => ({ records, bytes, sha256: hash.copy().digest('hex') }),
  };
}

async function writeLines(
  file: string,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<PartDigest> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(file, flags, 0o600);
  const tally = createTally();
  try {
    let waiting: Buffer[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (size > 0) await handle.writeFile(Buffer.concat(waiting));
      waiting = [];
      size = 0;
    };
    for await (const line of lines) {
      const bytes = Buffer.from(`${line}\n`);
      tally.add(bytes, 1);
      waiting.push(bytes);
      size += bytes.byteLength;
      if (size >= writeBytes) await flush();
    }
    await flush();
    await handle.sync();
  } finally {
    await handle.close();
  }
  return tally.digest();
}

async function* readLines(file: string, name: string, tally: Tally): AsyncGenerator<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const decode = (bytes: Buffer): string => {
      try {
        return decoder.decode(bytes);
      } catch {
        throw unreadable(`${name} is not UTF-8`);
      }
    };
    let rest: Buffer[] = [];
    let restBytes = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        const bytes = Buffer.concat([...rest, chunk.subarray(from, end + 1)]);
        tally.add(bytes, 1);
        yield decode(bytes.subarray(0, -1));
        rest = [];
        restBytes = 0;
        from = end + 1;
      }
      rest.push(chunk.subarray(from));
      restBytes += chunk.byteLength - from;
      if (restBytes > maxLineBytes) throw unreadable(`a line of ${name} is longer than any may be`);
    }
    if (restBytes > 0) throw unreadable(`${name} does not end with its last line`);
  } finally {
    await handle.close();
  }
}

function unreadable(detail: string): AppError {
  return new AppError('unprocessable_input', `the package cannot be read: ${detail}`);
}
