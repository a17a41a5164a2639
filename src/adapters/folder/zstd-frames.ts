/** Pages as frames of Zstandard, by a few contexts that are used again: making one costs more than compressing a page by it. */
import type { TransformOptions } from 'node:stream';
import zlib, { type ZstdOptions } from 'node:zlib';

export interface ZstdFrames {
  /** A frame of its own, made beside what the caller does. */
  compress(bytes: Uint8Array): Promise<Uint8Array>;
  /** Frames that are not made by then are never. */
  close(): void;
}

const contexts = 2;
const options: ZstdOptions & Pick<TransformOptions, 'readableHighWaterMark'> = {
  // each write is a frame
  flush: zlib.constants.ZSTD_e_end,
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 },
  // frames are cut from it, one behind the other
  chunkSize: 512 * 1024,
  // a frame is never held up by those that wait to be taken
  readableHighWaterMark: Number.MAX_SAFE_INTEGER,
};

export function openZstdFrames(): ZstdFrames {
  const open = Array.from({ length: contexts }, () => new ZstdContext());
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
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    // who wrote hears of it
    this.#stream.on('error', () => undefined);
  }

  compress(bytes: Uint8Array): Promise<Uint8Array> {
    this.waitingBytes += bytes.length;
    // one after another: what can be read is then of this frame alone
    const frame = this.#last.then(() => this.#frame(bytes));
    this.#last = frame.catch(() => undefined);
    return frame;
  }

  close(): void {
    this.#stream.destroy();
  }

  #frame(bytes: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        this.waitingBytes -= bytes.length;
        if (error) return reject(error);
        const pieces: Uint8Array[] = [];
        for (;;) {
          const piece = this.#stream.read() as Uint8Array | null;
          if (piece === null) break;
          pieces.push(piece);
        }
        resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
      });
    });
  }
}
