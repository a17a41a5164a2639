/** A pool of buffers for data that waits to be written or compressed. New buffers each time would burden the garbage collector. */

const maxFreeBytes = 16 * 1024 * 1024;
/** buffers are multiples of it, so that those of about the same size are shared */
const unitBytes = 4 * 1024;

export class SpareBuffers {
  /** the smallest first */
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;

  /** Returns a buffer of that length. Its content is arbitrary. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const at = this.#free.findIndex((buffer) => buffer.byteLength >= length);
    if (at < 0) return new Uint8Array(new ArrayBuffer(Math.ceil(length / unitBytes) * unitBytes), 0, length);
    const [buffer] = this.#free.splice(at, 1);
    this.#freeBytes -= buffer!.byteLength;
    return new Uint8Array(buffer!, 0, length);
  }

  /** Does the same as `take` for `length` numbers. */
  takeInts(length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.take(length * 4).buffer, 0, length);
  }

  /** Returns a buffer from `take` to the pool. Others are not kept. */
  giveBack({ buffer }: Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>): void {
    const { byteLength } = buffer;
    if (byteLength % unitBytes > 0 || this.#freeBytes + byteLength > maxFreeBytes) return;
    this.#freeBytes += byteLength;
    const at = this.#free.findIndex((other) => other.byteLength >= byteLength);
    this.#free.splice(at < 0 ? this.#free.length : at, 0, buffer);
  }
}
