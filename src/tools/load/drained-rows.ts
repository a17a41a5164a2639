/** Hands the rows that the shredder finished to the sink. Awaiting the sink is the backpressure on the reader of documents. */
import type { Shredder } from '../../engine/shred/shredder.ts';
import type { RowSink } from '../../ports/rows/sink.ts';

/** The part of a sink that loading needs, also in a process that has no target. */
export interface LoaderSink extends Pick<
  RowSink,
  'encoding' | 'widensInPlace' | 'scalesDecimals' | 'write' | 'writeSide' | 'unconverted' | 'allowNull'
> {
  /** absent in a thread: the process that sends it documents has queried the target already */
  readonly loadedDocuments?: RowSink['loadedDocuments'];
  readonly currentDocuments?: RowSink['currentDocuments'];
  readonly unmappedContent?: RowSink['unmappedContent'];
}

export interface DrainedRows {
  /** rows given to the sink, by table; tables without rows may be missing at the end */
  readonly byTable: readonly number[];
  readonly count: number;
  /** Hands over the finished rows. */
  drain(): Promise<void> | undefined;
  /** Finishes the rows that were begun, and hands them over. */
  flush(): Promise<void>;
}

export function createDrainedRows(
  { output, unconvertedValues, nullAllowed }: Shredder,
  sink: LoaderSink,
): DrainedRows {
  const byTable: number[] = [];
  let count = 0;
  function drain(): Promise<void> | undefined {
    // most small documents end without any rows to hand over
    if (output.chunks.length + unconvertedValues.length + nullAllowed.length > 0) return handOver();
    return undefined;
  }
  async function handOver(): Promise<void> {
    // the reason for an empty cell is reported before its row
    for (const unconverted of unconvertedValues.splice(0)) await sink.unconverted(unconverted);
    for (const { table, column } of nullAllowed.splice(0)) sink.allowNull(table, column);
    for (const { table, bytes, rowCount } of output.chunks.splice(0)) {
      if (typeof table === 'number') {
        byTable[table] = (byTable[table] ?? 0) + rowCount;
        count += rowCount;
        await sink.write(table, bytes, rowCount, (spare) => output.recycle(spare));
      } else await sink.writeSide(table, bytes, rowCount);
    }
  }
  return {
    byTable,
    get count() {
      return count;
    },
    drain,
    async flush() {
      output.flush();
      await drain();
    },
  };
}
