/** Pages as frames of Zstandard, by a few contexts that are used again: making one costs more than compressing a page by it. */
import type { TransformOptions } from 'node:stream';
import zlib, { type ZstdOptions } from 'node:zlib';
import type { SpareBuffers } from '../../../engine/spare-buffers.ts';

export interface ZstdFrames {
  /** A frame of its own, made beside what the caller does; longer ones in buffers that are taken from `buffers`. */
  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;
  /** Frames that are not made by then are never. */
  close(): void;
}

const contexts = 2;
/** shorter frames have memory of their own */
const longFrameBytes = 4096;
const options: ZstdOptions & Pick<TransformOptions, 'readableHighWaterMark'> = {
  // each write is a frame
  flush: zlib.constants.ZSTD_e_end,
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 },
  // frames are cut from it, one behind the other
  chunkSize: 512 * 1024,
  // a frame is never held up by those that wait to be taken
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
  /** what the stream writes frames into */
  #chunk: ArrayBuffer | null = null;

  constructor(buffers: SpareBuffers) {
    this.#buffers = buffers;
    // who wrote hears of it
    this.#stream.on('error', () => undefined);
  }

  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    this.waitingBytes += bytes.length;
    // one after another: what can be read is then of this frame alone
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

  /** What can be read. Chunks that the stream has left behind are let go of at once: until garbage is collected, they would be many. */
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
