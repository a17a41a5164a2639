/** Files at local paths that a FileStore has resolved, for reading and writing. */
import { randomBytes } from 'node:crypto';
import { createReadStream, type BigIntStats } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { FileStore, LocatedFile } from '../../ports/files.ts';
import { walkFiles } from './walk.ts';

export const localFiles: Pick<FileStore, 'listFiles' | 'read' | 'write' | 'discard'> = {
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
    const part = join(
      dirname(location),
      `.${basename(location).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`,
    );
    const file = await open(part, 'wx', 0o600);
    try {
      let bytes = 0;
      for await (const chunk of body instanceof Uint8Array ? [body] : body) {
        await file.writeFile(chunk);
        bytes += chunk.byteLength;
      }
      await file.sync();
      await file.close();
      await rename(part, location);
      return bytes;
    } catch (error) {
      // report the fault of the write; the file may be closed already
      await file.close().catch(() => undefined);
      await rm(part, { force: true });
      throw error;
    }
  },

  async discard(location) {
    await rm(location, { force: true });
  },
};

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
