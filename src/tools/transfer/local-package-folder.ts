/** Packages in folders of this machine: written under another name, and renamed when they are whole. */
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { PackageFolder, PartDigest } from '../../ports/files.ts';
import { fileFault } from '../../storage/staging/durable-file.ts';
import { makeFolder } from '../../storage/staging/folders.ts';

/** Longest line, in bytes: far longer than any source model, far shorter than the longest string. */
const maxLineBytes = 256 * 1024 * 1024;
const writeBytes = 256 * 1024;

export function createLocalPackageFolder(directory: string): PackageFolder {
  return {
    async listFiles() {
      const found = await readdir(directory, { withFileTypes: true }).catch(
        (error: NodeJS.ErrnoException) => {
          throw unreadable(`its folder cannot be listed (${error.code ?? error.message})`);
        },
      );
      const stranger = found.find((entry) => !entry.isFile());
      if (stranger !== undefined) throw unreadable(`${JSON.stringify(stranger.name)} is not a plain file`);
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

/** Folders that hold a package on its way, and those that a crash left. */
const unfinished = '.package-';

/**
 * Lets `fill` write a package, and moves it into `directory` when it is done, `last` after all other files: without that file, there is
 * no package. The folder may be absent, empty, or hold only `known` files, which are replaced; otherwise AppError `conflict`, and
 * nothing is touched.
 */
export async function replaceFolder<T>(
  directory: string,
  known: readonly string[],
  last: string,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  await checkReplaceable(directory, known);
  const firstFolder = await makeFolder(directory, 0o700).catch((error: unknown) => {
    throw new AppError('internal_error', (fileFault(error, 'the folder of the package') as Error).message);
  });
  const part = await mkdtemp(join(directory, unfinished));
  try {
    const result = await fill(part);
    // asked again: who put other files there meanwhile does not want a package among them
    await checkReplaceable(directory, known);
    for (const name of [last, ...known]) await rm(join(directory, name), { force: true });
    for (const name of (await readdir(part)).filter((each) => each !== last))
      await rename(join(part, name), join(directory, name));
    await rename(join(part, last), join(directory, last));
    return result;
  } catch (error) {
    await rm(firstFolder ?? part, { recursive: true, force: true });
    throw error;
  } finally {
    await removeUnfinished(directory);
  }
}

async function checkReplaceable(directory: string, known: readonly string[]): Promise<void> {
  const found = await lstat(directory).catch(() => null);
  if (found === null) return;
  if (!found.isDirectory()) throw new AppError('conflict', 'the path is that of a file, not of a folder');
  const names = (await readdir(directory)).filter((name) => !name.startsWith(unfinished));
  if (names.every((name) => known.includes(name))) return;
  throw new AppError('conflict', 'the folder has other files: a package needs an empty folder');
}

async function removeUnfinished(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(unfinished)))
    await rm(join(directory, name), { recursive: true, force: true });
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
  // a pipe put there since the folder was listed would be waited for without end
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw unreadable(`${name} cannot be opened as a plain file (${error.code ?? error.message})`);
    },
  );
  try {
    if (!(await handle.stat()).isFile()) throw unreadable(`${JSON.stringify(name)} is not a plain file`);
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
      if (restBytes > maxLineBytes) throw unreadable(`a line of ${name} is too long`);
    }
    if (restBytes === 0) return;
    const last = Buffer.concat(rest);
    tally.add(last, 1);
    yield decode(last);
  } finally {
    await handle.close();
  }
}

function unreadable(detail: string): AppError {
  return new AppError('unprocessable_input', `the package cannot be read: ${detail}`);
}

/** Copies the files of a package between a folder and a location in cloud storage. */
export interface PackageTransfer {
  /** Uploads the manifest last. AppError `service_unavailable` if the copy breaks off. */
  upload(folder: string): Promise<void>;
  /** Downloads into an empty folder. AppError `unprocessable_input` if there is nothing. */
  download(folder: string): Promise<void>;
}
