/** Objects of a store downloaded to this machine, for code that can only read files. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { AppError } from '../../errors.ts';
import type { FileStore } from '../../ports/files/organisation-files.ts';

/**
 * Copies the file, or all files below the folder, at a location into `directory`, which is created. Returns the path of the copy: for a
 * file its path under its own name, for a folder the directory itself. AppError `input_not_found` if there is nothing at the location.
 */
export async function fetchFiles(
  files: Pick<FileStore, 'listFiles' | 'read'>,
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
