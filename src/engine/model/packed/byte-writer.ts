/** Bytes that grow at their end. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(capacity = 4096) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  /** LEB128 of a non-negative safe integer. */
  varint(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  double(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(values: Uint8Array): void {
    if (this.#length + values.length > this.#bytes.length) this.#grow(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Removes and returns the bytes from `start` on. */
  cut(start: number): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(start, this.#length);
    this.#length = start;
    return taken;
  }

  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + by));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
