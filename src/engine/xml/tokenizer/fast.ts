/** The tokenizer with its kernel in WebAssembly, and the size of documents from which it is used. */
import { resolveElement } from '../names/resolve.ts';
import { scanContent, scanMarkup, scanSpecialText } from '../scan/markup.ts';
import { scanName } from '../scan/qualified-name.ts';
import { scanAttributes, scanUnusualEndTag } from '../scan/tags.ts';
import {
  GOES_ON,
  IN_EPILOG,
  NEEDS_INPUT,
  STATE_CHANGED,
  type Outcome,
  type TokenizerState,
} from './state.ts';
import { KIND_END, KIND_START, type NameTable, type TextLocation, type XmlTokenizer } from '../tokens.ts';
import {
  EXIT_END_TAG,
  EXIT_FULL,
  EXIT_MARKUP,
  EXIT_START_TAG,
  EXIT_TEXT,
  KERNEL_WINDOW_BYTES,
} from '../kernel/layout.ts';
import { type ScanKernel, compileKernel, createScanKernel } from '../kernel/instance.ts';
import { createNameTable } from '../names/interned.ts';
import { createTokenizerOn, createXmlTokenizer, settingsOf, type XmlTokenizerOptions } from './portable.ts';

// Scans the content of the root element by the kernel. Events that the kernel does not handle are scanned in TypeScript.

/** Does the same as `scanContent`, with the same results. */
function scanContentFast(s: TokenizerState, kernel: ScanKernel): Outcome {
  for (;;) {
    if (!kernel.serves(s)) return scanContent(s);
    const exit = kernel.scan(s);
    if (exit === EXIT_FULL) {
      s.flush();
      continue;
    }
    const outcome = scanRest(s, kernel, exit);
    if (outcome !== GOES_ON) return outcome;
  }
}

function scanRest(s: TokenizerState, kernel: ScanKernel, exit: number): Outcome {
  switch (exit) {
    case EXIT_TEXT:
      return scanSpecialText(s, kernel.textStart, kernel.textAt);
    case EXIT_MARKUP:
      return scanMarkup(s);
    case EXIT_START_TAG:
      return scanStartTag(s);
    case EXIT_END_TAG:
      return scanEndTag(s);
    default:
      return closeRoot(s);
  }
}

function closeRoot(s: TokenizerState): Outcome {
  s.stage = IN_EPILOG;
  return STATE_CHANGED;
}

/** The start tag at `pos`. */
function scanStartTag(s: TokenizerState): Outcome {
  const { pos, count: record, raw } = s;
  const name = scanName(s, pos + 1);
  if (name < 0) return NEEDS_INPUT;
  raw.nextElements[s.predictor] = name;
  const behind = scanAttributes(s, s.scanEnd, name);
  if (behind < 0) return NEEDS_INPUT;
  const nameId = resolveElement(s, name, s.context, pos);
  const { events } = s;
  events[record] = KIND_START;
  events[record + 1] = nameId;
  events[record + 2] = pos;
  events[record + 3] = behind;
  s.pos = behind;
  s.depth++;
  if (s.depth >= s.stackCapacity) s.growStack(pos);
  s.predictor = name * 2;
  if (s.emptyElement) {
    s.emit(KIND_END, nameId, pos, behind);
    return leaveElement(s, name);
  }
  s.stackRaw[s.depth] = name;
  s.stackName[s.depth] = nameId;
  s.stackContext[s.depth] = s.context;
  return GOES_ON;
}

/** The end tag at `pos`. */
function scanEndTag(s: TokenizerState): Outcome {
  const { pos, depth } = s;
  const last = scanUnusualEndTag(s, pos);
  if (last < 0) return NEEDS_INPUT;
  s.emit(KIND_END, s.stackName[depth]!, pos, last + 1);
  s.pos = last + 1;
  return leaveElement(s, s.stackRaw[depth]!);
}

function leaveElement(s: TokenizerState, name: number): Outcome {
  s.depth--;
  s.context = s.stackContext[s.depth]!;
  s.predictor = name * 2 + 1;
  return s.depth === 0 ? closeRoot(s) : GOES_ON;
}

// The tokenizer.

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
 * Returns a function that receives the size of each document's first piece and returns whether to use a kernel from this document on: when
 * the pieces together have `fromBytes`.
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
