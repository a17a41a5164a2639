/** The tokenizer with its kernel in WebAssembly, and when that pays. */
import { createNameTable } from '../names/interned.ts';
import { createTokenizerOn, createXmlTokenizer, settingsOf, type XmlTokenizerOptions } from './portable.ts';
import type { TokenizerState } from './state.ts';
import type { NameTable, TextLocation, XmlTokenizer } from '../tokens.ts';
import { scanContentFast } from '../kernel/fast-content.ts';
import { compileKernel, createScanKernel, type ScanKernel } from '../kernel/instance.ts';
import { KERNEL_WINDOW_BYTES } from '../kernel/layout.ts';

/** Kernels of the documents that are being read and that have been read. Consecutive documents share one. */
export interface TokenizerKernels {
  /**
   * Returns a kernel for one document, of which `firstBytes` bytes are available. Returns null if there are no kernels, or while all
   * documents together are so short that they would be read before a kernel is ready.
   */
  take(firstBytes: number): ScanKernel | null;
  /** the document has ended, and the kernel was made ready for another */
  giveBack(kernel: ScanKernel): void;
}

/**
 * Returns a function that decides from which document on a kernel is worth it: one whose first piece has `fromBytes`, or when many short
 * ones together have as much.
 */
export function createKernelThreshold(fromBytes = 16 * 1024): (firstBytes: number) => boolean {
  let seen = 0;
  return (firstBytes) => {
    seen = Math.min(fromBytes, seen + firstBytes);
    return seen >= fromBytes;
  };
}

/** Kernels are compiled when they are worth it. There are none if WebAssembly is not available. */
export function createTokenizerKernels(fromBytes?: number): TokenizerKernels {
  let compiled: { readonly module: WebAssembly.Module | null } | null = null;
  const free: ScanKernel[] = [];
  const pays = createKernelThreshold(fromBytes);
  return {
    take(firstBytes) {
      if (!pays(firstBytes)) return null;
      const kernel = free.pop();
      if (kernel !== undefined) return kernel;
      compiled ??= { module: compileKernel() };
      return compiled.module === null ? null : createScanKernel(compiled.module);
    },
    giveBack(kernel) {
      free.push(kernel);
    },
  };
}

/**
 * Does the same as `createXmlTokenizer`, with the same results, but faster: WebAssembly reads the common part of a document, in memory
 * that documents share. TypeScript alone reads a single small document, and all documents if WebAssembly is not available.
 */
export function createFastXmlTokenizer(
  options: XmlTokenizerOptions,
  kernels: TokenizerKernels = createTokenizerKernels(),
): XmlTokenizer {
  return new FastTokenizer(options, kernels);
}

/** A class because one is created for every document, even a small one: its own closures and getters would cost more than their work. */
class FastTokenizer implements XmlTokenizer {
  readonly names: NameTable;
  readonly #options: XmlTokenizerOptions;
  readonly #kernels: TokenizerKernels;
  #kernel: ScanKernel | null = null;
  #state: TokenizerState | null = null;
  #chosen: XmlTokenizer | null = null;

  constructor(options: XmlTokenizerOptions, kernels: TokenizerKernels) {
    this.names = options.names ?? createNameTable();
    this.#options = options.names === undefined ? { ...options, names: this.names } : options;
    this.#kernels = kernels;
  }

  get bytesRead(): number {
    return this.#chosen?.bytesRead ?? 0;
  }

  write(chunk: Uint8Array): void {
    this.#chosen ??= this.#choose(chunk.length);
    try {
      this.#chosen.write(chunk);
    } catch (error) {
      this.#giveBack(false);
      throw error;
    }
  }

  room(): Uint8Array | null {
    if (this.#chosen === null) return null;
    try {
      return this.#chosen.room();
    } catch (error) {
      this.#giveBack(false);
      throw error;
    }
  }

  filled(length: number): void {
    this.#chosen!.filled(length);
  }

  end(): void {
    this.#chosen ??= this.#choose(0);
    let ended = false;
    try {
      this.#chosen.end();
      ended = true;
    } finally {
      this.#giveBack(ended);
    }
  }

  locate(recordIndex: number): TextLocation {
    return this.#chosen!.locate(recordIndex);
  }

  #choose(firstBytes: number): XmlTokenizer {
    const options = this.#options;
    const kernel = this.#kernels.take(firstBytes);
    if (kernel === null) return createXmlTokenizer(options);
    this.#kernel = kernel;
    this.#state = kernel.begin(settingsOf(options, kernel.memory, KERNEL_WINDOW_BYTES));
    return createTokenizerOn(this.#state, (s) => scanContentFast(s, kernel), options);
  }

  /** Gives back the kernel at the end of the document. Keeps no state of a failed document. */
  #giveBack(ended: boolean): void {
    const kernel = this.#kernel;
    if (kernel === null) return;
    if (ended && this.#state !== null) kernel.keep(this.#state);
    else kernel.reset();
    this.#kernels.giveBack(kernel);
    this.#kernel = null;
  }
}
