/** Writes a ZIP archive to a file part by part. Each part is compressed while it is written, and none is buffered. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { writeWhole } from '../../../../storage/staging/durable-file.ts';

/** Sizes and offsets are 32-bit numbers here, because programs that read workbooks do not all support larger ones (ZIP64). */
const mostBytes = 0xff_ff_ff_fe;
const mostParts = 0xff_fe;
const chunkCharacters = 64 * 1024;
/** A lower level of compression, which saves a quarter of the processor time for files that are an eighth larger. */
const deflating = { level: 3, chunkSize: 256 * 1024 } as const;
/** sizes follow the data; names are UTF-8 (APPNOTE 4.4.4) */
const flags = 0x08_08;
const version = 20;
const deflated = 8;
/** 1 January 1980, the first day that an archive can represent */
const date = 0x00_21;

/** A part, or the whole archive, is larger than the format allows. */
export class ArchiveLimitError extends Error {}

interface WrittenPart {
  readonly name: Buffer;
  readonly at: number;
  readonly crc: number;
  readonly packed: number;
  readonly bytes: number;
}

export class ZipFile {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #parts: WrittenPart[] = [];
  #bytes = 0;

  /** `file`: an empty file, which the caller syncs and closes. */
  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(partName: string, content: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const name = Buffer.from(partName);
    const at = this.#bytes;
    if (at > mostBytes || this.#parts.length >= mostParts) throw new ArchiveLimitError();
    await this.#write(
      record(0x04_03_4b_50, [version, flags, deflated, 0, date], [0, 0, 0], [name.length, 0]),
    );
    await this.#write(name);
    const begin = this.#bytes;
    let [crc, bytes] = [0, 0];
    const measured = async function* (): AsyncGenerator<Buffer, void, void> {
      for await (const chunk of inChunks(content)) {
        crc = crc32(chunk, crc);
        bytes += chunk.length;
        if (bytes > mostBytes) throw new ArchiveLimitError();
        yield chunk;
      }
    };
    await pipeline(measured, createDeflateRaw(deflating), async (packed: AsyncIterable<Buffer>) => {
      for await (const piece of packed) await this.#write(piece);
    });
    const packed = this.#bytes - begin;
    await this.#write(record(0x08_07_4b_50, [], [crc, packed, bytes], []));
    this.#parts.push({ name, at, crc, packed, bytes });
  }

  /** Writes the directory of the parts. Returns the size of the file in bytes, and its SHA-256 in hex. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const at = this.#bytes;
    for (const { name, at: place, crc, packed, bytes } of this.#parts) {
      await this.#write(
        record(
          0x02_01_4b_50,
          [version, version, flags, deflated, 0, date],
          [crc, packed, bytes],
          [name.length, 0, 0, 0, 0],
          [0, place],
        ),
      );
      await this.#write(name);
    }
    if (this.#bytes > mostBytes) throw new ArchiveLimitError();
    const { length } = this.#parts;
    await this.#write(record(0x06_05_4b_50, [0, 0, length, length], [this.#bytes - at, at], [0]));
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await writeWhole(this.#file, [bytes]);
  }
}

/** Returns a signature, followed by 16-bit and 32-bit numbers alternately, in little-endian order. */
function record(signature: number, ...fields: readonly (readonly number[])[]): Buffer {
  const out = Buffer.alloc(
    4 + fields.reduce((sum, list, at) => sum + list.length * (at % 2 === 0 ? 2 : 4), 0),
  );
  let end = out.writeUInt32LE(signature);
  for (const [at, list] of fields.entries())
    for (const value of list)
      end = at % 2 === 0 ? out.writeUInt16LE(value, end) : out.writeUInt32LE(value, end);
  return out;
}

async function* inChunks(
  pieces: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<Buffer, void, void> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < chunkCharacters) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
