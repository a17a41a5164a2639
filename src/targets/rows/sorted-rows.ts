/** Sorts the rows of a table by their keys in memory; for tables with few rows whose stored order is another one. */
import { cellText } from '../../engine/unshred/rows/values.ts';
import type { RowBlock } from '../../engine/unshred/rows/document-rows.ts';
import type { ClosableBlocks } from './table-row-source.ts';

/** the maximum number of rows in a block */
const blockRows = 256;

/** Returns all rows of `blocks` ordered by the integers in the column `key` of `width`, and closes `blocks`. */
export async function sortedRows(
  blocks: ClosableBlocks,
  key: number,
  width: number,
): Promise<ClosableBlocks> {
  const all: RowBlock[] = [];
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) all.push(block);
  } finally {
    await blocks.close();
  }
  const { bytes, cells, rows } = together(all, width);
  const keys = Array.from({ length: rows }, (_, row) =>
    BigInt(cellText({ bytes, cells, at: row * width * 2 }, key) ?? 0),
  );
  const order = [...keys.keys()].toSorted((a, b) => (keys[a]! < keys[b]! ? -1 : Number(keys[a]! > keys[b]!)));
  let next = 0;
  return {
    next: () => {
      const taken = order.slice(next, next + blockRows);
      next += taken.length;
      if (taken.length === 0) return Promise.resolve(null);
      const own = new Int32Array(taken.length * width * 2);
      for (const [at, row] of taken.entries())
        own.set(cells.subarray(row * width * 2, (row + 1) * width * 2), at * width * 2);
      return Promise.resolve({ bytes, cells: own, rows: taken.length });
    },
    close: () => Promise.resolve(),
  };
}

function together(blocks: readonly RowBlock[], width: number): RowBlock {
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.bytes.length, 0));
  const cells = new Int32Array(rows * width * 2);
  let [begin, cell] = [0, 0];
  for (const block of blocks) {
    bytes.set(block.bytes, begin);
    for (let at = 0; at < block.rows * width * 2; at += 2, cell += 2) {
      const from = block.cells[at]!;
      cells[cell] = from < 0 ? -1 : from + begin;
      cells[cell + 1] = block.cells[at + 1]! + begin;
    }
    begin += block.bytes.length;
  }
  return { bytes, cells, rows };
}
