/** Makes one Parquet file from the rows that were staged for it. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { TransformOptions } from 'node:stream';
import zlib, { type ZstdOptions } from 'node:zlib';
import {
  ParquetWriter,
  type ColumnFacts,
  type ParquetOptions,
  WriterMemory,
} from '../../../engine/parquet/file-writer.ts';
import { writeWhole } from '../../../storage/staging/durable-file.ts';
import type { RowsReader } from './staged-rows.ts';
import type { SpareBuffers } from '../../../engine/spare-buffers.ts';

/** The task of writing one file; it can be sent to a thread. */
export interface FileTask extends Omit<ParquetOptions, 'compress' | 'write' | 'memory'> {
  /** the path of the new file */
  readonly path: string;
}

export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
  /** the facts of its columns */
  readonly facts: readonly ColumnFacts[];
}

const pieceBytes = 512 * 1024;
const maxClosing = 8;

/** Writes Parquet files, one after another. */
export class FileMaker {
  readonly #memory = new WriterMemory();
  readonly #frames = openZstdFrames(this.#memory.buffers);
  readonly #closing = new ClosingFiles();

  /** Writes a file. MisfitError: a value does not fit the type of its column. */
  async write(source: RowsReader, { path, ...options }: FileTask): Promise<WrittenFile> {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const target = await open(
        path,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
        0o666,
      );
      try {
        let pending: { readonly part: Uint8Array; readonly release: (() => void) | undefined }[] = [];
        let pendingBytes = 0;
        const flush = async (): Promise<void> => {
          const written = pending;
          pending = [];
          pendingBytes = 0;
          for (const { part } of written) hash.update(part);
          await writeWhole(
            target,
            written.map(({ part }) => part),
          );
          for (const { release } of written) release?.();
        };
        const writer = new ParquetWriter({
          ...options,
          compress: (page) => this.#frames.compress(page),
          memory: this.#memory,
          write: async (part, release) => {
            pending.push({ part, release });
            pendingBytes += part.length;
            bytes += part.length;
            if (pendingBytes >= pieceBytes) await flush();
          },
        });
        do await writer.rows(source.read);
        while ((await source.grown?.()) === true);
        const facts = await writer.finish();
        await flush();
        await this.#closing.add(target);
        return { bytes, sha256: hash.digest('hex'), facts };
      } catch (error) {
        await target.close();
        throw error;
      }
    } finally {
      source.close();
    }
  }

  /** Waits until the written files are durable, except for their names. */
  settle(): Promise<void> {
    return this.#closing.settle();
  }

  close(): void {
    this.#frames.close();
  }
}

/** Makes finished files durable while the next one is written. */
class ClosingFiles {
  #last: Promise<void>[] = [];

  async add(file: FileHandle): Promise<void> {
    const closed = file.sync().finally(() => file.close());
    // the code that awaits all of them gets the error
    closed.catch(() => undefined);
    this.#last.push(closed);
    if (this.#last.length > maxClosing) await this.#last.shift();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#last);
  }
}

export interface ZstdFrames {
  /** Compresses bytes to a separate frame, concurrently with the caller; long frames use memory from `buffers`. */
  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
  /** Discards frames that are not finished. */
  close(): void;
}

const contexts = 2;
/** shorter frames have buffers of their own */
const longFrameBytes = 4096;
const options: ZstdOptions & Pick<TransformOptions, 'readableHighWaterMark'> = {
  // each write makes one frame
  flush: zlib.constants.ZSTD_e_end,
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 },
  // frames are consecutive slices of the chunk
  chunkSize: 512 * 1024,
  // unread frames never block the next one
  readableHighWaterMark: Number.MAX_SAFE_INTEGER,
};

export function openZstdFrames(buffers: SpareBuffers): ZstdFrames {
  const open = Array.from({ length: contexts }, () => new ZstdContext(buffers));
  return {
    compress: (bytes) => open.reduce((a, b) => (b.waitingBytes < a.waitingBytes ? b : a)).compress(bytes),
    close: () => {
      for (const context of open) context.close();
    },
  };
}

class ZstdContext {
  waitingBytes = 0;
  readonly #stream = zlib.createZstdCompress(options);
  readonly #buffers: SpareBuffers;
  #last: Promise<unknown> = Promise.resolve();
  /** the buffer that the stream writes frames into */
  #chunk: ArrayBuffer | null = null;

  constructor(buffers: SpareBuffers) {
    this.#buffers = buffers;
    // the writer gets the error
    this.#stream.on('error', () => undefined);
  }

  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    this.waitingBytes += bytes.length;
    // one after another, so that all readable bytes belong to this frame
    const frame = this.#last.then(() => this.#frame(bytes));
    this.#last = frame.catch(() => undefined);
    return frame;
  }

  close(): void {
    this.#stream.destroy();
  }

  #frame(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        this.waitingBytes -= bytes.length;
        if (error) return reject(error);
        resolve(this.#taken());
      });
    });
  }

  /**
   * Returns the bytes that can be read. Releases chunks of the stream at once, because many would accumulate before garbage is collected.
   */
  #taken(): Uint8Array<ArrayBuffer> {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const piece = this.#stream.read() as Uint8Array<ArrayBuffer> | null;
      if (piece === null) break;
      pieces.push(piece);
    }
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const frame = length < longFrameBytes ? new Uint8Array(length) : this.#buffers.take(length);
    let at = 0;
    for (const piece of pieces) {
      frame.set(piece, at);
      at += piece.length;
      if (this.#chunk !== null && this.#chunk !== piece.buffer) this.#chunk.transfer(0);
      this.#chunk = piece.buffer;
    }
    return frame;
  }
}
