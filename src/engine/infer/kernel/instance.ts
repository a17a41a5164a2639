/** The kernel of the collector in WebAssembly. It handles the common cases and asks TypeScript about all others. */
import { compileModule } from '../../compile-module.ts';
import type { TokenizerKernels } from '../../xml/tokenizer/fast.ts';
import { RECORD_INTS, type TokenBatch } from '../../xml/tokens.ts';
import { compileKernel, createScanKernel, type ScanKernel } from '../../xml/kernel/instance.ts';
import { TapeInMemory, kernelsAround } from '../../xml/kernel/tape.ts';
import type { Frame } from '../path-tree.ts';
import type { DeclaredPlaces } from '../declared-places.ts';
import * as layout from './layout.ts';
import { collectTapeWasm } from './collect-wasm.ts';
import { CollectedTree, type TreeOfPaths } from './collected-tree.ts';

const FRAME_CAPACITY = 1024;
const COUNT_INTS = 256 * 1024;
const SEEN_INTS = 64 * 1024;
/** bytes that are kept of a value which arrives in several pieces; no inference looks at more */
const TEXT_BYTES = 8 * 1024;
/** Pages that are never touched cost nothing: this is some 25,000 paths with values. */
const PAGES = 1024;

export interface CollectKernelOptions {
  readonly samples: boolean;
  /** pages of memory, by default enough for thousands of paths */
  readonly pages?: number;
  /** returns false for attributes that describe the document instead of being content */
  readonly isContent: (nameId: number) => boolean;
  /** the attribute, at that record, says that the element is nil */
  readonly isNil: (nameId: number, batch: TokenBatch, record: number) => boolean;
  readonly places: DeclaredPlaces;
  readonly onNamespace: (batch: TokenBatch, record: number) => void;
}

/** Returns null if WebAssembly compiled from bytes, or its vectors, are not available. */
export function createCollectKernel(options: CollectKernelOptions): CollectKernel | null {
  const scanModule = compileKernel();
  if (scanModule === null) return null;
  try {
    const pages = options.pages ?? PAGES;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = compileModule(collectTapeWasm);
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    (exports['prepare'] as () => void)();
    const collect = exports['collect'] as (from: number, count: number) => number;
    return new CollectKernel(options, memory, collect, createScanKernel(scanModule, memory));
  } catch {
    return null;
  }
}

export class CollectKernel {
  /** kernels for a tokeniser whose output need not be copied */
  readonly tokenizerKernels: TokenizerKernels;
  readonly #options: CollectKernelOptions;
  readonly #collect: (from: number, count: number) => number;
  readonly #buffer: ArrayBuffer;
  readonly #control: Int32Array;
  readonly #tape: TapeInMemory;
  readonly #tree: CollectedTree;
  readonly #frames: Int32Array;
  readonly #counts: Int32Array;
  readonly #seen: Int32Array;
  #used = layout.CONTROL_AT + layout.PAGE_BYTES;

  constructor(
    options: CollectKernelOptions,
    memory: WebAssembly.Memory,
    collect: (from: number, count: number) => number,
    scanKernel: ScanKernel,
  ) {
    this.#options = options;
    this.#collect = collect;
    const buffer = memory.buffer as ArrayBuffer;
    this.#buffer = buffer;
    this.#control = new Int32Array(buffer, layout.CONTROL_AT, 64);
    this.#tape = new TapeInMemory({
      buffer,
      ints: (length) => this.#ints(length),
      bytes: (length) => new Uint8Array(buffer, this.#allocate(length), length),
    });
    this.#frames = this.#ints((FRAME_CAPACITY * layout.FRAME_BYTES) / 4);
    this.#counts = this.#ints(COUNT_INTS);
    this.#seen = this.#ints(SEEN_INTS);
    const text = this.#allocate(TEXT_BYTES);
    this.#tree = new CollectedTree(buffer, this.#used, options.samples, options.places);
    this.#set(layout.FRAMES, this.#frames.byteOffset);
    this.#set(layout.FRAME_CAPACITY, FRAME_CAPACITY);
    this.#set(layout.COUNTS_END, this.#counts.byteOffset + COUNT_INTS * 4);
    this.#set(layout.SEEN_END, this.#seen.byteOffset + SEEN_INTS * 4);
    this.#set(layout.TEXT, text);
    this.#set(layout.TEXT_CAPACITY, TEXT_BYTES);
    this.#set(layout.SAMPLES, options.samples ? 1 : 0);
    this.tokenizerKernels = kernelsAround(scanKernel);
  }

  /** `document`: its number, from 1. */
  beginDocument(document: number): void {
    this.#set(layout.DOCUMENT, document);
    this.#set(layout.DEPTH, 0);
    this.#set(layout.TEXT_LENGTH, 0);
    this.#set(layout.COUNTS_TOP, this.#counts.byteOffset);
    this.#set(layout.SEEN_TOP, this.#seen.byteOffset);
    const top = this.#frames;
    top.fill(0, 0, layout.FRAME_BYTES / 4);
    top[layout.FRAME_NODE >> 2] = this.#tree.topAddress;
    top[layout.FRAME_COUNTS >> 2] = this.#counts.byteOffset;
    top[layout.FRAME_SEEN >> 2] = this.#seen.byteOffset;
    top[layout.FRAME_LAST >> 2] = -1;
  }

  /** Handles the records of a batch. Returns the index of the first one that it has no room for, or their number if it had room for all. */
  consume(batch: TokenBatch): number {
    if (!this.#tape.bring(batch)) return 0;
    const { events, bytes, decoded } = this.#tape.offsets;
    this.#set(layout.EVENTS, events);
    this.#set(layout.BYTES, bytes);
    this.#set(layout.DECODED, decoded);
    this.#set(layout.ANSWERED, 0);
    this.#set(layout.EXTREMES_SEEN, 0);
    let next = 0;
    for (;;) {
      const exit = this.#collect(next, batch.count);
      next = this.#get(layout.NEXT);
      if (exit === 0) return batch.count;
      if (exit === layout.EXIT_NAMESPACE) {
        this.#options.onNamespace(batch, next);
        next += 1;
      } else if (!this.#answer(exit, events + next * RECORD_INTS * 4, batch, next)) return next;
    }
  }

  /** Returns the collected data, so that a collector can continue without the kernel. */
  thaw(): TreeOfPaths & { readonly frames: Frame[] } {
    const tree = this.#tree.thaw();
    const frames = this.#tree.thawFrames(this.#frames.byteOffset, this.#get(layout.DEPTH), tree);
    return { ...tree, frames };
  }

  /** False: there is no room. */
  #answer(exit: number, event: number, batch: TokenBatch, record: number): boolean {
    switch (exit) {
      case layout.EXIT_ELEMENT:
        return this.#answerOrdinal(event, this.#tree.child(this.#innermost, this.#nameOf(event)));
      case layout.EXIT_ATTRIBUTE:
        return this.#answerOrdinal(event, this.#attribute(this.#nameOf(event), batch, record));
      case layout.EXIT_VALUE:
        this.#tree.makeValue(this.#get(layout.ASKED));
        return true;
      case layout.EXIT_EXTREMES:
        this.#tree.noteExtremes(
          this.#get(layout.ASKED),
          this.#get(layout.ASKED_FROM),
          this.#get(layout.ASKED_TO),
        );
        this.#set(layout.EXTREMES_SEEN, event);
        return true;
      default:
        return false;
    }
  }

  #attribute(nameId: number, batch: TokenBatch, record: number): number | null {
    if (this.#options.isNil(nameId, batch, record)) this.#tree.addNil(this.#innermost);
    return this.#options.isContent(nameId) ? this.#tree.attribute(this.#innermost, nameId) : -1;
  }

  #answerOrdinal(event: number, ordinal: number | null): boolean {
    if (ordinal === null) return false;
    this.#set(layout.ANSWERED, event);
    this.#set(layout.ANSWER, ordinal);
    return true;
  }

  #nameOf(event: number): number {
    return new Int32Array(this.#buffer, event, RECORD_INTS)[1]!;
  }

  /** Address of the node of the innermost open element. */
  get #innermost(): number {
    return this.#frames[(this.#get(layout.DEPTH) * layout.FRAME_BYTES + layout.FRAME_NODE) >> 2]!;
  }

  #get(slot: number): number {
    return this.#control[slot >> 2]!;
  }

  #set(slot: number, value: number): void {
    this.#control[slot >> 2] = value;
  }

  #ints(length: number): Int32Array {
    return new Int32Array(this.#buffer, this.#allocate(length * 4), length);
  }

  #allocate(bytes: number): number {
    const at = this.#used;
    this.#used = at + Math.ceil((bytes + layout.MARGIN_BYTES) / 16) * 16;
    if (this.#used > this.#buffer.byteLength) throw new RangeError('the kernel’s memory is too small');
    return at;
  }
}
