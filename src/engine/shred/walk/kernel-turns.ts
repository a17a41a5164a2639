/** Decides when the WebAssembly kernel is created, what it is given, and how often it is called. */
import {
  createKernelThreshold,
  createTokenizerKernels,
  type TokenizerKernels,
} from '../../xml/tokenizer/fast.ts';
import type { TokenBatch } from '../../xml/tokens.ts';
import { createShredKernel, type ShredKernel } from '../kernel/instance.ts';
import { FRAME_NODE, FRAME_ROW, FRAME_ROW_COUNT } from '../open-elements.ts';
import type { PartsOfFile, PartProgress } from '../row-tag/parts.ts';
import type { WantedPrefixes } from './content-prefixes.ts';
import type { WalkContext } from './context.ts';
import type { ElementRows } from './element-rows.ts';
import type { JobIdentity } from '../row-output.ts';

/** Records that TypeScript handles at most before it asks the kernel again. */
const longestPause = 63;

export class KernelTurns {
  /** null: not needed yet, or not available */
  kernel: ShredKernel | null = null;
  /** Kernels for the tokeniser whose batches are passed in. */
  readonly tokenizerKernels: TokenizerKernels;
  readonly #context: WalkContext;
  readonly #job: JobIdentity;
  readonly #elementRows: ElementRows;
  /** records of a batch that the kernel is made for; Infinity once it was tried */
  #kernelFrom: number;
  readonly #pays = createKernelThreshold();
  readonly #otherKernels = createTokenizerKernels(0);
  /** number of records that TypeScript handles before the kernel is called again, if the kernel made little progress */
  #pause = 0;
  #pauseLength = 0;
  #toldPrefixes: WantedPrefixes | null = null;

  constructor(context: WalkContext, elementRows: ElementRows, job: JobIdentity, kernelFrom: number) {
    this.#context = context;
    this.#job = job;
    this.#elementRows = elementRows;
    this.#kernelFrom = kernelFrom;
    this.tokenizerKernels = {
      take: (firstBytes) => {
        if (!this.#pays(firstBytes)) return null;
        if (this.kernel === null) this.#make();
        return (this.kernel?.tokenizerKernels ?? this.#otherKernels).take(firstBytes);
      },
      giveBack: (kernel) => (this.kernel?.tokenizerKernels ?? this.#otherKernels).giveBack(kernel),
    };
  }

  beginDocument(): void {
    this.#pause = 0;
    this.#pauseLength = 0;
    this.#tellDocument();
  }

  /** Returns the kernel if it can read this batch. Creates it for the first batch that is worth it. */
  kernelFor(batch: TokenBatch): ShredKernel | null {
    this.#makeFor(batch);
    return this.kernel?.reaches(batch) === true ? this.kernel : null;
  }

  /** Lets the kernel handle records from `from` on, if it is its turn. Returns the index of the first record that it has not handled. */
  take(kernel: ShredKernel, from: number, count: number): number {
    if (this.#pause > 0) {
      this.#pause -= 1;
      return from;
    }
    if (!kernel.serves()) return from;
    this.#tellPrefixes(kernel);
    const next = kernel.run(from, count, this.#context.scope.size);
    this.#noteNullAllowed(kernel);
    // if the kernel stops again and again, calling it only costs time
    if (next - from > 8 || next >= count) this.#pauseLength = 0;
    else {
      this.#pauseLength = Math.min(longestPause, this.#pauseLength * 2 + 1);
      this.#pause = this.#pauseLength;
    }
    return next;
  }

  /**
   * Does the same as `take` for consecutive parts when no document is open. Returns null if it cannot. `lastDocument`: number of the
   * previous document.
   */
  takeParts(batch: TokenBatch, from: number, parts: PartsOfFile, lastDocument: number): PartProgress | null {
    this.#makeFor(batch);
    const { kernel } = this;
    if (kernel?.holds(batch) !== true || !kernel.serves()) return null;
    this.#tellPrefixes(kernel);
    const taken = kernel.runParts(from, batch.count, this.#context.scope.size, parts, lastDocument);
    this.#noteNullAllowed(kernel);
    return taken.next === from ? null : taken;
  }

  #tellPrefixes(kernel: ShredKernel): void {
    const { wanted } = this.#context.prefixes;
    if (wanted === this.#toldPrefixes) return;
    this.#toldPrefixes = wanted;
    kernel.lookForPrefixes(wanted);
  }

  #noteNullAllowed(kernel: ShredKernel): void {
    for (const [table, column] of kernel.takeNullAllowed())
      this.#elementRows.allowNull(this.#context.plan.tables[table]!, column);
  }

  /** Learns an element that TypeScript has opened. */
  learnOpened(frame: number): void {
    if (this.kernel === null) return;
    const { rows, state } = this.#context;
    const row = state.frame(frame, FRAME_ROW);
    // the rows of a head or of a base type are below
    const lowest = row + 1 - Math.max(1, state.frame(frame, FRAME_ROW_COUNT));
    for (let at = row; at >= lowest; at -= 1)
      this.kernel.learnOpened(state.frame(frame, FRAME_NODE), rows.table(at).index);
  }

  #makeFor(batch: TokenBatch): void {
    if (this.kernel === null && batch.count >= this.#kernelFrom) this.#make();
  }

  #make(): void {
    if (this.#kernelFrom === Infinity) return;
    this.#kernelFrom = Infinity;
    const { plan, state, output, encoder, settings, xsi, xmlSpace } = this.#context;
    this.kernel = createShredKernel({
      plan,
      state,
      output,
      encoder,
      encoding: settings.encoding,
      xsiType: xsi.type,
      xmlSpace,
      job: this.#job,
    });
    this.#tellDocument();
    for (let frame = 0; frame < state.depth; frame += 1) this.learnOpened(frame);
  }

  #tellDocument(): void {
    const context = this.#context;
    this.kernel?.beginDocument(context.rowKeys.base, String(context.documentKey()), context.extra);
  }
}
