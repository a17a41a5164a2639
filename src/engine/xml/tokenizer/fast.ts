/** The tokenizer with its kernel in WebAssembly, and when that pays. */
import { createNameTable } from '../names/expanded-names.ts';
import { createTokenizerOn, createXmlTokenizer, settingsOf } from './portable.ts';
import type { XmlTokenizerOptions } from './portable.ts';
import type { TokenizerState } from './state.ts';
import type { XmlTokenizer } from '../tokens.ts';
import { scanContentFast } from '../kernel/fast-content.ts';
import { compileKernel, createScanKernel } from '../kernel/instance.ts';
import { KERNEL_WINDOW_BYTES } from '../kernel/layout.ts';
import type { ScanKernel } from '../kernel/instance.ts';

/** Kernels of the documents that are being read, and of those that have been: one after the other they share one. */
export interface TokenizerKernels {
  /**
   * A kernel for one document, of which `firstBytes` are there. null where there are none, and while all documents together are
   * so short that they would be done before one is ready.
   */
  take(firstBytes: number): ScanKernel | null;
  /** the document has ended, and the kernel was made ready for another */
  giveBack(kernel: ScanKernel): void;
}

/** Tells from which document on a kernel pays: one whose first piece has `fromBytes`, or as much in many short ones. */
export function createKernelThreshold(fromBytes = 16 * 1024): (firstBytes: number) => boolean {
  let seen = 0;
  return (firstBytes) => {
    seen = Math.min(fromBytes, seen + firstBytes);
    return seen >= fromBytes;
  };
}

/** Compiled when it pays; where WebAssembly is refused there are none. */
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
 * As `createXmlTokenizer`, and to the same effect, but faster: the common part of a document is read by WebAssembly, in memory that
 * documents share. A single small one, and all where WebAssembly is refused, are read by TypeScript alone.
 */
export function createFastXmlTokenizer(
  options: XmlTokenizerOptions,
  kernels: TokenizerKernels = createTokenizerKernels(),
): XmlTokenizer {
  const names = options.names ?? createNameTable();
  let kernel: ScanKernel | null = null;
  let state: TokenizerState | null = null;
  let chosen: XmlTokenizer | null = null;

  function choose(firstBytes: number): XmlTokenizer {
    kernel = kernels.take(firstBytes);
    if (kernel === null) return createXmlTokenizer({ ...options, names });
    const serving = kernel;
    const windowBytes = Math.min(options.windowBytes ?? KERNEL_WINDOW_BYTES, KERNEL_WINDOW_BYTES);
    state = serving.begin(settingsOf({ ...options, names, windowBytes }, serving.memory));
    return createTokenizerOn(state, (s) => scanContentFast(s, serving), options);
  }

  /** The document needs its kernel no more. Of one that has failed nothing is kept. */
  function giveBack(ended: boolean): void {
    if (kernel === null) return;
    if (ended && state !== null) kernel.keep(state);
    else kernel.reset();
    kernels.giveBack(kernel);
    kernel = null;
  }

  return {
    names,
    get bytesRead() {
      return chosen?.bytesRead ?? 0;
    },
    write(chunk) {
      chosen ??= choose(chunk.length);
      try {
        chosen.write(chunk);
      } catch (error) {
        giveBack(false);
        throw error;
      }
    },
    room() {
      if (chosen === null) return null;
      try {
        return chosen.room();
      } catch (error) {
        giveBack(false);
        throw error;
      }
    },
    filled: (length) => chosen!.filled(length),
    end() {
      chosen ??= choose(0);
      let ended = false;
      try {
        chosen.end();
        ended = true;
      } finally {
        giveBack(ended);
      }
    },
    locate: (recordIndex) => chosen!.locate(recordIndex),
  };
}
