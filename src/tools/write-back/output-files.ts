/** Documents as files of a folder: each appears under its own name when it is whole. */
import { randomBytes } from 'node:crypto';
import { lstat, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileFault } from '../../adapters/file-staging/faults.ts';
import { makeFolder } from '../../adapters/file-staging/create-folder.ts';
import { pinFolder } from '../../adapters/local-files/open-folder.ts';
import { AppError } from '../../errors.ts';

export interface DocumentFolder {
  /** `name`: as the document was called; answers the name of its file, relative to the folder. */
  write(
    name: string,
    produce: (consume: (bytes: Uint8Array) => Promise<void>) => Promise<unknown>,
  ): Promise<string>;
}

export interface DocumentFolderOptions {
  readonly directory: string;
  /** what messages call it (the path) */
  readonly label?: string;
  /** a file that is there already: an AppError `conflict`, or replaced */
  readonly existing: 'refuse' | 'replace';
  /** where a file below the folder really lies; AppError where it may not be written */
  readonly resolvePath: (path: string) => Promise<string>;
  /** `refuse`: what `resolvePath` answers holds no links, and where one stands in it by then nothing is written */
  readonly links: 'follow' | 'refuse';
}

export function createDocumentFolder(options: DocumentFolderOptions): DocumentFolder {
  const taken = new Set<string>();
  const write: DocumentFolder['write'] = async (name, produce) => {
    const fileName = unusedName(safeName(name), taken);
    const path = await options.resolvePath(join(options.directory, fileName));
    await makeFolder(dirname(path));
    const folder = await pinFolder(dirname(path), options.links);
    try {
      const file = join(folder.path, basename(path));
      if (options.existing === 'refuse' && (await lstat(file).catch(() => null)) !== null) {
        throw new AppError('conflict', `${fileName} exists in the folder already`);
      }
      await writeFile(folder.path, file, produce);
    } finally {
      await folder.close();
    }
    return fileName;
  };
  const label = options.label ?? options.directory;
  return {
    write: (name, produce) =>
      write(name, produce).catch((error: unknown) => {
        throw fileFault(error, label);
      }),
  };
}

/** In a file beside it until it is whole. */
async function writeFile(
  folder: string,
  path: string,
  produce: (consume: (bytes: Uint8Array) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`);
  const file = await open(temporary, 'wx');
  try {
    await produce((bytes) => writeWhole(file, bytes));
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    // the fault of the write is the one to tell; the file may be closed already
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

export async function isEmptyFolder(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return true;
    throw fileFault(error, directory);
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** The new name outlives a crash, too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const maxNameBytes = 200;

/**
 * A relative path that every system can have and that stays below the folder: names came from documents, so parts that lead
 * upwards go, and characters with a meaning of their own become an underscore.
 */
export function safeName(name: string): string {
  const parts = name
    .split(/[/\\]/)
    .map((part) =>
      part
        // oxlint-disable-next-line no-control-regex
        .replace(/[\u0000-\u001f\u007f<>:"|?*]/g, '_')
        .replace(/[. ]+$/, '')
        .replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i, '_'),
    )
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.length === 0 ? 'document.xml' : parts.map(shortened).join('/');
}

/** A hidden name would be passed over by who reads the folder. */
function shortened(part: string): string {
  const visible = part.startsWith('.') ? `_${part.slice(1)}` : part;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(visible)?.[0] ?? '';
  let stem = visible.slice(0, visible.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > maxNameBytes) stem = [...stem].slice(0, -1).join('');
  return stem + extension;
}

/** Names that differ in case alone would meet on some systems. */
function unusedName(name: string, taken: Set<string>): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  let candidate = name;
  for (let number = 2; taken.has(candidate.toLowerCase()); number += 1)
    candidate = `${stem}-${number}${extension}`;
  taken.add(candidate.toLowerCase());
  return candidate;
}
