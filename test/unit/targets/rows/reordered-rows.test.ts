/** Rows of a table that hang from others of it, in the order of their keys: all of them, once, however deep they lie. */
import { describe, expect, it } from 'vitest';
import { bufferedRowsOf, keySpans, reorderedRows } from '../../../../src/targets/rows/reordered-rows.ts';
import type { ClosableBlocks } from '../../../../src/targets/rows/table-row-source.ts';
import type { RowBlock } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { cellText, textBlock, type TextRow } from '../../../../src/engine/unshred/rows/values.ts';

/** The rows as they lie, in blocks of a hundred and some. */
function blocksOf(rows: readonly TextRow[], columns: readonly number[]): ClosableBlocks {
  let next = 0;
  return {
    next: () => {
      const taken = rows.slice(next, next + 100 + (next % 7));
      next += taken.length;
      const asked = taken.map((row) => columns.map((column) => row[column]!));
      return Promise.resolve(taken.length === 0 ? null : textBlock(asked, columns.length));
    },
    close: () => Promise.resolve(),
  };
}

async function textsOf(blocks: ClosableBlocks, width: number): Promise<(string | null)[][]> {
  const texts: (string | null)[][] = [];
  const kept: RowBlock[] = [];
  for (let block = await blocks.next(); block !== null; block = await blocks.next()) kept.push(block);
  // what was answered stays as it is
  for (const { bytes, cells, rows } of kept)
    for (let row = 0; row < rows; row += 1)
      texts.push(
        Array.from({ length: width }, (_, column) => cellText({ bytes, cells, at: row * width * 2 }, column)),
      );
  return texts;
}

/** Elements of a tree in the order in which they end, keys in that in which they begin. */
function treeRows(childrenOf: (depth: number, number: number) => number): TextRow[] {
  const rows: TextRow[] = [];
  let keys = 0;
  const element = (depth: number): void => {
    const key = (keys += 3);
    const children = childrenOf(depth, key);
    for (let child = 0; child < children; child += 1) element(depth + 1);
    rows.push([key % 5 === 0 ? null : `n${'é'.repeat(key % 11)}`, String(key), `at ${depth}`]);
  };
  element(0);
  return rows;
}

/** Three children each, on ten levels: 88,573 elements. */
const wide = treeRows((depth) => (depth < 10 ? 3 : 0));
/** One root of 60,000 and a chain of 3,000 in the first of them. */
const chain = treeRows((depth, number) => (depth === 0 ? 60_000 : Number(number < 9000)));

describe.each([
  ['of a tree of ten levels', wide],
  ['of a chain in a list', chain],
  ['of one that lie in order', wide.toSorted((one, other) => Number(one[1]) - Number(other[1]))],
])('rows %s', (_, rows) => {
  it('come in the order of their keys', async () => {
    const spans = (await keySpans(blocksOf(rows, [1])))!;
    expect(spans.rows).toBe(rows.length);
    expect(bufferedRowsOf(spans)).toBeLessThan(rows.length / 2);
    const columns = [0, 1, 2];
    const open = (): Promise<ClosableBlocks> => Promise.resolve(blocksOf(rows, columns));
    const found = await textsOf(await reorderedRows({ open, spans, key: 1, width: 3 }), 3);
    expect(found).toEqual(rows.toSorted((one, other) => Number(one[1]) - Number(other[1])));
  });
});

describe('tables without such an order', () => {
  it('are told', async () => {
    const text = [...wide.slice(0, 700), [null, 'x', null], ...wide.slice(700)];
    expect(await keySpans(blocksOf(text, [1]))).toBe(null);
    const large = [[null, '9007199254740993', null]];
    expect(await keySpans(blocksOf(large, [1]))).toBe(null);
    const reversed = Array.from({ length: 60_000 }, (_, row) => [null, String(100_000 - row), null]);
    expect(await keySpans(blocksOf(reversed, [1]))).toBe(null);
  });
});
