/** Cursors over blocks of rows: which are asked for, and when. */
import { expect, test } from 'vitest';
import { openCursor } from '../../../../src/engine/unshred/rows/reader.ts';
import type { RowBlock } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { cellText, textBlock, type TextRow } from '../../../../src/engine/unshred/rows/values.ts';

const rows: readonly (readonly TextRow[])[] = [[['1'], ['2']], [['3']], [['4'], ['5']]];

function countedBlocks() {
  const left = rows.map((block) => textBlock(block, 1));
  const asked = { count: 0 };
  const next = (): Promise<RowBlock | null> => {
    asked.count += 1;
    return Promise.resolve(left.shift() ?? null);
  };
  return { blocks: { next }, asked };
}

/** Each row with how many blocks had been asked for when the cursor stood there. */
async function walked(readsAhead: () => boolean): Promise<[key: string | null, asked: number][]> {
  const { blocks, asked } = countedBlocks();
  const cursor = await openCursor(blocks, 1, { readsAhead });
  const found: [string | null, number][] = [];
  while (cursor.at >= 0) {
    found.push([cellText(cursor, 0), asked.count]);
    await cursor.advance();
  }
  return found;
}

test('the next block is on its way while the rows of one are taken', async () => {
  expect(await walked(() => true)).toEqual([
    ['1', 2],
    ['2', 2],
    ['3', 3],
    ['4', 4],
    ['5', 4],
  ]);
});

test('of many tables it is asked for once it is needed, with the same rows', async () => {
  expect(await walked(() => false)).toEqual([
    ['1', 1],
    ['2', 1],
    ['3', 2],
    ['4', 3],
    ['5', 3],
  ]);
});
