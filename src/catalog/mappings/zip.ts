/** ZIP archives of a few parts that are in memory. Web standards and fflate, which needs nothing else. */
import { Zip, ZipDeflate } from 'fflate';
import { mapInSlices } from '../../engine/in-slices.ts';
import { encodedPieces } from './encoded-pieces.ts';

export interface ZipPart {
  readonly name: string;
  /** in pieces */
  readonly content: readonly string[];
}

/** The time of every part: the first that a ZIP archive can name, in the local time that fflate writes. */
const mtime = new Date(1980, 0, 1);

/** In chunks. Every archive of the same parts is the same. */
export async function zip(parts: readonly ZipPart[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let failure: Error | null = null;
  const archive = new Zip((error, chunk) => {
    if (error === null) chunks.push(chunk as Uint8Array<ArrayBuffer>);
    else failure = error;
  });
  for (const { name, content } of parts) {
    const part = new ZipDeflate(name, { level: 6 });
    part.mtime = mtime;
    archive.add(part);
    await mapInSlices(encodedPieces(content), (bytes) => part.push(bytes));
    part.push(new Uint8Array(0), true);
  }
  archive.end();
  if (failure !== null) throw failure as Error;
  return chunks;
}
