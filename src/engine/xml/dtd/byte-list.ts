/** A growing array of bytes. */
export class ByteList {
  #bytes: Uint8Array = new Uint8Array(256);
  #length = 0;

  add(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    this.#bytes.set(bytes.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  addByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Returns all bytes, followed by one 0 byte. */
  withNul(): Uint8Array {
    const all = new Uint8Array(this.#length + 1);
    all.set(this.#bytes.subarray(0, this.#length));
    return all;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
