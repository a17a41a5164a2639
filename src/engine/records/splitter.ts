/** Splits records of CSV, TSV or JSON Lines into rows, with the faster of the two implementations. */
import type { SpareBuffers } from '../spare-buffers.ts';
import { createRecordsKernel, type RecordsKernel } from './kernel/instance.ts';
import { splitJsonLines } from './json-lines.ts';
import { isJsonFormat, splitInTypeScript, type Piece, type RecordPlan, type SplitRecords } from './split.ts';

/** the least bytes of a piece that are worth calling the kernel and creating it */
const leastBytes = 8 * 1024;
/** the most bytes of a piece for the kernel, which keeps the memory of the longest piece */
const mostBytes = 4 * 1024 * 1024;

/** Splits the records of all files that are read at the same time. */
export class RecordSplitter {
  /** undefined: not needed so far; null: there is none */
  #kernel: RecordsKernel | null | undefined = undefined;

  /** Returns null if WebAssembly is not available. */
  kernel(): RecordsKernel | null {
    return (this.#kernel ??= createRecordsKernel());
  }

  /** Splits a piece into records. Changes the piece's bytes and `literalBytes` after them. `buffers`: buffers for the block. */
  split(piece: Piece, plan: RecordPlan, buffers: SpareBuffers): SplitRecords {
    const { length } = piece.bytes;
    const isWorth = length >= leastBytes && length <= mostBytes && plan.columns.length > 0;
    const kernel = isWorth ? this.kernel() : null;
    const split = kernel?.split(piece, plan, buffers);
    if (!isJsonFormat(plan.format)) return split ?? splitInTypeScript(piece, plan, buffers);
    // records that are not in the form that the tools write may still be valid
    return split?.fault === null ? split : splitJsonLines(piece, plan, buffers);
  }
}
