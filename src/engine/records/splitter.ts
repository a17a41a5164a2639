/** Records of CSV, TSV or JSON Lines as rows, by whatever does it sooner. */
import type { SpareBuffers } from '../spare-buffers.ts';
import { createRecordsKernel, type RecordsKernel } from './kernel/instance.ts';
import { splitJsonLines } from './json-lines.ts';
import { isJsonFormat, splitInTypeScript, type Piece, type RecordPlan, type SplitRecords } from './split.ts';

/** of a piece that is worth a call of the kernel, and making it */
const leastBytes = 8 * 1024;
/** of a piece that the kernel takes: it keeps the memory of the longest */
const mostBytes = 4 * 1024 * 1024;

/** Of all files that are read at the same time. */
export class RecordSplitter {
  /** undefined: not needed so far; null: there is none */
  #kernel: RecordsKernel | null | undefined = undefined;

  /** Null where WebAssembly is refused. */
  kernel(): RecordsKernel | null {
    return (this.#kernel ??= createRecordsKernel());
  }

  /** What lies in the piece is changed, and `literalBytes` behind it. `buffers`: of the block. */
  split(piece: Piece, plan: RecordPlan, buffers: SpareBuffers): SplitRecords {
    const { length } = piece.bytes;
    const isWorth = length >= leastBytes && length <= mostBytes && plan.columns.length > 0;
    const kernel = isWorth ? this.kernel() : null;
    const split = kernel?.split(piece, plan, buffers);
    if (!isJsonFormat(plan.format)) return split ?? splitInTypeScript(piece, plan, buffers);
    // what is not as the tools write it is no fault yet
    return split?.fault === null ? split : splitJsonLines(piece, plan, buffers);
  }
}
