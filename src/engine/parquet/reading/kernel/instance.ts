/** The kernel for cells in WebAssembly, and the memory in which pages become blocks of rows (layout: src/engine/parquet/reading/kernel/layout.ts). */
import { compileModule } from '../../../compile-module.ts';
import { readCellsWasm } from './cells-wasm.ts';
import * as layout from './layout.ts';

interface Exports {
  prepare(): void;
  beginPage(column: number, page: number, end: number, encoding: number): number;
  beginDictionary(column: number, page: number, end: number, count: number, out: number): number;
  takeRows(column: number, rows: number, cells: number, stride: number, out: number): number;
  ascends(column: number, rows: number, last: bigint): number;
}

/** A range of the memory, in use until it is given back. */
export interface Region {
  readonly at: number;
  readonly bytes: number;
}

let module: WebAssembly.Module | null = null;

/** The kernel and memory of all tables that are read at the same time. One call reads at most `rows` rows. */
export class CellsKernel {
  readonly exports: Exports;
  readonly rows: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  #free = layout.HEAP_AT;
  /** free regions by size */
  readonly #regions = new Map<number, Region[]>();
  /** regions for the texts of a block, and for its cells */
  #texts: Region;
  #cells: Region;
  #bytes!: Uint8Array<ArrayBuffer>;
  #view!: DataView<ArrayBuffer>;

  constructor(rows: number) {
    module ??= compileModule(readCellsWasm);
    const instance = new WebAssembly.Instance(module, { env: { memory: this.#memory } });
    this.exports = instance.exports as unknown as Exports;
    this.exports.prepare();
    this.rows = rows;
    this.#look();
    const slots = [layout.LEVELS, layout.NUMBERS, layout.WIDES] as const;
    for (const slot of slots) {
      const { at } = this.take(rows * (slot === layout.WIDES ? 8 : 4));
      this.#view.setUint32(layout.CONTROL_AT + slot * 4, at, true);
    }
    this.#texts = this.take(0);
    this.#cells = this.take(0);
  }

  /** The memory moves when it grows. */
  #look(): void {
    const { buffer } = this.#memory;
    if (this.#bytes?.buffer === buffer) return;
    this.#bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  get view(): DataView<ArrayBuffer> {
    return this.#view;
  }

  /** The address of the first text of the present block. */
  get origin(): number {
    return this.#view.getUint32(layout.CONTROL_AT + layout.ORIGIN * 4, true);
  }

  /** Allocates a region, including the bytes that vectors read and write beyond it. */
  take(bytes: number): Region {
    const least = bytes + layout.MARGIN_BYTES;
    // round up to a few sizes (at most a quarter more), so that freed regions fit later requests
    const unit = Math.max(256, 2 ** (Math.floor(Math.log2(least)) - 2));
    const size = Math.ceil(least / unit) * unit;
    const known = this.#regions.get(size)?.pop();
    if (known !== undefined) return known;
    const at = this.#free;
    this.#free += size;
    const pages = Math.ceil((this.#free - this.#memory.buffer.byteLength) / layout.PAGE_BYTES);
    if (pages > 0) {
      this.#memory.grow(pages);
      this.#look();
    }
    return { at, bytes: size };
  }

  giveBack(region: Region): void {
    const others = this.#regions.get(region.bytes);
    if (others === undefined) this.#regions.set(region.bytes, [region]);
    else others.push(region);
  }

  /**
   * Returns the addresses for `textBytes` bytes of texts and the cells of `values` values, valid until the next block. Sets ORIGIN to the
   * address of the texts.
   */
  blockRoom(textBytes: number, values: number): { readonly texts: number; readonly cells: number } {
    this.#texts = this.grown(this.#texts, textBytes);
    this.#cells = this.grown(this.#cells, values * 8);
    this.#view.setUint32(layout.CONTROL_AT + layout.ORIGIN * 4, this.#texts.at, true);
    return { texts: this.#texts.at, cells: this.#cells.at };
  }

  /** Returns the region, or a larger one that replaces it without its content. */
  grown(region: Region, bytes: number): Region {
    if (region.bytes >= bytes + layout.MARGIN_BYTES) return region;
    this.giveBack(region);
    return this.take(bytes);
  }

  /** The greatest number that `ascends` has seen. */
  lastNumber(): bigint {
    const at = this.#view.getUint32(layout.CONTROL_AT + layout.WIDES * 4, true);
    return this.#view.getBigInt64(at, true);
  }
}
