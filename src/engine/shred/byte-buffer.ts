/** A buffer that grows: encoded rows and values are written into it. */
const largeBytes = 4 * 1024 * 1024;
const smallBytes = 1024;

/** A growing run of bytes: the rows of one table, or values on their way into a row. */
export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `extra` more bytes. */
  ensure(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Empties the buffer, and frees the memory that a single large value has added. */
  clear(): void {
    if (this.bytes.length > largeBytes) this.bytes = new Uint8Array(smallBytes);
    this.length = 0;
  }

  pushByte(byte: number): void {
    if (this.length === this.bytes.length) this.ensure(1);
    this.bytes[this.length++] = byte;
  }

  push(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.ensure(size);
    const { bytes } = this;
    let at = this.length;
    // short ranges are quicker byte by byte than through a view
    if (size < 48) for (let i = start; i < end; i += 1) bytes[at++] = source[i]!;
    else {
      bytes.set(source.subarray(start, end), at);
      at += size;
    }
    this.length = at;
  }

  pushAscii(text: string): void {
    this.ensure(text.length);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i += 1) bytes[length + i] = text.charCodeAt(i);
    this.length = length + text.length;
  }

  /** A non-negative or negative safe integer in decimal digits. */
  pushInteger(value: number): void {
    if (value < 0 || value > 0x7fffffff) {
      this.pushAscii(String(value));
      return;
    }
    this.ensure(10);
    let digits = 1;
    for (let bound = 10; value >= bound && digits < 10; bound *= 10) digits += 1;
    let at = this.length + digits;
    this.length = at;
    let rest = value;
    do {
      const next = (rest / 10) | 0;
      this.bytes[--at] = 48 + rest - next * 10;
      rest = next;
    } while (rest > 0);
  }

  /** Returns the bytes pushed so far as a separate buffer, and empties this one. */
  take(): Uint8Array<ArrayBuffer> {
    const taken =
      this.bytes.length - this.length < 4096
        ? this.bytes.subarray(0, this.length)
        : this.bytes.slice(0, this.length);
    if (taken.buffer === this.bytes.buffer) this.bytes = new Uint8Array(this.bytes.length);
    this.length = 0;
    return taken;
  }
}
