import { createNameTable } from './name-table.ts';
import { createTokenizerOn, createXmlTokenizer } from './tokenizer.ts';
import type { XmlTokenizerOptions } from './tokenizer.ts';
import type { XmlTokenizer } from './tokens.ts';
import { scanContentFast } from './wasm/scan-content-fast.ts';
import { KERNEL_WINDOW_BYTES, compileKernel, createScanKernel } from './wasm/scan-kernel.ts';
import type { ScanKernel } from './wasm/scan-kernel.ts';

/** Kernels of the documents that are being read, and of those that have been: one after the other they share one. */
export interface TokenizerKernels {
  /** Documents whose first piece is shorter are read without one: they would be done before it is ready. */
  readonly fromBytes: number;
  /** a kernel for one document; null where there are none */
  take(): ScanKernel | null;
  /** the document has ended */
  giveBack(kernel: ScanKernel): void;
}

/** Compiled when first needed; where WebAssembly is refused there are none. */
export function createTokenizerKernels(fromBytes = 16 * 1024): TokenizerKernels {
  let compiled: { readonly module: WebAssembly.Module | null } | null = null;
  const free: ScanKernel[] = [];
  return {
    fromBytes,
    take() {
      const kernel = free.pop();
      if (kernel !== undefined) return kernel;
      compiled ??= { module: compileKernel() };
      return compiled.module === null ? null : createScanKernel(compiled.module);
    },
    giveBack(kernel) {
      kernel.reset();
      free.push(kernel);
    },
  };
}

/**
 * As `createXmlTokenizer`, and to the same effect, but faster: the common part of a document is read by WebAssembly. Documents
 * that begin with a small piece, and all where WebAssembly is refused, are read by TypeScript alone.
 */
export function createFastXmlTokenizer(
  options: XmlTokenizerOptions,
  kernels: TokenizerKernels = createTokenizerKernels(),
): XmlTokenizer {
  const names = options.names ?? createNameTable();
  let kernel: ScanKernel | null = null;
  let chosen: XmlTokenizer | null = null;

  function choose(firstBytes: number): XmlTokenizer {
    kernel = firstBytes < kernels.fromBytes ? null : kernels.take();
    if (kernel === null) return createXmlTokenizer({ ...options, names });
    const serving = kernel;
    const windowBytes = Math.min(options.windowBytes ?? KERNEL_WINDOW_BYTES, KERNEL_WINDOW_BYTES);
    return createTokenizerOn(serving.memory, (s) => scanContentFast(s, serving), {
      ...options,
      names,
      windowBytes,
    });
  }

  /** Whether it is done or has failed: the document needs its kernel no more. */
  function giveBack(): void {
    if (kernel !== null) kernels.giveBack(kernel);
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
        giveBack();
        throw error;
      }
    },
    end() {
      chosen ??= choose(0);
      try {
        chosen.end();
      } finally {
        giveBack();
      }
    },
    locate: (recordIndex) => chosen!.locate(recordIndex),
  };
}
