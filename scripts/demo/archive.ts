/** Packs a folder's files for an upload. */
import { readFile, readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface Archive {
  readonly bytes: Uint8Array;
  readonly files: number;
}

/** A `.tgz` of the files that lie directly in the folder. */
export async function archiveFolder(folder: URL): Promise<Archive> {
  const names = (await readdir(folder)).toSorted();
  const tar = pack();
  const packed = buffer(tar);
  for (const name of names) tar.entry({ name }, await readFile(new URL(name, folder)));
  tar.finalize();
  return { bytes: gzipSync(await packed), files: names.length };
}
