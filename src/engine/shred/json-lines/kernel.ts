/** JSON Lines in WebAssembly: rows of tables without lists, in the memory of one instance. */
import type { SpareBuffers } from '../../spare-buffers.ts';
import { writeLinesWasm } from './rows-wasm.ts';

export const WRITE_TEXT = 0;
export const WRITE_NUMBER = 1;
export const WRITE_BOOLEAN = 2;

/** A column: what stands before its values, and WRITE_… */
export interface LineMember {
  readonly prefix: Uint8Array;
  readonly write: number;
}

/** Rows in COPY text to JSON Lines. */
export type LinesEncoder = (rows: Uint8Array) => Uint8Array<ArrayBuffer>;

interface Exports {
  writeLines(from: number, to: number, members: number, count: number, out: number, limit: number): number;
  endOfWritten(): number;
}

const PAGE_BYTES = 65_536;
const HEAP_AT = 1024;
/** Vectors are read and written beyond an end. */
const MARGIN_BYTES = 64;
const LEAST_OUT_BYTES = 1024 * 1024;

let module: WebAssembly.Module | null | undefined;

function compiled(): WebAssembly.Module | null {
  try {
    return new WebAssembly.Module(
      Uint8Array.from(atob(writeLinesWasm), (character) => character.charCodeAt(0)),
    );
  } catch {
    return null;
  }
}

/** Serves one table after another; null where WebAssembly from bytes, or its vectors, are refused. */
export function createLinesKernel(): LinesKernel | null {
  module = module === undefined ? compiled() : module;
  return module === null ? null : new LinesKernel(module);
}

export class LinesKernel {
  readonly #memory = new WebAssembly.Memory({ initial: 32 });
  readonly #exports: Exports;
  #used = HEAP_AT;

  constructor(kernel: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(kernel, { env: { memory: this.#memory } });
    this.#exports = exports as unknown as Exports;
  }

  /** Takes whole rows in COPY text of a table with these columns; answers the same rows as JSON Lines, in a buffer that is taken of `buffers`. */
  encoder(members: readonly LineMember[], buffers: SpareBuffers): LinesEncoder {
    const starts: number[] = [];
    for (const { prefix } of members) {
      const at = this.#used;
      this.#reach(at + prefix.length + MARGIN_BYTES);
      new Uint8Array(this.#memory.buffer).set(prefix, at);
      this.#used = at + prefix.length;
      starts.push(at);
    }
    const table = Math.ceil(this.#used / 4) * 4;
    this.#used = table + members.length * 12 + MARGIN_BYTES;
    this.#reach(this.#used);
    const ints = new Int32Array(this.#memory.buffer, table, members.length * 3);
    for (const [at, { prefix, write }] of members.entries())
      ints.set([starts[at]!, prefix.length, write], at * 3);
    return (rows) => this.#encode(rows, table, members.length, buffers);
  }

  #encode(rows: Uint8Array, table: number, count: number, buffers: SpareBuffers): Uint8Array<ArrayBuffer> {
    const start = this.#used;
    const end = start + rows.length;
    const out = end + MARGIN_BYTES;
    let room = LEAST_OUT_BYTES;
    this.#reach(out + room);
    new Uint8Array(this.#memory.buffer).set(rows, start);
    let at = out;
    for (let from = start; from < end;) {
      from = this.#exports.writeLines(from, end, table, count, at, out + room - MARGIN_BYTES);
      at = this.#exports.endOfWritten();
      if (from === end) break;
      room *= 2;
      this.#reach(out + room);
    }
    const lines = buffers.take(at - out);
    lines.set(new Uint8Array(this.#memory.buffer, out, at - out));
    return lines;
  }

  #reach(end: number): void {
    const missing = end - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
  }
}
