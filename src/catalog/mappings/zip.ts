/** Builds ZIP archives from parts in memory. Uses web standards and fflate, which has no dependencies. */
import { deflateSync, Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import { inSlices, type Steps } from '../../engine/in-slices.ts';
import { encodedPieces } from './encoded-pieces.ts';

export interface ZipPart {
  readonly name: string;
  /** content in pieces */
  readonly content: readonly string[];
}

/** The time of every part: the first that a ZIP archive can name, in the local time that fflate writes. */
const mtime = new Date(1980, 0, 1);

/**
 * A part of one chunk, deflated in tables of its size: those of `ZipDeflate` are for a stream of any length, and are kept until the
 * archive ends. Thousands of small parts with megabytes each take seconds to clear and all memory.
 */
class ShortPart extends ZipPassThrough {
  override compression = 8;

  protected override process(chunk: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, deflateSync(chunk, { level: 6 }), final);
  }
}

/** Returns an archive in chunks. Archives of the same parts are identical. */
export async function zip(parts: readonly ZipPart[]): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let failure: Error | null = null;
  const archive = new Zip((error, chunk) => {
    if (error === null) chunks.push(chunk as Uint8Array<ArrayBuffer>);
    else failure = error;
  });
  await inSlices(addAll(archive, parts));
  if (failure !== null) throw failure as Error;
  return chunks;
}

function* addAll(archive: Zip, parts: readonly ZipPart[]): Steps<void> {
  for (const { name, content } of parts) {
    const encoded = encodedPieces(content);
    const first = encoded.next().value ?? new Uint8Array(0);
    let next = encoded.next();
    const part = next.done === true ? new ShortPart(name) : new ZipDeflate(name, { level: 6 });
    part.mtime = mtime;
    archive.add(part);
    part.push(first, next.done === true);
    yield;
    while (next.done !== true) {
      const bytes = next.value;
      next = encoded.next();
      part.push(bytes, next.done === true);
      yield;
    }
  }
  archive.end();
}
