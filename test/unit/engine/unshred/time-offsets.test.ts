/** Blocks of rows whose times are written at their offsets: what they were read into is used again. */
import { expect, it } from 'vitest';
import { rowColumns } from '../../../../src/engine/model/wide-rows.ts';
import type { RowBlock, RowBlocks } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { withOffsets } from '../../../../src/engine/unshred/rows/written-forms.ts';
import { cellText, textBlock } from '../../../../src/engine/unshred/rows/values.ts';
import { inferred, modelOf } from '../../../support/models/shredding.ts';

const model = modelOf(inferred(['<r><t>2024-01-01T10:00:00+02:00</t><t>2024-01-01T10:00:00Z</t></r>']), 3);
const index = model.tables.findIndex(({ name }) => name === 't');
const columns = rowColumns(model, index);
const time = columns.findIndex(({ column }) => column.role === 'offset') - 1;

/** One row. */
function block(minutes: string | null): RowBlock {
  const row = columns.map((): string | null => null);
  row[time] = '2024-01-01T08:00:00Z';
  row[time + 1] = minutes;
  return textBlock([row], columns.length);
}

it('gives back blocks when nobody has them, be they copied or handed on', async () => {
  const read = [block('120'), block(null), block('-330')];
  const back: RowBlock[] = [];
  let next = 0;
  const source: RowBlocks = {
    next: () => Promise.resolve(read[next++] ?? null),
    giveBack: (one) => void back.push(one),
  };
  const blocks = withOffsets(source, columns);
  const texts: (string | null)[] = [];
  let before: RowBlock | null = null;
  for (let one = await blocks.next(); one !== null; one = await blocks.next()) {
    if (before !== null) blocks.giveBack!(before);
    texts.push(cellText({ ...one, at: 0 }, time));
    before = one;
  }
  expect(texts).toEqual(['2024-01-01T10:00:00+02:00', '2024-01-01T08:00:00Z', '2024-01-01T02:30:00-05:30']);
  expect(back).toEqual(read);
});
