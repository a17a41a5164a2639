/** ZIP archives of a few parts that are in memory. Web standards and fflate, which needs nothing else. */
import { Zip, ZipDeflate } from 'fflate';

export interface ZipPart {
  readonly name: string;
  readonly content: string;
}

/** The time of every part: the first that a ZIP archive can name, in the local time that fflate writes. */
const mtime = new Date(1980, 0, 1);
/** Bytes that are packed before others have their turn. */
const sliceBytes = 256 * 1024;

/** Every archive of the same parts is the same. */
export async function zip(parts: readonly ZipPart[]): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let failure: Error | null = null;
  const archive = new Zip((error, chunk) => {
    if (error === null) chunks.push(chunk as Uint8Array<ArrayBuffer>);
    else failure = error;
  });
  const utf8 = new TextEncoder();
  for (const { name, content } of parts) {
    const bytes = utf8.encode(content);
    const part = new ZipDeflate(name, { level: 6 });
    part.mtime = mtime;
    archive.add(part);
    for (let from = 0; from < bytes.length; from += sliceBytes) {
      part.push(bytes.subarray(from, from + sliceBytes));
      await new Promise((resolve) => setTimeout(resolve));
    }
    part.push(new Uint8Array(0), true);
  }
  archive.end();
  if (failure !== null) throw failure as Error;
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
