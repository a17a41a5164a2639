/** The growing memory of the kernel for elements. Allocations are never freed. */
import * as layout from './layout.ts';

export class ElementsMemory {
  readonly memory = new WebAssembly.Memory({ initial: 8 });
  #free = layout.HEAP_AT;
  #bytes!: Uint8Array<ArrayBuffer>;
  #ints!: Int32Array<ArrayBuffer>;

  constructor() {
    this.#look();
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  /** int32 by their address / 4 */
  get ints(): Int32Array<ArrayBuffer> {
    return this.#ints;
  }

  /** bytes that are allocated */
  get used(): number {
    return this.#free;
  }

  set(address: number, field: number, value: number): void {
    this.#ints[address / 4 + field] = value;
  }

  get(address: number, field: number): number {
    return this.#ints[address / 4 + field]!;
  }

  setDouble(address: number, value: number): void {
    new DataView(this.#bytes.buffer).setFloat64(address, value, true);
  }

  /** Allocates zeroed memory, including the bytes that vectors read and write beyond it. */
  allocate(bytes: number): number {
    const at = this.#free;
    this.#free = Math.ceil((at + bytes + layout.MARGIN_BYTES) / 16) * 16;
    const pages = Math.ceil((this.#free - this.memory.buffer.byteLength) / layout.PAGE_BYTES);
    if (pages > 0) {
      // a quarter more, so that it does not move often
      this.memory.grow(Math.max(pages, Math.ceil(this.memory.buffer.byteLength / layout.PAGE_BYTES / 4)));
      this.#look();
    }
    return at;
  }

  /** Copies the bytes into the memory. Returns their address. */
  put(bytes: Uint8Array): number {
    const at = this.allocate(bytes.length);
    this.#bytes.set(bytes, at);
    return at;
  }

  putInts(values: readonly number[]): number {
    const at = this.allocate(values.length * 4);
    this.#ints.set(values, at / 4);
    return at;
  }

  /** The memory moves when it grows. */
  #look(): void {
    this.#bytes = new Uint8Array(this.memory.buffer);
    this.#ints = new Int32Array(this.memory.buffer);
  }
}
