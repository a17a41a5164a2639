/** Files in folders of this machine: `files/<id_org>/` for each organisation, and the roots the operator opens beside it. */
import {
  opendir,
  open,
  readdir,
  rename,
  rm,
  stat,
  link,
  lstat,
  mkdir,
  realpath,
  rmdir,
  unlink,
} from 'node:fs/promises';
import { join, basename, dirname, relative, sep, isAbsolute, resolve as resolvePath } from 'node:path';
import { randomBytes } from 'node:crypto';
import { createReadStream, type BigIntStats, constants, createWriteStream, type Dirent } from 'node:fs';
import { Readable } from 'node:stream';
import type { FileReader, FileStore, FileWriter, LocatedFile, ExpiredUploads } from '../../ports/files.ts';
import { AppError } from '../../errors.ts';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

// The files below a folder, one by one: a folder may have more of them than fit in memory.

/** entries that are read at once */
const bufferSize = 256;

interface WalkOptions {
  /** called for each file and folder; an exception ends the walk */
  readonly onEntry?: () => void;
  /** folders that cannot be read are empty (false: their fault ends the walk) */
  readonly skipsUnreadable?: boolean;
}

/**
 * Paths of files at any depth, in the order of the file system. Links are left out, and so is a folder below the first one that vanishes
 * meanwhile.
 */
async function* walkFiles(
  directory: string,
  { onEntry, skipsUnreadable = false }: WalkOptions = {},
): AsyncGenerator<string> {
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder, { bufferSize }).catch((error: NodeJS.ErrnoException) => {
      if (skipsUnreadable || (folder !== directory && error.code === 'ENOENT')) return null;
      throw error;
    });
    // leaving the loop closes the folder
    for await (const entry of entries ?? []) {
      onEntry?.();
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) yield path;
    }
  }
}

// Reads and writes files at paths that a FileStore has resolved.

export const localFiles: FileReader & Required<FileWriter> = {
  async *listFiles(location, scan) {
    const facts = await factsOf(location);
    if (facts?.isFile()) yield { name: basename(location), location, ...shown(facts) };
    if (facts?.isDirectory() !== true) return;
    if (scan !== undefined) {
      for await (const path of walkFiles(location, scan)) {
        const found = scan.accept(nameBelow(location, path)) ? await locatedFile(location, path) : null;
        if (found !== null) yield found;
      }
      return;
    }
    const entries = await readdir(location, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    for (const path of paths.toSorted()) {
      const found = await locatedFile(location, path);
      // gone since the folder was read
      if (found !== null) yield found;
    }
  },

  async read(location, range) {
    const file = await open(location, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (file === null) return null;
    if (range?.length === 0) {
      await file.close();
      return new Blob([]).stream();
    }
    const part = range === undefined ? {} : { start: range.offset, end: range.offset + range.length - 1 };
    const stream = createReadStream(location, { fd: file, ...part });
    return Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>;
  },

  async write(location, body) {
    await mkdir(dirname(location), { recursive: true, mode: 0o700 });
    const part = partOf(location);
    try {
      const bytes = await writeWhole(part, body);
      await rename(part, location);
      return bytes;
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  },

  async discard(location) {
    await rm(location, { force: true });
  },

  async create(location, bytes) {
    await mkdir(dirname(location), { recursive: true, mode: 0o700 });
    const part = partOf(location);
    try {
      await writeWhole(part, bytes);
      // unlike a rename, a link never replaces a file
      await link(part, location);
      return true;
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(part, { force: true });
    }
  },
};

/** Returns the path of a temporary file beside a location, which receives the content until it is complete. */
function partOf(location: string): string {
  return join(
    dirname(location),
    `.${basename(location).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`,
  );
}

/** Writes a new file to the disk; returns its size. */
async function writeWhole(path: string, body: Uint8Array | ReadableStream<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      await file.writeFile(chunk);
      bytes += chunk.byteLength;
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Returns null if there is nothing. A path that cannot be inspected is an error, not missing. */
function factsOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}

async function locatedFile(folder: string, path: string): Promise<LocatedFile | null> {
  const facts = await factsOf(path);
  return facts === null ? null : { name: nameBelow(folder, path), location: path, ...shown(facts) };
}

function nameBelow(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

function shown(facts: BigIntStats) {
  return { bytes: Number(facts.size), modified: Number(facts.mtimeMs), version: fileVersion(facts) };
}

/** The version of a file of a disk. */
export function fileVersion({ mtimeNs, size }: Pick<BigIntStats, 'mtimeNs' | 'size'>): string {
  return `${mtimeNs}-${size}`;
}

// The file store.

export interface LocalFileStoreOptions {
  /** holds one folder for each organisation */
  readonly filesDirectory: string;
  /** absolute; one without `{org}` is organisation 1's alone */
  readonly roots: readonly string[];
}

/** The organisation that the operator's roots without `{org}` belong to. */
const firstOrg = 1;
const longestPath = 4096;
const longestName = 255;

export function createLocalFileStore(options: LocalFileStoreOptions): FileStore {
  const folderOf = (idOrg: number): string => join(options.filesDirectory, String(idOrg));

  function rootsOf(idOrg: number): string[] {
    const shared = options.roots.filter((root) => idOrg === firstOrg || root.includes('{org}'));
    return [folderOf(idOrg), ...shared.map((root) => resolvePath(root.replaceAll('{org}', String(idOrg))))];
  }

  /** The location of an existing file below the organisation's own folder, links resolved. */
  async function resolveOwn(idOrg: number, path: string): Promise<string> {
    if (path === '' || path.length > longestPath || path.includes('\0') || path.split('/').includes('..'))
      throw notAllowed();
    const own = folderOf(idOrg);
    const wanted = isAbsolute(path) ? resolvePath(path) : resolvePath(own, path);
    if (!isInside(own, wanted)) throw notAllowed();
    const real = await realpath(wanted).catch(() => null);
    if (real === null) throw noSuchFile();
    if (!isInside(await realpath(own), real)) throw notAllowed();
    return real;
  }

  return {
    local: true,
    ...localFiles,

    saveUpload: async (idOrg, name, body, maxBytes) => {
      checkFileName(name);
      const uploads = join(folderOf(idOrg), 'uploads');
      await mkdir(uploads, { recursive: true, mode: 0o700 });
      const part = join(uploads, `${partPrefix}${randomBytes(16).toString('hex')}`);
      try {
        const bytes = await writeStream(part, body, maxBytes);
        const folder = randomBytes(8).toString('hex');
        await mkdir(join(uploads, folder), { mode: 0o700 });
        await rename(part, join(uploads, folder, name));
        return { path: `uploads/${folder}/${name}`, bytes };
      } catch (error) {
        await rm(part, { force: true });
        throw isErrno(error, 'ENOSPC', 'EDQUOT')
          ? new AppError('service_unavailable', 'there is no space for the file now')
          : error;
      }
    },

    resolve: async (idOrg, path, mustExist) => {
      if (path === '' || path.length > longestPath || path.includes('\0')) throw notAllowed();
      // `..` is refused even if the path stays inside: after a link its meaning differs from its appearance
      if (path.split('/').includes('..')) throw notAllowed();
      await mkdir(folderOf(idOrg), { recursive: true, mode: 0o700 });
      const wanted = isAbsolute(path) ? resolvePath(path) : resolvePath(folderOf(idOrg), path);
      const roots = rootsOf(idOrg).filter((root) => isInside(root, wanted));
      if (roots.length === 0) throw notAllowed();
      const { real, found } = await realLocation(wanted);
      const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => null)));
      // checked first: behind a link that leads out, existing and missing files must get the same answer
      if (!realRoots.some((root) => root !== null && isInside(root, real))) throw notAllowed();
      if (found !== 'whole' && mustExist)
        throw new AppError('input_not_found', 'there is no such file or folder');
      if (found === 'nowhere') throw notAllowed();
      return real;
    },

    removeFile: async (idOrg, path) => {
      const real = await resolveOwn(idOrg, path);
      try {
        if (!(await lstat(real)).isFile()) throw notAllowed();
        await unlink(real);
      } catch (error) {
        // another process removed it meanwhile
        throw isErrno(error, 'ENOENT') ? noSuchFile() : error;
      }
      // each upload has a folder of its own
      const folder = dirname(real);
      const uploads = await realpath(join(folderOf(idOrg), 'uploads')).catch(() => null);
      // a folder that another upload has come into stays
      if (uploads !== null && dirname(folder) === uploads) await rmdir(folder).catch(() => undefined);
    },

    usedBytes: (idOrg) => bytesBelow(folderOf(idOrg), partPrefix),

    removeUploads: (which) => removeExpiredUploads(options.filesDirectory, which),
  };
}

function noSuchFile(): AppError {
  return new AppError('not_found', 'there is no such file');
}

/** The caller has cleaned the name: one that is not a plain file name, or that no tool reads, is refused. */
function checkFileName(name: string): void {
  const plain = !/[/\\\p{Cc}]/u.test(name) && !name.startsWith('.') && Buffer.byteLength(name) <= longestName;
  if (plain && /\.(xml|xsd|gz|zip|tar|tgz)$/i.test(name)) return;
  const detail = 'the name must be a plain file name that ends in .xml, .xsd, .gz, .zip, .tar or .tgz';
  throw new AppError('invalid_parameter', detail, { errors: [{ pointer: '/query/name', detail }] });
}

/** Writes all of a body to a new file; over the limit, or when the body breaks off, it throws and the caller removes the file. */
async function writeStream(
  file: string,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  const handle = await open(
    file,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    let bytes = 0;
    // Leaving the loop by an exception cancels the body
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`);
      await handle.writeFile(chunk);
    }
    await handle.sync();
    return bytes;
  } finally {
    await handle.close();
  }
}

interface RealLocation {
  readonly real: string;
  /** `folder`: does not exist, but can be made in a folder; `nowhere`: a file is in the way */
  readonly found: 'whole' | 'folder' | 'nowhere';
}

/** Links resolved; of a path that does not exist yet, those of the part that does. Only files and folders pass. */
async function realLocation(wanted: string): Promise<RealLocation> {
  const missing: string[] = [];
  let existing = wanted;
  for (;;) {
    try {
      const real = await realpath(existing);
      const facts = await stat(real);
      if (missing.length === 0 && !facts.isFile() && !facts.isDirectory()) throw notAllowed();
      const found = missing.length === 0 ? 'whole' : facts.isDirectory() ? 'folder' : 'nowhere';
      return { real: join(real, ...missing), found };
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) {
        // A process that creates the file would follow a dangling link
        if (await exists(existing)) throw notAllowed();
        const parent = dirname(existing);
        missing.unshift(basename(existing));
        existing = parent;
        continue;
      }
      throw isErrno(error, 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'EPERM') ? notAllowed() : error;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

function notAllowed(): AppError {
  return new AppError(
    'path_not_allowed',
    'the path is outside the folders that this organisation may use: give one below its own folder, or let the operator open a folder with svc.files.roots',
  );
}

// Objects of a store downloaded to this machine, for code that can only read files.

/**
 * Copies the file, or all files below the folder, at a location into `directory`, which is created. Returns the path of the copy: for a
 * file its path under its own name, for a folder the directory itself. AppError `input_not_found` if there is nothing at the location.
 */
export async function fetchFiles(
  files: FileReader,
  location: string,
  directory: string,
  accept: (name: string) => boolean = () => true,
): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let found = false;
  for await (const file of files.listFiles(location)) {
    found = true;
    const path = join(directory, ...file.name.split('/'));
    if (!file.name.split('/').every(isPlain) || !accept(file.name)) continue;
    const body = await files.read(file.location);
    if (body === null) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(
      Readable.fromWeb(body as unknown as NodeReadableStream<Uint8Array>),
      createWriteStream(path, { mode: 0o600 }),
    );
    if (file.location === location) return path;
  }
  if (!found) throw new AppError('input_not_found', 'there is no such file or folder');
  return directory;
}

/** Returns whether a part of a key is a valid file name: keys of a store may contain characters that file names cannot. */
function isPlain(part: string): boolean {
  return (
    part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && Buffer.byteLength(part) <= 255
  );
}

// Removes expired uploads from the folders `files/<id_org>/uploads/<random>/<name>`.

/** name prefix of an incomplete upload, which is stored beside the folders of complete ones */
export const partPrefix = '.part-';

/** Links are removed as such, never followed; a file that disappears meanwhile is no error. */
export async function removeExpiredUploads(filesDirectory: string, which: ExpiredUploads): Promise<number> {
  let removed = 0;
  for (const org of await entriesOf(filesDirectory)) {
    if (!org.isDirectory() || !/^\d+$/.test(org.name)) continue;
    const uploads = join(filesDirectory, org.name, 'uploads');
    for (const entry of await entriesOf(uploads)) {
      const path = join(uploads, entry.name);
      if (!entry.isDirectory()) {
        if (entry.name.startsWith(partPrefix)) removed += await removeOlder(path, which.partialOlderThan);
        continue;
      }
      const folder = `${org.name}/uploads/${entry.name}`;
      if (which.except.has(folder)) continue;
      for (const file of await entriesOf(path)) {
        if (file.isDirectory() || which.except.has(`${folder}/${file.name}`)) continue;
        removed += await removeOlder(join(path, file.name), which.olderThan);
      }
      // removes the folder only if it is empty now
      await rmdir(path).catch(() => undefined);
    }
  }
  return removed;
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(() => []);
}

async function removeOlder(path: string, olderThan: number): Promise<number> {
  try {
    if ((await lstat(path)).mtimeMs >= olderThan) return 0;
    await unlink(path);
    return 1;
  } catch {
    return 0;
  }
}

// The size of all files below a folder, which others write into meanwhile.

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
